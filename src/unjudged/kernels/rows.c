/* A table of numbers as lines of text. */
#include "shortest.h"

typedef struct { const char *s; size_t n; } Piece;

/* The bytes objects of a list; they stay alive as long as the list does. */
static Piece *pieces_of(PyObject *list, size_t *count)
{
    *count = (size_t)PyList_Size(list);
    Piece *pieces = malloc((*count + 1) * sizeof *pieces);
    if (!pieces) return (Piece *)PyErr_NoMemory();
    for (size_t i = 0; i < *count; i++) {
        char *s;
        Py_ssize_t n;
        if (PyBytes_AsStringAndSize(PyList_GetItem(list, (Py_ssize_t)i), &s, &n)) {
            free(pieces);
            return NULL;
        }
        pieces[i].s = s;
        pieces[i].n = (size_t)n;
    }
    return pieces;
}

static inline char *put(char *at, Piece piece)
{
    memcpy(at, piece.s, piece.n);
    return at + piece.n;
}

/* For every row and column its line: head of the row, name of the column, the number, end. */
static PyObject *write_rows(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *head_list, *name_list, *written = NULL;
    Py_buffer values, end;
    if (!PyArg_ParseTuple(args, "O!O!y*y*", &PyList_Type, &head_list, &PyList_Type, &name_list, &values, &end))
        return NULL;
    size_t rows, columns = 0, longest = 0;
    Arena text = {0};
    Piece *heads = pieces_of(head_list, &rows), *names = heads ? pieces_of(name_list, &columns) : NULL;
    if (!names) goto done;
    if (rows * columns * 8 != (size_t)values.len) {
        PyErr_SetString(PyExc_ValueError, "a value for every row and column is needed");
        goto done;
    }
    const double *value = values.buf;
    const Piece last = {end.buf, (size_t)end.len};
    for (size_t c = 0; c < columns; c++) longest = names[c].n > longest ? names[c].n : longest;
    for (size_t r = 0; r < rows && columns; r++) {
        if (arena_reserve(&text, columns * (heads[r].n + longest + LONGEST_NUMBER + last.n))) {
            PyErr_NoMemory();
            goto done;
        }
        char *at = text.data + text.size;
        for (size_t c = 0; c < columns; c++) {
            at = put(put(at, heads[r]), names[c]);
            size_t n = write_shortest(*value++, at);
            if (!n) goto done;
            at = put(at + n, last);
        }
        text.size = (size_t)(at - text.data);
    }
    written = arena_bytes(&text);
done:
    arena_free(&text);
    free(heads);
    free(names);
    PyBuffer_Release(&values);
    PyBuffer_Release(&end);
    return written;
}

PyMethodDef row_functions[] = {
    {"write_rows", write_rows, METH_VARARGS,
     "write_rows(heads, names, values, end): head, name, number, end for every row and column, as bytes."},
    {NULL, NULL, 0, NULL}};
