/* Characters, hashes, ids one after the other, the fields of a line, unusable lines. */
#ifndef UNJUDGED_TEXT_H
#define UNJUDGED_TEXT_H

#include "kernels.h"

static const unsigned char IS_SPACE[256] = {
    ['\t'] = 1, ['\n'] = 1, ['\v'] = 1, ['\f'] = 1, ['\r'] = 1, [' '] = 1};

/* Secrets of this process, odd numbers: nobody can write ids that share a place in its tables. Nothing that is
 * returned hangs on them, for tables are only looked up, never walked through. */
extern uint64_t hash_key[3];

/* One-to-one. */
static inline uint64_t mix(uint64_t x)
{
    x ^= x >> 32;
    x *= hash_key[0];
    x ^= x >> 29;
    return x;
}

/* The product with a secret, both halves of it: a change of x changes bits that cannot be foretold. */
static inline uint64_t fold(uint64_t x)
{
    const uint64_t y = hash_key[1];
#if defined(__SIZEOF_INT128__)
    __extension__ typedef unsigned __int128 Wide;
    const Wide product = (Wide)x * y;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
#else
    const uint64_t a = x >> 32, b = x & 0xFFFFFFFF, c = y >> 32, d = y & 0xFFFFFFFF;
    const uint64_t low = b * d, middle = a * d + (low >> 32), other = b * c + (middle & 0xFFFFFFFF);
    return x * y ^ (a * c + (middle >> 32) + (other >> 32));
#endif
}

static inline uint64_t load_eight(const char *s)
{
    uint64_t w;
    memcpy(&w, s, 8);
    return w;
}

/* The first n <= 8 bytes as a number; among ids of one length, no two are equal. */
static inline uint64_t load_bytes(const char *s, size_t n)
{
    uint64_t w = 0;
    if (n) memcpy((char *)&w + (8 - n), s, n);
    return w;
}

static inline uint64_t hash_start(size_t n) { return hash_key[2] ^ (n * 0x9E3779B97F4A7C15ull); }

/* One-to-one among the ids of up to eight bytes that have the same length: see same_id. */
static inline uint64_t hash_bytes(const char *s, size_t n)
{
    uint64_t h = hash_start(n), w;
    const char *end = s + n;
    if (n < 8) return mix(mix(h ^ load_bytes(s, n)));
    for (; end - s > 8; s += 8) {
        memcpy(&w, s, 8);
        h = fold(h ^ w);
    }
    memcpy(&w, end - 8, 8);      /* the last eight bytes, some of them for the second time */
    return mix(mix(h ^ w));
}

/* memcmp, also for empty ids that have no address. */
static inline int same_bytes(const char *a, const char *b, size_t n) { return !n || !memcmp(a, b, n); }

/* Are these the same id, if their lengths and hashes are? */
static inline int same_id(const char *a, const char *b, size_t n) { return n <= 8 || !memcmp(a, b, n); }

static inline const char *id_at(const Arena *a, const int64_t *ends, int64_t i, size_t *n)
{
    int64_t start = i ? ends[i - 1] : 0;
    *n = (size_t)(ends[i] - start);
    return a->data + start;
}

/* A line this long has no end: the text is no text in lines. The same in kernels/__init__.py. */
#define LONGEST_LINE (1 << 24)

static inline uint64_t table_size(uint64_t n)
{
    uint64_t size = 4;
    while (size < 2 * n) size *= 2;
    return size;
}

/* Kinds of unusable lines; the same numbers in _numpy.py and io/trec.py. */
enum { BAD_FIELDS = 1, BAD_SCORE = 2, BAD_NAN = 3, BAD_NUL = 4, BAD_GRADE = 5 };

typedef struct { const char *s; size_t n; } Field;

/* Splits one line (without its newline) into at most `wanted` fields; returns how many were found. */
int split_line(const char *p, const char *end, Field *fields, int wanted);

#define KEEP_BAD_LINES 20
#define KEEP_BAD_FIELD 60

typedef struct {
    Arena text;                  /* the bad lines, shortened */
    int64_t line[KEEP_BAD_LINES], end[KEEP_BAD_LINES];
    int kind[KEEP_BAD_LINES], kept;
    int64_t count;
} BadLines;

/* Notes an unusable line: its fields, each cut to a readable length, with single blanks between them. */
int bad_line(BadLines *b, int kind, int64_t line, const Field *fields, int found);

/* [(line, kind, text), ...] of the first bad lines */
PyObject *bad_lines_list(const BadLines *b);

#endif
