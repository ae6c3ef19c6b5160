/* Plain lines, 64 bytes at a time: six fields, of which the first five and the blanks around them stand in
 * the line's first 64 bytes. Other lines, other machines and the last lines of a text take the way of scan.c. */
#ifndef UNJUDGED_PLAIN_LINE_H
#define UNJUDGED_PLAIN_LINE_H

#include "text.h"

#if defined(__GNUC__) && defined(__SSE2__) && defined(__x86_64__)
#define PLAIN_LINES 1
#include <immintrin.h>

#define PLAIN_MARGIN 96          /* bytes that are read from a line's start, whatever its length */

typedef struct {
    const char *topic, *doc, *score, *tag, *newline;
    size_t topic_n, doc_n, score_n;
} PlainLine;

/* Which of the 64 bytes are blanks (of any kind), which newlines? */
static inline void mark_blanks(const char *p, uint64_t *blanks, uint64_t *newlines)
{
    const __m128i space = _mm_set1_epi8(' '), newline = _mm_set1_epi8('\n'), nine = _mm_set1_epi8(9),
                  four = _mm_set1_epi8(4);
    *blanks = *newlines = 0;
    for (int k = 0; k < 64; k += 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)(p + k)), above = _mm_sub_epi8(v, nine);
        __m128i blank = _mm_or_si128(_mm_cmpeq_epi8(v, space), _mm_cmpeq_epi8(_mm_min_epu8(above, four), above));
        *blanks |= (uint64_t)(uint32_t)_mm_movemask_epi8(blank) << k;
        *newlines |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(v, newline)) << k;
    }
}

#define FOR_WIDE __attribute__((target("avx2,bmi,bmi2")))

/* The same with the instructions of newer processors: a blank is its own entry of a table of sixteen. */
FOR_WIDE static inline void mark_blanks_wide(const char *p, uint64_t *blanks, uint64_t *newlines)
{
    const __m256i table = _mm256_setr_epi8(' ', 0, 0, 0, 0, 0, 0, 0, 0, 9, 10, 11, 12, 13, 0, 0,
                                           ' ', 0, 0, 0, 0, 0, 0, 0, 0, 9, 10, 11, 12, 13, 0, 0),
                  newline = _mm256_set1_epi8('\n');
    __m256i low = _mm256_loadu_si256((const __m256i *)p), high = _mm256_loadu_si256((const __m256i *)(p + 32));
    *blanks = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_shuffle_epi8(table, low), low)) |
              (uint64_t)(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_shuffle_epi8(table, high), high)) << 32;
    *newlines = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(low, newline)) |
                (uint64_t)(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(high, newline)) << 32;
}

/* Does this processor have them? */
static inline int wide_lines(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
}

/* The fields of a plain line whose first 64 bytes have these blanks and newlines; 0: it is none. */
static inline int split_plain(const char *p, const char *end, uint64_t blanks, uint64_t newlines, PlainLine *f)
{
    uint64_t second = blanks & (blanks - 1), third = second & (second - 1), fourth = third & (third - 1),
             fifth = fourth & (fourth - 1), before = fifth ^ (fifth - 1);     /* all bits up to the fifth blank */
    size_t topic_start = 0, doc_start, score_start, tag_start;
    if (fifth && ~before && !((blanks & (blanks << 1 | 1)) & (before << 1 | 1))) {
        /* one blank after each of five fields; a newline among them is found below */
        f->topic_n = (size_t)__builtin_ctzll(blanks);
        doc_start = (size_t)__builtin_ctzll(second) + 1;
        f->doc_n = (size_t)__builtin_ctzll(third) - doc_start;
        score_start = (size_t)__builtin_ctzll(fourth) + 1;
        tag_start = (size_t)__builtin_ctzll(fifth) + 1;
        f->score_n = tag_start - 1 - score_start;
    } else {
        uint64_t starts = ~blanks & (blanks << 1 | 1), ends = blanks & ~(blanks << 1 | 1);
        third = starts & (starts - 1);
        third &= third - 1;
        fifth = third & (third - 1);
        fifth &= fifth - 1;
        uint64_t sixth = fifth & (fifth - 1), third_end = ends & (ends - 1);
        if (!sixth) return 0;
        before = (sixth & (0 - sixth)) - 1;
        third_end &= third_end - 1;
        uint64_t fifth_end = third_end & (third_end - 1);
        fifth_end &= fifth_end - 1;
        topic_start = (size_t)__builtin_ctzll(starts);
        f->topic_n = (size_t)__builtin_ctzll(ends) - topic_start;
        doc_start = (size_t)__builtin_ctzll(third);
        f->doc_n = (size_t)__builtin_ctzll(third_end) - doc_start;
        score_start = (size_t)__builtin_ctzll(fifth);
        f->score_n = (size_t)__builtin_ctzll(fifth_end) - score_start;
        tag_start = (size_t)__builtin_ctzll(sixth);
    }
    if ((newlines & before) || *p == '#') return 0;
    f->topic = p + topic_start;
    f->doc = p + doc_start;
    f->score = p + score_start;
    f->tag = p + tag_start;
    f->newline = newlines ? p + __builtin_ctzll(newlines) : memchr(p + 64, '\n', (size_t)(end - p - 64));
    return f->newline != NULL;
}

/* The first four fields of a line that ends at `stop`, if they stand in its first 64 bytes. */
static inline int split_plain_judgment(const char *p, const char *stop, Field *f)
{
    uint64_t blanks, newlines;
    mark_blanks(p, &blanks, &newlines);
    if (stop - p < 64) blanks |= ~0ull << (stop - p);
    uint64_t starts = ~blanks & (blanks << 1 | 1), ends = blanks & ~(blanks << 1 | 1);
    for (int i = 0; i < 4; i++, starts &= starts - 1, ends &= ends - 1) {
        if (!starts || !ends) return 0;
        f[i].s = p + __builtin_ctzll(starts);
        f[i].n = (size_t)(__builtin_ctzll(ends) - __builtin_ctzll(starts));
    }
    return 1;
}

/* hash_bytes, reading up to eight bytes beyond short ids */
static inline uint64_t plain_hash(const char *s, size_t n)
{
    return n <= 8 ? mix(mix(hash_start(n) ^ load_eight(s) << (64 - 8 * n))) : hash_bytes(s, n);
}

/* Is a the same as b, whose load_bytes is known? For n > 0; reads up to eight bytes beyond a. */
static inline int same_text(const char *a, uint64_t word, const char *b, size_t n)
{
    return n <= 8 ? load_eight(a) << (64 - 8 * n) == word : !memcmp(a, b, n);
}

#define EACH_BYTE(x) (0x0101010101010101ull * (x))

/* Up to eight digits that stand at the upper end of a word, with zeros before them. */
static inline uint64_t digits_value(uint64_t w)
{
    w = w * 10 + (w >> 8);
    return ((w & 0x000000FF000000FF) * 0x000F424000000064 + (w >> 16 & 0x000000FF000000FF) * 0x0000271000000001) >> 32;
}

/* A number of the form -1234567.12345678 (at most so many digits, at least one on either side): exact. */
static inline int plain_score(const char *s, size_t n, double *out)
{
    static const uint64_t POWERS[9] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
    size_t negative = *s == '-';
    s += negative;
    n -= negative;
    uint64_t w = load_eight(s), other = w ^ EACH_BYTE('.'), point = (other - EACH_BYTE(1)) & ~other & EACH_BYTE(0x80);
    if (!point) return 0;
    size_t before = (size_t)__builtin_ctzll(point) / 8, behind = n - before - 1;
    if (before - 1 > 6 || behind - 1 > 7) return 0;   /* also where the point stands behind the field */
    uint64_t whole = (w - EACH_BYTE('0')) << (64 - 8 * before);
    uint64_t part = (load_eight(s + before + 1) - EACH_BYTE('0')) << (64 - 8 * behind);
    if (((whole + EACH_BYTE(0x76)) | whole | (part + EACH_BYTE(0x76)) | part) & EACH_BYTE(0x80)) return 0;
    double x = (double)(int64_t)(digits_value(whole) * POWERS[behind] + digits_value(part)) / (double)(int64_t)POWERS[behind];
    *out = negative ? -x : x;
    return 1;
}
#else
#define PLAIN_LINES 0
#endif

#endif
