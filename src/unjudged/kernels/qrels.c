/* A judgment file's text -> columns. */
#include "index.h"
#include "plain_line.h"

/* Distinct names with codes 0, 1, 2... in order of appearance. */
typedef struct {
    Arena names, ends;
    uint32_t *slot;
    uint64_t slots, count;
} Names;

typedef struct {
    Names topics, iterations;
    Arena line_topic, docs, doc_ends, grades, lines, line_iteration;
    Arena starts;                /* where the judgments of each topic start, if every topic stands in one place */
    int scattered;
    int64_t line;
    BadLines bad;
} QrelsText;

static int names_grow(Names *t)
{
    if (2 * (t->count + 1) <= t->slots) return 0;
    uint64_t size = t->slots ? 2 * t->slots : 256;
    uint32_t *grown = calloc(size, sizeof *grown);
    if (!grown) return -1;
    for (uint64_t c = 0; c < t->count; c++) {
        size_t n;
        const char *s = id_at(&t->names, (int64_t *)t->ends.data, (int64_t)c, &n);
        uint64_t i = hash_bytes(s, n) & (size - 1);
        while (grown[i]) i = (i + 1) & (size - 1);
        grown[i] = (uint32_t)c + 1;
    }
    free(t->slot);
    t->slot = grown;
    t->slots = size;
    return 0;
}

/* The code of a name, added if it is new; -1: no memory. */
static int64_t names_code(Names *t, const char *s, size_t n)
{
    if (names_grow(t)) return -1;
    uint64_t i = hash_bytes(s, n) & (t->slots - 1);
    for (; t->slot[i]; i = (i + 1) & (t->slots - 1)) {
        size_t m;
        const char *known = id_at(&t->names, (int64_t *)t->ends.data, t->slot[i] - 1, &m);
        if (m == n && same_bytes(s, known, n)) return t->slot[i] - 1;
    }
    if (arena_append(&t->names, s, n)) return -1;
    int64_t end = (int64_t)t->names.size;
    if (arena_append(&t->ends, &end, sizeof end)) return -1;
    t->slot[i] = (uint32_t)++t->count;
    return (int64_t)t->count - 1;
}

static void names_free(Names *t)
{
    arena_free(&t->names);
    arena_free(&t->ends);
    free(t->slot);
}

static int parse_grade(const char *s, size_t n, int32_t *out)
{
    size_t i = n && (s[0] == '-' || s[0] == '+');
    int64_t v = 0;
    if (i == n) return -1;
    for (; i < n; i++) {
        if (s[i] < '0' || s[i] > '9') return -1;
        v = v * 10 + (s[i] - '0');
        if (v > 1000000000) return -1;
    }
    *out = (int32_t)(s[0] == '-' ? -v : v);
    return 0;
}

/* The four fields of a judgment; fewer where the line (without its newline) has fewer. */
static inline int split_judgment(const char *line, const char *stop, const char *end, Field *f)
{
#if PLAIN_LINES
    if (end - line >= PLAIN_MARGIN && split_plain_judgment(line, stop, f)) return 4;
#else
    (void)end;
#endif
    return split_line(line, stop, f, 4);
}

static inline int same_field(const Field *a, const Field *b) { return a->n == b->n && same_bytes(a->s, b->s, a->n); }

/* `columns`: with line, topic and iteration of each judgment. */
static int scan_qrels_text(QrelsText *q, const char *p, size_t size, int lenient, int columns)
{
    const char *end = p + size;
    Field last = {NULL, 0}, last_iteration = {NULL, 0};
    int64_t topic = -1, iteration = -1, judgments = 0;
    while (p < end) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        const char *stop = newline ? newline : end, *line = p;
        p = newline ? newline + 1 : end;
        q->line++;
        if (line == stop || *line == '#') continue;
        Field f[4];
        int found = split_judgment(line, stop, end, f), kind = 0;
        int32_t grade = 0;
        if (!found) continue;
        if (found < 4) kind = BAD_FIELDS;
        else if (parse_grade(f[3].s, f[3].n, &grade)) kind = BAD_GRADE;
        if (kind) {
            if (memchr(line, 0, (size_t)(stop - line))) kind = BAD_NUL;
            if (bad_line(&q->bad, kind, q->line, f, found)) return -1;
            if (!lenient) break;
            continue;
        }
        if (!last.s || !same_field(&last, &f[0])) {
            int64_t known = (int64_t)q->topics.count;
            topic = names_code(&q->topics, f[0].s, f[0].n);
            last = f[0];
            if (topic < known) q->scattered = 1;
            else if (topic < 0 || arena_append(&q->starts, &judgments, 8)) return -1;
        }
        if (arena_append(&q->docs, f[2].s, f[2].n)) return -1;
        int64_t doc_end = (int64_t)q->docs.size;
        if (arena_append(&q->doc_ends, &doc_end, 8) || arena_append(&q->grades, &grade, 4)) return -1;
        judgments++;
        if (!columns) continue;
        if (!last_iteration.s || !same_field(&last_iteration, &f[1])) {
            iteration = names_code(&q->iterations, f[1].s, f[1].n);
            last_iteration = f[1];
            if (iteration < 0) return -1;
        }
        int32_t topic32 = (int32_t)topic, iteration32 = (int32_t)iteration;
        if (arena_append(&q->line_topic, &topic32, 4) || arena_append(&q->lines, &q->line, 8) ||
            arena_append(&q->line_iteration, &iteration32, 4))
            return -1;
    }
    if (q->scattered) q->starts.size = 0;
    else if (arena_append(&q->starts, &judgments, 8)) return -1;
    return 0;
}

static void qrels_free(QrelsText *q)
{
    Arena *arenas[] = {&q->line_topic, &q->docs, &q->doc_ends, &q->grades, &q->lines, &q->line_iteration, &q->starts,
                       &q->bad.text};
    for (size_t i = 0; i < sizeof arenas / sizeof *arenas; i++) arena_free(arenas[i]);
    names_free(&q->topics);
    names_free(&q->iterations);
}

/* The judgments of a text as (topics, where each ends, grades, starts, Index); None where a line is unusable, a topic
 * stands in two places or a judgment is given twice. */
static PyObject *index_qrels(PyObject *module, PyObject *text)
{
    Py_buffer view;
    if (PyObject_GetBuffer(text, &view, PyBUF_SIMPLE)) return NULL;
    QrelsText q = {0};
    int failed;
    Py_BEGIN_ALLOW_THREADS
    failed = scan_qrels_text(&q, view.buf, (size_t)view.len, 0, 0);
    Py_END_ALLOW_THREADS
    PyBuffer_Release(&view);
    PyObject *out = NULL;
    if (failed) PyErr_NoMemory();
    else if (q.bad.count || q.scattered || !q.grades.size) out = Py_NewRef(Py_None);
    else {
        PyObject *topics = arena_bytes(&q.topics.names), *ends = arena_bytes(&q.topics.ends),
                 *grades = arena_bytes(&q.grades), *starts = arena_bytes(&q.starts),
                 *type = PyObject_GetAttrString(module, "Index"), *index = NULL;
        if (topics && ends && grades && starts && type)
            index = index_take((PyTypeObject *)type, &q.topics.names, &q.topics.ends, &q.docs, &q.doc_ends, &q.starts);
        if (index && ((Index *)index)->duplicates.size) out = Py_NewRef(Py_None);
        else if (index) out = PyTuple_Pack(5, topics, ends, grades, starts, index);
        Py_XDECREF(topics);
        Py_XDECREF(ends);
        Py_XDECREF(grades);
        Py_XDECREF(starts);
        Py_XDECREF(type);
        Py_XDECREF(index);
    }
    qrels_free(&q);
    return out;
}

static PyObject *scan_qrels(PyObject *Py_UNUSED(module), PyObject *args)
{
    Py_buffer text;
    int lenient;
    if (!PyArg_ParseTuple(args, "y*p", &text, &lenient)) return NULL;
    QrelsText q = {0};
    int failed;
    Py_BEGIN_ALLOW_THREADS
    failed = scan_qrels_text(&q, text.buf, (size_t)text.len, lenient, 1);
    Py_END_ALLOW_THREADS
    PyBuffer_Release(&text);
    PyObject *out = failed ? PyErr_NoMemory() : PyDict_New();
    if (out) {
        failed = set_item(out, "topics", arena_bytes(&q.topics.names)) | set_item(out, "topic_ends", arena_bytes(&q.topics.ends)) |
                 set_item(out, "topic", arena_bytes(&q.line_topic)) | set_item(out, "docs", arena_bytes(&q.docs)) |
                 set_item(out, "doc_ends", arena_bytes(&q.doc_ends)) | set_item(out, "grade", arena_bytes(&q.grades)) |
                 set_item(out, "line", arena_bytes(&q.lines)) |
                 set_item(out, "iterations", arena_bytes(&q.iterations.names)) |
                 set_item(out, "iteration_ends", arena_bytes(&q.iterations.ends)) |
                 set_item(out, "iteration", arena_bytes(&q.line_iteration)) |
                 set_item(out, "starts", arena_bytes(&q.starts)) | set_item(out, "bad", bad_lines_list(&q.bad)) |
                 set_item(out, "bad_count", PyLong_FromLongLong(q.bad.count));
        if (failed) {
            Py_DECREF(out);
            out = NULL;
        }
    }
    qrels_free(&q);
    return out;
}

PyMethodDef qrels_functions[] = {
    {"index_qrels", index_qrels, METH_O,
     "index_qrels(text): (topics, topic_ends, grade, starts, Index) of ordinary judgments, None for others."},
    {"scan_qrels", scan_qrels, METH_VARARGS, "scan_qrels(text, lenient): the columns of a judgment file, as a dict of bytes."},
    {NULL, NULL, 0, NULL}};
