/* libFuzzer's target for the kernels that read ordinary files at once: judgments (index_qrels), topics of a run (look_at_topics).
 *
 * Judgments that are ordinary are read as scan_qrels reads them. A run is looked at from its first part and from there on, and
 * as a whole: the same is told. The first byte says where the part ends, in 1/256 of the run; 1E ends the judgments. */
#include "embedded.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static PyObject *kernels, *scan_qrels, *index_qrels, *look_at_topics, *no_judgments;

static PyObject *own_copy(const uint8_t *data, size_t n, char **copy)
{
    *copy = malloc(n ? n : 1);
    if (n) memcpy(*copy, data, n);
    return need(PyMemoryView_FromMemory(*copy, (Py_ssize_t)n, PyBUF_READ), "no view");
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    kernels = start_python();
    scan_qrels = need(PyObject_GetAttrString(kernels, "scan_qrels"), "scan_qrels");
    index_qrels = need(PyObject_GetAttrString(kernels, "index_qrels"), "index_qrels");
    look_at_topics = need(PyObject_GetAttrString(kernels, "look_at_topics"), "look_at_topics");
    static const int64_t start = 0;
    no_judgments = need(PyObject_CallMethod(kernels, "Index", "y#y#y#y#y#", "", (Py_ssize_t)0, "", (Py_ssize_t)0, "", (Py_ssize_t)0, "",
                                            (Py_ssize_t)0, &start, (Py_ssize_t)sizeof start), "Index");
    return 0;
}

/* The index of the judgments, or one without any where they are out of the ordinary. */
static PyObject *judgments_of(const uint8_t *data, size_t n)
{
    static const char *COLUMNS[] = {"topics", "topic_ends", "grade", "starts"};
    char *copy;
    PyObject *view = own_copy(data, n, &copy);
    PyObject *found = need(PyObject_CallOneArg(index_qrels, view), "index_qrels failed");
    PyObject *columns = need(PyObject_CallFunctionObjArgs(scan_qrels, view, Py_False, NULL), "scan_qrels failed");
    Py_DECREF(view);
    free(copy);
    PyObject *index = no_judgments;
    if (found != Py_None) {
        for (Py_ssize_t i = 0; i < 4; i++)
            if (PyObject_RichCompareBool(PyTuple_GET_ITEM(found, i), PyDict_GetItemString(columns, COLUMNS[i]), Py_EQ) != 1)
                broken("ordinary judgments are read differently");
        if (PyList_GET_SIZE(PyDict_GetItemString(columns, "bad"))) broken("judgments with an unusable line are ordinary");
        index = PyTuple_GET_ITEM(found, 4);
    }
    Py_INCREF(index);
    Py_DECREF(columns);
    Py_DECREF(found);
    return index;
}

/* What is told of the topics from a place on: (topics, where it stopped, lines before, out of the ordinary?) */
static PyObject *looked(const uint8_t *run, size_t n, Py_ssize_t start, long long lines, int final, PyObject *index)
{
    PyObject *text = need(PyBytes_FromStringAndSize((const char *)run, (Py_ssize_t)n), "no memory");
    PyObject *found = need(PyObject_CallFunction(look_at_topics, "OnLiO", text, start, lines, final, index), "look_at_topics failed");
    Py_DECREF(text);
    return found;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (!n) return 0;
    const uint8_t *judgments = data + 1, *end = data + n, *run = memchr(judgments, 0x1e, n - 1);
    PyObject *index = judgments_of(judgments, (size_t)((run ? run : end) - judgments));
    run = run ? run + 1 : end;
    size_t size = (size_t)(end - run), part = size * data[0] / 256;
    PyObject *whole = looked(run, size, 0, 0, 1, index), *first = looked(run, part, 0, 0, 0, index);
    if (PyTuple_GET_ITEM(first, 3) != Py_True) {
        Py_ssize_t stopped = PyLong_AsSsize_t(PyTuple_GET_ITEM(first, 1));
        PyObject *rest = looked(run, size, stopped, PyLong_AsLongLong(PyTuple_GET_ITEM(first, 2)), 1, index);
        PyObject *both = need(PySequence_Concat(PyTuple_GET_ITEM(first, 0), PyTuple_GET_ITEM(rest, 0)), "no memory");
        if (PyObject_RichCompareBool(both, PyTuple_GET_ITEM(whole, 0), Py_EQ) != 1) broken("a part and the whole are told differently");
        for (Py_ssize_t i = 1; i < 4; i++)
            if (PyObject_RichCompareBool(PyTuple_GET_ITEM(rest, i), PyTuple_GET_ITEM(whole, i), Py_EQ) != 1)
                broken("a part and the whole end differently");
        Py_DECREF(both);
        Py_DECREF(rest);
    }
    Py_DECREF(first);
    Py_DECREF(whole);
    Py_DECREF(index);
    return 0;
}
