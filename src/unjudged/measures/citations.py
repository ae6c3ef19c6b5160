"""The papers measures come from, by key."""

CITATIONS = {
    "buckley2004": "Buckley & Voorhees, Retrieval evaluation with incomplete information, SIGIR 2004",
    "chapelle2009": "Chapelle, Metzler, Zhang & Grinspan, Expected reciprocal rank for graded relevance, CIKM 2009",
    "harman1992": "Harman, Overview of the first text retrieval conference, TREC-1, 1992",
    "jarvelin2002": "Järvelin & Kekäläinen, Cumulated gain-based evaluation of IR techniques, ACM TOIS 20(4), 2002",
    "lipani2015": "Lipani, Lupu & Hanbury, Splitting Water: Precision and Anti-Precision to Reduce Pool Bias, "
    "SIGIR 2015",
    "macavaney2022": "MacAvaney, Macdonald & Ounis, Streamlining evaluation with ir-measures, ECIR 2022",
    "moffat2008": "Moffat & Zobel, Rank-biased precision for measurement of retrieval effectiveness, "
    "ACM TOIS 27(1), 2008",
    "robertson2012": "Robertson, On smoothing average precision, ECIR 2012",
    "sakai2004": "Sakai, New performance metrics based on multigrade relevance, NTCIR-4, 2004",
    "sakai2007": "Sakai, Alternatives to bpref, SIGIR 2007",
    "trec_eval": "trec_eval, the evaluation program of TREC (Buckley, NIST)",
    "vanrijsbergen1979": "van Rijsbergen, Information Retrieval, 2nd edition, Butterworths, 1979",
    "voorhees1999": "Voorhees, The TREC-8 question answering track report, TREC-8, 1999",
    "yilmaz2006": "Yilmaz & Aslam, Estimating average precision with incomplete and imperfect judgments, CIKM 2006",
}
