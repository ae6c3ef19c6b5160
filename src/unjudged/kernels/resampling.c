/* Sums over drawn topics, bootstrap and swap counting.
 *
 * Every sum runs over the topics in order, one product and one addition at a time (no fused multiply-add: see setup.py), so
 * the bits are those of the NumPy twin for any width of the machine's vectors. The interpreter lock is released. */
#include "kernels.h"

#include <math.h>
#include <stddef.h>

#define ZERO 1e-12 /* smaller differences are none */
#define BINS 21    /* of the swap method, 0.01 wide; the last one is open */
#define BLOCK 64   /* resamples whose weights are laid out together */
#define TILE 8     /* pairs that share such a layout; even */

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__GLIBC__)
#define WIDE __attribute__((target_clones("avx2", "default")))
#else
#define WIDE
#endif

#if defined(__GNUC__)
typedef double Lanes __attribute__((vector_size(32), aligned(8), may_alias));
#else
typedef double Lanes;
#endif
#define WIDTH (sizeof(Lanes) / sizeof(double))

/* A C-contiguous array of `dimensions` and `size` bytes per item. */
static int take(PyObject *object, Py_buffer *view, int dimensions, Py_ssize_t size, int writable)
{
    if (PyObject_GetBuffer(object, view, PyBUF_C_CONTIGUOUS | (writable ? PyBUF_WRITABLE : 0))) return -1;
    if (view->ndim == dimensions && view->itemsize == size) return 0;
    PyBuffer_Release(view);
    PyErr_SetString(PyExc_ValueError, "an array of another shape or type is needed");
    return -1;
}

typedef struct { Py_buffer view[6]; int taken; } Arrays;

static int take_all(Arrays *a, PyObject *const *objects, const char *dimensions, const char *sizes, int writable_from)
{
    int n = (int)strlen(dimensions);
    for (a->taken = 0; a->taken < n; a->taken++) {
        int i = a->taken;
        if (take(objects[i], &a->view[i], dimensions[i] - '0', sizes[i] - '0', i >= writable_from)) return -1;
    }
    return 0;
}

static PyObject *release(Arrays *a, const char *error)
{
    for (int i = 0; i < a->taken; i++) PyBuffer_Release(&a->view[i]);
    if (error) PyErr_SetString(PyExc_ValueError, error);
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

/* ------------------------------------------------------------------ sums over samples */

WIDE static void add_sums(const double *weights, const double *values, double *out, size_t samples, size_t topics, size_t width)
{
    for (size_t s = 0; s < samples; s++) {
        double *to = out + s * width;
        for (size_t v = 0; v < width; v++) to[v] = 0.0;
        for (size_t t = 0; t < topics; t++) {
            double weight = weights[s * topics + t];
            const double *from = values + t * width;
            for (size_t v = 0; v < width; v++) to[v] += weight * from[v];
        }
    }
}

static PyObject *weighted_sums(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *given[3];
    Arrays a;
    if (!PyArg_ParseTuple(args, "OOO", &given[0], &given[1], &given[2])) return NULL;
    if (take_all(&a, given, "222", "888", 2)) return release(&a, NULL);
    size_t samples = (size_t)a.view[0].shape[0], topics = (size_t)a.view[1].shape[0], width = (size_t)a.view[1].shape[1];
    if ((size_t)a.view[0].shape[1] != topics || (size_t)a.view[2].shape[0] != samples || (size_t)a.view[2].shape[1] != width)
        return release(&a, "weights, values and sums of different shapes");
    Py_BEGIN_ALLOW_THREADS
    add_sums(a.view[0].buf, a.view[1].buf, a.view[2].buf, samples, topics, width);
    Py_END_ALLOW_THREADS
    return release(&a, NULL);
}

/* ------------------------------------------------------------------ bootstrap */

/* The weights of BLOCK resamples from `start` on, resamples beyond the last one with weight 0. */
WIDE static void lay_out(const uint16_t *counts, size_t topics, size_t resamples, size_t start, double *weights)
{
    size_t here = resamples - start < BLOCK ? resamples - start : BLOCK;
    for (size_t t = 0; t < topics; t++) {
        const uint16_t *from = counts + t * resamples + start;
        double *to = weights + t * BLOCK;
        for (size_t b = 0; b < here; b++) to[b] = (double)from[b];
        for (size_t b = here; b < BLOCK; b++) to[b] = 0.0;
    }
}

/* Sums of w and w^2 of two pairs over BLOCK resamples; weights[topic][resample of the block]. */
WIDE static void add_block(const double *w, const double *squares, const double *weights, size_t topics, double *total,
                           double *total_squares)
{
    const double *w2 = w + topics, *squares2 = squares + topics;
    for (size_t g = 0; g < BLOCK; g += 2 * WIDTH) {
        Lanes s0 = {0}, s1 = {0}, q0 = {0}, q1 = {0}, u0 = {0}, u1 = {0}, v0 = {0}, v1 = {0};
        const double *k = weights + g;
        for (size_t t = 0; t < topics; t++, k += BLOCK) {
            Lanes k0 = *(const Lanes *)k, k1 = *(const Lanes *)(k + WIDTH);
            s0 += w[t] * k0;
            s1 += w[t] * k1;
            q0 += squares[t] * k0;
            q1 += squares[t] * k1;
            u0 += w2[t] * k0;
            u1 += w2[t] * k1;
            v0 += squares2[t] * k0;
            v1 += squares2[t] * k1;
        }
        *(Lanes *)(total + g) = s0;
        *(Lanes *)(total + g + WIDTH) = s1;
        *(Lanes *)(total_squares + g) = q0;
        *(Lanes *)(total_squares + g + WIDTH) = q1;
        *(Lanes *)(total + BLOCK + g) = u0;
        *(Lanes *)(total + BLOCK + g + WIDTH) = u1;
        *(Lanes *)(total_squares + BLOCK + g) = v0;
        *(Lanes *)(total_squares + BLOCK + g + WIDTH) = v1;
    }
}

/* (sum of w)^2 / (sum of w^2), which orders resamples as |t| does; how many reach `reach`. */
WIDE static int64_t ratios(const double *total, const double *squares, size_t n, double zero, double reach, double *ratio)
{
    int64_t found = 0;
    for (size_t b = 0; b < n; b++) {
        double r = fabs(total[b]) >= zero && squares[b] > 0 ? total[b] * total[b] / squares[b] : 0.0;
        ratio[b] = r;
        found += r >= reach;
    }
    return found;
}

/* The value at place k (from 0) by descending order (Hoare's selection); the array is reordered. */
static double descending(double *a, size_t n, size_t k)
{
    ptrdiff_t low = 0, high = (ptrdiff_t)n - 1, place = (ptrdiff_t)k;
    while (low < high) {
        double pivot = a[place];
        ptrdiff_t i = low, j = high;
        do {
            while (a[i] > pivot) i++;
            while (a[j] < pivot) j--;
            if (i <= j) {
                double other = a[i];
                a[i++] = a[j];
                a[j--] = other;
            }
        } while (i <= j);
        if (j < place) low = i;
        if (place < i) high = j;
    }
    return a[k];
}

typedef struct {
    const double *centred, *reach;
    const uint16_t *counts;
    int64_t *exceeding;
    double *required;
    size_t pairs, topics, resamples, position;
} Bootstrap;

/* Of a tile's pairs, the resamples with a ratio of at least `from`, in drawn order: few are kept, so memory stays small. */
typedef struct {
    double *weights, *w, *squares, *ratio, *work;
    uint32_t *place;
    size_t found[TILE];
} Tile;

static void gather(const Bootstrap *in, Tile *tile, size_t first, size_t pairs, double from)
{
    size_t n = in->topics, B = in->resamples;
    double zero = ZERO * (double)n, total[2 * BLOCK], total_squares[2 * BLOCK], ratio[BLOCK];
    memset(tile->w, 0, TILE * n * sizeof *tile->w);
    memcpy(tile->w, in->centred + first * n, pairs * n * sizeof *tile->w);
    for (size_t i = 0; i < TILE * n; i++) tile->squares[i] = tile->w[i] * tile->w[i];
    for (size_t p = 0; p < pairs; p++) in->exceeding[first + p] = 0, tile->found[p] = 0;
    for (size_t start = 0; start < B; start += BLOCK) {
        size_t here = B - start < BLOCK ? B - start : BLOCK;
        lay_out(in->counts, n, B, start, tile->weights);
        for (size_t p = 0; p < pairs; p++) {
            if (p % 2 == 0) add_block(tile->w + p * n, tile->squares + p * n, tile->weights, n, total, total_squares);
            size_t side = p % 2 * BLOCK, found = tile->found[p];
            double *kept = tile->ratio + p * (B + 1);
            uint32_t *place = tile->place + p * (B + 1);
            in->exceeding[first + p] += ratios(total + side, total_squares + side, here, zero, in->reach[first + p], ratio);
            for (size_t b = 0; b < here; b++) {
                kept[found] = ratio[b];
                place[found] = (uint32_t)(start + b);
                found += !(ratio[b] < from);
            }
            tile->found[p] = found;
        }
    }
}

/* Finds the resample at `position` (from 1) by descending ratio; ratios within `tied` of it are tied, in drawn order.
 * Gives its ratio, or -1 where too few resamples were kept to know. */
static double choose(const Bootstrap *in, Tile *tile, size_t p, double from, size_t *chosen)
{
    size_t found = tile->found[p], above = 0, seen = 0;
    const double *ratio = tile->ratio + p * (in->resamples + 1);
    const uint32_t *place = tile->place + p * (in->resamples + 1);
    double tied = ZERO * (double)in->topics;
    if (found < in->position) return -1.0;
    memcpy(tile->work, ratio, found * sizeof *ratio);
    double at = descending(tile->work, found, in->position - 1);
    if (from > 0 && at - 2 * tied < from) return -1.0;
    for (size_t i = 0; i < found; i++) above += ratio[i] > at + tied;
    for (size_t i = 0; i < found; i++)
        if (fabs(ratio[i] - at) <= tied && ++seen == in->position - above) {
            *chosen = place[i];
            return at;
        }
    *chosen = 0;
    return at;
}

/* The ratio found for one pair is a good guess of what the next ones need; a pair it fails is gathered again in full. */
static int count_pairs(const Bootstrap *in)
{
    size_t n = in->topics, B = in->resamples;
    double *room = malloc((n * BLOCK + 2 * TILE * n + (TILE + 1) * (B + 1)) * sizeof *room);
    Tile tile = {.weights = room, .place = malloc(TILE * (B + 1) * sizeof *tile.place)};
    if (!room || !tile.place) {
        free(room);
        free(tile.place);
        return -1;
    }
    tile.w = room + n * BLOCK;
    tile.squares = tile.w + TILE * n;
    tile.ratio = tile.squares + TILE * n;
    tile.work = tile.ratio + TILE * (B + 1);
    double guess = 0.0;
    for (size_t first = 0, pairs; first < in->pairs; first += pairs) {
        double from = guess;
        size_t chosen[TILE], missed = 0;
        pairs = from > 0 ? (in->pairs - first < TILE ? in->pairs - first : TILE) : 1;
        gather(in, &tile, first, pairs, from);
        for (size_t p = 0; p < pairs; p++) {
            double at = choose(in, &tile, p, from, &chosen[p]);
            if (at < 0) missed |= (size_t)1 << p;
            else guess = 0.8 * at;
        }
        for (size_t p = 0; p < pairs; p++) {
            if (missed >> p & 1) {
                gather(in, &tile, first + p, 1, 0.0);
                guess = 0.8 * choose(in, &tile, 0, 0.0, &chosen[p]);
            }
            const double *w = in->centred + (first + p) * n;
            double sum = 0.0;
            for (size_t t = 0; t < n; t++) sum += w[t] * (double)in->counts[t * B + chosen[p]];
            in->required[first + p] = fabs(sum) / (double)n;
        }
    }
    free(room);
    free(tile.place);
    return 0;
}

static PyObject *bootstrap_count(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *given[5];
    Arrays a;
    Py_ssize_t position;
    if (!PyArg_ParseTuple(args, "OOOnOO", &given[0], &given[1], &given[2], &position, &given[3], &given[4])) return NULL;
    if (take_all(&a, given, "21211", "88288", 3)) return release(&a, NULL);
    Bootstrap in = {a.view[0].buf, a.view[1].buf, a.view[2].buf, a.view[3].buf, a.view[4].buf,
                    (size_t)a.view[0].shape[0], (size_t)a.view[0].shape[1], (size_t)a.view[2].shape[1], (size_t)position};
    if ((size_t)a.view[1].shape[0] != in.pairs || (size_t)a.view[2].shape[0] != in.topics ||
        (size_t)a.view[3].shape[0] != in.pairs || (size_t)a.view[4].shape[0] != in.pairs || position < 1 ||
        in.position > in.resamples)
        return release(&a, "pairs, topics and resamples of different shapes");
    int failed;
    Py_BEGIN_ALLOW_THREADS
    failed = count_pairs(&in);
    Py_END_ALLOW_THREADS
    if (failed) PyErr_NoMemory();
    return release(&a, NULL);
}

/* ------------------------------------------------------------------ swap method */

/* Twice the bin of |d|, plus 1 where the two topic sets disagree, for run i against runs i+1, i+2, ... */
WIDE static void compare_runs(double here, double there, const double *first, const double *second, size_t n, int32_t *code)
{
    for (size_t j = 0; j < n; j++) {
        double d = here - first[j], e = there - second[j];
        double size = fabs(d), place = size / 0.01 + 1e-9;
        int32_t bin = (int32_t)(place < BINS - 1 ? place : BINS - 1);
        int32_t d_sign = (d >= ZERO) - (d <= -ZERO), e_sign = (e >= ZERO) - (e <= -ZERO);
        code[j] = 2 * bin + (d_sign != e_sign);
    }
}

static PyObject *swap_count(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *given[4];
    Arrays a;
    if (!PyArg_ParseTuple(args, "OOOO", &given[0], &given[1], &given[2], &given[3])) return NULL;
    if (take_all(&a, given, "2211", "8888", 2)) return release(&a, NULL);
    size_t trials = (size_t)a.view[0].shape[0], runs = (size_t)a.view[0].shape[1];
    if ((size_t)a.view[1].shape[0] != trials || (size_t)a.view[1].shape[1] != runs || a.view[2].shape[0] != BINS ||
        a.view[3].shape[0] != BINS)
        return release(&a, "trials, runs and bins of different shapes");
    int32_t *code = malloc((runs + 1) * sizeof *code);
    if (!code) {
        PyErr_NoMemory();
        return release(&a, NULL);
    }
    int64_t counted[2 * BINS] = {0}, other[2 * BINS] = {0};
    Py_BEGIN_ALLOW_THREADS
    for (size_t t = 0; t < trials; t++) {
        const double *first = (const double *)a.view[0].buf + t * runs, *second = (const double *)a.view[1].buf + t * runs;
        for (size_t i = 0; i + 1 < runs; i++) {
            size_t n = runs - i - 1, j = 0;
            compare_runs(first[i], second[i], first + i + 1, second + i + 1, n, code);
            for (; j + 1 < n; j += 2) {
                counted[code[j]]++;
                other[code[j + 1]]++;
            }
            if (j < n) counted[code[j]]++;
        }
    }
    Py_END_ALLOW_THREADS
    free(code);
    int64_t *compared = a.view[2].buf, *swapped = a.view[3].buf;
    for (int b = 0; b < BINS; b++) {
        compared[b] += counted[2 * b] + counted[2 * b + 1] + other[2 * b] + other[2 * b + 1];
        swapped[b] += counted[2 * b + 1] + other[2 * b + 1];
    }
    return release(&a, NULL);
}

PyMethodDef resampling_functions[] = {
    {"weighted_sums", weighted_sums, METH_VARARGS,
     "weighted_sums(weights, values, out): out[sample, run] = sum over topics of weight * value."},
    {"bootstrap_count", bootstrap_count, METH_VARARGS,
     "bootstrap_count(centred, reach, counts, position, exceeding, required): the studentised bootstrap of run pairs."},
    {"swap_count", swap_count, METH_VARARGS,
     "swap_count(first, second, compared, swapped): comparisons and swaps of all run pairs, by bin."},
    {NULL, NULL, 0, NULL}};
