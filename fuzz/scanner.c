/* libFuzzer's target for the C judgments and a run from any bytes, read in one piece and in several.
 *
 * The kernels are compiled in, with coverage and the sanitizers; Python is embedded without its packages. Every text
 * given to the kernels stands in memory of its own, exactly as long as the text, gone as soon as it was read: a byte read
 * beyond it or later is found. The layout of the bytes is that of the Python targets (targets.py: Case).
 *
 * With SHORT it is the target `lines`: nothing is repeated more than four times, so that an execution takes little time. */
#include "embedded.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { JUDGMENTS_END = 0x1e, CUT = 0x1d, GIVEN = 0x1c, REPEATED = 0x1b, FIELD_END = 0x1f };

static const double SCORES[] = {0.0, -0.0, 1.0, 2.0, 0.5, -1.0, 1e300, 1e-300, 1e39, 16777217.0, 0.1, 3.0};

typedef struct { char *data; size_t size, room; } Text;

static void append(Text *t, const void *bytes, size_t n)
{
    if (t->size + n > t->room || !t->data) t->data = realloc(t->data, t->room = 2 * (t->size + n) + 64);
    if (n) memcpy(t->data + t->size, bytes, n);
    t->size += n;
}

/* Calls with a view of a copy that goes away afterwards. */
static PyObject *call_with(PyObject *callable, const char *text, size_t n, PyObject *flag)
{
    char *copy = malloc(n ? n : 1);
    if (n) memcpy(copy, text, n);
    PyObject *view = need(PyMemoryView_FromMemory(copy, (Py_ssize_t)n, PyBUF_READ), "no view");
    PyObject *found = PyObject_CallFunctionObjArgs(callable, view, flag, NULL);
    Py_DECREF(view);
    free(copy);
    return found;
}

static const void *bytes_of(PyObject *dict, const char *name, size_t *n)
{
    PyObject *value = need(PyDict_GetItemString(dict, name), name);
    *n = (size_t)PyBytes_GET_SIZE(value);
    return PyBytes_AS_STRING(value);
}

static PyObject *copied(const void *data, size_t n)
{
    return need(PyBytes_FromStringAndSize(n ? data : "", (Py_ssize_t)n), "no memory");
}

/* Index() of the judgments: their documents, topic after topic. */
static PyObject *index_of(PyObject *kernels, PyObject *judged)
{
    size_t docs_n, ends_n, topic_n, topics_n;
    const char *docs = bytes_of(judged, "docs", &docs_n);
    const int64_t *ends = bytes_of(judged, "doc_ends", &ends_n);
    const int32_t *topic = bytes_of(judged, "topic", &topic_n);
    bytes_of(judged, "topic_ends", &topics_n);
    size_t rows = topic_n / 4, topics = topics_n / 8;
    Text grouped = {0}, grouped_ends = {0}, starts = {0};
    int64_t row = 0, at = 0;
    for (size_t t = 0; t <= topics; t++) {
        append(&starts, &row, sizeof row);
        for (size_t i = 0; t < topics && i < rows; i++) {
            if (topic[i] != (int32_t)t) continue;
            int64_t from = i ? ends[i - 1] : 0;
            append(&grouped, docs + from, (size_t)(ends[i] - from));
            at += ends[i] - from;
            append(&grouped_ends, &at, sizeof at);
            row++;
        }
    }
    PyObject *a = copied(grouped.data, grouped.size), *b = copied(grouped_ends.data, grouped_ends.size),
             *c = copied(starts.data, starts.size);
    PyObject *index = need(PyObject_CallMethod(kernels, "Index", "OOOOO", PyDict_GetItemString(judged, "topics"),
                                               PyDict_GetItemString(judged, "topic_ends"), a, b, c), "Index refused");
    Py_DECREF(need(PyObject_CallMethod(index, "duplicates", NULL), "duplicates"));
    Py_DECREF(a);
    Py_DECREF(b);
    Py_DECREF(c);
    free(grouped.data);
    free(grouped_ends.data);
    free(starts.data);
    return index;
}

/* A line with a number for each %, many times: past the sizes at which sorting, batches and tables change. */
static Text repeated(const uint8_t *p, size_t n)
{
    Text out = {0};
    if (n < 2) return out;
#ifdef SHORT
    unsigned many = 2 + p[0] % 3;
#else
    static const unsigned TIMES[] = {2, 3, 4, 13, 25, 33, 65, 70};
    unsigned many = p[0] == 255 && p[1] == 255 ? 1400 : TIMES[p[0] % 8];
#endif
    const uint8_t *end = p + n;
    for (unsigned i = 0; i < many; i++) {
        char number[16];
        size_t digits = (size_t)snprintf(number, sizeof number, "%u", i);
        for (const uint8_t *at = p + 2, *stop; at < end; at = stop + 1) {
            stop = memchr(at, '%', (size_t)(end - at));
            append(&out, at, (size_t)((stop ? stop : end) - at));
            if (!stop) break;
            append(&out, number, digits);
        }
    }
    return out;
}

/* One topic given as documents and scores. */
static void give(PyObject *scanner, const uint8_t *p, size_t n)
{
    const uint8_t *end = p + n, *topic_end = memchr(p, FIELD_END, n);
    if (!topic_end) return;
    const uint8_t *docs = topic_end + 1, *docs_end = memchr(docs, FIELD_END, (size_t)(end - docs));
    if (!docs_end) return;
    size_t many = (size_t)(end - docs_end - 1);
    double *scores = malloc(many * sizeof *scores + 1);
    for (size_t i = 0; i < many; i++) {
        unsigned which = docs_end[1 + i];
        scores[i] = which == 255 ? Py_NAN : which == 254 ? Py_HUGE_VAL : SCORES[which % (sizeof SCORES / sizeof *SCORES)];
    }
    PyObject *values = need(PyMemoryView_FromMemory((char *)scores, (Py_ssize_t)(many * sizeof *scores), PyBUF_READ), "no view");
    PyObject *found = PyObject_CallMethod(scanner, "add", "y#y#OO", p, (Py_ssize_t)(topic_end - p), docs,
                                          (Py_ssize_t)(docs_end - docs), Py_None, values);
    Py_DECREF(need(found, "add failed"));
    Py_DECREF(values);
    free(scores);
}

/* What finish() says of the run: all in one piece and read as older processors do, or as it is cut. */
static PyObject *scan(PyObject *kernels, PyObject *index, unsigned option, const uint8_t *run, size_t n, int whole, int *given)
{
    int truncate = option >> 3 & 3;
    PyObject *scanner = need(PyObject_CallMethod(kernels, "RunScanner", "Oiiiiii", index, option >> 1 & 3, truncate, option & 1,
                                                 option >> 7, option >> 6 & 1, truncate ? 0 : option >> 5 & 1), "RunScanner refused");
    PyObject *feed = need(PyObject_GetAttrString(scanner, "feed"), "feed");
    Text all = {0};
    int going = 1;
    for (const uint8_t *p = run, *end = run + n; p <= end && going;) {
        const uint8_t *stop = p < end ? memchr(p, CUT, (size_t)(end - p)) : NULL;
        if (!stop) stop = end;
        if (p < stop && *p == GIVEN) {
            *given = 1;
            give(scanner, p + 1, (size_t)(stop - p - 1));
        } else {
            Text piece = {0};
            if (p < stop && *p == REPEATED) piece = repeated(p + 1, (size_t)(stop - p - 1));
            else append(&piece, p, (size_t)(stop - p));
            if (whole) append(&all, piece.data, piece.size);
            else {
                PyObject *more = need(call_with(feed, piece.data, piece.size, NULL), "feed failed");
                going = more == Py_True;
                Py_DECREF(more);
            }
            free(piece.data);
        }
        p = stop + 1;
    }
    if (whole) Py_DECREF(need(PyObject_CallMethod(scanner, "narrow", NULL), "narrow"));
    if (whole) Py_DECREF(need(call_with(feed, all.data, all.size, NULL), "feed failed"));
    free(all.data);
    PyObject *found = need(PyObject_CallMethod(scanner, "finish", NULL), "finish failed");
    Py_DECREF(feed);
    Py_DECREF(scanner);
    return found;
}

static PyObject *kernels, *scan_qrels;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    kernels = start_python();
    scan_qrels = need(PyObject_GetAttrString(kernels, "scan_qrels"), "scan_qrels");
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (!n) return 0;
    unsigned option = data[0];
    const uint8_t *judgments = data + 1, *end = data + n, *run = memchr(judgments, JUDGMENTS_END, n - 1);
    size_t judgments_n = (size_t)((run ? run : end) - judgments);
    run = run ? run + 1 : end;
    PyObject *judged = need(call_with(scan_qrels, (const char *)judgments, judgments_n, option & 1 ? Py_True : Py_False), "scan_qrels failed");
    PyObject *index = index_of(kernels, judged);
    int given = 0;
    PyObject *cut = scan(kernels, index, option, run, (size_t)(end - run), 0, &given);
    if (!given && memchr(run, CUT, (size_t)(end - run))) {
        PyObject *whole = scan(kernels, index, option, run, (size_t)(end - run), 1, &given);
        PyObject *bad = PyDict_GetItemString(cut, "bad"), *split = PyDict_GetItemString(cut, "split");
        int refused = !(option & 1) && PyList_GET_SIZE(bad);   /* then only the place and the reason count */
        if (split == Py_True) {                                /* the reader starts again and gathers */
            if (option >> 7) broken("gathered topics are never split");
        } else if (refused ? PyObject_RichCompareBool(bad, PyDict_GetItemString(whole, "bad"), Py_EQ) != 1
                           : PyObject_RichCompareBool(cut, whole, Py_EQ) != 1)
            broken("one piece and several are read differently");
        Py_DECREF(whole);
    }
    Py_DECREF(cut);
    Py_DECREF(index);
    Py_DECREF(judged);
    return 0;
}
