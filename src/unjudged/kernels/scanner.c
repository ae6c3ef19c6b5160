/* RunScanner as Python sees it: feed(), feed_from() or add(), then finish(). */
#include "scanner.h"

#include <errno.h>
#ifdef _WIN32
#include <io.h>
#define READ_SOME(fd, at, n) _read(fd, at, (unsigned)(n))
#else
#include <unistd.h>
#define READ_SOME(fd, at, n) read(fd, at, n)
#endif

int begin_work(RunScanner *r)
{
    int here;
    Py_BEGIN_CRITICAL_SECTION(r);
    here = !r->busy && !r->failed;
    if (here) r->busy = 1;
    Py_END_CRITICAL_SECTION();
    if (!here) PyErr_SetString(PyExc_RuntimeError, "this scanner is busy or has failed");
    return here ? 0 : -1;
}

PyObject *end_work(RunScanner *r, PyObject *result)
{
    Py_BEGIN_CRITICAL_SECTION(r);
    r->busy = 0;
    Py_END_CRITICAL_SECTION();
    return result;
}

static int take_status(RunScanner *r, int status)
{
    if (status > 0) r->stopped = 1;
    if (status < 0) {
        r->failed = 1;
        PyErr_NoMemory();
        return -1;
    }
    return 0;
}

static PyObject *scanner_feed(RunScanner *r, PyObject *text)
{
    Py_buffer view;
    if (begin_work(r)) return NULL;
    if (PyObject_GetBuffer(text, &view, PyBUF_SIMPLE)) return end_work(r, NULL);
    int status = 0;
    Py_BEGIN_ALLOW_THREADS
    if (!r->stopped) status = scan_text(r, view.buf, (size_t)view.len);
    Py_END_ALLOW_THREADS
    PyBuffer_Release(&view);
    if (take_status(r, status)) return end_work(r, NULL);
    return end_work(r, PyBool_FromLong(!r->stopped && !r->split));
}

/* Reads and scans without giving way to other threads of Python in between: where two of them read a run each, every
 * such moment is one in which they may wait for each other. */
static PyObject *scanner_feed_from(RunScanner *r, PyObject *args)
{
    int fd, status = 0, error = 0;
    Py_buffer room;
    long long most, done = 0, got = 0;
    if (!PyArg_ParseTuple(args, "iw*L", &fd, &room, &most)) return NULL;
    if (begin_work(r)) {
        PyBuffer_Release(&room);
        return NULL;
    }
    long long size = room.len < 1 << 30 ? (long long)room.len : 1 << 30;
    do {
        Py_BEGIN_ALLOW_THREADS
        for (error = 0; done < most && !status && !r->stopped && !r->split; done += got) {
            got = READ_SOME(fd, room.buf, (size_t)(most - done < size ? most - done : size));
            if (got < 0) error = errno;
            if (got <= 0) break;
            status = scan_text(r, room.buf, (size_t)got);
        }
        Py_END_ALLOW_THREADS
    } while (error == EINTR && !PyErr_CheckSignals());
    PyBuffer_Release(&room);
    if (take_status(r, status) || PyErr_Occurred()) return end_work(r, NULL);
    if (error) {
        errno = error;
        return end_work(r, PyErr_SetFromErrno(PyExc_OSError));
    }
    return end_work(r, PyLong_FromLongLong(r->stopped || r->split ? 0 : done));
}

static PyObject *scanner_add(RunScanner *r, PyObject *args)
{
    Py_buffer topic, docs, ends = {0}, scores;
    PyObject *ends_object;
    if (begin_work(r)) return NULL;
    if (!PyArg_ParseTuple(args, "y*y*Oy*", &topic, &docs, &ends_object, &scores)) return end_work(r, NULL);
    int64_t status = -2;
    if (ends_object == Py_None || !PyObject_GetBuffer(ends_object, &ends, PyBUF_SIMPLE)) {
        size_t n = (size_t)scores.len / sizeof(double);
        if (!ends.obj || (size_t)ends.len / sizeof(int64_t) == n) {
            Py_BEGIN_ALLOW_THREADS
            status = add_topic(r, topic.buf, (size_t)topic.len, docs.buf, (size_t)docs.len, ends.buf, scores.buf, n);
            Py_END_ALLOW_THREADS
        }
        if (ends.obj) PyBuffer_Release(&ends);
    }
    PyBuffer_Release(&topic);
    PyBuffer_Release(&docs);
    PyBuffer_Release(&scores);
    if (PyErr_Occurred() || take_status(r, status == -1 ? -1 : 0)) return end_work(r, NULL);
    return end_work(r, PyLong_FromLongLong(status));
}

static int finish_gathered(RunScanner *r)
{
    size_t n = r->entries.size / sizeof(Entry);
    int64_t topics = r->index->n_topics;
    const Entry *all = (const Entry *)r->entries.data;
    const int32_t *topic = (const int32_t *)r->entry_topic.data;
    int64_t *start = calloc((size_t)topics + 2, sizeof *start);
    Entry *grouped = malloc((n + 1) * sizeof *grouped);
    int failed = !start || !grouped;
    if (!failed) {
        for (size_t i = 0; i < n; i++) start[topic[i] + 2]++;
        for (int64_t t = 0; t < topics; t++) start[t + 2] += start[t + 1];
        for (size_t i = 0; i < n; i++) grouped[start[topic[i] + 1]++] = all[i];
        for (int64_t t = 0; t < topics && !failed; t++)
            if (r->seen[t]) failed = rank_topic(r, t, grouped + start[t], (size_t)(start[t + 1] - start[t]), 1, 1);
    }
    free(start);
    free(grouped);
    return failed ? -1 : 0;
}

/* Hits in topic order: offsets int64[T + 1], rows and ranks int32. */
static int collect(RunScanner *r, const int64_t *from, const int64_t *to, const Arena *values, int32_t *out,
                   int64_t *offsets)
{
    int64_t at = 0;
    for (int64_t t = 0; t < r->index->n_topics; t++) {
        if (offsets) offsets[t] = at;
        int64_t n = r->seen[t] ? to[t] - from[t] : 0;
        if (out && n) memcpy(out + at, (int32_t *)values->data + from[t], (size_t)n * sizeof *out);
        at += n;
    }
    if (offsets) offsets[r->index->n_topics] = at;
    return 0;
}

static int add_docs(RunScanner *r, PyObject *out)
{
    size_t topics = (size_t)r->index->n_topics, n = r->doc_rows.size / sizeof(int32_t);
    char *offsets = NULL, *rows = NULL, *ends = NULL, *docs = NULL, *scores = NULL;
    PyObject *offsets_b = new_bytes((topics + 1) * 8, &offsets), *rows_b = new_bytes(n * 4, &rows),
             *ends_b = new_bytes(n * 8, &ends), *docs_b = new_bytes(r->docs.size, &docs),
             *scores_b = new_bytes(n * 8, &scores);
    if (offsets_b && rows_b && ends_b && docs_b && scores_b) {
        collect(r, r->doc_start, r->doc_stop, &r->doc_rows, (int32_t *)rows, (int64_t *)offsets);
        const int64_t *all = (const int64_t *)r->doc_ends.data;
        int64_t at = 0, *end = (int64_t *)ends;
        for (size_t t = 0; t < topics; t++) {
            if (!r->seen[t] || r->doc_stop[t] == r->doc_start[t]) continue;
            size_t listed = (size_t)(r->doc_stop[t] - r->doc_start[t]) * sizeof(double);
            memcpy(scores, (double *)r->doc_scores.data + r->doc_start[t], listed);
            scores += listed;
            for (int64_t i = r->doc_start[t]; i < r->doc_stop[t]; i++) {
                int64_t start = i ? all[i - 1] : 0;
                if (all[i] > start) memcpy(docs + at, r->docs.data + start, (size_t)(all[i] - start));
                at += all[i] - start;
                *end++ = at;
            }
        }
    }
    return set_item(out, "doc_offsets", offsets_b) | set_item(out, "doc_rows", rows_b) |
           set_item(out, "doc_ends", ends_b) | set_item(out, "docs", docs_b) | set_item(out, "doc_scores", scores_b);
}

static int add_hit_values(RunScanner *r, PyObject *out, const char *name, const Arena *values)
{
    char *data = NULL;
    PyObject *bytes = new_bytes(values->size, &data);
    if (bytes) collect(r, r->hit_start, r->hit_end, values, (int32_t *)data, NULL);
    return set_item(out, name, bytes);
}

/* The names of the topics outside the judgments: all of them with full lists, else the first few. */
static PyObject *outside_names(const RunScanner *r)
{
    uint64_t shown = r->keep_docs || r->outside_count < 5 ? r->outside_count : 5;
    int64_t size = shown ? ((const int64_t *)r->outside_ends.data)[shown - 1] : 0;
    return PyBytes_FromStringAndSize(shown ? r->outside_names.data : "", (Py_ssize_t)size);
}

static PyObject *scanner_steps(RunScanner *r, PyObject *Py_UNUSED(none)) { return PyLong_FromUnsignedLongLong(r->steps); }

static PyObject *scanner_narrow(RunScanner *r, PyObject *Py_UNUSED(none))
{
    r->narrow = 1;
    Py_RETURN_NONE;
}

static PyObject *scanner_finish(RunScanner *r, PyObject *Py_UNUSED(none))
{
    if (begin_work(r)) return NULL;
    int status = 0;
    Py_BEGIN_ALLOW_THREADS
    if (!r->stopped && r->rest.size) {
        status = scan_rest(r);
        r->rest.size = 0;
    }
    if (!status && !r->stopped) status = r->gather ? finish_gathered(r) : close_topic(r);
    Py_END_ALLOW_THREADS
    if ((r->stopped || status > 0) && r->topic >= 0 && !r->gather) r->rows.size = r->ranks.size = r->first_hit * sizeof(int32_t);
    r->topic = -2;
    if (take_status(r, status)) return end_work(r, NULL);
    size_t topics = (size_t)r->index->n_topics, n = r->rows.size / sizeof(int32_t);
    char *offsets = NULL, *rows = NULL, *ranks = NULL;
    PyObject *out = PyDict_New(), *offsets_b = new_bytes((topics + 1) * 8, &offsets), *rows_b = new_bytes(n * 4, &rows),
             *ranks_b = new_bytes(n * 4, &ranks);
    if (out && offsets_b && rows_b && ranks_b) {
        collect(r, r->hit_start, r->hit_end, &r->rows, (int32_t *)rows, (int64_t *)offsets);
        collect(r, r->hit_start, r->hit_end, &r->ranks, (int32_t *)ranks, NULL);
    }
    int failed = !out;
    if (!failed) {
        failed = set_item(out, "offsets", offsets_b) | set_item(out, "row", rows_b) | set_item(out, "rank", ranks_b);
        failed |= set_item(out, "length", PyBytes_FromStringAndSize((char *)r->length, (Py_ssize_t)(topics * 4)));
        failed |= set_item(out, "answered", PyBytes_FromStringAndSize((char *)r->seen, (Py_ssize_t)topics));
        failed |= set_item(out, "tag", arena_bytes(&r->tag));
        failed |= set_item(out, "lines", PyLong_FromLongLong(r->lines));
        failed |= set_item(out, "split", PyBool_FromLong(r->split != 0));
        failed |= set_item(out, "bad", bad_lines_list(&r->bad));
        failed |= set_item(out, "bad_count", PyLong_FromLongLong(r->bad.count));
        failed |= set_item(out, "duplicates", PyLong_FromLongLong(r->duplicates));
        failed |= set_item(out, "duplicate_topic", PyLong_FromLongLong(r->duplicate_topic));
        failed |= set_item(out, "duplicate_doc", arena_bytes(&r->duplicate_doc));
        failed |= set_item(out, "repeats", arena_bytes(&r->repeats));
        failed |= set_item(out, "outside_topics", PyLong_FromUnsignedLongLong(r->outside_count));
        failed |= set_item(out, "outside_names", outside_names(r));
        failed |= set_item(out, "endless", PyLong_FromLongLong(r->endless));
        if (r->keep_docs) failed |= add_docs(r, out);
        if (r->tie_groups) failed |= add_hit_values(r, out, "tie_first", &r->tie_first) | add_hit_values(r, out, "tie_size", &r->tie_size);
    }
    if (failed) Py_CLEAR(out);
    return end_work(r, out);
}

static PyObject *scanner_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"index", "ties", "truncate", "lenient", "gather", "keep_docs", "tie_groups", NULL};
    PyObject *index;
    int ties = 0, lenient = 0, gather = 0, keep_docs = 0, tie_groups = 0;
    long long truncate = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|iLpppp", names, &index, &ties, &truncate, &lenient, &gather,
                                     &keep_docs, &tie_groups))
        return NULL;
    PyObject *kind = PyObject_GetAttrString((PyObject *)Py_TYPE(index), "__name__");
    int right = kind && PyUnicode_CompareWithASCIIString(kind, "Index") == 0 &&
                PyType_GetSlot(Py_TYPE(index), Py_tp_new) == (void *)index_new;
    Py_XDECREF(kind);
    if (!right || ties < 0 || ties > TIES_ASCENDING || truncate < 0) {
        PyErr_SetString(PyExc_TypeError, "RunScanner(index, ties, truncate, lenient, gather, keep_docs, tie_groups)");
        return NULL;
    }
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    RunScanner *r = (RunScanner *)allocate(type, 0);
    if (!r) return NULL;
    Py_INCREF(index);
    r->index = (Index *)index;
    r->ties = ties;
    r->truncate = truncate;
    r->lenient = lenient;
    r->gather = gather;
    r->keep_docs = keep_docs;
    r->tie_groups = tie_groups;
    r->topic = -2;
    r->duplicate_topic = -1;
    size_t topics = (size_t)r->index->n_topics + 1;
    r->hit_start = calloc(topics, sizeof *r->hit_start);
    r->hit_end = calloc(topics, sizeof *r->hit_end);
    r->length = calloc(topics, sizeof *r->length);
    r->seen = calloc(topics, sizeof *r->seen);
    r->doc_start = keep_docs ? calloc(topics, sizeof *r->doc_start) : NULL;
    r->doc_stop = keep_docs ? calloc(topics, sizeof *r->doc_stop) : NULL;
    if (!r->hit_start || !r->hit_end || !r->length || !r->seen || (keep_docs && (!r->doc_start || !r->doc_stop))) {
        Py_DECREF(r);
        return PyErr_NoMemory();
    }
    return (PyObject *)r;
}

static void scanner_dealloc(RunScanner *r)
{
    Arena *arenas[] = {&r->topic_id, &r->entries, &r->arena,    &r->keys,     &r->spare,         &r->table,
                       &r->known,    &r->entry_topic,
                       &r->rest,     &r->tag,     &r->rows,     &r->ranks,    &r->docs,          &r->doc_ends,
                       &r->doc_rows, &r->doc_scores, &r->bad.text, &r->outside_names, &r->outside_ends, &r->duplicate_doc,
                       &r->repeats,
                       &r->tie_first, &r->tie_size};
    for (size_t i = 0; i < sizeof arenas / sizeof *arenas; i++) arena_free(arenas[i]);
    free(r->hit_start);
    free(r->hit_end);
    free(r->doc_start);
    free(r->doc_stop);
    free(r->length);
    free(r->seen);
    free(r->outside);
    Py_XDECREF((PyObject *)r->index);
    free_object((PyObject *)r);
}

static PyMethodDef scanner_methods[] = {
    {"feed", (PyCFunction)scanner_feed, METH_O,
     "Scan a piece of text, cut anywhere. False: no need to go on (unusable line, or a topic in two places)."},
    {"feed_from", (PyCFunction)scanner_feed_from, METH_VARARGS,
     "feed_from(descriptor, buffer, most): scan up to so many bytes of a file, through the buffer. How many they were; 0: the\n"
     "file has no more, or there is no need to go on."},
    {"add", (PyCFunction)scanner_add, METH_VARARGS,
     "add(topic, newline-joined documents, ends or None, float64 scores): 0 done, -2 counts differ, i > 0 NaN at i - 1."},
    {"add_run", (PyCFunction)scanner_add_run, METH_VARARGS,
     "add_run(topics, topic_ends, starts, docs, doc_ends, scores): a run as pack_run packs it. False: a topic is there twice."},
    {"steps", (PyCFunction)scanner_steps, METH_NOARGS,
     "How many places of its tables were taken by other documents or topics when one was looked up: tests watch it."},
    {"narrow", (PyCFunction)scanner_narrow, METH_NOARGS,
     "Read lines as a processor without AVX2 does: for tests."},
    {"finish", (PyCFunction)scanner_finish, METH_NOARGS, "The hits of each topic and what was noticed, as a dict."},
    {NULL, NULL, 0, NULL}};

static PyType_Slot scanner_slots[] = {{Py_tp_new, scanner_new},
                                      {Py_tp_dealloc, scanner_dealloc},
                                      {Py_tp_methods, scanner_methods},
                                      {Py_tp_doc, "Reads one run and keeps its judged hits."},
                                      {0, NULL}};
PyType_Spec scanner_spec = {"unjudged.kernels._c.RunScanner", sizeof(RunScanner), 0, Py_TPFLAGS_DEFAULT,
                                   scanner_slots};
