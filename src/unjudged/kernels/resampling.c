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

#if defined(__GNUC__)
typedef double Lanes __attribute__((vector_size(32), aligned(8), may_alias));
typedef float Floats __attribute__((vector_size(32), aligned(4), may_alias));
#else
typedef double Lanes;
typedef float Floats;
#endif
#define WIDTH (sizeof(Lanes) / sizeof(double))
#define FLOATS (sizeof(Floats) / sizeof(float))

/* A C-contiguous array of `dimensions` and `size` bytes per item. */
static int take(PyObject *object, Py_buffer *view, int dimensions, Py_ssize_t size, int writable)
{
    if (PyObject_GetBuffer(object, view, PyBUF_C_CONTIGUOUS | (writable ? PyBUF_WRITABLE : 0))) return -1;
    if (view->ndim == dimensions && view->itemsize == size) return 0;
    PyBuffer_Release(view);
    PyErr_SetString(PyExc_ValueError, "an array of another shape or type is needed");
    return -1;
}

typedef struct { Py_buffer view[9]; int taken; } Arrays;

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
#define DESCENDING(NAME, NUMBER)                                      \
static NUMBER NAME(NUMBER *a, size_t n, size_t k)                     \
{                                                                     \
    ptrdiff_t low = 0, high = (ptrdiff_t)n - 1, place = (ptrdiff_t)k; \
    while (low < high) {                                              \
        NUMBER pivot = a[place];                                      \
        ptrdiff_t i = low, j = high;                                  \
        do {                                                          \
            while (a[i] > pivot) i++;                                 \
            while (a[j] < pivot) j--;                                 \
            if (i <= j) {                                             \
                NUMBER other = a[i];                                  \
                a[i++] = a[j];                                        \
                a[j--] = other;                                       \
            }                                                         \
        } while (i <= j);                                             \
        if (j < place) low = i;                                       \
        if (place < i) high = j;                                      \
    }                                                                 \
    return a[k];                                                      \
}

DESCENDING(descending, double)
DESCENDING(descending_floats, float)

typedef struct {
    const double *centred, *reach;
    const uint16_t *counts;
    int64_t *exceeding;
    double *required;
    size_t pairs, topics, resamples, position;
    /* where known: sums[run][resample] of the scores, the runs of each pair, topics * mean of its differences */
    const double *sums, *shift;
    const int64_t *first, *second;
    double largest; /* |score| */
    double above;   /* what is required matters only above this; -1: everything matters */
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

/* One pair in full, in double precision. */
static void count_in_double(const Bootstrap *in, Tile *tile, size_t pair, size_t *chosen)
{
    gather(in, tile, pair, 1, 0.0);
    choose(in, tile, 0, 0.0, chosen);
}

/* ---- a first look in single precision
 *
 * The numerator of a pair's ratio is the difference of two sums over runs, known in double precision; only the sum of squares
 * is added up for every pair, in single precision. It has no cancellation: n products and n sums of positive numbers are off by
 * at most (n + 2) units of 2^-24, the rounding of the squares, of the numerator and of the quotient included (n + 8) units.
 * The numerator is off by `wrong`; where the squares add up to less than `least`, that (or a numerator that counts as 0) could
 * matter, and the ratio is computed in double precision. So every ratio r here is within `bound` * (1 + r) of the one in double precision, and whatever is nearer to
 * a limit than that is decided by the latter: the results have the same bits. */

#define UNIT 5.9604644775390625e-08 /* 2^-24 */

typedef struct {
    float *weights, *ratio, *work, *squares;
    double *exact;
    uint32_t *kept;
    uint16_t *drawn; /* counts[resample][topic] */
    double bound, wrong, above;
} Look;

/* The weights of all resamples, BLOCK of them together. */
static void lay_out_floats(const Bootstrap *in, float *weights)
{
    size_t n = in->topics, B = in->resamples;
    for (size_t start = 0; start < B; start += BLOCK, weights += n * BLOCK)
        for (size_t t = 0; t < n; t++)
            for (size_t b = 0; b < BLOCK; b++)
                weights[t * BLOCK + b] = start + b < B ? (float)in->counts[t * B + start + b] : 0.0f;
}

/* Sums of w^2 of four pairs (TILE / 2) over BLOCK resamples. */
WIDE static void add_squares(const float *squares, const float *weights, size_t topics, float *total)
{
    const float *second = squares + topics, *third = second + topics, *fourth = third + topics;
    for (size_t g = 0; g < BLOCK; g += 2 * FLOATS) {
        Floats a0 = {0}, a1 = {0}, b0 = {0}, b1 = {0}, c0 = {0}, c1 = {0}, d0 = {0}, d1 = {0};
        const float *k = weights + g;
        for (size_t t = 0; t < topics; t++, k += BLOCK) {
            Floats k0 = *(const Floats *)k, k1 = *(const Floats *)(k + FLOATS);
            a0 += squares[t] * k0;
            a1 += squares[t] * k1;
            b0 += second[t] * k0;
            b1 += second[t] * k1;
            c0 += third[t] * k0;
            c1 += third[t] * k1;
            d0 += fourth[t] * k0;
            d1 += fourth[t] * k1;
        }
        *(Floats *)(total + g) = a0;
        *(Floats *)(total + g + FLOATS) = a1;
        *(Floats *)(total + BLOCK + g) = b0;
        *(Floats *)(total + BLOCK + g + FLOATS) = b1;
        *(Floats *)(total + 2 * BLOCK + g) = c0;
        *(Floats *)(total + 2 * BLOCK + g + FLOATS) = c1;
        *(Floats *)(total + 3 * BLOCK + g) = d0;
        *(Floats *)(total + 3 * BLOCK + g + FLOATS) = d1;
    }
}

/* The ratios of a block; how many have squares below `least`. */
WIDE static size_t near_ratios(const double *sums, const double *others, double shift, double scale, const float *squares,
                               float least, size_t n, float *ratio)
{
    int32_t few = 0;
    for (size_t b = 0; b < n; b++) {
        float s = (float)((sums[b] - others[b] - shift) * scale);
        ratio[b] = s * s / (squares[b] >= least ? squares[b] : 1.0f);
        few += squares[b] < least;
    }
    return (size_t)few;
}

WIDE static size_t count_from(const float *ratio, size_t n, float from)
{
    int32_t found = 0;
    for (size_t b = 0; b < n; b++) found += ratio[b] >= from;
    return (size_t)found;
}

/* The ratio of one resample in double precision: the operations of add_block and ratios, in their order. */
static double exact_ratio(const Bootstrap *in, const Look *look, size_t pair, size_t b)
{
    const double *w = in->centred + pair * in->topics;
    const uint16_t *drawn = look->drawn + b * in->topics;
    double sum = 0.0, squares = 0.0;
    for (size_t t = 0; t < in->topics; t++) {
        double k = (double)drawn[t];
        sum += w[t] * k;
        squares += w[t] * w[t] * k;
    }
    return fabs(sum) >= ZERO * (double)in->topics && squares > 0 ? sum * sum / squares : 0.0;
}

/* The resamples from a ratio on, in drawn order. */
WIDE static size_t keep_from(const float *ratio, size_t n, float from, uint32_t *kept)
{
    size_t found = 0, b = 0;
    for (; b + 8 <= n; b += 8) {
        int some = 0;
        for (size_t i = 0; i < 8; i++) some |= ratio[b + i] >= from;
        if (!some) continue;
        for (size_t i = 0; i < 8; i++) {
            kept[found] = (uint32_t)(b + i);
            found += ratio[b + i] >= from;
        }
    }
    for (; b < n; b++) {
        kept[found] = (uint32_t)b;
        found += ratio[b] >= from;
    }
    return found;
}

/* The resample at `position`, as choose() finds it; the ratio at which it stands, about. */
static double choose_near(const Bootstrap *in, Look *look, size_t pair, const float *ratio, double from, size_t *chosen)
{
    size_t k = in->position, found;
    double tied = ZERO * (double)in->topics, at, wide;
    for (;;) {
        found = keep_from(ratio, in->resamples, (float)from, look->kept);
        if (found >= k) {
            for (size_t i = 0; i < found; i++) look->work[i] = ratio[look->kept[i]];
            at = (double)descending_floats(look->work, found, k - 1);
            wide = 2.2 * look->bound * (1.0 + at) + 4 * tied;
            if (from <= 0 || at - wide >= from) break;
        }
        from = 0.0;
    }
    size_t above = 0, near = 0, seen = 0, higher = 0;
    for (size_t i = 0; i < found; i++) {
        double r = (double)ratio[look->kept[i]];
        above += r > at + wide;
        if (fabs(r - at) <= wide) {
            look->kept[near] = look->kept[i];
            look->exact[near++] = 0.0;
        }
    }
    double *sorted = look->exact + in->resamples + 1;
    for (size_t i = 0; i < near; i++) sorted[i] = look->exact[i] = exact_ratio(in, look, pair, look->kept[i]);
    double limit = descending(sorted, near, k - above - 1);
    for (size_t i = 0; i < near; i++) higher += look->exact[i] > limit + tied;
    *chosen = 0;
    for (size_t i = 0; i < near; i++)
        if (fabs(look->exact[i] - limit) <= tied && ++seen == k - above - higher) {
            *chosen = look->kept[i];
            break;
        }
    return limit;
}

WIDE static float largest_of(const float *values, size_t n, float most)
{
    for (size_t b = 0; b < n; b++) most = values[b] > most ? values[b] : most;
    return most;
}

/* Does the resample at `position` certainly have a mean difference of at most look->above? Its ratio r is then below
 * (topics * above)^2 / squares for the largest sum of squares, and fewer than `position` resamples reach that. */
static int needs_less(const Bootstrap *in, const Look *look, const float *ratio, double squares, double scale)
{
    if (!(look->above > 0) || !(squares > 0)) return 0;
    double sum = (double)in->topics * look->above * scale;
    double limit = sum * sum / (squares * (1 + 2 * look->bound));
    limit = (limit - look->bound) / (1 + look->bound) * (1 - 4 * UNIT) - 4 * ZERO * (double)in->topics;
    return count_from(ratio, in->resamples, (float)limit) < in->position;
}

/* Four pairs, `pairs` of them to be answered; where a pair's scores are too coarse for a first look, in double precision. */
static void look_at(const Bootstrap *in, Look *look, Tile *tile, size_t first, size_t pairs, double *guess, size_t *chosen)
{
    size_t n = in->topics, B = in->resamples, row = (B + BLOCK) / BLOCK * BLOCK;
    float total[4 * BLOCK], least[4] = {0}, most_squares[4] = {0};
    double scale[4] = {0};
    int coarse[4] = {0};
    memset(look->squares, 0, 4 * n * sizeof *look->squares);
    for (size_t p = 0; p < pairs; p++) {
        const double *w = in->centred + (first + p) * n;
        double most = 0.0;
        for (size_t t = 0; t < n; t++) most = fabs(w[t]) > most ? fabs(w[t]) : most;
        scale[p] = most > 0 ? 1.0 / most : 0.0;
        for (size_t t = 0; t < n; t++) look->squares[p * n + t] = (float)(w[t] * scale[p] * (w[t] * scale[p]));
        double off = look->wrong * scale[p] * 1e6, none = ZERO * (double)n * scale[p];
        double enough = off * off + none * none / 3e-6 + 1e-20;
        coarse[p] = !(enough < 0.01 * (double)n);
        least[p] = (float)(enough * 1.01);
    }
    const float *weights = look->weights;
    for (size_t start = 0; start < B; start += BLOCK, weights += n * BLOCK) {
        size_t here = B - start < BLOCK ? B - start : BLOCK;
        add_squares(look->squares, weights, n, total);
        for (size_t p = 0; p < pairs; p++) {
            if (coarse[p]) continue;
            most_squares[p] = largest_of(total + p * BLOCK, here, most_squares[p]);
            float *ratio = look->ratio + p * row + start;
            const double *sums = in->sums + (size_t)in->first[first + p] * B + start;
            const double *others = in->sums + (size_t)in->second[first + p] * B + start;
            if (near_ratios(sums, others, in->shift[first + p], scale[p], total + p * BLOCK, least[p], here, ratio))
                for (size_t b = 0; b < here; b++)
                    if (total[p * BLOCK + b] < least[p]) ratio[b] = (float)exact_ratio(in, look, first + p, start + b);
        }
    }
    for (size_t p = 0; p < pairs; p++) {
        if (coarse[p]) {
            count_in_double(in, tile, first + p, &chosen[p]);
            continue;
        }
        const float *ratio = look->ratio + p * row;
        double reach = in->reach[first + p];
        float low = (float)((reach - look->bound) / (1 + look->bound) * (1 - 4 * UNIT) - 1e-30);
        float high = (float)((reach + look->bound) / (1 - look->bound) * (1 + 4 * UNIT) + 1e-30);
        size_t surely = count_from(ratio, B, high), perhaps = count_from(ratio, B, low);
        for (size_t b = 0; surely < perhaps && b < B; b++)
            if (ratio[b] >= low && ratio[b] < high) {
                int there = exact_ratio(in, look, first + p, b) >= reach;
                surely += (size_t)there;
                perhaps -= (size_t)!there;
            }
        in->exceeding[first + p] = (int64_t)surely;
        if (in->above >= 0 && needs_less(in, look, ratio, (double)most_squares[p], scale[p])) chosen[p] = B;
        else *guess = 0.8 * choose_near(in, look, first + p, ratio, *guess, &chosen[p]);
    }
}

/* The ratio found for one pair is a good guess of what the next ones need; a pair it fails is gathered again in full. */
static int count_pairs(const Bootstrap *in)
{
    size_t n = in->topics, B = in->resamples, row = (B + BLOCK) / BLOCK * BLOCK;
    double *room = malloc((n * BLOCK + 2 * TILE * n + (TILE + 1) * (B + 1)) * sizeof *room);
    Tile tile = {.weights = room, .place = malloc(TILE * (B + 1) * sizeof *tile.place)};
    Look look = {0};
    look.bound = ((double)n + 8) * UNIT * 1.1 + 3e-6;
    look.wrong = ((double)n + 8) * 1.2e-16 * 4 * (double)n * in->largest;
    float *floats = in->sums ? malloc((row * n + 5 * row + 4 * n) * sizeof *floats) : NULL;
    look.exact = in->sums ? malloc((2 * (B + 1)) * sizeof *look.exact) : NULL;
    look.kept = in->sums ? malloc((B + 1) * sizeof *look.kept) : NULL;
    look.drawn = in->sums ? malloc(B * n * sizeof *look.drawn) : NULL;
    look.above = in->above;
    if (!room || !tile.place || (in->sums && (!floats || !look.exact || !look.kept || !look.drawn))) {
        free(room);
        free(look.drawn);
        free(tile.place);
        free(floats);
        free(look.exact);
        free(look.kept);
        return -1;
    }
    tile.w = room + n * BLOCK;
    tile.squares = tile.w + TILE * n;
    tile.ratio = tile.squares + TILE * n;
    tile.work = tile.ratio + TILE * (B + 1);
    if (floats) {
        look.weights = floats;
        look.ratio = floats + row * n;
        look.work = look.ratio + 4 * row;
        look.squares = look.work + row;
        lay_out_floats(in, look.weights);
        for (size_t b = 0; b < B; b++)
            for (size_t t = 0; t < n; t++) look.drawn[b * n + t] = in->counts[t * B + b];
    }
    double guess = 0.0;
    for (size_t first = 0, pairs; first < in->pairs; first += pairs) {
        double from = guess;
        size_t chosen[TILE], missed = 0;
        if (in->sums) {
            pairs = in->pairs - first < 4 ? in->pairs - first : 4;
            look_at(in, &look, &tile, first, pairs, &guess, chosen);
        } else {
            pairs = from > 0 ? (in->pairs - first < TILE ? in->pairs - first : TILE) : 1;
            gather(in, &tile, first, pairs, from);
            for (size_t p = 0; p < pairs; p++) {
                double at = choose(in, &tile, p, from, &chosen[p]);
                if (at < 0) missed |= (size_t)1 << p;
                else guess = 0.8 * at;
            }
        }
        for (size_t p = 0; p < pairs; p++) {
            if (missed >> p & 1) {
                gather(in, &tile, first + p, 1, 0.0);
                guess = 0.8 * choose(in, &tile, 0, 0.0, &chosen[p]);
            }
            if (chosen[p] == B) {
                in->required[first + p] = NAN;
                continue;
            }
            const double *w = in->centred + (first + p) * n;
            double sum = 0.0;
            for (size_t t = 0; t < n; t++) sum += w[t] * (double)in->counts[t * B + chosen[p]];
            in->required[first + p] = fabs(sum) / (double)n;
            if (in->required[first + p] > look.above) look.above = in->required[first + p];
        }
    }
    free(room);
    free(tile.place);
    free(look.drawn);
    free(floats);
    free(look.exact);
    free(look.kept);
    return 0;
}

static PyObject *bootstrap_count(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *given[9] = {NULL};
    Arrays a;
    Py_ssize_t position;
    double largest = INFINITY, above = -1.0;
    if (!PyArg_ParseTuple(args, "OOOnOO|OOOOdd", &given[0], &given[1], &given[2], &position, &given[3], &given[4], &given[5],
                          &given[6], &given[7], &given[8], &largest, &above))
        return NULL;
    int near = given[8] != NULL;
    if (take_all(&a, given, near ? "212112111" : "21211", near ? "882888888" : "88288", 3)) return release(&a, NULL);
    Bootstrap in = {a.view[0].buf, a.view[1].buf, a.view[2].buf, a.view[3].buf, a.view[4].buf,
                    (size_t)a.view[0].shape[0], (size_t)a.view[0].shape[1], (size_t)a.view[2].shape[1], (size_t)position,
                    NULL, NULL, NULL, NULL, largest, above};
    if ((size_t)a.view[1].shape[0] != in.pairs || (size_t)a.view[2].shape[0] != in.topics ||
        (size_t)a.view[3].shape[0] != in.pairs || (size_t)a.view[4].shape[0] != in.pairs || position < 1 ||
        in.position > in.resamples)
        return release(&a, "pairs, topics and resamples of different shapes");
    if (near) {
        size_t runs = (size_t)a.view[5].shape[0];
        in.sums = a.view[5].buf, in.first = a.view[6].buf, in.second = a.view[7].buf, in.shift = a.view[8].buf;
        for (int i = 6; i < 9; i++)
            if ((size_t)a.view[i].shape[0] != in.pairs) return release(&a, "pairs of different shapes");
        if ((size_t)a.view[5].shape[1] != in.resamples) return release(&a, "sums and resamples of different shapes");
        for (size_t p = 0; p < in.pairs; p++)
            if (in.first[p] < 0 || in.second[p] < 0 || (size_t)in.first[p] >= runs || (size_t)in.second[p] >= runs)
                return release(&a, "a pair of runs without sums");
        if (!(largest < 1e100)) in.sums = NULL;
    }
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
     "bootstrap_count(centred, reach, counts, position, exceeding, required[, sums, first, second, shift, largest, above]): the studentised\n"
     "bootstrap of run pairs; with the sums of runs over resamples a first look in single precision spares most of the work."},
    {"swap_count", swap_count, METH_VARARGS,
     "swap_count(first, second, compared, swapped): comparisons and swaps of all run pairs, by bin."},
    {NULL, NULL, 0, NULL}};
