#include "number.h"

#include <float.h>
#include <math.h>
#if defined(__APPLE__)
#include <xlocale.h>
#endif
#include <locale.h>

#if defined(_WIN32)
static _locale_t plain_locale;
void make_plain_locale(void) { plain_locale = _create_locale(LC_NUMERIC, "C"); }
static double exact_strtod(const char *s, char **end) { return _strtod_l(s, end, plain_locale); }
#else
static locale_t plain_locale;
void make_plain_locale(void) { plain_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0); }
static double exact_strtod(const char *s, char **end) { return strtod_l(s, end, plain_locale); }
#endif

static const double POWERS[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

#if LDBL_MANT_DIG == 64 && defined(__x86_64__)
/* m * 10^e rounded once to 64 bits, then to double; refuses where the second rounding could differ. */
static int extended_scale(uint64_t m, int e, double *out)
{
    static const long double LONG_POWERS[] = {
        1e0L,  1e1L,  1e2L,  1e3L,  1e4L,  1e5L,  1e6L,  1e7L,  1e8L,  1e9L,  1e10L, 1e11L, 1e12L, 1e13L,
        1e14L, 1e15L, 1e16L, 1e17L, 1e18L, 1e19L, 1e20L, 1e21L, 1e22L, 1e23L, 1e24L, 1e25L, 1e26L, 1e27L};
    if (e < -27 || e > 27 || m == 0) return 0;
    long double x = e < 0 ? (long double)m / LONG_POWERS[-e] : (long double)m * LONG_POWERS[e];
    uint64_t significand;
    memcpy(&significand, &x, 8);
    unsigned low = (unsigned)(significand & 0x7FF);
    if (low >= 0x3FE && low <= 0x402) return 0;
    *out = (double)x;
    return 1;
}
#else
static int extended_scale(uint64_t m, int e, double *out) { (void)m; (void)e; (void)out; return 0; }
#endif

static int same_word(const char *s, size_t n, const char *word)
{
    if (strlen(word) != n) return 0;
    for (size_t i = 0; i < n; i++)
        if ((s[i] | 32) != word[i]) return 0;
    return 1;
}

/* The first 19 digits that count of a long number, as m * 10^exponent; 0 if more follow. */
static int count_digits(const char *p, const char *end, uint64_t *m, int64_t *exponent)
{
    int digits = 0, exact = 1, behind = 0;
    *m = 0;
    *exponent = 0;
    for (; p < end; p++) {
        if (*p == '.') behind = 1;
        else if (digits < 19) {
            *m = *m * 10 + (uint64_t)(*p - '0');
            digits += *m != 0;
            *exponent -= behind;
        } else {
            exact = 0;
            *exponent += !behind;
        }
    }
    return exact;
}

/* A decimal number: sign, digits, point, exponent; or inf / infinity. Correctly rounded. */
int parse_score(const char *s, size_t n, double *out)
{
    const char *p = s, *end = s + n;
    int negative = 0;
    if (p < end && (*p == '-' || *p == '+')) negative = *p++ == '-';
    if (p < end && !(*p >= '0' && *p <= '9') && *p != '.') {
        size_t rest = (size_t)(end - p);
        if (same_word(p, rest, "inf") || same_word(p, rest, "infinity")) {
            *out = negative ? -INFINITY : INFINITY;
            return SCORE_OK;
        }
        return same_word(p, rest, "nan") ? SCORE_NAN : SCORE_BAD;
    }
    uint64_t m = 0;
    int seen = 0, exact = 1;
    int64_t exponent = 0;
    const char *first = p, *point = NULL;
    for (; p < end && (unsigned char)(*p - '0') < 10; p++) m = m * 10 + (uint64_t)(*p - '0');
    if (p < end && *p == '.') {
        for (point = p++; p < end && (unsigned char)(*p - '0') < 10; p++) m = m * 10 + (uint64_t)(*p - '0');
        exponent = point + 1 - p;
    }
    seen = p - first > (point != NULL);
    if (p - first > 19) exact = count_digits(first, p, &m, &exponent);
    if (!seen) return SCORE_BAD;
    if (p < end && (*p | 32) == 'e') {
        int sign = 1;
        int64_t e = 0;
        p++;
        if (p < end && (*p == '-' || *p == '+')) sign = *p++ == '-' ? -1 : 1;
        if (p == end) return SCORE_BAD;
        for (; p < end && *p >= '0' && *p <= '9'; p++)
            if (e < 1000000000000000) e = e * 10 + (*p - '0');
        exponent += sign * e;
    }
    if (p != end) return SCORE_BAD;
    double x;
    if (exact && m == 0) x = 0.0;
    else if (exact && m <= (1ull << 53) && exponent >= -22 && exponent <= 22)
        x = exponent < 0 ? (double)m / POWERS[-exponent] : (double)m * POWERS[exponent];
    else if (exact && exponent >= -27 && exponent <= 27 && extended_scale(m, (int)exponent, &x)) {}
    else {
        char small[128], *copy = small, *stop;
        if (n >= sizeof small && !(copy = malloc(n + 1))) return SCORE_BAD;
        memcpy(copy, s, n);
        copy[n] = 0;
        *out = exact_strtod(copy, &stop);
        int whole = stop == copy + n;
        if (copy != small) free(copy);
        return whole ? SCORE_OK : SCORE_BAD;
    }
    *out = negative ? -x : x;
    return SCORE_OK;
}
