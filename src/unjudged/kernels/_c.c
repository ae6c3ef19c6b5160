/* Kernels of unjudged: scan, rank and join TREC text; segmented sums.
 *
 * Portable C11 on Python's limited API (3.11). Every function here has a twin in _numpy.py with the
 * same signature and equal results; tests/test_kernels.py compares the two.
 *
 *   Index       judged documents per topic, read-only after construction, shared by all threads
 *   RunScanner  one run: feed() text or add() topics, finish() gives the judged hits of each topic
 *   scan_qrels  a judgment file's text -> columns
 *   segment_sum, segment_cumsum, segment_cumprod   over the hits of each cell
 *
 * The interpreter lock is released wherever text is scanned or documents are ranked.
 */
#define _GNU_SOURCE
#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#if defined(__APPLE__)
#include <xlocale.h>
#endif
#include <locale.h>

#if defined(__GNUC__)
#define PREFETCH(address) __builtin_prefetch(address)
#else
#define PREFETCH(address) ((void)(address))
#endif

/* ------------------------------------------------------------------ growing arrays */

typedef struct { char *data; size_t size, capacity; } Arena;

static int arena_reserve(Arena *a, size_t extra)
{
    if (a->capacity - a->size >= extra) return 0;
    size_t wanted = a->capacity ? a->capacity : 4096;
    while (wanted - a->size < extra) wanted *= 2;
    char *grown = realloc(a->data, wanted);
    if (!grown) return -1;
    a->data = grown;
    a->capacity = wanted;
    return 0;
}

static int arena_append(Arena *a, const void *bytes, size_t n)
{
    if (arena_reserve(a, n)) return -1;
    if (n) memcpy(a->data + a->size, bytes, n);
    a->size += n;
    return 0;
}

static void arena_free(Arena *a)
{
    free(a->data);
    memset(a, 0, sizeof *a);
}

static PyObject *arena_bytes(const Arena *a)
{
    return PyBytes_FromStringAndSize(a->data ? a->data : "", (Py_ssize_t)a->size);
}

/* ------------------------------------------------------------------ characters, hashes, numbers */

static const unsigned char IS_SPACE[256] = {
    ['\t'] = 1, ['\n'] = 1, ['\v'] = 1, ['\f'] = 1, ['\r'] = 1, [' '] = 1};

static inline uint64_t mix(uint64_t x)
{
    x ^= x >> 32;
    x *= 0x9E3779B97F4A7C15ull;
    x ^= x >> 29;
    return x;
}

static inline uint64_t load_bytes(const char *s, size_t n)   /* all of them, n < 8 */
{
    if (n >= 4) {
        uint32_t low, high;
        memcpy(&low, s, 4);
        memcpy(&high, s + n - 4, 4);
        return low | (uint64_t)high << 32;
    }
    if (!n) return 0;
    const unsigned char *u = (const unsigned char *)s;
    return u[0] | (uint64_t)u[n / 2] << 8 | (uint64_t)u[n - 1] << 16;
}

static inline uint64_t hash_bytes(const char *s, size_t n)
{
    uint64_t h = 0x243F6A8885A308D3ull ^ (n * 0x9E3779B97F4A7C15ull), w;
    const char *end = s + n;
    if (n < 8) return mix(mix(h ^ load_bytes(s, n)));
    for (; end - s > 8; s += 8) {
        memcpy(&w, s, 8);
        h = mix(h ^ w);
    }
    memcpy(&w, end - 8, 8);      /* the last eight bytes, some of them for the second time */
    return mix(mix(h ^ w));
}

#if defined(_WIN32)
static _locale_t plain_locale;
static void make_plain_locale(void) { plain_locale = _create_locale(LC_NUMERIC, "C"); }
static double exact_strtod(const char *s, char **end) { return _strtod_l(s, end, plain_locale); }
#else
static locale_t plain_locale;
static void make_plain_locale(void) { plain_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0); }
static double exact_strtod(const char *s, char **end) { return strtod_l(s, end, plain_locale); }
#endif

static const double POWERS[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

#if LDBL_MANT_DIG == 64 && defined(__x86_64__)
/* m * 10^e rounded once to 64 bits, then to double; refuses where the second rounding could differ. */
static int extended_scale(uint64_t m, int e, double *out)
{
    static const long double LONG_POWERS[] = {
        1e0L,  1e1L,  1e2L,  1e3L,  1e4L,  1e5L,  1e6L,  1e7L,  1e8L,  1e9L,  1e10L, 1e11L, 1e12L, 1e13L,
        1e14L, 1e15L, 1e16L, 1e17L, 1e18L, 1e19L, 1e20L, 1e21L, 1e22L, 1e23L, 1e24L, 1e25L, 1e26L, 1e27L};
    if (e < -27 || e > 27 || m == 0) return 0;
    long double x = e < 0 ? (long double)m / LONG_POWERS[-e] : (long double)m * LONG_POWERS[e];
    uint64_t significand;
    memcpy(&significand, &x, 8);
    unsigned low = (unsigned)(significand & 0x7FF);
    if (low >= 0x3FE && low <= 0x402) return 0;
    *out = (double)x;
    return 1;
}
#else
static int extended_scale(uint64_t m, int e, double *out) { (void)m; (void)e; (void)out; return 0; }
#endif

enum { SCORE_OK = 0, SCORE_BAD = 1, SCORE_NAN = 2 };

static int same_word(const char *s, size_t n, const char *word)
{
    if (strlen(word) != n) return 0;
    for (size_t i = 0; i < n; i++)
        if ((s[i] | 32) != word[i]) return 0;
    return 1;
}

/* The first 19 digits that count of a long number, as m * 10^exponent; 0 if more follow. */
static int count_digits(const char *p, const char *end, uint64_t *m, int64_t *exponent)
{
    int digits = 0, exact = 1, behind = 0;
    *m = 0;
    *exponent = 0;
    for (; p < end; p++) {
        if (*p == '.') behind = 1;
        else if (digits < 19) {
            *m = *m * 10 + (uint64_t)(*p - '0');
            digits += *m != 0;
            *exponent -= behind;
        } else {
            exact = 0;
            *exponent += !behind;
        }
    }
    return exact;
}

/* A decimal number: sign, digits, point, exponent; or inf / infinity. Correctly rounded. */
static int parse_score(const char *s, size_t n, double *out)
{
    const char *p = s, *end = s + n;
    int negative = 0;
    if (p < end && (*p == '-' || *p == '+')) negative = *p++ == '-';
    if (p < end && !(*p >= '0' && *p <= '9') && *p != '.') {
        size_t rest = (size_t)(end - p);
        if (same_word(p, rest, "inf") || same_word(p, rest, "infinity")) {
            *out = negative ? -INFINITY : INFINITY;
            return SCORE_OK;
        }
        return same_word(p, rest, "nan") ? SCORE_NAN : SCORE_BAD;
    }
    uint64_t m = 0;
    int seen = 0, exact = 1;
    int64_t exponent = 0;
    const char *first = p, *point = NULL;
    for (; p < end && (unsigned char)(*p - '0') < 10; p++) m = m * 10 + (uint64_t)(*p - '0');
    if (p < end && *p == '.') {
        for (point = p++; p < end && (unsigned char)(*p - '0') < 10; p++) m = m * 10 + (uint64_t)(*p - '0');
        exponent = point + 1 - p;
    }
    seen = p - first > (point != NULL);
    if (p - first > 19) exact = count_digits(first, p, &m, &exponent);
    if (!seen) return SCORE_BAD;
    if (p < end && (*p | 32) == 'e') {
        int sign = 1;
        int64_t e = 0;
        p++;
        if (p < end && (*p == '-' || *p == '+')) sign = *p++ == '-' ? -1 : 1;
        if (p == end) return SCORE_BAD;
        for (; p < end && *p >= '0' && *p <= '9'; p++)
            if (e < 1000000000000000) e = e * 10 + (*p - '0');
        exponent += sign * e;
    }
    if (p != end) return SCORE_BAD;
    double x;
    if (exact && m == 0) x = 0.0;
    else if (exact && m <= (1ull << 53) && exponent >= -22 && exponent <= 22)
        x = exponent < 0 ? (double)m / POWERS[-exponent] : (double)m * POWERS[exponent];
    else if (exact && exponent >= -27 && exponent <= 27 && extended_scale(m, (int)exponent, &x)) {}
    else {
        char small[128], *copy = small, *stop;
        if (n >= sizeof small && !(copy = malloc(n + 1))) return SCORE_BAD;
        memcpy(copy, s, n);
        copy[n] = 0;
        *out = exact_strtod(copy, &stop);
        int whole = stop == copy + n;
        if (copy != small) free(copy);
        return whole ? SCORE_OK : SCORE_BAD;
    }
    *out = negative ? -x : x;
    return SCORE_OK;
}

/* ------------------------------------------------------------------ Index */

typedef struct {
    PyObject_HEAD
    Arena topics, docs;          /* the ids, one after the other */
    int64_t *topic_end, *doc_end, *row_start;
    int64_t n_topics, n_rows;
    uint32_t *topic_slot;        /* topic + 1, open addressing */
    uint64_t topic_mask;
    uint64_t *row_slot;          /* upper half of the hash, row + 1; a table per topic, one after the other */
    int64_t *table_start;
    uint64_t *table_mask;
    Arena duplicates;            /* int64 pairs (row, earlier row with the same document) */
} Index;

/* memcmp, also for empty ids that have no address. */
static inline int same_bytes(const char *a, const char *b, size_t n) { return !n || !memcmp(a, b, n); }

static inline const char *id_at(const Arena *a, const int64_t *ends, int64_t i, size_t *n)
{
    int64_t start = i ? ends[i - 1] : 0;
    *n = (size_t)(ends[i] - start);
    return a->data + start;
}

static int64_t index_find_topic(const Index *x, const char *s, size_t n)
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

static inline int32_t index_find_row(const Index *x, int64_t topic, const char *s, size_t n, uint64_t h)
{
    const uint64_t *slot = x->row_slot + x->table_start[topic];
    uint64_t mask = x->table_mask[topic], tag = h >> 32;
    for (uint64_t i = h & mask; slot[i]; i = (i + 1) & mask) {
        if (slot[i] >> 32 != tag) continue;
        size_t m;
        int64_t row = (int64_t)(uint32_t)slot[i] - 1;
        const char *d = id_at(&x->docs, x->doc_end, row, &m);
        if (m == n && same_bytes(s, d, n)) return (int32_t)row;
    }
    return -1;
}

static uint64_t table_size(uint64_t n)
{
    uint64_t size = 4;
    while (size < 4 * n) size *= 2;
    return size;
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
    if (!x->row_slot) return -1;
    for (int64_t t = 0; t < x->n_topics; t++)
        for (int64_t r = x->row_start[t]; r < x->row_start[t + 1]; r++) {
            size_t n;
            const char *s = id_at(&x->docs, x->doc_end, r, &n);
            uint64_t h = hash_bytes(s, n), mask = x->table_mask[t], i = h & mask;
            int32_t earlier = index_find_row(x, t, s, n, h);
            if (earlier >= 0) {
                int64_t pair[2] = {r, earlier};
                if (arena_append(&x->duplicates, pair, sizeof pair)) return -1;
                continue;
            }
            while (x->row_slot[x->table_start[t] + (int64_t)i]) i = (i + 1) & mask;
            x->row_slot[x->table_start[t] + (int64_t)i] = (h >> 32 << 32) | ((uint32_t)r + 1);
        }
    return 0;
}

static int copy_buffer(PyObject *source, Arena *into)
{
    Py_buffer view;
    if (PyObject_GetBuffer(source, &view, PyBUF_SIMPLE)) return -1;
    int failed = arena_append(into, view.buf, (size_t)view.len);
    PyBuffer_Release(&view);
    if (failed) PyErr_NoMemory();
    return failed;
}

static int copy_int64(PyObject *source, int64_t **into, int64_t *n)
{
    Arena a = {0};
    if (copy_buffer(source, &a)) return -1;
    if (!a.data && !(a.data = malloc(8))) { PyErr_NoMemory(); return -1; }
    *into = (int64_t *)a.data;
    *n = (int64_t)(a.size / sizeof(int64_t));
    return 0;
}

static PyObject *index_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
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

static void free_object(PyObject *self)
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
static PyType_Spec index_spec = {"unjudged.kernels._c.Index", sizeof(Index), 0, Py_TPFLAGS_DEFAULT, index_slots};

/* ------------------------------------------------------------------ lines */

/* Kinds of unusable lines; the same numbers in _numpy.py and io/trec.py. */
enum { BAD_FIELDS = 1, BAD_SCORE = 2, BAD_NAN = 3, BAD_NUL = 4, BAD_GRADE = 5 };

typedef struct { const char *s; size_t n; } Field;

/* Splits one line (without its newline) into at most `wanted` fields; returns how many were found. */
static int split_line(const char *p, const char *end, Field *fields, int wanted)
{
    int found = 0;
    while (found < wanted) {
        while (p < end && IS_SPACE[(unsigned char)*p]) p++;
        if (p == end) break;
        const char *start = p;
        while (p < end && !IS_SPACE[(unsigned char)*p]) p++;
        fields[found].s = start;
        fields[found].n = (size_t)(p - start);
        found++;
    }
    return found;
}

#define KEEP_BAD_LINES 20
#define KEEP_BAD_FIELD 60

typedef struct {
    Arena text;                  /* the bad lines, shortened */
    int64_t line[KEEP_BAD_LINES], end[KEEP_BAD_LINES];
    int kind[KEEP_BAD_LINES], kept;
    int64_t count;
} BadLines;

/* Notes an unusable line: its fields, each cut to a readable length, with single blanks between them. */
static int bad_line(BadLines *b, int kind, int64_t line, const Field *fields, int found)
{
    b->count++;
    if (b->kept == KEEP_BAD_LINES) return 0;
    for (int i = 0; i < found; i++) {
        size_t n = fields[i].n < KEEP_BAD_FIELD ? fields[i].n : KEEP_BAD_FIELD;
        if ((i && arena_append(&b->text, " ", 1)) || arena_append(&b->text, fields[i].s, n)) return -1;
    }
    b->line[b->kept] = line;
    b->kind[b->kept] = kind;
    b->end[b->kept++] = (int64_t)b->text.size;
    return 0;
}

/* [(line, kind, text), ...] of the first bad lines */
static PyObject *bad_lines_list(const BadLines *b)
{
    PyObject *list = PyList_New(b->kept);
    for (int i = 0; list && i < b->kept; i++) {
        int64_t start = i ? b->end[i - 1] : 0;
        PyObject *item = Py_BuildValue("(Liy#)", (long long)b->line[i], b->kind[i], b->text.data + start,
                                       (Py_ssize_t)(b->end[i] - start));
        if (!item || PyList_SetItem(list, i, item)) {
            Py_DECREF(list);
            return NULL;
        }
    }
    return list;
}

/* ------------------------------------------------------------------ RunScanner */

enum { TIES_TREC10 = 0, TIES_TREC9 = 1, TIES_FILE = 2, TIES_ASCENDING = 3 };

typedef struct {
    double score;                /* as the tie rule compares it */
    uint64_t hash;
    size_t doc;                  /* offset in the arena */
    uint32_t length;
    int32_t row;                 /* in the judgments, -1 if it is not there */
} Entry;

typedef struct { double score; uint32_t entry; } Key;

typedef struct {
    PyObject_HEAD
    Index *index;
    int ties, lenient, gather, keep_docs, tie_groups;
    int64_t truncate;
    /* the topic being read */
    int64_t topic;               /* -1: outside the judgments; -2: none yet */
    Arena topic_id, entries, arena;
    int unsorted, repeated;      /* do its documents stand in another order than ranked; is one there twice? */
    Arena known;                 /* its documents, open addressing: upper half of the hash, entry + 1 */
    uint64_t known_mask;
    Arena entry_topic;           /* the topic of each entry, while gathering */
    Arena keys, spare, table;
    /* text left over from the last feed, line count, tag of the last line */
    Arena rest, tag;
    const char *last_tag, *text_end;
    int64_t line;
    /* results */
    Arena rows, ranks, docs, doc_ends, doc_rows, tie_first, tie_size;
    int64_t *hit_start, *hit_end, *doc_start, *doc_stop;
    int32_t *length;
    uint8_t *seen;
    int64_t duplicates, duplicate_topic, split, lines, outside_lines;
    Arena duplicate_doc;
    /* topics outside the judgments: a set of hashes, the first names */
    uint64_t *outside;
    uint64_t outside_size, outside_count;
    Arena outside_names;
    int outside_named;
    BadLines bad;
    int stopped, failed, busy;
} RunScanner;


static inline int compare_ids(const char *a, size_t n, const char *b, size_t m)
{
    size_t shared = n < m ? n : m;
    int c = shared ? memcmp(a, b, shared) : 0;
    return c ? c : (n > m) - (n < m);
}

/* Does x stand before y in the ranking? */
static inline int precedes(const RunScanner *r, const Entry *entries, const Key *x, const Key *y)
{
    if (x->score != y->score) return x->score > y->score;
    if (r->ties == TIES_FILE) return x->entry < y->entry;
    const Entry *a = entries + x->entry, *b = entries + y->entry;
    int c = compare_ids(r->arena.data + a->doc, a->length, r->arena.data + b->doc, b->length);
    if (!c) return x->entry < y->entry;
    return r->ties == TIES_ASCENDING ? c < 0 : c > 0;
}

/* Stable merge sort on short insertion-sorted runs; runs already in order are not touched. */
static void sort_keys(const RunScanner *r, const Entry *entries, Key *keys, Key *spare, size_t n)
{
    enum { RUN = 12 };
    for (size_t start = 0; start < n; start += RUN) {
        size_t end = start + RUN < n ? start + RUN : n;
        for (size_t i = start + 1; i < end; i++) {
            Key k = keys[i];
            size_t j = i;
            for (; j > start && precedes(r, entries, &k, &keys[j - 1]); j--) keys[j] = keys[j - 1];
            keys[j] = k;
        }
    }
    for (size_t width = RUN; width < n; width *= 2)
        for (size_t start = 0; start + width < n; start += 2 * width) {
            size_t middle = start + width, end = middle + width < n ? middle + width : n;
            if (!precedes(r, entries, &keys[middle], &keys[middle - 1])) continue;
            memcpy(spare, keys + start, width * sizeof *keys);
            size_t a = 0, b = middle, to = start;
            while (a < width && b < end)
                keys[to++] = precedes(r, entries, &keys[b], &spare[a]) ? keys[b++] : spare[a++];
            while (a < width) keys[to++] = spare[a++];
        }
}

/* The documents ranked from first to last share a score: tell their hits (from `hit` on). */
static int close_group(RunScanner *r, size_t hit, int64_t first, int64_t last)
{
    int32_t group[2] = {(int32_t)first, (int32_t)(last - first + 1)};
    for (size_t n = r->rows.size / sizeof(int32_t); hit < n; hit++)
        if (arena_append(&r->tie_first, &group[0], 4) || arena_append(&r->tie_size, &group[1], 4)) return -1;
    return 0;
}

/* Sorts the entries of one topic where they are not in order; NULL keys: they are. */
static int order_entries(RunScanner *r, const Entry *entries, size_t n, int unsorted, const Key **order)
{
    *order = NULL;
    if (!unsorted) return 0;
    r->keys.size = r->spare.size = 0;
    if (arena_reserve(&r->keys, n * sizeof(Key)) || arena_reserve(&r->spare, n * sizeof(Key))) return -1;
    Key *keys = (Key *)r->keys.data;
    for (size_t i = 0; i < n; i++) keys[i] = (Key){entries[i].score, (uint32_t)i};
    sort_keys(r, entries, keys, (Key *)r->spare.data, n);
    *order = keys;
    return 0;
}

/* Was this entry's document ranked already? Keeps it in the table if not. */
static int already_ranked(const RunScanner *r, const Entry *entries, uint32_t entry, uint32_t *table, uint64_t mask)
{
    const Entry *e = entries + entry;
    uint64_t slot = (e->hash >> 20) & mask;
    for (; table[slot]; slot = (slot + 1) & mask) {
        const Entry *o = entries + (table[slot] - 1);
        if (o->hash == e->hash && o->length == e->length &&
            same_bytes(r->arena.data + o->doc, r->arena.data + e->doc, e->length))
            return 1;
    }
    table[slot] = entry + 1;
    return 0;
}

/* Ranks the documents of one topic, drops later duplicates, keeps the judged ones as hits. */
static int rank_topic(RunScanner *r, int64_t topic, const Entry *entries, size_t n, int unsorted, int repeated)
{
    const Key *order;
    uint32_t *table = NULL;
    uint64_t size = table_size(n);
    if (order_entries(r, entries, n, unsorted, &order)) return -1;
    if (repeated) {
        r->table.size = 0;
        if (arena_reserve(&r->table, size * sizeof *table)) return -1;
        table = (uint32_t *)r->table.data;
        memset(table, 0, size * sizeof *table);
    }
    int64_t rank = 0, group_first = 1;
    size_t group_hit = r->rows.size / sizeof(int32_t);
    double group_score = 0;
    r->hit_start[topic] = (int64_t)group_hit;
    if (r->keep_docs) r->doc_start[topic] = (int64_t)(r->doc_rows.size / sizeof(int32_t));
    for (size_t i = 0; i < n && !(r->truncate && rank >= r->truncate); i++) {
        uint32_t entry = order ? order[i].entry : (uint32_t)i;
        const Entry *e = entries + entry;
        if (repeated && already_ranked(r, entries, entry, table, size - 1)) {
            if (!r->duplicates++ || topic < r->duplicate_topic) {
                r->duplicate_topic = topic;
                r->duplicate_doc.size = 0;
                if (arena_append(&r->duplicate_doc, r->arena.data + e->doc, e->length)) return -1;
            }
            continue;
        }
        if (r->tie_groups && rank && e->score != group_score) {
            if (close_group(r, group_hit, group_first, rank)) return -1;
            group_hit = r->rows.size / sizeof(int32_t);
            group_first = rank + 1;
        }
        group_score = e->score;
        rank++;
        if (e->row >= 0) {
            int32_t at = (int32_t)rank;
            if (arena_append(&r->rows, &e->row, sizeof e->row) || arena_append(&r->ranks, &at, sizeof at)) return -1;
        }
        if (r->keep_docs) {
            if (arena_append(&r->docs, r->arena.data + e->doc, e->length)) return -1;
            int64_t end = (int64_t)r->docs.size;
            if (arena_append(&r->doc_ends, &end, sizeof end) || arena_append(&r->doc_rows, &e->row, sizeof e->row))
                return -1;
        }
    }
    if (r->tie_groups && close_group(r, group_hit, group_first, rank)) return -1;
    r->hit_end[topic] = (int64_t)(r->rows.size / sizeof(int32_t));
    if (r->keep_docs) r->doc_stop[topic] = (int64_t)(r->doc_rows.size / sizeof(int32_t));
    r->length[topic] = (int32_t)rank;
    r->seen[topic] = 1;
    return 0;
}

static int close_topic(RunScanner *r)
{
    int failed = 0;
    if (r->topic >= 0 && !r->gather) {
        failed = rank_topic(r, r->topic, (const Entry *)r->entries.data, r->entries.size / sizeof(Entry), r->unsorted,
                            r->repeated);
        r->entries.size = r->arena.size = 0;
        r->unsorted = r->repeated = 0;
        if (r->known.size) memset(r->known.data, 0, r->known.size);
    }
    return failed;
}

static int note_outside(RunScanner *r, const char *s, size_t n)
{
    if (2 * (r->outside_count + 1) > r->outside_size) {
        uint64_t size = r->outside_size ? 2 * r->outside_size : 64;
        uint64_t *grown = calloc(size, sizeof *grown);
        if (!grown) return -1;
        for (uint64_t i = 0; i < r->outside_size; i++) {
            uint64_t h = r->outside[i];
            if (!h) continue;
            uint64_t j = h & (size - 1);
            while (grown[j]) j = (j + 1) & (size - 1);
            grown[j] = h;
        }
        free(r->outside);
        r->outside = grown;
        r->outside_size = size;
    }
    uint64_t h = hash_bytes(s, n) | 1, i = h & (r->outside_size - 1);
    for (; r->outside[i]; i = (i + 1) & (r->outside_size - 1))
        if (r->outside[i] == h) return 0;
    r->outside[i] = h;
    r->outside_count++;
    if (r->outside_named < 5) {
        if (r->outside_named++ && arena_append(&r->outside_names, "\n", 1)) return -1;
        return arena_append(&r->outside_names, s, n);
    }
    return 0;
}

static int open_topic(RunScanner *r, const char *s, size_t n)
{
    if (close_topic(r)) return -1;
    r->topic_id.size = 0;
    if (arena_append(&r->topic_id, s, n)) return -1;
    r->topic = index_find_topic(r->index, s, n);
    if (r->topic < 0) return note_outside(r, s, n);
    if (r->seen[r->topic]) {
        if (!r->gather) r->split = 1;
    } else if (r->gather) r->seen[r->topic] = 1;
    return 0;
}

static inline void know(uint64_t *slots, uint64_t mask, uint64_t hash, uint32_t entry)
{
    uint64_t i = (hash >> 20) & mask;
    while (slots[i]) i = (i + 1) & mask;
    slots[i] = (hash >> 32 << 32) | (entry + 1);
}

/* Makes the set of the topic's documents twice as large. */
static int grow_known(RunScanner *r)
{
    uint64_t size = r->known.size ? 2 * (r->known_mask + 1) : 4096;
    r->known.size = 0;
    if (arena_reserve(&r->known, size * sizeof(uint64_t))) return -1;
    r->known.size = size * sizeof(uint64_t);
    memset(r->known.data, 0, r->known.size);
    r->known_mask = size - 1;
    const Entry *entries = (const Entry *)r->entries.data;
    for (size_t i = 0, n = r->entries.size / sizeof(Entry); i < n; i++)
        know((uint64_t *)r->known.data, r->known_mask, entries[i].hash, (uint32_t)i);
    return 0;
}

/* Notes a document of the topic being read: is it there already, is it in order? */
static int add_entry(RunScanner *r, const char *doc, size_t n, uint64_t hash, double score)
{
    size_t count = r->entries.size / sizeof(Entry);
    if (n > UINT32_MAX || count >= UINT32_MAX - 1) return -1;
    if (arena_reserve(&r->entries, sizeof(Entry)) || arena_reserve(&r->arena, n + 32)) return -1;
    Entry *entries = (Entry *)r->entries.data, *e = entries + count;
    e->score = r->ties == TIES_TREC9 ? (double)(float)score : score;
    e->hash = hash;
    e->doc = r->arena.size;
    e->length = (uint32_t)n;
    e->row = index_find_row(r->index, r->topic, doc, n, e->hash);
    if (n <= 32 && r->text_end && r->text_end - doc >= 32) memcpy(r->arena.data + r->arena.size, doc, 32);   /* one move, no call */
    else if (n) memcpy(r->arena.data + r->arena.size, doc, n);
    r->arena.size += n;
    r->entries.size += sizeof(Entry);
    if (r->gather) {
        int32_t topic = (int32_t)r->topic;
        return arena_append(&r->entry_topic, &topic, sizeof topic);
    }
    if (3 * (count + 1) > (r->known.size ? r->known_mask + 1 : 0)) {
        r->entries.size -= sizeof(Entry);       /* the new one is looked for below */
        int failed = grow_known(r);
        r->entries.size += sizeof(Entry);
        if (failed) return -1;
    }
    uint64_t *slots = (uint64_t *)r->known.data, mask = r->known_mask, tag = e->hash >> 32, i = (e->hash >> 20) & mask;
    for (; slots[i]; i = (i + 1) & mask) {
        if (slots[i] >> 32 != tag) continue;
        const Entry *o = entries + ((uint32_t)slots[i] - 1);
        if (o->hash == e->hash && o->length == e->length && same_bytes(r->arena.data + o->doc, doc, n)) {
            r->repeated = 1;
            break;
        }
    }
    if (!slots[i]) slots[i] = (tag << 32) | (uint32_t)(count + 1);
    if (count && !r->unsorted) {
        Key last = {e[-1].score, (uint32_t)(count - 1)}, this = {e->score, (uint32_t)count};
        r->unsorted = precedes(r, entries, &this, &last);
    }
    return 0;
}

static int unusable_line(RunScanner *r, int kind, const char *p, const char *end)
{
    Field f[6];
    int found = split_line(p, end, f, 6);
    if (!found) return 0;
    if (found < 6) kind = BAD_FIELDS;
    if (memchr(p, 0, (size_t)(end - p))) kind = BAD_NUL;
    if (bad_line(&r->bad, kind, r->line, f, found)) return -1;
    return r->lenient ? 0 : 1;
}

/* Both stop at the newline that ends every line scanned. */
static inline const char *next_field(const char *p)
{
    while (*p != '\n' && IS_SPACE[(unsigned char)*p]) p++;
    return p;
}

static inline const char *field_end(const char *p)
{
    for (;; p++) {
        while ((unsigned char)*p > ' ') p++;
        if (IS_SPACE[(unsigned char)*p]) return p;
    }
}

/* Scans one line; a newline stands at `end`. Returns 0, -1 (memory) or 1 (unusable line, stop). */
static inline int scan_line(RunScanner *r, const char *line, const char *end)
{
    r->line++;
    if (line == end || *line == '#') return 0;
    size_t known = r->topic_id.size;
    const char *topic = line, *p;
    int same = r->topic != -2 && known && (size_t)(end - line) > known && IS_SPACE[(unsigned char)line[known]] &&
               !memcmp(line, r->topic_id.data, known);
    if (same) p = line + known;
    else {
        topic = next_field(line);
        p = field_end(topic);
    }
    size_t topic_length = (size_t)(p - topic);
    const char *doc = next_field(field_end(next_field(p))), *doc_end = field_end(doc);
    const char *score_at = next_field(field_end(next_field(doc_end))), *score_end = field_end(score_at);
    const char *tag = next_field(score_end);
    if (tag == end) return unusable_line(r, BAD_FIELDS, line, end);
    uint64_t hash = hash_bytes(doc, (size_t)(doc_end - doc));
    if (same && r->topic >= 0) {  /* the tables are asked for while the score is read */
        PREFETCH(r->index->row_slot + r->index->table_start[r->topic] + (hash & r->index->table_mask[r->topic]));
        if (r->known.size) PREFETCH((uint64_t *)r->known.data + ((hash >> 20) & r->known_mask));
    }
    double score;
    int parsed = parse_score(score_at, (size_t)(score_end - score_at), &score);
    if (parsed) return unusable_line(r, parsed == SCORE_NAN ? BAD_NAN : BAD_SCORE, line, end);
    if (!same && (r->topic == -2 || topic_length != known || memcmp(topic, r->topic_id.data, known)))
        if (open_topic(r, topic, topic_length)) return -1;
    r->lines++;
    r->last_tag = tag;
    if (r->topic < 0) {
        r->outside_lines++;
        return 0;
    }
    return add_entry(r, doc, (size_t)(doc_end - doc), hash, score) ? -1 : 0;
}

/* Keeps the tag of the last line, before the text it stands in goes away. */
static int keep_tag(RunScanner *r)
{
    if (!r->last_tag) return 0;
    r->tag.size = 0;
    int failed = arena_append(&r->tag, r->last_tag, (size_t)(field_end(r->last_tag) - r->last_tag));
    r->last_tag = NULL;
    return failed;
}

/* Scans the line left over from earlier text. */
static int scan_rest(RunScanner *r)
{
    if (arena_append(&r->rest, "\n", 1)) return -1;
    int status = scan_line(r, r->rest.data, r->rest.data + r->rest.size - 1);
    return keep_tag(r) ? -1 : status;
}

static int scan_text(RunScanner *r, const char *p, size_t n)
{
    const char *end = p + n;
    int status = 0;
    r->text_end = NULL;
    if (r->rest.size) {
        const char *newline = memchr(p, '\n', n);
        if (arena_append(&r->rest, p, newline ? (size_t)(newline - p) : n)) return -1;
        if (!newline) return 0;
        status = scan_rest(r);
        r->rest.size = 0;
        p = newline + 1;
    }
    r->text_end = end;
    while (!status && p < end) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        if (!newline) {
            if (arena_append(&r->rest, p, (size_t)(end - p))) return -1;
            break;
        }
        status = scan_line(r, p, newline);
        p = newline + 1;
    }
    r->text_end = NULL;
    return keep_tag(r) ? -1 : status;
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
    if (r->busy || r->failed) {
        PyErr_SetString(PyExc_RuntimeError, "this scanner is busy or has failed");
        return NULL;
    }
    if (PyObject_GetBuffer(text, &view, PyBUF_SIMPLE)) return NULL;
    int status = 0;
    r->busy = 1;
    Py_BEGIN_ALLOW_THREADS
    if (!r->stopped) status = scan_text(r, view.buf, (size_t)view.len);
    Py_END_ALLOW_THREADS
    r->busy = 0;
    PyBuffer_Release(&view);
    if (take_status(r, status)) return NULL;
    return PyBool_FromLong(!r->stopped && !r->split);
}

/* One topic given as newline-joined ids and float64 scores. 0: done; -1: memory; -2: counts differ; >0: NaN at i-1 */
static int64_t add_topic(RunScanner *r, const char *topic, size_t topic_n, const char *docs, size_t docs_n,
                         const int64_t *ends, const double *scores, size_t n)
{
    if (!ends) {
        size_t breaks = 0;
        for (const char *p = docs, *end = docs + docs_n; (p = memchr(p, '\n', (size_t)(end - p))); p++) breaks++;
        if (n ? breaks != n - 1 : docs_n != 0) return -2;
    } else
        for (size_t i = 0; i < n; i++)
            if (ends[i] < (i ? ends[i - 1] : 0) || ends[i] > (int64_t)docs_n) return -2;
    if (open_topic(r, topic, topic_n)) return -1;
    r->lines += (int64_t)n;
    for (size_t i = 0; i < n; i++)
        if (isnan(scores[i])) return (int64_t)i + 1;
    if (r->topic < 0) {
        r->outside_lines += (int64_t)n;
        return 0;
    }
    const char *p = docs, *end = docs + docs_n;
    for (size_t i = 0; i < n; i++) {
        const char *stop = ends ? docs + ends[i] : memchr(p, '\n', (size_t)(end - p));
        if (!stop) stop = end;
        size_t length = (size_t)(stop - p);
        if (add_entry(r, p, length, hash_bytes(p, length), scores[i])) return -1;
        p = stop + (ends ? 0 : 1);
    }
    return 0;
}

static PyObject *scanner_add(RunScanner *r, PyObject *args)
{
    Py_buffer topic, docs, ends = {0}, scores;
    PyObject *ends_object;
    if (r->busy || r->failed) {
        PyErr_SetString(PyExc_RuntimeError, "this scanner is busy or has failed");
        return NULL;
    }
    if (!PyArg_ParseTuple(args, "y*y*Oy*", &topic, &docs, &ends_object, &scores)) return NULL;
    int64_t status = -2;
    if (ends_object == Py_None || !PyObject_GetBuffer(ends_object, &ends, PyBUF_SIMPLE)) {
        size_t n = (size_t)scores.len / sizeof(double);
        if (!ends.obj || (size_t)ends.len / sizeof(int64_t) == n) {
            r->busy = 1;
            Py_BEGIN_ALLOW_THREADS
            status = add_topic(r, topic.buf, (size_t)topic.len, docs.buf, (size_t)docs.len, ends.buf, scores.buf, n);
            Py_END_ALLOW_THREADS
            r->busy = 0;
        }
        if (ends.obj) PyBuffer_Release(&ends);
    }
    PyBuffer_Release(&topic);
    PyBuffer_Release(&docs);
    PyBuffer_Release(&scores);
    if (PyErr_Occurred()) return NULL;
    if (take_status(r, status == -1 ? -1 : 0)) return NULL;
    return PyLong_FromLongLong(status);
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

static PyObject *new_bytes(size_t n, char **data)
{
    PyObject *b = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)n);
    if (b) *data = PyBytes_AsString(b);
    return b;
}

static int set_item(PyObject *dict, const char *name, PyObject *value)
{
    if (!value) return -1;
    int failed = PyDict_SetItemString(dict, name, value);
    Py_DECREF(value);
    return failed;
}

static int add_docs(RunScanner *r, PyObject *out)
{
    size_t topics = (size_t)r->index->n_topics, n = r->doc_rows.size / sizeof(int32_t);
    char *offsets = NULL, *rows = NULL, *ends = NULL, *docs = NULL;
    PyObject *offsets_b = new_bytes((topics + 1) * 8, &offsets), *rows_b = new_bytes(n * 4, &rows),
             *ends_b = new_bytes(n * 8, &ends), *docs_b = new_bytes(r->docs.size, &docs);
    if (offsets_b && rows_b && ends_b && docs_b) {
        collect(r, r->doc_start, r->doc_stop, &r->doc_rows, (int32_t *)rows, (int64_t *)offsets);
        const int64_t *all = (const int64_t *)r->doc_ends.data;
        int64_t at = 0, *end = (int64_t *)ends;
        for (size_t t = 0; t < topics; t++) {
            if (!r->seen[t]) continue;
            for (int64_t i = r->doc_start[t]; i < r->doc_stop[t]; i++) {
                int64_t start = i ? all[i - 1] : 0;
                memcpy(docs + at, r->docs.data + start, (size_t)(all[i] - start));
                at += all[i] - start;
                *end++ = at;
            }
        }
    }
    return set_item(out, "doc_offsets", offsets_b) | set_item(out, "doc_rows", rows_b) |
           set_item(out, "doc_ends", ends_b) | set_item(out, "docs", docs_b);
}

static int add_hit_values(RunScanner *r, PyObject *out, const char *name, const Arena *values)
{
    char *data = NULL;
    PyObject *bytes = new_bytes(values->size, &data);
    if (bytes) collect(r, r->hit_start, r->hit_end, values, (int32_t *)data, NULL);
    return set_item(out, name, bytes);
}

static PyObject *scanner_finish(RunScanner *r, PyObject *Py_UNUSED(none))
{
    if (r->busy || r->failed) {
        PyErr_SetString(PyExc_RuntimeError, "this scanner is busy or has failed");
        return NULL;
    }
    int status = 0;
    r->busy = 1;
    Py_BEGIN_ALLOW_THREADS
    if (!r->stopped && r->rest.size) {
        status = scan_rest(r);
        r->rest.size = 0;
    }
    if (!status && !r->stopped) status = r->gather ? finish_gathered(r) : close_topic(r);
    Py_END_ALLOW_THREADS
    r->busy = 0;
    r->topic = -2;
    if (take_status(r, status)) return NULL;
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
        failed |= set_item(out, "split", PyBool_FromLong(r->split));
        failed |= set_item(out, "bad", bad_lines_list(&r->bad));
        failed |= set_item(out, "bad_count", PyLong_FromLongLong(r->bad.count));
        failed |= set_item(out, "duplicates", PyLong_FromLongLong(r->duplicates));
        failed |= set_item(out, "duplicate_topic", PyLong_FromLongLong(r->duplicate_topic));
        failed |= set_item(out, "duplicate_doc", arena_bytes(&r->duplicate_doc));
        failed |= set_item(out, "outside_topics", PyLong_FromUnsignedLongLong(r->outside_count));
        failed |= set_item(out, "outside_names", arena_bytes(&r->outside_names));
        if (r->keep_docs) failed |= add_docs(r, out);
        if (r->tie_groups) failed |= add_hit_values(r, out, "tie_first", &r->tie_first) | add_hit_values(r, out, "tie_size", &r->tie_size);
    }
    if (failed) {
        Py_XDECREF(out);
        return NULL;
    }
    return out;
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
                       &r->doc_rows, &r->bad.text, &r->outside_names, &r->duplicate_doc,
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
    {"add", (PyCFunction)scanner_add, METH_VARARGS,
     "add(topic, newline-joined documents, ends or None, float64 scores): 0 done, -2 counts differ, i > 0 NaN at i - 1."},
    {"finish", (PyCFunction)scanner_finish, METH_NOARGS, "The hits of each topic and what was noticed, as a dict."},
    {NULL, NULL, 0, NULL}};

static PyType_Slot scanner_slots[] = {{Py_tp_new, scanner_new},
                                      {Py_tp_dealloc, scanner_dealloc},
                                      {Py_tp_methods, scanner_methods},
                                      {Py_tp_doc, "Reads one run and keeps its judged hits."},
                                      {0, NULL}};
static PyType_Spec scanner_spec = {"unjudged.kernels._c.RunScanner", sizeof(RunScanner), 0, Py_TPFLAGS_DEFAULT,
                                   scanner_slots};

/* ------------------------------------------------------------------ judgments */

/* Distinct names with codes 0, 1, 2... in order of appearance. */
typedef struct {
    Arena names, ends;
    uint32_t *slot;
    uint64_t slots, count;
} Names;

typedef struct {
    Names topics, iterations;
    Arena line_topic, docs, doc_ends, grades, lines, line_iteration;
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

static int scan_qrels_text(QrelsText *q, const char *p, size_t size, int lenient)
{
    const char *end = p + size;
    Field last = {NULL, 0};
    int64_t topic = -1, iteration = -1;
    while (p < end) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        const char *stop = newline ? newline : end, *line = p;
        p = newline ? newline + 1 : end;
        q->line++;
        if (line == stop || *line == '#') continue;
        Field f[4];
        int found = split_line(line, stop, f, 4), kind = 0;
        int32_t grade = 0;
        if (!found) continue;
        if (found < 4) kind = BAD_FIELDS;
        else if (parse_grade(f[3].s, f[3].n, &grade)) kind = BAD_GRADE;
        if (kind) {
            if (memchr(line, 0, (size_t)(stop - line))) kind = BAD_NUL;
            if (bad_line(&q->bad, kind, q->line, f, found)) return -1;
            if (!lenient) return 0;
            continue;
        }
        if (!last.s || last.n != f[0].n || memcmp(last.s, f[0].s, last.n)) {
            topic = names_code(&q->topics, f[0].s, f[0].n);
            last = f[0];
        }
        iteration = names_code(&q->iterations, f[1].s, f[1].n);
        if (topic < 0 || iteration < 0) return -1;
        int32_t topic32 = (int32_t)topic, iteration32 = (int32_t)iteration;
        if (arena_append(&q->docs, f[2].s, f[2].n)) return -1;
        int64_t doc_end = (int64_t)q->docs.size;
        if (arena_append(&q->line_topic, &topic32, 4) || arena_append(&q->doc_ends, &doc_end, 8) ||
            arena_append(&q->grades, &grade, 4) || arena_append(&q->lines, &q->line, 8) ||
            arena_append(&q->line_iteration, &iteration32, 4))
            return -1;
    }
    return 0;
}

static PyObject *scan_qrels(PyObject *Py_UNUSED(module), PyObject *args)
{
    Py_buffer text;
    int lenient;
    if (!PyArg_ParseTuple(args, "y*p", &text, &lenient)) return NULL;
    QrelsText q = {0};
    int failed;
    Py_BEGIN_ALLOW_THREADS
    failed = scan_qrels_text(&q, text.buf, (size_t)text.len, lenient);
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
                 set_item(out, "bad", bad_lines_list(&q.bad)) |
                 set_item(out, "bad_count", PyLong_FromLongLong(q.bad.count));
        if (failed) {
            Py_DECREF(out);
            out = NULL;
        }
    }
    Arena *arenas[] = {&q.line_topic, &q.docs, &q.doc_ends, &q.grades, &q.lines, &q.line_iteration, &q.bad.text};
    for (size_t i = 0; i < sizeof arenas / sizeof *arenas; i++) arena_free(arenas[i]);
    names_free(&q.topics);
    names_free(&q.iterations);
    return out;
}

/* ------------------------------------------------------------------ documents -> codes */

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
    if (!right) PyErr_SetString(PyExc_ValueError, "inconsistent document arrays");
    else out = new_bytes(n * 4, &out_data);
    if (out) {
        int failed;
        Py_BEGIN_ALLOW_THREADS
        uint64_t size = table_size(n), mask = size - 1;
        uint32_t *slot = calloc(size, sizeof *slot);
        int32_t *code = (int32_t *)out_data;
        int32_t next = (int32_t)first;
        failed = !slot;
        for (size_t i = 0; i < n && !failed; i++) {
            if (row[i] >= 0) { code[i] = row[i]; continue; }
            int64_t start = i ? end[i - 1] : 0;
            const char *s = (const char *)docs.buf + start;
            size_t m = (size_t)(end[i] - start);
            uint64_t j = mix(hash_bytes(s, m) + (uint64_t)topic[i] * 0x9E3779B97F4A7C15ull) & mask;
            for (; slot[j]; j = (j + 1) & mask) {
                size_t o = slot[j] - 1;
                int64_t other = o ? end[o - 1] : 0;
                if (topic[o] == topic[i] && (size_t)(end[o] - other) == m &&
                    !memcmp((const char *)docs.buf + other, s, m))
                    break;
            }
            if (slot[j]) code[i] = code[slot[j] - 1];
            else { slot[j] = (uint32_t)i + 1; code[i] = next++; }
        }
        free(slot);
        Py_END_ALLOW_THREADS
        if (failed) {
            Py_DECREF(out);
            out = PyErr_NoMemory();
        }
    }
    PyBuffer_Release(&docs);
    PyBuffer_Release(&ends);
    PyBuffer_Release(&topics);
    PyBuffer_Release(&rows);
    return out;
}

/* ------------------------------------------------------------------ segmented sums */

/* Walks the segments [offsets[c], offsets[c + 1]): mode 's' one sum each, '+' running sums,
 * '*' running products, '^' the largest value from here to the segment's end. */
static PyObject *walk_segments(PyObject *args, char mode)
{
    Py_buffer values, offsets, out;
    if (!PyArg_ParseTuple(args, "y*y*w*", &values, &offsets, &out)) return NULL;
    size_t cells = (size_t)offsets.len / 8 - (offsets.len > 0), n = (size_t)out.len / 8;
    const double *v = values.buf;
    const int64_t *o = offsets.buf;
    double *to = out.buf;
    int right = offsets.len > 0 && o[0] == 0 && (mode == 's' ? n == cells : n * 8 == (size_t)values.len);
    for (size_t c = 0; right && c < cells; c++) right = o[c] <= o[c + 1];
    right = right && o[cells] * 8 <= values.len;
    if (!right) PyErr_SetString(PyExc_ValueError, "segments and arrays of different lengths");
    else {
        Py_BEGIN_ALLOW_THREADS
        for (size_t c = 0; c < cells; c++) {
            double total = mode == '*';
            if (mode == 's') {
                for (int64_t i = o[c]; i < o[c + 1]; i++) total += v[i];
                to[c] = total;
            } else if (mode == '^') {
                total = -INFINITY;
                for (int64_t i = o[c + 1]; i-- > o[c];) to[i] = total = v[i] > total ? v[i] : total;
            } else if (mode == '+')
                for (int64_t i = o[c]; i < o[c + 1]; i++) to[i] = total += v[i];
            else
                for (int64_t i = o[c]; i < o[c + 1]; i++) to[i] = total *= v[i];
        }
        Py_END_ALLOW_THREADS
    }
    PyBuffer_Release(&values);
    PyBuffer_Release(&offsets);
    PyBuffer_Release(&out);
    if (!right) return NULL;
    Py_RETURN_NONE;
}

static PyObject *segment_sum(PyObject *Py_UNUSED(module), PyObject *args) { return walk_segments(args, 's'); }
static PyObject *segment_cumsum(PyObject *Py_UNUSED(module), PyObject *args) { return walk_segments(args, '+'); }
static PyObject *segment_cumprod(PyObject *Py_UNUSED(module), PyObject *args) { return walk_segments(args, '*'); }
static PyObject *segment_max_from(PyObject *Py_UNUSED(module), PyObject *args) { return walk_segments(args, '^'); }

/* ------------------------------------------------------------------ module */

static PyMethodDef functions[] = {
    {"scan_qrels", scan_qrels, METH_VARARGS, "scan_qrels(text, lenient): the columns of a judgment file, as a dict of bytes."},
    {"code_documents", code_documents, METH_VARARGS,
     "code_documents(docs, ends, topic, row, first): int32 code per document, as bytes; judged ones keep their row."},
    {"segment_sum", segment_sum, METH_VARARGS, "segment_sum(values, offsets, out): sums of consecutive segments, first to last."},
    {"segment_cumsum", segment_cumsum, METH_VARARGS, "segment_cumsum(values, offsets, out): running sums inside each segment."},
    {"segment_cumprod", segment_cumprod, METH_VARARGS, "segment_cumprod(values, offsets, out): running products inside each segment."},
    {"segment_max_from", segment_max_from, METH_VARARGS, "segment_max_from(values, offsets, out): the largest value from each place to its segment's end."},
    {NULL, NULL, 0, NULL}};

static int module_exec(PyObject *module)
{
    make_plain_locale();
    PyObject *index = PyType_FromSpec(&index_spec), *scanner = PyType_FromSpec(&scanner_spec);
    if (!index || !scanner || PyModule_AddObjectRef(module, "Index", index) ||
        PyModule_AddObjectRef(module, "RunScanner", scanner)) {
        Py_XDECREF(index);
        Py_XDECREF(scanner);
        return -1;
    }
    Py_DECREF(index);
    Py_DECREF(scanner);
    return 0;
}

static PyModuleDef_Slot module_slots[] = {{Py_mod_exec, module_exec}, {0, NULL}};
static struct PyModuleDef module_definition = {PyModuleDef_HEAD_INIT, "_c", "C kernels of unjudged.", 0,
                                               functions, module_slots, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__c(void) { return PyModuleDef_Init(&module_definition); }
