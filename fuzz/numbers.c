/* libFuzzer's target for numbers: what is read is what the C library reads, what is written is what Python writes.
 *
 * The bytes are a score as it stands in a run (parse_score against strtod, to the last bit); the first eight of them are also
 * a number to be written (write_shortest against Python's repr, and read back as itself). */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "number.h"
#include "plain_line.h"
#include "shortest.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void broken(const char *what, const char *text)
{
    fprintf(stderr, "numbers: %s: %s\n", what, text);
    abort();
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    PyConfig config;
    PyConfig_InitIsolatedConfig(&config);
    config.site_import = 0;
    if (PyStatus_Exception(Py_InitializeFromConfig(&config))) broken("Python does not start", ""); /* 3.14 writes no number before */
    PyConfig_Clear(&config);
    make_plain_locale();
    return 0;
}

static int same_bits(double a, double b) { return memcmp(&a, &b, sizeof a) == 0; }

static void read_one(const uint8_t *data, size_t n)
{
    char *score = malloc(n ? n : 1), *text = malloc(n + 1), *stop;   /* of their own size: a byte beyond is found */
    memcpy(score, data, n);
    memcpy(text, data, n);
    text[n] = 0;
    double found = -7.0;
    int kind = parse_score(score, n, &found);
    double wanted = strtod(text, &stop);
    int whole = n && stop == text + n;
    if (kind == SCORE_OK) {
        if (!whole || !same_bits(found, wanted)) broken("strtod reads another number", text);
    } else if (whole && strspn(text, "+-.0123456789eE") == n) broken("a decimal number is refused", text);
    else if (kind == SCORE_NAN && !(whole && isnan(wanted))) broken("not nan", text);
    free(score);
#if PLAIN_LINES
    char *line = calloc(n + 17, 1);                                  /* the shortcut looks at whole words */
    memcpy(line, data, n);
    line[n] = '\n';
    double shortcut;
    if (n && plain_score(line, n, &shortcut) && (kind != SCORE_OK || !same_bits(found, shortcut))) broken("the shortcut differs", text);
    free(line);
#endif
    free(text);
}

static void write_one(const uint8_t *data)
{
    double value, back;
    char found[LONGEST_NUMBER + 1] = {0};
    memcpy(&value, data, sizeof value);
    if (!isfinite(value)) return;
    size_t n = write_shortest(value, found);
    if (!n || n > LONGEST_NUMBER) broken("too long", found);
    char *wanted = PyOS_double_to_string(value, 'r', 0, Py_DTSF_ADD_DOT_0, NULL);
    if (!wanted || strlen(wanted) != n || memcmp(wanted, found, n)) broken("Python writes another number", found);
    PyMem_Free(wanted);
    if (parse_score(found, n, &back) != SCORE_OK || !same_bits(value, back)) broken("not read back", found);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n <= 400) read_one(data, n);
    if (n >= sizeof(double)) write_one(data);
    return 0;
}
