/* libFuzzer's target for arrays that may not fit together: every kernel that takes arrays, called from any bytes.
 *
 * A call is carried out or refused with a sentence, or with a MemoryError where more than 64 MB were needed (run.py);
 * nothing is read or written beyond an array, each of which stands in memory of its own. The same as `misuse` of targets.py, without Python code in between. */
#include "embedded.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* What a kernel is called with: b bytes, i int32, q int64, o offsets, d doubles (capitals: to be written), t a table of eight
 * doubles for each entry, g eight and c 64 doubles to be written, l a list of bytes, n a number, p a flag, f a float. */
static const struct { const char *name, *given; } CALLS[] = {
    {"segment_sum", "doD"},      {"segment_cumsum", "doD"}, {"segment_cumprod", "doD"},      {"segment_max_from", "doD"},
    {"segment_read", "doqoiD"},  {"Index", "boboo"},        {"code_documents", "boiin"},     {"choose_hits", "innpiioIIIO"},
    {"count_teams", "qqqqqQ"},   {"richness", "qqqbddDnnf"}, {"newton_sums", "tddgc"},       {"count_levels", "oqqqqnnnQ"},
    {"first_lines", "oqqbnQ"},   {"order_of", "inQ"},       {"write_rows", "lldb"},
};
enum { KERNELS = sizeof CALLS / sizeof *CALLS, MOST = 11 };

static PyObject *kernel[KERNELS];
static const uint8_t *at, *end;

/* The next byte; 0 when they are used up. */
static unsigned byte(void) { return at < end ? *at++ : 0; }

static unsigned below(unsigned n) { return byte() % n; }

/* A length that fits, or one in sixteen times one that does not. */
static size_t about(size_t n)
{
    if (below(16) != 15) return n;
    return below(2) ? n + 1 : n ? n - 1 : 0;
}

static int64_t far_number(void)
{
    static const int64_t FAR[] = {-1, 0, 1, 2, 3, 5, 8, 1LL << 31, 1LL << 60, (1LL << 61) + 1, INT64_MAX, INT64_MIN};
    return FAR[below(sizeof FAR / sizeof *FAR)];
}

static double number(void)
{
    static const double ODD[] = {1.0, -0.0, 0.1, -1.5, 1e300, -1e300, 5e-324, 1.0 / 3};
    unsigned kind = byte();
    return kind < 128 ? kind / 8.0 : kind == 255 ? Py_HUGE_VAL : kind == 254 ? Py_NAN : ODD[kind % 8];
}

/* Numbers that name entries; some may name what is not there. */
static int64_t entry(int odd) { return odd ? (int64_t)below(6) - 1 : (int64_t)below(3); }

/* Offsets that divide so many entries, or any numbers. */
static size_t fill_offsets(int64_t *into, size_t n)
{
    if (below(3)) {
        int64_t parts[] = {0, (int64_t)n / 2, (int64_t)n};
        memcpy(into, parts, sizeof parts);
        return 3;
    }
    size_t many = below(7);
    for (size_t k = 0; k < many; k++) into[k] = below(3) ? (int64_t)k : far_number();
    return many;
}

/* One argument; the memory it stands in, if any, goes to `memory`. */
static PyObject *argument(char kind, size_t n, void **memory)
{
    union { uint8_t b[4096]; int32_t i[512]; int64_t q[512]; double d[512]; } filled;
    int output = kind >= 'A' && kind <= 'Z', odd = below(8) == 7;
    size_t many = about(kind == 't' ? 8 * n : kind == 'g' ? 8 : kind == 'c' ? 64 : n), size = 0;
    switch (kind) {
    case 'n': return PyLong_FromLongLong(odd ? far_number() : (int64_t)below(9));
    case 'p': return PyBool_FromLong(odd);
    case 'f': return PyFloat_FromDouble(number());
    case 'l': {
        PyObject *list = need(PyList_New((Py_ssize_t)many), "no memory");
        for (size_t k = 0; k < many; k++)
            PyList_SET_ITEM(list, (Py_ssize_t)k, odd && k == 1 ? PyLong_FromLong(1) : PyBytes_FromStringAndSize("abcdefgh", below(9)));
        return list;
    }
    case 'o':
    case 'O': size = 8 * fill_offsets(filled.q, n); break;
    case 'b': for (size_t k = 0; k < (size = many); k++) filled.b[k] = (uint8_t)byte(); break;
    case 'i':
    case 'I': for (size_t k = 0; 4 * k < (size = 4 * many); k++) filled.i[k] = (int32_t)entry(odd); break;
    case 'q':
    case 'Q': for (size_t k = 0; 8 * k < (size = 8 * many); k++) filled.q[k] = entry(odd); break;
    default: for (size_t k = 0; 8 * k < (size = 8 * many); k++) filled.d[k] = number(); break;
    }
    if (odd && size && below(4) == 3) size--;       /* not a whole number of entries */
    *memory = malloc(size ? size : 1);
    memcpy(*memory, &filled, size);
    return PyMemoryView_FromMemory(*memory, (Py_ssize_t)size, output || kind == 'g' || kind == 'c' ? PyBUF_WRITE : PyBUF_READ);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    PyObject *module = start_python();
    for (size_t k = 0; k < KERNELS; k++) kernel[k] = need(PyObject_GetAttrString(module, CALLS[k].name), CALLS[k].name);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    at = data;
    end = data + size;
    unsigned which = below(KERNELS);
    size_t n = below(8), many = strlen(CALLS[which].given);
    void *memory[MOST] = {NULL};
    PyObject *given[MOST];
    for (size_t k = 0; k < many; k++) given[k] = need(argument(CALLS[which].given[k], n, memory + k), "no argument");
    PyObject *found = PyObject_Vectorcall(kernel[which], given, many, NULL);
    if (!found) {
        PyObject *type, *value, *where;
        PyObject *refusals[] = {PyExc_ValueError, PyExc_TypeError, PyExc_OverflowError, PyExc_MemoryError};
        int refused = 0;
        for (int k = 0; k < 4; k++) refused |= PyErr_ExceptionMatches(refusals[k]);
        if (!refused) broken("another error");
        PyErr_Fetch(&type, &value, &where);
        PyErr_NormalizeException(&type, &value, &where);
        PyObject *said = need(PyObject_Str(value), "no sentence");
        if (!PyUnicode_GET_LENGTH(said) && type != PyExc_MemoryError) broken("an error says nothing");
        Py_DECREF(said);
        Py_DECREF(type);
        Py_DECREF(value);
        Py_XDECREF(where);
    }
    Py_XDECREF(found);
    for (size_t k = 0; k < many; k++) {
        Py_DECREF(given[k]);
        free(memory[k]);
    }
    return 0;
}
