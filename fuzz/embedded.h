/* Python inside a fuzz program, without its packages, and memory for its objects that is guarded and quick. */
#ifndef FUZZ_EMBEDDED_H
#define FUZZ_EMBEDDED_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* Ends the program with a sentence, and Python's error if there is one: a finding. */
void broken(const char *what);

/* The object, or the end. */
PyObject *need(PyObject *object, const char *what);

/* Starts Python; the kernels as a module. */
PyObject *start_python(void);

#endif
