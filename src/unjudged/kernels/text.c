#include "text.h"

uint64_t hash_key[3];

/* Draws the secrets, once for the process; UNJUDGED_HASH_SEED fixes them, for whoever looks for a fault. */
int draw_hash_key(void)
{
    if (hash_key[0]) return 0;
    const char *seed = getenv("UNJUDGED_HASH_SEED");
    uint64_t drawn[3];
    if (seed) {
        for (int i = 0; i < 3; i++) drawn[i] = (strtoull(seed, NULL, 10) + (uint64_t)i + 1) * 0x9E3779B97F4A7C15ull;
    } else {
        PyObject *os = PyImport_ImportModule("os");
        PyObject *bytes = os ? PyObject_CallMethod(os, "urandom", "i", (int)sizeof drawn) : NULL;
        char *data = bytes ? PyBytes_AsString(bytes) : NULL;
        if (data) memcpy(drawn, data, sizeof drawn);
        Py_XDECREF(os);
        Py_XDECREF(bytes);
        if (!data) return -1;
    }
    for (int i = 0; i < 3; i++) hash_key[i] = drawn[i] | 1 | 1ull << 63;
    return 0;
}

int split_line(const char *p, const char *end, Field *fields, int wanted)
{
    int found = 0;
    while (found < wanted) {
        while (p < end && IS_SPACE[(unsigned char)*p]) p++;
        if (p == end) break;
        const char *start = p;
        while (p < end && !IS_SPACE[(unsigned char)*p]) p++;
        fields[found].s = start;
        fields[found].n = (size_t)(p - start);
        found++;
    }
    return found;
}

int bad_line(BadLines *b, int kind, int64_t line, const Field *fields, int found)
{
    b->count++;
    if (b->kept == KEEP_BAD_LINES) return 0;
    for (int i = 0; i < found; i++) {
        size_t n = fields[i].n < KEEP_BAD_FIELD ? fields[i].n : KEEP_BAD_FIELD;
        if ((i && arena_append(&b->text, " ", 1)) || arena_append(&b->text, fields[i].s, n)) return -1;
    }
    b->line[b->kept] = line;
    b->kind[b->kept] = kind;
    b->end[b->kept++] = (int64_t)b->text.size;
    return 0;
}

PyObject *bad_lines_list(const BadLines *b)
{
    PyObject *list = PyList_New(b->kept);
    for (int i = 0; list && i < b->kept; i++) {
        int64_t start = i ? b->end[i - 1] : 0;
        PyObject *item = Py_BuildValue("(Liy#)", (long long)b->line[i], b->kind[i], b->text.data + start,
                                       (Py_ssize_t)(b->end[i] - start));
        if (!item || PyList_SetItem(list, i, item)) {
            Py_DECREF(list);
            return NULL;
        }
    }
    return list;
}
