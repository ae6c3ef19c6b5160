/* look_at_topics: what `check` asks of the lists of a run, topic by topic, as long as nothing is wrong with their lines.
 *
 * A topic is ordinary if its lines stand together and each has six fields in ASCII, a finite score, a whole number as
 * its rank, the same tag, and a document of its own. Of any other topic only the place is told: whoever calls reads its lines
 * one by one (io/check/inspection.py), which is also the twin that tests compare this with. */
#include "index.h"

#include <math.h>

#include "number.h"
#include "plain_line.h"

typedef struct {
    double score;
    const char *doc;
    size_t n;
    uint64_t hash;
    int64_t rank, line;
} Listing;

typedef struct {
    const char *topic, *tag, *odd_second;
    size_t topic_n, tag_n, odd_second_n, longest;
    int64_t odd_seconds, odd_second_line;
    int signed_ranks, unsorted, equal;
    int64_t unsorted_line;
    Arena listings, slots, order;
} Topic;

enum { ORDINARY = 0, MORE = 1, ODD = 2, NO_MEMORY = -1 };

/* The six fields of a line; 0: there are fewer or more. */
static int six_fields(const char *line, const char *end, Field *f)
{
#if PLAIN_LINES
    if (end - line < 64) {
        char copy[64];
        uint64_t blanks, newlines;
        memset(copy, ' ', sizeof copy);
        memcpy(copy, line, (size_t)(end - line));
        mark_blanks(copy, &blanks, &newlines);
        uint64_t starts = ~blanks & (blanks << 1 | 1), ends = blanks & ~(blanks << 1 | 1);
        for (int i = 0; i < 6; i++, starts &= starts - 1, ends &= ends - 1) {
            if (!starts) return 0;
            int start = __builtin_ctzll(starts);
            f[i] = (Field){line + start, (size_t)((ends ? __builtin_ctzll(ends) : 64) - start)};
        }
        return !starts;
    }
#endif
    Field seven[7];
    int found = split_line(line, end, seven, 7);
    memcpy(f, seven, 6 * sizeof *f);
    return found == 6;
}

static int whole_number(const Field *f, int64_t *out)
{
    size_t negative = f->n && *f->s == '-', n = f->n - negative;
    int64_t value = 0;
    if (!n || n > 9) return 0;
    for (size_t i = negative; i < f->n; i++) {
        if (f->s[i] < '0' || f->s[i] > '9') return 0;
        value = 10 * value + (f->s[i] - '0');
    }
    *out = negative ? -value : value;
    return 1;
}

/* Takes a line of the topic; ORDINARY, ODD or NO_MEMORY. */
static int take_line(Topic *t, const Field *f, int64_t number)
{
    Listing one = {.doc = f[2].s, .n = f[2].n, .line = number};
    if (parse_score(f[4].s, f[4].n, &one.score) || !isfinite(one.score) || !whole_number(f + 3, &one.rank)) return ODD;
    size_t n = t->listings.size / sizeof one;
    int minus = *f[3].s == '-';
    if (!n) {
        t->tag = f[5].s;
        t->tag_n = f[5].n;
        t->signed_ranks = minus;
    } else {
        if (f[5].n != t->tag_n || memcmp(f[5].s, t->tag, t->tag_n) || minus != t->signed_ranks) return ODD;
        double before = ((const Listing *)t->listings.data)[n - 1].score;
        if (one.score > before && !t->unsorted) {
            t->unsorted = 1;
            t->unsorted_line = number;
        }
        t->equal |= one.score == before;
    }
    if (f[1].n != 2 || memcmp(f[1].s, "Q0", 2)) {
        if (!t->odd_seconds++) {
            t->odd_second = f[1].s;
            t->odd_second_n = f[1].n;
            t->odd_second_line = number;
        }
    }
    if (one.n > t->longest) t->longest = one.n;
    one.hash = hash_bytes(one.doc, one.n);
    return arena_append(&t->listings, &one, sizeof one) ? NO_MEMORY : ORDINARY;
}

/* Is each document there once? ORDINARY, ODD or NO_MEMORY. */
static int look_for_repeats(Topic *t)
{
    size_t n = t->listings.size / sizeof(Listing), size = table_size(n) * sizeof(uint32_t);
    const Listing *all = (const Listing *)t->listings.data;
    uint64_t mask = table_size(n) - 1;
    t->slots.size = 0;
    if (n > UINT32_MAX / 2 || arena_reserve(&t->slots, size)) return NO_MEMORY;
    uint32_t *slots = (uint32_t *)t->slots.data;
    memset(slots, 0, size);
    for (size_t e = 0; e < n; e++) {
        uint64_t i = (all[e].hash >> 20) & mask;
        for (; slots[i]; i = (i + 1) & mask) {
            const Listing *o = all + slots[i] - 1;
            if (o->hash == all[e].hash && o->n == all[e].n && same_id(o->doc, all[e].doc, o->n)) return ODD;
        }
        slots[i] = (uint32_t)e + 1;
    }
    return ORDINARY;
}

/* The reader's order: score falling, then id falling. */
static int by_score(const void *a, const void *b)
{
    const Listing *x = *(const Listing *const *)a, *y = *(const Listing *const *)b;
    if (x->score != y->score) return x->score > y->score ? -1 : 1;
    size_t shared = x->n < y->n ? x->n : y->n;
    int c = memcmp(y->doc, x->doc, shared);
    return c ? c : (y->n > x->n) - (y->n < x->n);
}

static int by_rank(const void *a, const void *b)
{
    const Listing *x = *(const Listing *const *)a, *y = *(const Listing *const *)b;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    return (x->line > y->line) - (x->line < y->line);
}

static const Listing **listed(Topic *t)
{
    size_t n = t->listings.size / sizeof(Listing);
    t->order.size = 0;
    if (arena_reserve(&t->order, n * sizeof(Listing *))) return NULL;
    const Listing **order = (const Listing **)t->order.data;
    for (size_t i = 0; i < n; i++) order[i] = (const Listing *)t->listings.data + i;
    return order;
}

/* The first two neighbours by rank whose ranks are equal or whose scores rise; 0: there are none. */
static int rank_trouble(Topic *t, const Listing **pair)
{
    size_t n = t->listings.size / sizeof(Listing), follow = 1;
    const Listing *all = (const Listing *)t->listings.data;
    for (; !t->unsorted && follow < n && all[follow].rank == all[follow - 1].rank + 1; follow++) {}
    if (follow >= n) return 0;
    const Listing **order = listed(t);
    if (!order) return NO_MEMORY;
    qsort(order, n, sizeof *order, by_rank);
    for (size_t i = 1; i < n; i++)
        if (order[i - 1]->rank == order[i]->rank || order[i - 1]->score < order[i]->score) {
            pair[0] = order[i - 1];
            pair[1] = order[i];
            return 1;
        }
    return 0;
}

/* What is told of an ordinary topic; NULL with an error set. */
static PyObject *told(Topic *t, const Index *index)
{
    size_t n = t->listings.size / sizeof(Listing), bytes = 0;
    const Listing *all = (const Listing *)t->listings.data, *pair[2] = {NULL, NULL};
    int troubled = rank_trouble(t, pair);
    const Listing **order = troubled < 0 ? NULL : listed(t);
    if (!order) return PyErr_NoMemory();
    if (t->unsorted || t->equal) qsort(order, n, sizeof *order, by_score);
    int64_t lowest = all[0].rank, tied = 0, tied_line = 0, hits = 0, longest_hits = 0;
    for (size_t i = 0; i < n; i++) {
        if (all[i].rank < lowest) lowest = all[i].rank;
        bytes += all[i].n + 1;
        int same = (i && order[i]->score == order[i - 1]->score) || (i + 1 < n && order[i]->score == order[i + 1]->score);
        tied += same;
        if (same && (!tied_line || order[i]->line < tied_line)) tied_line = order[i]->line;
    }
    int64_t judged = index_find_topic(index, t->topic, t->topic_n);
    if (judged >= 0) {
        const Rows rows = index_rows(index, judged);
        for (size_t i = 0; i < n; i++)
            if (find_row(&rows, all[i].doc, all[i].n, all[i].hash) >= 0) {
                hits++;
                longest_hits += all[i].n == t->longest;
            }
    }
    PyObject *names = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)bytes - 1);
    if (!names) return NULL;
    char *out = PyBytes_AsString(names);
    for (size_t i = 0; i < n; i++) {
        if (i) *out++ = '\n';
        memcpy(out, order[i]->doc, order[i]->n);
        out += order[i]->n;
    }
    int64_t trouble_line = !troubled ? 0 : pair[0]->line > pair[1]->line ? pair[0]->line : pair[1]->line;
    return Py_BuildValue(
        "(y#Ly#LLy#iL(LLL)LLLiiLLLN)", t->topic, (Py_ssize_t)t->topic_n, (long long)all[0].line, t->tag, (Py_ssize_t)t->tag_n,
        (long long)t->odd_seconds, (long long)t->odd_second_line, t->odd_second ? t->odd_second : "", (Py_ssize_t)t->odd_second_n,
        !t->signed_ranks, (long long)lowest, (long long)trouble_line, (long long)(troubled ? pair[0]->rank : 0),
        (long long)(troubled ? pair[1]->rank : 0), (long long)t->unsorted_line, (long long)tied, (long long)tied_line,
        n > 10 && order[9]->score == order[10]->score, order[0]->score == order[n - 1]->score, (long long)hits,
        (long long)longest_hits, (long long)t->longest, names);
}

static int is_ascii(const char *p, const char *end)
{
    unsigned char seen = 0;
    for (; p < end; p++) seen |= (unsigned char)*p;
    return seen < 128;
}

/* Reads the topic that begins at *at, up to the next one's first line. */
static int read_topic(Topic *t, const char **at, const char *end, int final, int64_t *number)
{
    const char *p = *at;
    int64_t line = *number;
    Field f[6];
    t->listings.size = 0;
    t->odd_seconds = t->odd_second_line = t->unsorted_line = 0;
    t->unsorted = t->equal = 0;
    t->longest = t->odd_second_n = 0;
    t->odd_second = NULL;
    while (p < end) {
        const char *newline = memchr(p, '\n', (size_t)(end - p)), *stop = newline ? newline : end;
        if (!newline && !final) return MORE;
        int blank = split_line(p, stop, f, 1) == 0 || *p == '#';
        if (!blank) {
            if (!six_fields(p, stop, f)) return ODD;
            if (t->listings.size && (f[0].n != t->topic_n || memcmp(f[0].s, t->topic, t->topic_n))) break;
            t->topic = f[0].s;
            t->topic_n = f[0].n;
            int status = take_line(t, f, line + 1);
            if (status) return status;
        }
        line++;
        p = newline ? newline + 1 : end;
    }
    if (p == end && !final) return MORE;
    if (!is_ascii(*at, p)) return ODD;
    *at = p;
    *number = line;
    return look_for_repeats(t);
}

static PyObject *look_at_topics(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *text, *index;
    Py_ssize_t start;
    long long before;
    int final;
    if (!PyArg_ParseTuple(args, "SnLpO", &text, &start, &before, &final, &index)) return NULL;
    if (PyType_GetSlot(Py_TYPE(index), Py_tp_new) != (void *)index_new || start < 0 || start > PyBytes_Size(text)) {
        PyErr_SetString(PyExc_TypeError, "look_at_topics(text, start, lines before it, final, index)");
        return NULL;
    }
    const char *data = PyBytes_AsString(text), *end = data + PyBytes_Size(text), *p = data + start;
    Topic t = {0};
    int64_t number = before;
    int status = ORDINARY;
    PyObject *found = PyList_New(0);
    while (found && p < end) {
        const char *at = p;
        int64_t line = number;
        status = read_topic(&t, &at, end, final, &line);
        if (status) break;
        if (t.listings.size) {
            PyObject *one = told(&t, (const Index *)index);
            int failed = !one || PyList_Append(found, one);
            Py_XDECREF(one);
            if (failed) Py_CLEAR(found);
        }
        p = at;
        number = line;
    }
    arena_free(&t.listings);
    arena_free(&t.slots);
    arena_free(&t.order);
    if (found && status == NO_MEMORY) {
        Py_CLEAR(found);
        PyErr_NoMemory();
    }
    return found ? Py_BuildValue("(NnLO)", found, p - data, (long long)number, status == ODD ? Py_True : Py_False) : NULL;
}

PyMethodDef look_functions[] = {
    {"look_at_topics", look_at_topics, METH_VARARGS,
     "look_at_topics(text, start, lines before it, final, index): ([what is told of each ordinary topic], where it stopped, "
     "lines before that, is the topic there out of the ordinary?)."},
    {NULL, NULL, 0, NULL}};
