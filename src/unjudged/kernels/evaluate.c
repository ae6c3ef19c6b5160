/* The classical measures of one run, topic by topic, for the way that does without NumPy (classical.py).
 *
 * Its twin are the registered measures (unjudged/measures), which define them: the same operations in the same order, so
 * that values are equal in every bit. tests/measures/test_classical.py compares the two. Undefined values are 0. */
#include "kernels.h"

#include <math.h>

typedef struct {
    double R, N;                 /* judged documents of grade rel or more; of grade 0 to rel - 1 */
    double length;               /* documents retrieved */
    int64_t hits;                /* of them in the judgments, with negative grades too, and their ranks */
    const int32_t *hit_rank;
    int64_t nonrelevant;         /* of them judged nonrelevant */
    int64_t found;               /* of them relevant; their ranks, and their ranks among the judged documents */
    int32_t *rank, *place;
    double *best;                /* the best precision there or further down */
    int64_t gaining;             /* of them with a gain */
    int32_t *gain_rank;
    double *gain;
    int64_t ideal_size;          /* the discounted sums of the judgments' gains, best first */
    const double *ideal;
} Topic;

enum { TABULATED = 2048 };
typedef struct { double discount[TABULATED]; } Table;

/* log2(rank + 1), which gains are divided by */
static inline double discount(Table *table, int64_t rank)
{
    if (rank >= TABULATED) return log2((double)rank + 1.0);
    if (!table->discount[rank]) table->discount[rank] = log2((double)rank + 1.0);
    return table->discount[rank];
}

/* How many of n ranks, which ascend, are not beyond k? k = 0: all */
static int64_t up_to(const int32_t *rank, int64_t n, double k)
{
    if (k == 0) return n;
    int64_t low = 0;
    while (low < n) {
        int64_t middle = low + (n - low) / 2;
        if (rank[middle] <= k) low = middle + 1;
        else n = middle;
    }
    return low;
}

static double average_precision(Topic *t, double k, Table *table)
{
    (void)table;
    double sum = 0;
    for (int64_t i = 0, n = up_to(t->rank, t->found, k); i < n; i++) sum += (double)(i + 1) / (double)t->rank[i];
    return sum / t->R;
}

static double bpref(Topic *t, double k, Table *table)
{
    (void)k, (void)table;
    double sum = 0, scale = t->R < t->N ? t->R : t->N;
    if (!(scale > 0)) scale = 1;
    for (int64_t i = 0; i < t->found; i++) {
        double above = (double)(t->place[i] - (i + 1));
        sum += 1 - (above < t->R ? above : t->R) / scale;
    }
    return sum / t->R;
}

static double interpolated(const Topic *t, double recall, double rounding)
{
    double needed = floor(recall * t->R + rounding);
    if (needed < 1) needed = 1;
    return (double)t->found >= needed ? t->best[(int64_t)needed - 1] : 0.0;
}

static double interpolated_up(Topic *t, double recall, Table *table)
{
    (void)table;
    return interpolated(t, recall, 0.9);
}

static double interpolated_nearest(Topic *t, double recall, Table *table)
{
    (void)table;
    return interpolated(t, recall, 0.5);
}

static double judged(Topic *t, double k, Table *table)
{
    (void)table;
    double retrieved = k && k < t->length ? k : t->length;
    return retrieved > 0 ? (double)up_to(t->hit_rank, t->hits, k) / retrieved : 0.0;
}

static double ndcg(Topic *t, double k, Table *table)
{
    double sum = 0;
    int64_t counted = k && k < (double)t->ideal_size ? (int64_t)k : t->ideal_size;
    for (int64_t i = 0, n = up_to(t->gain_rank, t->gaining, k); i < n; i++)
        sum += t->gain[i] / discount(table, t->gain_rank[i]);
    return sum / (counted ? t->ideal[counted - 1] : 0.0);
}

static double nonrelevant_retrieved(Topic *t, double k, Table *table)
{
    (void)k, (void)table;
    return (double)t->nonrelevant;
}

static double relevant(Topic *t, double k, Table *table) { (void)k, (void)table; return t->R; }

static double relevant_retrieved(Topic *t, double k, Table *table)
{
    (void)k, (void)table;
    return (double)t->found;
}

static double retrieved(Topic *t, double k, Table *table) { (void)k, (void)table; return t->length; }
static double one(Topic *t, double k, Table *table) { (void)t, (void)k, (void)table; return 1; }

static double precision(Topic *t, double k, Table *table)
{
    (void)table;
    double found = (double)up_to(t->rank, t->found, k);
    if (k) return found / k;
    return t->length > 0 ? found / t->length : 0.0;
}

static double recall(Topic *t, double k, Table *table)
{
    (void)table;
    return (double)up_to(t->rank, t->found, k) / t->R;
}

static double r_precision(Topic *t, double k, Table *table)
{
    (void)k, (void)table;
    return t->R > 0 ? (double)up_to(t->rank, t->found, t->R) / t->R : 0.0;
}

static double reciprocal_rank(Topic *t, double k, Table *table)
{
    (void)table;
    return up_to(t->rank, t->found, k) ? 1 / (double)t->rank[0] : 0.0;
}

static double success(Topic *t, double k, Table *table)
{
    (void)table;
    return up_to(t->rank, t->found, k) > 0;
}

typedef double (*Evaluate)(Topic *, double, Table *);

/* The registered names, and IPrec by its two roundings. */
static const struct { const char *name; Evaluate value; } MEASURES[] = {
    {"AP", average_precision}, {"IPrec", interpolated_up}, {"IPrec nearest", interpolated_nearest},
    {"Judged", judged}, {"NumNonrelJudgedRet", nonrelevant_retrieved}, {"NumQ", one}, {"NumRel", relevant},
    {"NumRelRet", relevant_retrieved}, {"NumRet", retrieved}, {"P", precision}, {"R", recall}, {"RR", reciprocal_rank},
    {"Rprec", r_precision}, {"SetP", precision}, {"SetR", recall}, {"Success", success}, {"bpref", bpref},
    {"nDCG", ndcg}};

typedef struct { Evaluate value; double parameter; } Wanted;

/* Sets up a topic: its judgments' grades, its hits' rows and ranks. */
static void describe(Topic *t, int rel, const int32_t *grades, int64_t first, int64_t end, const int32_t *row)
{
    int32_t at = 0;
    int64_t relevant = 0, nonrelevant = 0, gaining = 0;   /* counted without branches, for nobody can foretell them */
    for (int64_t r = first; r < end; r++) {
        relevant += grades[r] >= rel;
        nonrelevant += (grades[r] >= 0) & (grades[r] < rel);
        gaining += grades[r] > 0;
    }
    t->R = (double)relevant;
    t->N = (double)nonrelevant;
    t->ideal_size = gaining;
    t->found = t->gaining = t->nonrelevant = 0;
    for (int64_t i = 0; i < t->hits; i++) {
        int32_t grade = grades[row[i]];
        int judged = grade >= 0, found = judged & (grade >= rel);
        at += judged;
        t->rank[t->found] = t->gain_rank[t->gaining] = t->hit_rank[i];
        t->place[t->found] = at;
        t->gain[t->gaining] = grade;
        t->found += found;
        t->nonrelevant += judged & !found;
        t->gaining += grade > 0;
    }
    double best = 0;
    for (int64_t i = t->found; i-- > 0;) {
        double here = (double)(i + 1) / (double)t->rank[i];
        t->best[i] = best = here > best ? here : best;
    }
}

static Wanted *wanted_of(PyObject *list, size_t *count)
{
    *count = (size_t)PyList_Size(list);
    Wanted *wanted = malloc((*count + 1) * sizeof *wanted);
    if (!wanted) return (Wanted *)PyErr_NoMemory();
    for (size_t i = 0; i < *count; i++) {
        PyObject *pair = PyList_GetItem(list, (Py_ssize_t)i);
        const char *name;
        size_t m = 0;
        if (!PyTuple_Check(pair)) PyErr_SetString(PyExc_TypeError, "measures are (name, parameter)");
        if (PyErr_Occurred() || !PyArg_ParseTuple(pair, "sd", &name, &wanted[i].parameter)) goto wrong;
        while (m < sizeof MEASURES / sizeof *MEASURES && strcmp(MEASURES[m].name, name)) m++;
        if (m == sizeof MEASURES / sizeof *MEASURES) {
            PyErr_Format(PyExc_KeyError, "%s", name);
            goto wrong;
        }
        wanted[i].value = MEASURES[m].value;
    }
    return wanted;
wrong:
    free(wanted);
    return NULL;
}

static int descending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

static PyObject *ideal_sums(PyObject *Py_UNUSED(module), PyObject *args)
{
    Py_buffer grade, start;
    PyObject *out = NULL;
    char *values = NULL;
    if (!PyArg_ParseTuple(args, "y*y*", &grade, &start)) return NULL;
    const int64_t *starts = start.buf;
    const int32_t *grades = grade.buf;
    int64_t topics = count_segments(&start);
    if (topics < 0 || starts[topics] != grade.len / 4) PyErr_SetString(PyExc_ValueError, "judgments that do not fit");
    else out = new_bytes((size_t)(grade.len / 4) * sizeof(double), &values);
    if (out) {
        Py_BEGIN_ALLOW_THREADS
        Table table;
        memset(&table, 0, sizeof table);
        for (int64_t topic = 0; topic < topics; topic++) {
            double *ideal = (double *)values + starts[topic], sum = 0;
            int64_t size = 0;
            for (int64_t r = starts[topic]; r < starts[topic + 1]; r++)
                if (grades[r] > 0) ideal[size++] = grades[r];
            qsort(ideal, (size_t)size, sizeof *ideal, descending);
            for (int64_t i = 0; i < size; i++) ideal[i] = sum += ideal[i] / discount(&table, i + 1);
        }
        Py_END_ALLOW_THREADS
    }
    PyBuffer_Release(&grade);
    PyBuffer_Release(&start);
    return out;
}

/* Do rows and ranks of each topic's hits fit its judgments, and do ranks ascend? */
static int consistent(const int64_t *starts, const int64_t *offsets, int64_t topics, const int32_t *row,
                      const int32_t *rank)
{
    for (int64_t t = 0; t < topics; t++)
        for (int64_t i = offsets[t]; i < offsets[t + 1]; i++)
            if (row[i] < starts[t] || row[i] >= starts[t + 1] || rank[i] <= (i > offsets[t] ? rank[i - 1] : 0)) return 0;
    return 1;
}

static PyObject *evaluate(PyObject *Py_UNUSED(module), PyObject *args)
{
    enum { GRADE, STARTS, IDEAL, OFFSETS, ROW, RANK, LENGTH, ARRAYS };
    Py_buffer b[ARRAYS];
    PyObject *list, *out = NULL;
    int rel;
    if (!PyArg_ParseTuple(args, "O!iy*y*y*y*y*y*y*", &PyList_Type, &list, &rel, &b[GRADE], &b[STARTS], &b[IDEAL],
                          &b[OFFSETS], &b[ROW], &b[RANK], &b[LENGTH]))
        return NULL;
    const int64_t *starts = b[STARTS].buf, *offsets = b[OFFSETS].buf;
    const int32_t *grades = b[GRADE].buf, *row = b[ROW].buf, *rank = b[RANK].buf, *length = b[LENGTH].buf;
    int64_t topics = count_segments(&b[STARTS]), hits = 0;
    size_t measures = 0;
    char *values = NULL;
    Wanted *wanted = wanted_of(list, &measures);
    int right = topics >= 0 && count_segments(&b[OFFSETS]) == topics && b[LENGTH].len == topics * 4 &&
                starts[topics] == b[GRADE].len / 4 && b[IDEAL].len == starts[topics] * 8 && offsets[topics] == b[ROW].len / 4 && b[RANK].len == b[ROW].len &&
                consistent(starts, offsets, topics, row, rank);
    if (wanted && !right) PyErr_SetString(PyExc_ValueError, "judgments and hits that do not fit");
    if (wanted && right) out = new_bytes((size_t)topics * measures * sizeof(double), &values);
    for (int64_t t = 0; out && t < topics; t++)
        hits = offsets[t + 1] - offsets[t] > hits ? offsets[t + 1] - offsets[t] : hits;
    /* doubles first: gain, best; then ranks, places, ranks of gaining documents */
    double *room = out ? malloc((size_t)(hits + 1) * (2 * sizeof(double) + 3 * sizeof(int32_t))) : NULL;
    if (room) {
        Py_BEGIN_ALLOW_THREADS
        Table table;
        memset(&table, 0, sizeof table);
        Topic t = {.gain = room, .best = room + hits + 1};
        t.rank = (int32_t *)(room + 2 * (hits + 1));
        t.place = t.rank + hits + 1;
        t.gain_rank = t.place + hits + 1;
        double *to = (double *)values;
        for (int64_t topic = 0; topic < topics; topic++) {
            t.length = length[topic];
            t.hits = offsets[topic + 1] - offsets[topic];
            t.hit_rank = rank + offsets[topic];
            t.ideal = (const double *)b[IDEAL].buf + starts[topic];
            describe(&t, rel, grades, starts[topic], starts[topic + 1], row + offsets[topic]);
            for (size_t m = 0; m < measures; m++) {
                double value = wanted[m].value(&t, wanted[m].parameter, &table);
                *to++ = isfinite(value) ? value : 0.0;
            }
        }
        Py_END_ALLOW_THREADS
    } else if (out) {
        Py_DECREF(out);
        out = PyErr_NoMemory();
    }
    free(room);
    free(wanted);
    for (int i = 0; i < ARRAYS; i++) PyBuffer_Release(&b[i]);
    return out;
}

/* In pairs of blocks of at most 128, each in eight strands: as NumPy forms a sum. */
static double pairwise(const double *v, Py_ssize_t many)
{
    if (many > 128) {
        Py_ssize_t half = many / 2 - many / 2 % 8;
        return pairwise(v, half) + pairwise(v + half, many - half);
    }
    double total = 0, strands[8];
    Py_ssize_t whole = many < 8 ? 0 : many - many % 8;
    if (whole) {
        memcpy(strands, v, sizeof strands);
        for (Py_ssize_t i = 8; i < whole; i++) strands[i % 8] += v[i];
        total = ((strands[0] + strands[1]) + (strands[2] + strands[3])) + ((strands[4] + strands[5]) + (strands[6] + strands[7]));
    }
    for (Py_ssize_t i = whole; i < many; i++) total += v[i];
    return total;
}

static PyObject *sum_of(PyObject *Py_UNUSED(module), PyObject *list)
{
    Py_ssize_t many = PyList_Check(list) ? PyList_Size(list) : -1;
    if (many < 0) {
        PyErr_SetString(PyExc_TypeError, "a list of numbers is needed");
        return NULL;
    }
    double *values = malloc(((size_t)many + 1) * sizeof *values);
    if (!values) return PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < many; i++) values[i] = PyFloat_AsDouble(PyList_GetItem(list, i));
    double total = pairwise(values, many);
    free(values);
    return PyErr_Occurred() ? NULL : PyFloat_FromDouble(total);
}

/* Natural or binary logarithms by the C library, whose last bit does not hang on the processor as NumPy's does. */
static PyObject *logarithms(PyObject *Py_UNUSED(module), PyObject *args)
{
    Py_buffer values, out;
    int binary;
    if (!PyArg_ParseTuple(args, "y*pw*", &values, &binary, &out)) return NULL;
    const double *from = values.buf;
    double *to = out.buf;
    int right = values.len == out.len;
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t i = 0; right && i < values.len / 8; i++) to[i] = binary ? log2(from[i]) : log(from[i]);
    Py_END_ALLOW_THREADS
    PyBuffer_Release(&values);
    PyBuffer_Release(&out);
    if (!right) {
        PyErr_SetString(PyExc_ValueError, "arrays of different lengths");
        return NULL;
    }
    Py_RETURN_NONE;
}

PyMethodDef evaluate_functions[] = {
    {"evaluate", evaluate, METH_VARARGS,
     "evaluate([(name, parameter), ...], rel, grade, starts, ideal_sums, offsets, row, rank, length): float64 topics x "
     "measures, as bytes."},
    {"ideal_sums", ideal_sums, METH_VARARGS,
     "ideal_sums(grade, starts): for each topic the discounted sums of its gains, best first, as float64 bytes."},
    {"sum_of", sum_of, METH_O, "The sum of a list of numbers, as NumPy forms it."},
    {"logarithms", logarithms, METH_VARARGS, "logarithms(values, binary, out): natural or binary logarithms."},
    {NULL, NULL, 0, NULL}};
