/* What every kernel file needs: Python's limited API (3.11), growing arrays, results as bytes in a dict.
 * To add a kernel: a file of its own that ends in a PyMethodDef list, declared at the end of this header,
 * named in _c.c, and a twin of equal results in _numpy.py. */
#ifndef UNJUDGED_KERNELS_H
#define UNJUDGED_KERNELS_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#ifndef _WIN32
#include <pyconfig.h> /* says Py_GIL_DISABLED; on Windows setup.py does */
#endif
#ifndef Py_GIL_DISABLED /* a free-threaded Python has no limited API yet */
#define Py_LIMITED_API 0x030B0000
#endif
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#ifndef Py_BEGIN_CRITICAL_SECTION /* the limited API comes with a lock for all, which is enough */
#define Py_BEGIN_CRITICAL_SECTION(object) {
#define Py_END_CRITICAL_SECTION() }
#endif

#include <float.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Where doubles are kept wider in between (the x87 of 32-bit x86), the bits would not be NumPy's. */
#if defined(FLT_EVAL_METHOD) && FLT_EVAL_METHOD != 0 && FLT_EVAL_METHOD != 1
#error "doubles are computed in a wider format here: the C kernels are left out, NumPy does the work"
#endif

#if defined(__GNUC__)
#define PREFETCH(address) __builtin_prefetch(address)
#else
#define PREFETCH(address) ((void)(address))
#endif

/* A function also made for newer processors, where the loader can choose. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__GLIBC__)
#define WIDE __attribute__((target_clones("avx2", "default")))
#else
#define WIDE
#endif

typedef struct { char *data; size_t size, capacity; } Arena;

static inline int arena_reserve(Arena *a, size_t extra)
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

static inline int arena_append(Arena *a, const void *bytes, size_t n)
{
    if (arena_reserve(a, n)) return -1;
    if (n) memcpy(a->data + a->size, bytes, n);
    a->size += n;
    return 0;
}

static inline void arena_free(Arena *a)
{
    free(a->data);
    memset(a, 0, sizeof *a);
}

static inline PyObject *arena_bytes(const Arena *a)
{
    return PyBytes_FromStringAndSize(a->data ? a->data : "", (Py_ssize_t)a->size);
}

static inline PyObject *new_bytes(size_t n, char **data)
{
    PyObject *b = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)n);
    if (b) memset(*data = PyBytes_AsString(b), 0, n);
    return b;
}

/* How many segments do these offsets (0 = o[0] <= o[1] <= ...) tell apart? -1: they are none. */
static inline int64_t count_segments(const Py_buffer *offsets)
{
    const int64_t *o = offsets->buf;
    int64_t segments = (int64_t)(offsets->len / 8) - 1;
    if (segments < 0 || o[0] != 0) return -1;
    for (int64_t s = 0; s < segments; s++)
        if (o[s] > o[s + 1]) return -1;
    return segments;
}

static inline int set_item(PyObject *dict, const char *name, PyObject *value)
{
    if (!value) return -1;
    int failed = PyDict_SetItemString(dict, name, value);
    Py_DECREF(value);
    return failed;
}

/* The functions of each file, for _c.c. */
extern PyMethodDef qrels_functions[], document_functions[], hit_functions[], resampling_functions[],
    dict_functions[], evaluate_functions[], row_functions[], segment_functions[], gap_functions[],
    look_functions[], list_functions[];
extern PyType_Spec index_spec, scanner_spec;
void make_plain_locale(void);
int draw_hash_key(void);

#endif
