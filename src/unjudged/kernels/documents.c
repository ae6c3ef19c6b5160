#include "text.h"

/* Hashes are computed so many documents ahead, and their slots fetched meanwhile: the table does not fit into the cache. */
#define AHEAD 16

static inline uint64_t hash_of(const char *docs, const int64_t *end, const int32_t *topic, size_t i)
{
    int64_t start = i ? end[i - 1] : 0;
    return mix(hash_bytes(docs + start, (size_t)(end[i] - start)) + (uint64_t)topic[i] * 0x9E3779B97F4A7C15ull);
}

/* Codes for (topic, document) pairs that are not judged: equal pairs get equal codes, counted from `first`
 * in order of appearance. docs/ends as in finish(); topic and known rows per document. */
static PyObject *code_documents(PyObject *Py_UNUSED(module), PyObject *args)
{
    Py_buffer docs, ends, topics, rows;
    long long first;
    if (!PyArg_ParseTuple(args, "y*y*y*y*L", &docs, &ends, &topics, &rows, &first)) return NULL;
    size_t n = (size_t)ends.len / 8;
    const int64_t *end = ends.buf;
    const int32_t *topic = topics.buf, *row = rows.buf;
    char *out_data = NULL;
    PyObject *out = NULL;
    int right = (size_t)topics.len / 4 == n && (size_t)rows.len / 4 == n && (!n || end[n - 1] <= docs.len);
    for (size_t i = 0; right && i < n; i++) right = (i ? end[i - 1] : 0) <= end[i];
    if (!right) PyErr_SetString(PyExc_ValueError, "inconsistent document arrays");
    else out = new_bytes(n * 4, &out_data);
    if (out) {
        int failed, full = 0;
        Py_BEGIN_ALLOW_THREADS
        uint64_t size = table_size(n), mask = size - 1;
        uint32_t *slot = calloc(size, sizeof *slot);
        int32_t *code = (int32_t *)out_data;
        int64_t next = first;
        uint64_t ahead[AHEAD];
        failed = !slot;
        for (size_t i = 0; i < n && i < AHEAD; i++) ahead[i] = row[i] >= 0 ? 0 : hash_of(docs.buf, end, topic, i);
        for (size_t i = 0; i < n && !failed && !full; i++) {
            uint64_t h = ahead[i % AHEAD];
            size_t later = i + AHEAD;
            if (later < n && row[later] < 0) {
                ahead[i % AHEAD] = hash_of(docs.buf, end, topic, later);
                PREFETCH(&slot[ahead[i % AHEAD] & mask]);
            }
            if (row[i] >= 0) { code[i] = row[i]; continue; }
            int64_t start = i ? end[i - 1] : 0;
            const char *s = (const char *)docs.buf + start;
            size_t m = (size_t)(end[i] - start);
            uint64_t j = h & mask;
            for (; slot[j]; j = (j + 1) & mask) {
                size_t o = slot[j] - 1;
                int64_t other = o ? end[o - 1] : 0;
                if (topic[o] == topic[i] && (size_t)(end[o] - other) == m &&
                    !memcmp((const char *)docs.buf + other, s, m))
                    break;
            }
            if (slot[j]) code[i] = code[slot[j] - 1];
            else if (next < 0 || next > INT32_MAX || i >= UINT32_MAX) full = 1;
            else { slot[j] = (uint32_t)i + 1; code[i] = (int32_t)next++; }
        }
        free(slot);
        Py_END_ALLOW_THREADS
        if (failed) {
            Py_DECREF(out);
            out = PyErr_NoMemory();
        }
        else if (full) {
            Py_DECREF(out);
            out = NULL;
            PyErr_SetString(PyExc_OverflowError, "more documents than there are codes");
        }
    }
    PyBuffer_Release(&docs);
    PyBuffer_Release(&ends);
    PyBuffer_Release(&topics);
    PyBuffer_Release(&rows);
    return out;
}

PyMethodDef document_functions[] = {
    {"code_documents", code_documents, METH_VARARGS,
     "code_documents(docs, ends, topic, row, first): int32 code per document, as bytes; judged ones keep their row."},
    {NULL, NULL, 0, NULL}};
