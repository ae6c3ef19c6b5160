/* What the entries of many lists say of their documents: for the hole model and for the inference of the pool.
 *
 * Counts are whole numbers, and sums of doubles run over the entries in order, one operation at a time: the bits are those
 * of the NumPy twin. The interpreter lock is released. */
#include "kernels.h"

static void release(Py_buffer *b, int many)
{
    while (many--) PyBuffer_Release(&b[many]);
}

static PyObject *done(int right)
{
    if (!right) {
        PyErr_SetString(PyExc_ValueError, "entries, documents and lists of different lengths");
        return NULL;
    }
    Py_RETURN_NONE;
}

/* Are all of these numbers below `most` (and none negative)? */
WIDE static int all_below(const int64_t *numbers, size_t n, uint64_t most)
{
    uint64_t bad = 0;
    for (size_t i = 0; i < n; i++) bad |= (uint64_t)numbers[i] >= most;
    return !bad;
}

/* Per document, how many different teams stand beside it, in entries down to the depth of their run. */
static PyObject *count_teams(PyObject *Py_UNUSED(module), PyObject *args)
{
    enum { DOC, RUN, RANK, DEPTH, TEAM, OUT, ARRAYS };
    Py_buffer b[ARRAYS];
    if (!PyArg_ParseTuple(args, "y*y*y*y*y*w*", &b[DOC], &b[RUN], &b[RANK], &b[DEPTH], &b[TEAM], &b[OUT])) return NULL;
    const int64_t *doc = b[DOC].buf, *run = b[RUN].buf, *rank = b[RANK].buf, *depth = b[DEPTH].buf, *team = b[TEAM].buf;
    int64_t *out = b[OUT].buf;
    size_t n = (size_t)b[DOC].len / 8, runs = (size_t)b[DEPTH].len / 8, docs = (size_t)b[OUT].len / 8, words = 1;
    int right = b[RUN].len == b[DOC].len && b[RANK].len == b[DOC].len && b[TEAM].len == b[DEPTH].len &&
                all_below(doc, n, docs) && all_below(run, n, runs) && all_below(team, runs, runs);
    for (size_t r = 0; right && r < runs; r++) words = (size_t)team[r] / 64 >= words ? (size_t)team[r] / 64 + 1 : words;
    uint64_t *beside = right ? calloc(docs * words + 1, sizeof *beside) : NULL;
    if (beside) {
        Py_BEGIN_ALLOW_THREADS
        for (size_t i = 0; i < n; i++) {
            size_t which = (size_t)team[run[i]];
            beside[(size_t)doc[i] * words + which / 64] |= (uint64_t)(rank[i] <= depth[run[i]]) << which % 64;
        }
        for (size_t d = 0; d < docs; d++) {
            out[d] = 0;
            for (size_t w = 0; w < words; w++)
                for (uint64_t bits = beside[d * words + w]; bits; bits &= bits - 1) out[d]++;
        }
        Py_END_ALLOW_THREADS
        free(beside);
    }
    release(b, ARRAYS);
    return right && !beside ? PyErr_NoMemory() : done(right);
}

/* Per document, the share of relevant documents at the top of its lists, the own label left out, added up over 1 / rank. */
static PyObject *richness(PyObject *Py_UNUSED(module), PyObject *args)
{
    enum { DOC, RANK, CELL, JUDGED, KNOWN, SHARE, OUT, ARRAYS };
    Py_buffer b[ARRAYS];
    long long cells;
    int near;
    double prior;
    if (!PyArg_ParseTuple(args, "y*y*y*y*y*y*w*Lid", &b[DOC], &b[RANK], &b[CELL], &b[JUDGED], &b[KNOWN], &b[SHARE], &b[OUT],
                          &cells, &near, &prior))
        return NULL;
    const int64_t *doc = b[DOC].buf, *rank = b[RANK].buf, *cell = b[CELL].buf;
    const uint8_t *judged = b[JUDGED].buf;
    const double *known = b[KNOWN].buf, *share = b[SHARE].buf;
    double *out = b[OUT].buf;
    size_t n = (size_t)b[DOC].len / 8, docs = (size_t)b[JUDGED].len;
    int right = cells >= 0 && cells < (1LL << 48) && b[RANK].len == b[DOC].len && b[CELL].len == b[DOC].len;
    for (int i = KNOWN; i <= OUT; i++) right = right && (size_t)b[i].len / 8 == docs;
    right = right && all_below(doc, n, docs) && all_below(cell, n, (uint64_t)cells);
    struct { double gained; int64_t many; } *of_cell = right ? calloc((size_t)cells + 1, sizeof *of_cell) : NULL;
    if (of_cell) {
        Py_BEGIN_ALLOW_THREADS
        memset(out, 0, docs * sizeof *out);
        for (size_t i = 0; i < n; i++)
            if (rank[i] <= near && judged[doc[i]]) {
                of_cell[cell[i]].gained += known[doc[i]];
                of_cell[cell[i]].many++;
            }
        for (size_t i = 0; i < n; i++) {
            int64_t inside = rank[i] <= near && judged[doc[i]];
            double gained = of_cell[cell[i]].gained - (inside ? known[doc[i]] : 0.0) + prior * share[doc[i]];
            out[doc[i]] += gained / ((double)(of_cell[cell[i]].many - inside) + prior) / (double)rank[i];
        }
        Py_END_ALLOW_THREADS
        free(of_cell);
    }
    release(b, ARRAYS);
    return right && !of_cell ? PyErr_NoMemory() : done(right);
}

#define COLUMNS 8
#define SUMS (COLUMNS + 1) /* what is added up: rest, and each column times slope, times all columns */
#define TOGETHER 3         /* of them that stay in registers */
#define BLOCK 256

#if defined(__GNUC__)
typedef double Numbers __attribute__((vector_size(32), aligned(8), may_alias));
#else
typedef double Numbers;
#endif
#define PARTS (COLUMNS * sizeof(double) / sizeof(Numbers))

WIDE static void add_rows(const double *rows, const double *slope, const double *rest, size_t n, double *sums)
{
    double factor[SUMS][BLOCK];
    memcpy(factor, rest, n * sizeof *rest);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < COLUMNS; k++) factor[k + 1][i] = rows[i * COLUMNS + k] * slope[i];
    for (size_t first = 0; first < SUMS; first += TOGETHER) {
        Numbers here[TOGETHER][PARTS];
        memcpy(here, sums + first * COLUMNS, sizeof here);
        for (size_t i = 0; i < n; i++) {
            const Numbers *row = (const Numbers *)(rows + i * COLUMNS);
            for (size_t k = 0; k < TOGETHER; k++)
                for (size_t j = 0; j < PARTS; j++) here[k][j] += factor[first + k][i] * row[j];
        }
        memcpy(sums + first * COLUMNS, here, sizeof here);
    }
}

/* Of rows of eight numbers: column times rest, and column times slope times column, added up over the rows. */
static PyObject *newton_sums(PyObject *Py_UNUSED(module), PyObject *args)
{
    enum { ROWS, SLOPE, REST, GRADIENT, CURVE, ARRAYS };
    Py_buffer b[ARRAYS];
    if (!PyArg_ParseTuple(args, "y*y*y*w*w*", &b[ROWS], &b[SLOPE], &b[REST], &b[GRADIENT], &b[CURVE])) return NULL;
    size_t n = (size_t)b[SLOPE].len / 8;
    int right = b[REST].len == b[SLOPE].len && (size_t)b[ROWS].len / 8 == n * COLUMNS &&
                b[GRADIENT].len == 8 * COLUMNS && b[CURVE].len == 8 * COLUMNS * COLUMNS;
    if (right) {
        Py_BEGIN_ALLOW_THREADS
        double sums[SUMS * COLUMNS] = {0};
        const double *rows = b[ROWS].buf, *slope = b[SLOPE].buf, *rest = b[REST].buf;
        for (size_t i = 0; i < n; i += BLOCK)
            add_rows(rows + i * COLUMNS, slope + i, rest + i, n - i < BLOCK ? n - i : BLOCK, sums);
        memcpy(b[GRADIENT].buf, sums, COLUMNS * sizeof *sums);
        memcpy(b[CURVE].buf, sums + COLUMNS, COLUMNS * COLUMNS * sizeof *sums);
        Py_END_ALLOW_THREADS
    }
    release(b, ARRAYS);
    return done(right);
}

/* Hits that stand document after document: per document, the least level of the runs that have it down to this line;
 * out[level, group of lines] counts the hits of documents of each level. `none` is the level of all other documents. */
static PyObject *count_levels(PyObject *Py_UNUSED(module), PyObject *args)
{
    enum { FIRST, RUN, LINE, GROUP, LEVEL, OUT, ARRAYS };
    Py_buffer b[ARRAYS];
    long long depth, none, groups;
    if (!PyArg_ParseTuple(args, "y*y*y*y*y*LLLw*", &b[FIRST], &b[RUN], &b[LINE], &b[GROUP], &b[LEVEL], &depth, &none,
                          &groups, &b[OUT]))
        return NULL;
    const int64_t *run = b[RUN].buf, *line = b[LINE].buf, *group = b[GROUP].buf, *level = b[LEVEL].buf, *first = b[FIRST].buf;
    int64_t *out = b[OUT].buf, docs = count_segments(&b[FIRST]);
    size_t n = (size_t)b[RUN].len / 8, runs = (size_t)b[LEVEL].len / 8;
    int right = docs >= 0 && first[docs] == (int64_t)n && b[LINE].len == b[RUN].len && b[GROUP].len == b[RUN].len &&
                none >= 0 && groups > 0 && none < (1LL << 30) && groups < (1LL << 30) &&
                b[OUT].len / 8 == (none + 1) * groups && all_below(run, n, runs) && all_below(group, n, (uint64_t)groups) &&
                all_below(level, runs, (uint64_t)none + 1);
    if (right) {
        Py_BEGIN_ALLOW_THREADS
        memset(out, 0, (size_t)b[OUT].len);
        for (int64_t d = 0; d < docs; d++) {
            int64_t least = none;
            for (int64_t i = first[d]; i < first[d + 1]; i++) {
                int64_t here = line[i] <= depth ? level[run[i]] : none;
                least = here < least ? here : least;
            }
            for (int64_t i = first[d]; i < first[d + 1]; i++) out[least * groups + group[i]]++;
        }
        Py_END_ALLOW_THREADS
    }
    release(b, ARRAYS);
    return done(right);
}

/* Hits that stand document after document: per document, the first line it has in chosen runs; `none` where it has none. */
static PyObject *first_lines(PyObject *Py_UNUSED(module), PyObject *args)
{
    enum { FIRST, RUN, LINE, CHOSEN, OUT, ARRAYS };
    Py_buffer b[ARRAYS];
    long long none;
    if (!PyArg_ParseTuple(args, "y*y*y*y*Lw*", &b[FIRST], &b[RUN], &b[LINE], &b[CHOSEN], &none, &b[OUT])) return NULL;
    const int64_t *first = b[FIRST].buf, *run = b[RUN].buf, *line = b[LINE].buf;
    const uint8_t *chosen = b[CHOSEN].buf;
    int64_t *out = b[OUT].buf, docs = count_segments(&b[FIRST]);
    size_t n = (size_t)b[RUN].len / 8;
    int right = docs >= 0 && first[docs] == (int64_t)n && b[LINE].len == b[RUN].len && b[OUT].len / 8 == docs &&
                all_below(run, n, (uint64_t)b[CHOSEN].len);
    if (right) {
        Py_BEGIN_ALLOW_THREADS
        for (int64_t d = 0; d < docs; d++) {
            int64_t least = none;
            for (int64_t i = first[d]; i < first[d + 1]; i++) {
                int64_t here = chosen[run[i]] ? line[i] : none;
                least = here < least ? here : least;
            }
            out[d] = least;
        }
        Py_END_ALLOW_THREADS
    }
    release(b, ARRAYS);
    return done(right);
}

/* The places of small numbers in rising order, equal ones as they stand. */
static PyObject *order_of(PyObject *Py_UNUSED(module), PyObject *args)
{
    enum { NUMBERS, OUT, ARRAYS };
    Py_buffer b[ARRAYS];
    long long most;
    if (!PyArg_ParseTuple(args, "y*Lw*", &b[NUMBERS], &most, &b[OUT])) return NULL;
    const int32_t *number = b[NUMBERS].buf;
    int64_t *out = b[OUT].buf, before = 0;
    size_t n = (size_t)b[NUMBERS].len / 4;
    int right = most >= 0 && most < 1LL << 40 && (size_t)b[OUT].len / 8 == n;
    for (size_t i = 0; right && i < n; i++) right = number[i] >= 0 && number[i] < most;
    int64_t *start = right ? calloc((size_t)most + 1, sizeof *start) : NULL;
    if (start) {
        Py_BEGIN_ALLOW_THREADS
        for (size_t i = 0; i < n; i++) start[number[i]]++;
        for (int64_t k = 0; k < most; k++) {
            int64_t many = start[k];
            start[k] = before;
            before += many;
        }
        for (size_t i = 0; i < n; i++) out[start[number[i]]++] = (int64_t)i;
        Py_END_ALLOW_THREADS
        free(start);
    }
    release(b, ARRAYS);
    return right && !start ? PyErr_NoMemory() : done(right);
}

PyMethodDef list_functions[] = {
    {"count_teams", count_teams, METH_VARARGS,
     "count_teams(doc, run, rank, depth_of_run, team_of_run, out): different teams beside each document."},
    {"richness", richness, METH_VARARGS,
     "richness(doc, rank, cell, judged, known, share, out, cells, near, prior): how rich the lists of each document are."},
    {"newton_sums", newton_sums, METH_VARARGS,
     "newton_sums(rows, slope, rest, out_gradient, out_curve): products of eight columns, added up over the rows."},
    {"count_levels", count_levels, METH_VARARGS,
     "count_levels(first, run, line, group, level_of_run, depth, none, groups, out): hits by level of their document."},
    {"first_lines", first_lines, METH_VARARGS,
     "first_lines(first, run, line, chosen_of_run, none, out): the first line of each document in chosen runs."},
    {"order_of", order_of, METH_VARARGS,
     "order_of(numbers, most, out): the places of numbers below `most` in rising order, equal ones as they stand."},
    {NULL, NULL, 0, NULL}};
