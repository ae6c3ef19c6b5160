"""The papers measures come from, by key."""

CITATIONS = {
    "agrawal2009": "Agrawal, Gollapudi, Halverson & Ieong, Diversifying search results, WSDM 2009",
    "chapelle2011": "Chapelle, Ji, Liao, Velipasaoglu, Lai & Wu, Intent-based diversification of web search results, "
    "Information Retrieval 14(6), 2011",
    "clarke2008": "Clarke, Kolla, Cormack, Vechtomova, Ashkan, Büttcher & MacKinnon, Novelty and diversity in "
    "information retrieval evaluation, SIGIR 2008",
    "clarke2009": "Clarke, Kolla & Vechtomova, An effectiveness measure for ambiguous and underspecified queries, "
    "ICTIR 2009",
    "pradeep2025": "Pradeep, Thakur, Upadhyay, Campos, Craswell & Lin, The great nugget recall, SIGIR 2025",
    "sakai2011": "Sakai & Song, Evaluating diversified search results using per-intent graded relevance, SIGIR 2011",
    "voorhees2004": "Voorhees, Overview of the TREC 2004 question answering track, TREC 2004",
    "zhai2003": "Zhai, Cohen & Lafferty, Beyond independent relevance, SIGIR 2003",
    "azzopardi2021": "Azzopardi, Mackenzie & Moffat, ERR is not C/W/L, ICTIR 2021",
    "clarke2011": "Clarke, Craswell, Soboroff & Ashkan, A comparative analysis of cascade measures, WSDM 2011",
    "clarke2020": "Clarke, Vtyurina & Smucker, Offline evaluation without gain, ICTIR 2020",
    "debeer2006": "De Beer & Moens, Rpref: a generalization of bpref towards graded relevance judgments, SIGIR 2006",
    "moffat2012": "Moffat, Scholer & Thomas, Models and metrics: IR evaluation as a user process, ADCS 2012",
    "moffat2015": "Moffat, Bailey, Scholer & Thomas, INST: an adaptive metric for information retrieval evaluation, ADCS 2015",
    "robertson2010": "Robertson, Kanoulas & Yilmaz, Extending average precision to graded relevance judgments, SIGIR 2010",
    "sakai2005": "Sakai, The effect of topic sampling on sensitivity comparisons of information retrieval metrics, NTCIR-5, 2005",
    "sakai2005one": "Sakai, On the task of finding one highly relevant document with high precision, IPSJ TOD, 2006",
    "sakai2007one": "Sakai, On the properties of evaluation metrics for finding one highly relevant document, IPSJ TOD 48, 2007",
    "sakai2008": "Sakai & Robertson, Modelling a user population for designing information retrieval metrics, EVIA 2008",
    "yilmaz2008": "Yilmaz, Kanoulas & Aslam, A simple and efficient sampling method for estimating AP and NDCG, SIGIR 2008",
    "zhang2017": "Zhang, Liu, Li, Zhang, Xu & Ma, Evaluating web search with a bejeweled player model, SIGIR 2017",
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
