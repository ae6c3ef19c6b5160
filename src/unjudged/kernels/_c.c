/* The C kernels of unjudged: scan, rank and join TREC text; segmented sums; bootstrap and swap counting; rows of text.
 *
 * Portable C11 on Python's limited API (3.11). Every function has a twin in _numpy.py with the same
 * signature and equal results; tests/kernels/test_kernels.py compares the two.
 *
 *   index.c      Index: judged documents per topic, read-only after construction, shared by all threads
 *   scanner.c    RunScanner: one run: feed() text or add() topics, finish() gives the judged hits of each topic
 *                (scan.c reads lines, number.c scores, ranking.c ranks)
 *   qrels.c      scan_qrels: a judgment file's text -> columns
 *   documents.c  code_documents: (topic, document) -> code
 *   gaps.c       largest_gaps: the largest standardised gap of a run to all others, per resample
 *   hits.c       choose_hits, segment_read: hits chosen by their row, values of their topic at their ranks
 *   lists.c      count_teams, richness, newton_sums: for the hole model; count_levels, first_lines, order_of: for the pool
 *   resampling.c weighted_sums, bootstrap_count, swap_count: over drawn topics and run pairs
 *   dicts.c      pack_run, pack_judgments, RunScanner.add_run: plain dicts of dicts, walked where they lie
 *   evaluate.c   evaluate: the classical measures of one run (twin: the registered measures); logarithms
 *   look.c       look_at_topics: what `check` asks of a run's lists (twin: reading its lines one by one)
 *   rows.c       write_rows: a table of numbers as lines of text (shortest.c writes one number)
 *   segments.c   segment_sum, segment_cumsum, segment_cumprod, segment_max_from: over the hits of each cell
 *
 * The interpreter lock is released wherever text is scanned or documents are ranked. A free-threaded Python needs none:
 * an Index never changes, a RunScanner refuses a second thread (begin_work), dicts are copied before they are walked.
 */
#include "kernels.h"

static int module_exec(PyObject *module)
{
    make_plain_locale();
    if (draw_hash_key()) return -1;
    PyMethodDef *functions[] = {qrels_functions, document_functions, hit_functions, resampling_functions,
                                dict_functions, evaluate_functions, row_functions, segment_functions, gap_functions,
                                look_functions, list_functions};
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (PyModule_AddFunctions(module, functions[i])) return -1;
    struct { const char *name; PyType_Spec *spec; } types[] = {{"Index", &index_spec}, {"RunScanner", &scanner_spec}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        PyObject *type = PyType_FromSpec(types[i].spec);
        int failed = !type || PyModule_AddObjectRef(module, types[i].name, type);
        Py_XDECREF(type);
        if (failed) return -1;
    }
    return 0;
}

static PyModuleDef_Slot module_slots[] = {{Py_mod_exec, module_exec},
#ifdef Py_GIL_DISABLED
                                          {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
                                          {0, NULL}};
static struct PyModuleDef module_definition = {PyModuleDef_HEAD_INIT, "_c", "C kernels of unjudged.", 0,
                                               NULL, module_slots, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__c(void) { return PyModuleDef_Init(&module_definition); }
