/* Sums, running sums and products over the hits of each cell. */
#include "kernels.h"

#include <math.h>

/* Walks the segments [offsets[c], offsets[c + 1]): mode 's' one sum each, '+' running sums,
 * '*' running products, '^' the largest value from here to the segment's end. */
static PyObject *walk_segments(PyObject *args, char mode)
{
    Py_buffer values, offsets, out;
    if (!PyArg_ParseTuple(args, "y*y*w*", &values, &offsets, &out)) return NULL;
    int64_t cells = count_segments(&offsets), n = (int64_t)out.len / 8;
    const double *v = values.buf;
    const int64_t *o = offsets.buf;
    double *to = out.buf;
    int right = cells >= 0 && o[cells] <= values.len / 8 && (mode == 's' ? n == cells : n == values.len / 8);
    if (!right) PyErr_SetString(PyExc_ValueError, "segments and arrays of different lengths");
    else {
        Py_BEGIN_ALLOW_THREADS
        for (int64_t c = 0; c < cells; c++) {
            double total = mode == '*';
            if (mode == 's') {
                for (int64_t i = o[c]; i < o[c + 1]; i++) total += v[i];
                to[c] = total;
            } else if (mode == '^') {
                total = -INFINITY;
                for (int64_t i = o[c + 1]; i-- > o[c];) {
                    total = v[i] > total ? v[i] : total;
                    to[i] = total + 0.0;           /* no negative zero, whichever of two zeros was taken */
                }
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

PyMethodDef segment_functions[] = {
    {"segment_sum", segment_sum, METH_VARARGS, "segment_sum(values, offsets, out): sums of consecutive segments, first to last."},
    {"segment_cumsum", segment_cumsum, METH_VARARGS, "segment_cumsum(values, offsets, out): running sums inside each segment."},
    {"segment_cumprod", segment_cumprod, METH_VARARGS, "segment_cumprod(values, offsets, out): running products inside each segment."},
    {"segment_max_from", segment_max_from, METH_VARARGS, "segment_max_from(values, offsets, out): the largest value from each place to its segment's end."},
    {NULL, NULL, 0, NULL}};
