/* Lines of a run -> the documents of a topic. */
#include "scanner.h"

#include <math.h>

#include "number.h"
#include "plain_line.h"

static int unusable_line(RunScanner *r, int kind, const char *p, const char *end)
{
    Field f[6];
    int found = split_line(p, end, f, 6);
    if (!found) return 0;
    if (found < 6) kind = BAD_FIELDS;
    if (memchr(p, 0, (size_t)(end - p))) kind = BAD_NUL;
    if (bad_line(&r->bad, kind, r->line, f, found)) return -1;
    return r->lenient ? 0 : 1;
}

/* Both stop at the newline that ends every line scanned. */
static inline const char *next_field(const char *p)
{
    while (*p != '\n' && IS_SPACE[(unsigned char)*p]) p++;
    return p;
}

static inline const char *field_end(const char *p)
{
    for (;; p++) {
        while ((unsigned char)*p > ' ') p++;
        if (IS_SPACE[(unsigned char)*p]) return p;
    }
}

/* Scans one line; a newline stands at `end`. Returns 0, -1 (memory) or 1 (unusable line, stop). */
static inline int scan_line(RunScanner *r, const char *line, const char *end)
{
    r->line++;
    if (line == end || *line == '#') return 0;
    size_t known = r->topic_id.size;
    const char *topic = line, *p;
    int same = r->topic != -2 && known && (size_t)(end - line) > known && IS_SPACE[(unsigned char)line[known]] &&
               !memcmp(line, r->topic_id.data, known);
    if (same) p = line + known;
    else {
        topic = next_field(line);
        p = field_end(topic);
    }
    size_t topic_length = (size_t)(p - topic);
    const char *doc = next_field(field_end(next_field(p))), *doc_end = field_end(doc);
    const char *score_at = next_field(field_end(next_field(doc_end))), *score_end = field_end(score_at);
    const char *tag = next_field(score_end);
    if (tag == end) return unusable_line(r, BAD_FIELDS, line, end);
    uint64_t hash = hash_bytes(doc, (size_t)(doc_end - doc));
    double score;
    int parsed = parse_score(score_at, (size_t)(score_end - score_at), &score);
    if (parsed) return unusable_line(r, parsed == SCORE_NAN ? BAD_NAN : BAD_SCORE, line, end);
    if (!same && (r->topic == -2 || topic_length != known || memcmp(topic, r->topic_id.data, known)))
        if (open_topic(r, topic, topic_length)) return -1;
    r->lines++;
    r->last_tag = tag;
    if (r->topic < 0) {
        r->outside_lines++;
        return 0;
    }
    return add_listed(r, &(Listed){doc, (size_t)(doc_end - doc), hash, score}, 1);
}

/* Keeps the tag of the last line and the documents of the topic, before the text they stand in goes away. */
static int keep(RunScanner *r, int status)
{
    int failed = leave_text(r);
    if (r->last_tag) {
        r->tag.size = 0;
        failed |= arena_append(&r->tag, r->last_tag, (size_t)(field_end(r->last_tag) - r->last_tag));
        r->last_tag = NULL;
    }
    return failed ? -1 : status;
}

/* Scans the line left over from earlier text. */
int scan_rest(RunScanner *r)
{
    if (arena_append(&r->rest, "\n", 1)) return -1;
    r->text = r->rest.data;
    return keep(r, scan_line(r, r->rest.data, r->rest.data + r->rest.size - 1));
}

#if PLAIN_LINES
#define PLAIN_NAME scan_plain_narrow
#define PLAIN_MARK mark_blanks
#define PLAIN_FOR
#include "scan_plain.h"
#undef PLAIN_NAME
#undef PLAIN_MARK
#undef PLAIN_FOR
#define PLAIN_NAME scan_plain_wide
#define PLAIN_MARK mark_blanks_wide
#define PLAIN_FOR FOR_WIDE
#include "scan_plain.h"

static const char *scan_plain(RunScanner *r, const char *p, const char *end)
{
    return r->narrow || !wide_lines() ? scan_plain_narrow(r, p, end) : scan_plain_wide(r, p, end);
}
#else
static const char *scan_plain(RunScanner *r, const char *p, const char *end) { (void)r; (void)end; return p; }
#endif

/* Has the line that is left over no end? Then 1: stop. */
static int endless(RunScanner *r)
{
    if (r->rest.size <= LONGEST_LINE) return 0;
    r->endless = r->line + 1;
    r->rest.size = 0;
    return 1;
}

int scan_text(RunScanner *r, const char *p, size_t n)
{
    const char *end = p + n;
    int status = 0;
    if (r->rest.size) {
        const char *newline = memchr(p, '\n', n);
        if (arena_append(&r->rest, p, newline ? (size_t)(newline - p) : n)) return -1;
        if (!newline) return endless(r);
        status = scan_rest(r);
        r->rest.size = 0;
        p = newline + 1;
    }
    r->text = p;
    while (!status && p < end) {
        if (!(p = scan_plain(r, p, end))) return -1;
        if (p == end) break;
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        if (!newline) {
            if (arena_append(&r->rest, p, (size_t)(end - p))) return -1;
            return keep(r, endless(r));
        }
        status = scan_line(r, p, newline);
        p = newline + 1;
    }
    return keep(r, status);
}

int64_t add_topic(RunScanner *r, const char *topic, size_t topic_n, const char *docs, size_t docs_n,
                  const int64_t *ends, const double *scores, size_t n)
{
    if (!ends) {
        size_t breaks = 0;
        for (const char *p = docs, *end = docs + docs_n; (p = memchr(p, '\n', (size_t)(end - p))); p++) breaks++;
        if (n ? breaks != n - 1 : docs_n != 0) return -2;
    } else
        for (size_t i = 0; i < n; i++)
            if (ends[i] < (i ? ends[i - 1] : 0) || ends[i] > (int64_t)docs_n) return -2;
    if (open_topic(r, topic, topic_n)) return -1;
    r->lines += (int64_t)n;
    for (size_t i = 0; i < n; i++)
        if (isnan(scores[i])) return (int64_t)i + 1;
    if (r->topic < 0) {
        r->outside_lines += (int64_t)n;
        return 0;
    }
    const char *p = docs, *end = docs + docs_n;
    r->text = docs;
    for (size_t i = 0; i < n; i++) {
        const char *stop = ends ? docs + ends[i] : memchr(p, '\n', (size_t)(end - p));
        if (!stop) stop = end;
        size_t length = (size_t)(stop - p);
        if (add_listed(r, &(Listed){p, length, hash_bytes(p, length), scores[i]}, 1)) return -1;
        p = stop + (ends ? 0 : 1);
    }
    return leave_text(r);
}
