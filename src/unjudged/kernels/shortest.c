/* The shortest decimal inside the interval of all numbers that round to the given one, and of those the nearest.
 *
 * A double m * 2^-s between 1e-4 and 2^53 has s <= 66, so that m * 10^a fits into 128 bits where 10^-a is the widest
 * power of ten not wider than the interval: everything is compared exactly, in integers, without tables. The interval
 * then holds one to ten multiples of 10^-a and at most one multiple of 10^-(a-1), and that one is the shortest (as in
 * R. Giulietti's Schubfach). Other numbers, and compilers without 128 bits, go through Python's own repr. */
#include "shortest.h"

static size_t write_as_python(double value, char *out)
{
    char *text = PyOS_double_to_string(value, 'r', 0, Py_DTSF_ADD_DOT_0, NULL);
    if (!text) return 0;
    const size_t n = strlen(text);
    memcpy(out, text, n);
    PyMem_Free(text);
    return n;
}

#if defined(__SIZEOF_INT128__)

__extension__ typedef unsigned __int128 Wide;

static const uint64_t TEN_TO[20] = {
    1ull, 10ull, 100ull, 1000ull, 10000ull, 100000ull, 1000000ull, 10000000ull, 100000000ull, 1000000000ull,
    10000000000ull, 100000000000ull, 1000000000000ull, 10000000000000ull, 100000000000000ull, 1000000000000000ull,
    10000000000000000ull, 100000000000000000ull, 1000000000000000000ull, 10000000000000000000ull};

static inline Wide ten_to(int a) { return a < 20 ? TEN_TO[a] : (Wide)TEN_TO[19] * TEN_TO[a - 19]; }

/* m * 2^-s as digits * 10^-a. */
static uint64_t shortest_digits(uint64_t m, int s, int *places)
{
    const int power_of_two = m == (1ull << 52), inclusive = !(m & 1);
    int a = (int)(((int64_t)s * 1233) >> 12);              /* log10(2) from below: right or one too few */
    while (power_of_two ? 3 * ten_to(a) < ((Wide)4 << s) : ten_to(a) < ((Wide)1 << s)) a++;
    *places = a;
    const Wide ten = ten_to(a), unit = (Wide)4 << s;       /* a step of the last digit; ten: a quarter of an ulp */
    const Wide middle = 4 * ten * m, low = middle - (power_of_two ? ten : 2 * ten), high = middle + 2 * ten;
    const uint64_t rounder = (uint64_t)(high >> (s + 2)) / 10 * 10;
    const Wide at = rounder * unit;
    if (inclusive ? at >= low : at > low && at < high) return rounder;
    const uint64_t below = (uint64_t)(middle >> (s + 2));
    const Wide left = middle - below * unit;
    int up = left > unit / 2 || (left == unit / 2 && (below & 1));
    if (!up) {                                             /* below a power of two the interval is half as wide */
        const Wide it = below * unit;
        up = inclusive ? it < low : it <= low;
    }
    return below + (uint64_t)up;
}

static size_t write_plain(uint64_t digits, int places, char *out)
{
    char text[24], *end = text + sizeof text, *p = end;
    int written = 0, kept = 0;                             /* digits behind the point, without the last zeros */
    for (; written < places; written++, digits /= 10) {
        const int digit = (int)(digits % 10);
        if (!kept && !digit) continue;
        *--p = (char)('0' + digit);
        kept++;
    }
    if (!kept) *--p = '0';
    *--p = '.';
    do *--p = (char)('0' + digits % 10);
    while (digits /= 10);
    memcpy(out, p, (size_t)(end - p));
    return (size_t)(end - p);
}

size_t write_shortest(double value, char *out)
{
    uint64_t bits;
    memcpy(&bits, &value, 8);
    const size_t sign = bits >> 63;
    if (sign) *out = '-';
    bits &= ~(1ull << 63);
    if (!bits) {
        memcpy(out + sign, "0.0", 3);
        return sign + 3;
    }
    const double size = sign ? -value : value;
    if (size >= 1e-4 && size < 9007199254740992.0) {
        int places;
        const uint64_t digits =
            shortest_digits((bits & ((1ull << 52) - 1)) | (1ull << 52), 1075 - (int)(bits >> 52), &places);
        return sign + write_plain(digits, places, out + sign);
    }
    return write_as_python(value, out);
}

#else

size_t write_shortest(double value, char *out) { return write_as_python(value, out); }

#endif
