/* The largest standardised gap between a run and all others, in every resample: what rank intervals need.
 *
 * A difference, a product and a comparison per pair: the bits are those of the NumPy twin. The lock is released. */
#include "kernels.h"

#define ROWS 4  /* runs that share one pass over a resample */

/* One run against all: the largest of (here - other) * up and (other - here) * down; 0 where all are below. */
WIDE static double largest(double here, const double *shift, const double *up, const double *down, size_t runs)
{
    double most[8] = {0};
    size_t k = 0;
    for (; k + 8 <= runs; k += 8)
        for (size_t i = 0; i < 8; i++) {
            double gap = here - shift[k + i], a = gap * up[k + i], b = -gap * down[k + i];
            double more = a > b ? a : b;
            most[i] = more > most[i] ? more : most[i];
        }
    for (; k < runs; k++) {
        double gap = here - shift[k], a = gap * up[k], b = -gap * down[k];
        double more = a > b ? a : b;
        most[0] = more > most[0] ? more : most[0];
    }
    for (size_t i = 1; i < 8; i++) most[0] = most[i] > most[0] ? most[i] : most[0];
    return most[0];
}

static PyObject *largest_gaps(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *given[5];
    Py_buffer v[5];
    if (!PyArg_ParseTuple(args, "OOOOO", &given[0], &given[1], &given[2], &given[3], &given[4])) return NULL;
    for (int i = 0; i < 5; i++)
        if (PyObject_GetBuffer(given[i], &v[i], PyBUF_C_CONTIGUOUS | (i == 4 ? PyBUF_WRITABLE : 0))) {
            while (i--) PyBuffer_Release(&v[i]);
            return NULL;
        }
    int fits = v[1].ndim == 1;
    for (int i = 0; i < 5; i++) fits = fits && v[i].itemsize == 8 && (i == 1 || v[i].ndim == 2);
    size_t resamples = 0, runs = 0, rows = 0;
    if (fits) {
        resamples = (size_t)v[0].shape[0], runs = (size_t)v[0].shape[1], rows = (size_t)v[1].shape[0];
        for (int i = 2; i < 4; i++) fits = fits && (size_t)v[i].shape[0] == rows && (size_t)v[i].shape[1] == runs;
        fits = fits && (size_t)v[4].shape[0] == resamples && (size_t)v[4].shape[1] == rows;
        const int64_t *row = v[1].buf;
        for (size_t r = 0; fits && r < rows; r++) fits = row[r] >= 0 && (size_t)row[r] < runs;
    }
    if (fits) {
        const double *shifts = v[0].buf, *up = v[2].buf, *down = v[3].buf;
        const int64_t *row = v[1].buf;
        double *out = v[4].buf;
        Py_BEGIN_ALLOW_THREADS
        for (size_t first = 0; first < rows; first += ROWS)
            for (size_t b = 0; b < resamples; b++)
                for (size_t r = first; r < rows && r < first + ROWS; r++) {
                    const double *shift = shifts + b * runs;
                    out[b * rows + r] = largest(shift[row[r]], shift, up + r * runs, down + r * runs, runs);
                }
        Py_END_ALLOW_THREADS
    } else {
        PyErr_SetString(PyExc_ValueError, "shifts, runs and weights of different shapes");
    }
    for (int i = 0; i < 5; i++) PyBuffer_Release(&v[i]);
    if (!fits) return NULL;
    Py_RETURN_NONE;
}

PyMethodDef gap_functions[] = {
    {"largest_gaps", largest_gaps, METH_VARARGS,
     "largest_gaps(shifts, rows, up, down, out): out[resample, row] = largest standardised gap of a run to all others."},
    {NULL, NULL, 0, NULL}};
