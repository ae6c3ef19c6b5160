/* Dicts of dicts, walked where they lie: {topic: {document: grade or score}} with plain dicts, texts and numbers.
 * Anything else (a number as id, a subclass, NaN, a lone surrogate) is left to Python, which finds the words. */
#include "scanner.h"

#include <math.h>

enum { LARGEST_GRADE = 1000000000 };

/* A text as UTF-8, where it lies; 0: it is none, or cannot be written so. */
static inline int utf8_of(PyObject *text, const char **s, size_t *n)
{
    Py_ssize_t size;
    if (!PyUnicode_CheckExact(text)) return 0;
    *s = PyUnicode_AsUTF8AndSize(text, &size);
    if (!*s) {
        PyErr_Clear();
        return 0;
    }
    *n = (size_t)size;
    return 1;
}

/* A score: an exact float, or a whole number a float can hold exactly. NaN is none. */
static inline int score_of(PyObject *number, double *out)
{
    if (PyFloat_CheckExact(number)) {
        *out = PyFloat_AsDouble(number);
        return !isnan(*out);
    }
    if (!PyLong_CheckExact(number)) return 0;
    int overflow;
    long long whole = PyLong_AsLongLongAndOverflow(number, &overflow);
    if (overflow || whole > (1ll << 53) || whole < -(1ll << 53)) return 0;
    *out = (double)whole;
    return 1;
}

/* What a dict of dicts is packed into. */
typedef struct { Arena topics, topic_ends, starts, docs, doc_ends, values; } Packed;

static void packed_free(Packed *p)
{
    Arena *arenas[] = {&p->topics, &p->topic_ends, &p->starts, &p->docs, &p->doc_ends, &p->values};
    for (size_t i = 0; i < sizeof arenas / sizeof *arenas; i++) arena_free(arenas[i]);
}

/* The next document of a dict, having asked for the memory of one that comes later: they lie anywhere. */
typedef struct { PyObject *dict; Py_ssize_t place, later; } Walk;

static Walk walk(PyObject *dict)
{
    enum { AHEAD = 12 };
    Walk w = {dict, 0, 0};
    PyObject *key, *value;
    for (int i = 0; i < AHEAD && PyDict_Next(dict, &w.later, &key, &value); i++) {
        PREFETCH(key);
        PREFETCH(value);
    }
    return w;
}

static inline int next_pair(Walk *w, PyObject **key, PyObject **value)
{
    if (PyDict_Next(w->dict, &w->later, key, value)) {
        PREFETCH(*key);
        PREFETCH(*value);
    }
    return PyDict_Next(w->dict, &w->place, key, value);
}

enum { PLAIN, ODD, NO_MEMORY };

/* The dict while it is walked: nobody changes it, because this thread has the lock of all, or a copy. NULL: no memory. */
static PyObject *kept(PyObject *dict)
{
#ifdef Py_GIL_DISABLED
    PyObject *copy = PyDict_Copy(dict);
    if (!copy) PyErr_Clear();
    return copy;
#else
    return Py_NewRef(dict);
#endif
}

/* Packs one topic's documents with scores (float64) or grades (int32). */
static int pack_documents(PyObject *inside, int scores, Packed *p)
{
    PyObject *doc, *number;
    const size_t many = (size_t)PyDict_Size(inside);
    if (arena_reserve(&p->doc_ends, many * 8) || arena_reserve(&p->values, many * (scores ? 8 : 4))) return NO_MEMORY;
    Walk w = walk(inside);
    for (size_t i = 0; i < many && next_pair(&w, &doc, &number); i++) {
        const char *s;
        size_t n;
        double score = 0;
        int overflow = 1;
        long long grade = !scores && PyLong_CheckExact(number) ? PyLong_AsLongLongAndOverflow(number, &overflow) : 0;
        if (scores ? !score_of(number, &score) : overflow || grade > LARGEST_GRADE || grade < -LARGEST_GRADE) return ODD;
        if (!utf8_of(doc, &s, &n)) return ODD;
        if (arena_append(&p->docs, s, n)) return NO_MEMORY;
        const int64_t end = (int64_t)p->docs.size;
        memcpy(p->doc_ends.data + p->doc_ends.size, &end, 8);
        p->doc_ends.size += 8;
        const int32_t small = (int32_t)grade;
        memcpy(p->values.data + p->values.size, scores ? (const void *)&score : &small, scores ? 8 : 4);
        p->values.size += scores ? 8 : 4;
    }
    return PLAIN;
}

/* Packs a dict of dicts, topic by topic. */
static int pack_topics(PyObject *given, int scores, Packed *p)
{
    PyObject *topic, *value;
    Py_ssize_t place = 0;
    while (PyDict_Next(given, &place, &topic, &value)) {
        const char *s;
        size_t n;
        const int64_t start = (int64_t)(p->doc_ends.size / 8);
        if (!PyDict_CheckExact(value) || !utf8_of(topic, &s, &n)) return ODD;
        if (arena_append(&p->topics, s, n) || arena_append(&p->starts, &start, 8)) return NO_MEMORY;
        const int64_t end = (int64_t)p->topics.size;
        if (arena_append(&p->topic_ends, &end, 8)) return NO_MEMORY;
        PyObject *inside = kept(value);
        if (!inside) return NO_MEMORY;
        const int status = pack_documents(inside, scores, p);
        Py_DECREF(inside);
        if (status != PLAIN) return status;
    }
    const int64_t all = (int64_t)(p->doc_ends.size / 8);
    return arena_append(&p->starts, &all, 8) ? NO_MEMORY : PLAIN;
}

static int pack(PyObject *value, int scores, Packed *p)
{
    if (!PyDict_CheckExact(value)) return ODD;
    PyObject *given = kept(value);
    if (!given) return NO_MEMORY;
    const int status = pack_topics(given, scores, p);
    Py_DECREF(given);
    return status;
}

static PyObject *packed(PyObject *given, int scores)
{
    Packed p = {0};
    PyObject *out = NULL;
    int status = pack(given, scores, &p);
    if (status == NO_MEMORY) PyErr_NoMemory();
    else if (status == ODD) out = Py_NewRef(Py_None);
    else if ((out = PyDict_New())) {
        int failed = set_item(out, "topics", arena_bytes(&p.topics)) | set_item(out, "topic_ends", arena_bytes(&p.topic_ends)) |
                     set_item(out, "starts", arena_bytes(&p.starts)) | set_item(out, "docs", arena_bytes(&p.docs)) |
                     set_item(out, "doc_ends", arena_bytes(&p.doc_ends)) | set_item(out, "values", arena_bytes(&p.values));
        if (failed) {
            Py_DECREF(out);
            out = NULL;
        }
    }
    packed_free(&p);
    return out;
}

static PyObject *pack_run(PyObject *Py_UNUSED(module), PyObject *run) { return packed(run, 1); }
static PyObject *pack_judgments(PyObject *Py_UNUSED(module), PyObject *qrels) { return packed(qrels, 0); }

/* One topic after another, each ranked at once. */
static int add_packed(RunScanner *r, const char *topics, const int64_t *topic_end, const int64_t *start, int64_t many,
                      const char *docs, const int64_t *doc_end, const double *score)
{
    enum { BATCH = 64 };
    Listed listed[BATCH];
    for (int64_t t = 0; t < many; t++) {
        const int64_t from = t ? topic_end[t - 1] : 0;
        if (open_topic(r, topics + from, (size_t)(topic_end[t] - from))) return -1;
        r->lines += start[t + 1] - start[t];
        if (r->topic < 0) {
            r->outside_lines += start[t + 1] - start[t];
            continue;
        }
        r->text = docs;
        for (int64_t first = start[t]; first < start[t + 1]; first += BATCH) {
            size_t here = 0;
            for (int64_t i = first; here < BATCH && i < start[t + 1]; i++, here++) {
                const int64_t at = i ? doc_end[i - 1] : 0;
                const size_t n = (size_t)(doc_end[i] - at);
                listed[here] = (Listed){docs + at, n, hash_bytes(docs + at, n), score[i]};
            }
            if (add_listed(r, listed, here)) return -1;
        }
        if (r->gather) {
            if (leave_text(r)) return -1;
        } else if (close_topic(r)) return -1;
        else r->topic = -2;
    }
    return 0;
}

PyObject *scanner_add_run(RunScanner *r, PyObject *args)
{
    enum { TOPICS, TOPIC_ENDS, STARTS, DOCS, DOC_ENDS, SCORES, ARRAYS };
    Py_buffer b[ARRAYS];
    if (begin_work(r)) return NULL;
    if (!PyArg_ParseTuple(args, "y*y*y*y*y*y*", &b[TOPICS], &b[TOPIC_ENDS], &b[STARTS], &b[DOCS], &b[DOC_ENDS], &b[SCORES]))
        return end_work(r, NULL);
    const int64_t *topic_end = b[TOPIC_ENDS].buf, *start = b[STARTS].buf, *doc_end = b[DOC_ENDS].buf;
    const int64_t many = count_segments(&b[STARTS]), docs = b[DOC_ENDS].len / 8;
    int right = many >= 0 && b[TOPIC_ENDS].len / 8 == many && start[many] == docs && b[SCORES].len / 8 == docs &&
                (!many || topic_end[many - 1] <= b[TOPICS].len) && (!docs || doc_end[docs - 1] <= b[DOCS].len);
    for (int64_t i = 0; right && i < many; i++) right = (i ? topic_end[i - 1] : 0) <= topic_end[i];
    for (int64_t i = 0; right && i < docs; i++) right = (i ? doc_end[i - 1] : 0) <= doc_end[i];
    int failed = 0;
    if (right) {
        Py_BEGIN_ALLOW_THREADS
        failed = add_packed(r, b[TOPICS].buf, topic_end, start, many, b[DOCS].buf, doc_end, b[SCORES].buf);
        Py_END_ALLOW_THREADS
    } else PyErr_SetString(PyExc_ValueError, "inconsistent arrays");
    for (int i = 0; i < ARRAYS; i++) PyBuffer_Release(&b[i]);
    if (failed) {
        r->failed = 1;
        return end_work(r, PyErr_NoMemory());
    }
    return end_work(r, right ? PyBool_FromLong(!r->split) : NULL);
}

PyMethodDef dict_functions[] = {
    {"pack_run", pack_run, METH_O,
     "pack_run(run): ids, ends and float64 scores of a plain dict of dicts, as a dict of bytes; None for any other."},
    {"pack_judgments", pack_judgments, METH_O,
     "pack_judgments(qrels): ids, ends and int32 grades of a plain dict of dicts, as a dict of bytes; None for any other."},
    {NULL, NULL, 0, NULL}};
