#include "index.h"

int64_t index_find_topic(const Index *x, const char *s, size_t n)
{
    if (!x->n_topics) return -1;
    for (uint64_t i = hash_bytes(s, n) & x->topic_mask;; i = (i + 1) & x->topic_mask) {
        uint32_t v = x->topic_slot[i];
        if (!v) return -1;
        size_t m;
        const char *t = id_at(&x->topics, x->topic_end, v - 1, &m);
        if (m == n && same_bytes(s, t, n)) return v - 1;
    }
}

static int index_build(Index *x)
{
    x->topic_mask = table_size((uint64_t)x->n_topics) - 1;
    x->topic_slot = calloc(x->topic_mask + 1, sizeof *x->topic_slot);
    x->table_start = malloc(((size_t)x->n_topics + 1) * sizeof *x->table_start);
    x->table_mask = malloc(((size_t)x->n_topics + 1) * sizeof *x->table_mask);
    if (!x->topic_slot || !x->table_start || !x->table_mask) return -1;
    int64_t total = 0;
    for (int64_t t = 0; t < x->n_topics; t++) {
        size_t n;
        const char *s = id_at(&x->topics, x->topic_end, t, &n);
        uint64_t i = hash_bytes(s, n) & x->topic_mask;
        while (x->topic_slot[i]) i = (i + 1) & x->topic_mask;
        x->topic_slot[i] = (uint32_t)t + 1;
        uint64_t size = table_size((uint64_t)(x->row_start[t + 1] - x->row_start[t]));
        x->table_start[t] = total;
        x->table_mask[t] = size - 1;
        total += (int64_t)size;
    }
    x->row_slot = calloc((size_t)total + 1, sizeof *x->row_slot);
    x->row_hash = malloc(((size_t)x->n_rows + 1) * sizeof *x->row_hash);
    x->row_bits = calloc((size_t)total + 1, 1);
    if (!x->row_slot || !x->row_hash || !x->row_bits) return -1;
    for (int64_t t = 0; t < x->n_topics; t++) {
        const Rows judged = index_rows(x, t);
        for (int64_t r = x->row_start[t]; r < x->row_start[t + 1]; r++) {
            size_t n;
            const char *s = id_at(&x->docs, x->doc_end, r, &n);
            uint64_t h = hash_bytes(s, n), mask = x->table_mask[t], i = h & mask;
            x->row_hash[r] = h;
            int32_t earlier = find_row(&judged, s, n, h);
            if (earlier >= 0) {
                int64_t pair[2] = {r, earlier};
                if (arena_append(&x->duplicates, pair, sizeof pair)) return -1;
                continue;
            }
            x->row_bits[x->table_start[t] + (int64_t)(h >> 3 & mask)] |= (uint8_t)(1u << (h & 7));
            while (x->row_slot[x->table_start[t] + (int64_t)i]) i = (i + 1) & mask;
            x->row_slot[x->table_start[t] + (int64_t)i] = (h >> 32 << 32) | ((uint32_t)r + 1);
        }
    }
    return 0;
}

static int copy_buffer(PyObject *source, Arena *into)
{
    Py_buffer view;
    if (PyObject_GetBuffer(source, &view, PyBUF_SIMPLE)) return -1;
    int failed = arena_reserve(into, 1) || arena_append(into, view.buf, (size_t)view.len);
    PyBuffer_Release(&view);
    if (failed) PyErr_NoMemory();
    return failed;
}

static int copy_int64(PyObject *source, int64_t **into, int64_t *n)
{
    Arena a = {0};
    if (copy_buffer(source, &a)) return -1;
    *into = (int64_t *)a.data;
    *n = (int64_t)(a.size / sizeof(int64_t));
    return 0;
}

/* Checks what an index was given and builds its tables. */
static PyObject *index_finish(Index *x, int64_t n_starts)
{
    int consistent = n_starts == x->n_topics + 1 && x->row_start[0] == 0 &&
                     x->row_start[x->n_topics] == x->n_rows && x->n_rows < INT32_MAX &&
                     (!x->n_topics || x->topic_end[x->n_topics - 1] == (int64_t)x->topics.size) &&
                     (!x->n_rows || x->doc_end[x->n_rows - 1] == (int64_t)x->docs.size);
    for (int64_t i = 0; consistent && i < x->n_topics; i++)
        consistent = x->row_start[i] <= x->row_start[i + 1] &&
                     (i ? x->topic_end[i - 1] : 0) <= x->topic_end[i];
    for (int64_t i = 0; consistent && i < x->n_rows; i++)
        consistent = (i ? x->doc_end[i - 1] : 0) <= x->doc_end[i];
    if (!consistent) {
        Py_DECREF(x);
        PyErr_SetString(PyExc_ValueError, "inconsistent index arrays");
        return NULL;
    }
    int failed;
    Py_BEGIN_ALLOW_THREADS
    failed = index_build(x);
    Py_END_ALLOW_THREADS
    if (failed) {
        Py_DECREF(x);
        return PyErr_NoMemory();
    }
    return (PyObject *)x;
}

PyObject *index_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"topics", "topic_ends", "docs", "doc_ends", "row_starts", NULL};
    PyObject *topics, *topic_ends, *docs, *doc_ends, *row_starts;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOOOO", names, &topics, &topic_ends, &docs, &doc_ends,
                                     &row_starts))
        return NULL;
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    Index *x = (Index *)allocate(type, 0);
    if (!x) return NULL;
    int64_t n_starts;
    if (copy_buffer(topics, &x->topics) || copy_int64(topic_ends, &x->topic_end, &x->n_topics) ||
        copy_buffer(docs, &x->docs) || copy_int64(doc_ends, &x->doc_end, &x->n_rows) ||
        copy_int64(row_starts, &x->row_start, &n_starts)) {
        Py_DECREF(x);
        return NULL;
    }
    return index_finish(x, n_starts);
}

static int64_t *take_int64(Arena *from, int64_t *n)
{
    int64_t *data = (int64_t *)from->data;
    *n = (int64_t)(from->size / sizeof *data);
    memset(from, 0, sizeof *from);
    return data;
}

PyObject *index_take(PyTypeObject *type, Arena *topics, Arena *topic_ends, Arena *docs, Arena *doc_ends, Arena *starts)
{
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    Index *x = (Index *)allocate(type, 0);
    if (!x) return NULL;
    int64_t n_starts;
    x->topics = *topics;
    x->docs = *docs;
    memset(topics, 0, sizeof *topics);
    memset(docs, 0, sizeof *docs);
    x->topic_end = take_int64(topic_ends, &x->n_topics);
    x->doc_end = take_int64(doc_ends, &x->n_rows);
    x->row_start = take_int64(starts, &n_starts);
    return index_finish(x, n_starts);
}

void free_object(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

static void index_dealloc(Index *x)
{
    arena_free(&x->topics);
    arena_free(&x->docs);
    arena_free(&x->duplicates);
    free(x->topic_end);
    free(x->doc_end);
    free(x->row_start);
    free(x->topic_slot);
    free(x->row_slot);
    free(x->row_hash);
    free(x->row_bits);
    free(x->table_start);
    free(x->table_mask);
    free_object((PyObject *)x);
}

static PyObject *index_duplicates(Index *x, PyObject *Py_UNUSED(none))
{
    return arena_bytes(&x->duplicates);
}

static PyMethodDef index_methods[] = {
    {"duplicates", (PyCFunction)index_duplicates, METH_NOARGS,
     "int64 pairs (row, earlier row of the same topic with the same document), as bytes"},
    {NULL, NULL, 0, NULL}};

static PyType_Slot index_slots[] = {{Py_tp_new, index_new},
                                    {Py_tp_dealloc, index_dealloc},
                                    {Py_tp_methods, index_methods},
                                    {Py_tp_doc, "Judged documents of each topic, for look-up by id."},
                                    {0, NULL}};
PyType_Spec index_spec = {"unjudged.kernels._c.Index", sizeof(Index), 0, Py_TPFLAGS_DEFAULT, index_slots};
