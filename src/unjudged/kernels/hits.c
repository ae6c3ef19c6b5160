/* Choosing hits by a number per row, and reading a topic's running values at their ranks. */
#include "kernels.h"

enum { VALUE, ROW, RANK, OFFSETS, OUT_ROW, OUT_RANK, OUT_PLACE, OUT_OFFSETS, ARRAYS };

#if defined(__GNUC__)
#define LOWEST_BIT(bits) ((size_t)__builtin_ctzll(bits))
#else
static size_t LOWEST_BIT(uint64_t bits)
{
    size_t i = 0;
    while (!(bits >> i & 1)) i++;
    return i;
}
#endif

/* Per row, is low <= value <= high? */
WIDE static void mark_rows(const int32_t *value, size_t rows, int low, int high, uint8_t *marked)
{
    for (size_t i = 0; i < rows; i++) marked[i] = (value[i] >= low) & (value[i] <= high);
}

WIDE static uint32_t highest_of(const int32_t *row, size_t n)
{
    uint32_t highest = 0;
    for (size_t i = 0; i < n; i++) highest = (uint32_t)row[i] > highest ? (uint32_t)row[i] : highest;
    return highest;
}

/* Which of the next n <= 64 hits have a row that is marked? */
static inline uint64_t marked_of(const uint8_t *marked, const int32_t *row, size_t n)
{
    uint64_t found = 0;
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        uint64_t one = marked[row[i]], two = marked[row[i + 4]] << 4;
        one |= marked[row[i + 1]] << 1, two |= marked[row[i + 5]] << 5;
        one |= marked[row[i + 2]] << 2, two |= marked[row[i + 6]] << 6;
        one |= marked[row[i + 3]] << 3, two |= marked[row[i + 7]] << 7;
        found |= (one | two) << i;
    }
    for (; i < n; i++) found |= (uint64_t)marked[row[i]] << i;
    return found;
}

/* Hits whose row has low <= value <= high: row (or, renumbering, the value itself), rank, place in the old cell (unless
 * there is no room for places). */
static PyObject *choose_hits(PyObject *Py_UNUSED(module), PyObject *args)
{
    Py_buffer b[ARRAYS];
    int low, high, renumber;
    if (!PyArg_ParseTuple(args, "y*iipy*y*y*w*w*w*w*", &b[VALUE], &low, &high, &renumber, &b[ROW], &b[RANK],
                          &b[OFFSETS], &b[OUT_ROW], &b[OUT_RANK], &b[OUT_PLACE], &b[OUT_OFFSETS]))
        return NULL;
    size_t rows = (size_t)b[VALUE].len / 4, n = (size_t)b[ROW].len / 4;
    int64_t cells = count_segments(&b[OFFSETS]);
    const int32_t *value = b[VALUE].buf, *row = b[ROW].buf, *rank = b[RANK].buf;
    const int64_t *offsets = b[OFFSETS].buf;
    int32_t *out_row = b[OUT_ROW].buf, *out_rank = b[OUT_RANK].buf, *out_place = b[OUT_PLACE].buf;
    int64_t *out_offsets = b[OUT_OFFSETS].buf, kept = 0;
    int right = cells >= 0 && offsets[cells] == (int64_t)n && b[RANK].len == b[ROW].len &&
                b[OUT_OFFSETS].len == b[OFFSETS].len;
    for (int i = OUT_ROW; i <= OUT_RANK; i++) right = right && b[i].len == b[ROW].len;
    const int placing = b[OUT_PLACE].len > 0;
    right = right && (!placing || b[OUT_PLACE].len == b[ROW].len);
    uint8_t *marked = malloc(rows + 1);
    if (right && marked) {
        Py_BEGIN_ALLOW_THREADS
        mark_rows(value, rows, low, high, marked);
        for (int64_t c = 0; right && c < cells; c++) {
            const size_t size = (size_t)(offsets[c + 1] - offsets[c]);
            out_offsets[c] = kept;
            if (size && highest_of(row + offsets[c], size) >= rows) { right = 0; break; }
            for (size_t start = 0; start < size; start += 64) {
                const size_t n = size - start < 64 ? size - start : 64;
                const int32_t *mine = row + offsets[c] + start, *at = rank + offsets[c] + start;
                for (size_t ahead = 64; ahead < 128; ahead += 16) PREFETCH(at + ahead);
                uint64_t found = marked_of(marked, mine, n);
                if (found == UINT64_MAX) {
                    for (size_t i = 0; i < 64; i++) out_row[kept + i] = renumber ? value[mine[i]] : mine[i];
                    memcpy(out_rank + kept, at, 64 * sizeof *at);
                    for (size_t i = 0; placing && i < 64; i++) out_place[kept + i] = (int32_t)(start + i) + 1;
                    kept += 64;
                }
                else for (; found; found &= found - 1, kept++) {
                    const size_t i = LOWEST_BIT(found);
                    out_row[kept] = renumber ? value[mine[i]] : mine[i];
                    out_rank[kept] = at[i];
                    if (placing) out_place[kept] = (int32_t)(start + i) + 1;
                }
            }
        }
        out_offsets[cells] = kept;
        Py_END_ALLOW_THREADS
    }
    for (int i = 0; i < ARRAYS; i++) PyBuffer_Release(&b[i]);
    free(marked);
    if (!marked) return PyErr_NoMemory();
    if (!right) {
        PyErr_SetString(PyExc_ValueError, "hits and arrays of different lengths");
        return NULL;
    }
    return PyLong_FromLongLong(kept);
}

/* For each hit, values[start + min(rank, size) - 1] of its cell's segment; 0 where the segment is empty. */
static PyObject *segment_read(PyObject *Py_UNUSED(module), PyObject *args)
{
    enum { VALUES, STARTS, SEGMENT, CELLS, RANKS, OUT, MANY };
    Py_buffer b[MANY];
    if (!PyArg_ParseTuple(args, "y*y*y*y*y*w*", &b[VALUES], &b[STARTS], &b[SEGMENT], &b[CELLS], &b[RANKS], &b[OUT]))
        return NULL;
    int64_t segments = count_segments(&b[STARTS]), cells = count_segments(&b[CELLS]);
    const double *values = b[VALUES].buf;
    const int64_t *starts = b[STARTS].buf, *segment = b[SEGMENT].buf, *offsets = b[CELLS].buf;
    const int32_t *rank = b[RANKS].buf;
    double *out = b[OUT].buf;
    int right = segments >= 0 && starts[segments] == b[VALUES].len / 8 && cells >= 0 && b[SEGMENT].len / 8 == cells &&
                offsets[cells] == b[RANKS].len / 4 && b[OUT].len / 8 == b[RANKS].len / 4;
    for (int64_t c = 0; right && c < cells; c++) right = segment[c] >= 0 && segment[c] < segments;
    if (right) {
        Py_BEGIN_ALLOW_THREADS
        for (int64_t c = 0; right && c < cells; c++) {
            int64_t start = starts[segment[c]], size = starts[segment[c] + 1] - start;
            for (int64_t i = offsets[c]; i < offsets[c + 1]; i++) {
                if (rank[i] < 1) { right = 0; break; }
                out[i] = size ? values[start + (rank[i] < size ? rank[i] : size) - 1] : 0.0;
            }
        }
        Py_END_ALLOW_THREADS
    }
    for (int i = 0; i < MANY; i++) PyBuffer_Release(&b[i]);
    if (!right) {
        PyErr_SetString(PyExc_ValueError, "segments and arrays of different lengths");
        return NULL;
    }
    Py_RETURN_NONE;
}

PyMethodDef hit_functions[] = {
    {"choose_hits", choose_hits, METH_VARARGS,
     "choose_hits(value, low, high, renumber, row, rank, offsets, out_row, out_rank, out_place, out_offsets): how many."},
    {"segment_read", segment_read, METH_VARARGS,
     "segment_read(values, starts, segment, offsets, rank, out): values at ranks, constant behind the last."},
    {NULL, NULL, 0, NULL}};
