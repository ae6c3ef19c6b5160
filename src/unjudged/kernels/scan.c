/* Lines of a run -> the documents of a topic. */
#include "scanner.h"

#include <math.h>

#include "number.h"

int close_topic(RunScanner *r)
{
    int failed = 0;
    if (r->topic >= 0 && !r->gather) {
        failed = rank_topic(r, r->topic, (const Entry *)r->entries.data, r->entries.size / sizeof(Entry), r->unsorted,
                            r->repeated);
        r->entries.size = r->arena.size = 0;
        r->unsorted = r->repeated = 0;
        if (r->known.size) memset(r->known.data, 0, r->known.size);
    }
    return failed;
}

static int note_outside(RunScanner *r, const char *s, size_t n)
{
    if (2 * (r->outside_count + 1) > r->outside_size) {
        uint64_t size = r->outside_size ? 2 * r->outside_size : 64;
        uint64_t *grown = calloc(size, sizeof *grown);
        if (!grown) return -1;
        for (uint64_t i = 0; i < r->outside_size; i++) {
            uint64_t h = r->outside[i];
            if (!h) continue;
            uint64_t j = h & (size - 1);
            while (grown[j]) j = (j + 1) & (size - 1);
            grown[j] = h;
        }
        free(r->outside);
        r->outside = grown;
        r->outside_size = size;
    }
    uint64_t h = hash_bytes(s, n) | 1, i = h & (r->outside_size - 1);
    for (; r->outside[i]; i = (i + 1) & (r->outside_size - 1))
        if (r->outside[i] == h) return 0;
    r->outside[i] = h;
    r->outside_count++;
    if (r->keep_docs || r->outside_named < 5) {   /* full lists: all names, else the first few */
        if (r->outside_named++ && arena_append(&r->outside_names, "\n", 1)) return -1;
        return arena_append(&r->outside_names, s, n);
    }
    return 0;
}

static int open_topic(RunScanner *r, const char *s, size_t n)
{
    if (close_topic(r)) return -1;
    r->topic_id.size = 0;
    if (arena_append(&r->topic_id, s, n)) return -1;
    r->topic = index_find_topic(r->index, s, n);
    if (r->topic < 0) return note_outside(r, s, n);
    if (r->seen[r->topic]) {
        if (!r->gather) r->split = 1;
    } else if (r->gather) r->seen[r->topic] = 1;
    return 0;
}

static inline void know(uint64_t *slots, uint64_t mask, uint64_t hash, uint32_t entry)
{
    uint64_t i = (hash >> 20) & mask;
    while (slots[i]) i = (i + 1) & mask;
    slots[i] = (hash >> 32 << 32) | (entry + 1);
}

/* Makes the set of the topic's documents twice as large. */
static int grow_known(RunScanner *r)
{
    uint64_t size = r->known.size ? 2 * (r->known_mask + 1) : 4096;
    r->known.size = 0;
    if (arena_reserve(&r->known, size * sizeof(uint64_t))) return -1;
    r->known.size = size * sizeof(uint64_t);
    memset(r->known.data, 0, r->known.size);
    r->known_mask = size - 1;
    const Entry *entries = (const Entry *)r->entries.data;
    for (size_t i = 0, n = r->entries.size / sizeof(Entry); i < n; i++)
        know((uint64_t *)r->known.data, r->known_mask, entries[i].hash, (uint32_t)i);
    return 0;
}

/* Notes a document of the topic being read: is it there already, is it in order? */
static int add_entry(RunScanner *r, const char *doc, size_t n, uint64_t hash, double score)
{
    size_t count = r->entries.size / sizeof(Entry);
    if (n > UINT32_MAX || count >= UINT32_MAX - 1) return -1;
    if (arena_reserve(&r->entries, sizeof(Entry)) || arena_reserve(&r->arena, n + 32)) return -1;
    Entry *entries = (Entry *)r->entries.data, *e = entries + count;
    e->score = r->ties == TIES_TREC9 ? (double)(float)score : score;
    e->hash = hash;
    e->doc = r->arena.size;
    e->length = (uint32_t)n;
    e->row = index_find_row(r->index, r->topic, doc, n, e->hash);
    if (n <= 32 && r->text_end && r->text_end - doc >= 32) memcpy(r->arena.data + r->arena.size, doc, 32);   /* one move, no call */
    else if (n) memcpy(r->arena.data + r->arena.size, doc, n);
    r->arena.size += n;
    r->entries.size += sizeof(Entry);
    if (r->gather) {
        int32_t topic = (int32_t)r->topic;
        return arena_append(&r->entry_topic, &topic, sizeof topic);
    }
    if (3 * (count + 1) > (r->known.size ? r->known_mask + 1 : 0)) {
        r->entries.size -= sizeof(Entry);       /* the new one is looked for below */
        int failed = grow_known(r);
        r->entries.size += sizeof(Entry);
        if (failed) return -1;
    }
    uint64_t *slots = (uint64_t *)r->known.data, mask = r->known_mask, tag = e->hash >> 32, i = (e->hash >> 20) & mask;
    for (; slots[i]; i = (i + 1) & mask) {
        if (slots[i] >> 32 != tag) continue;
        const Entry *o = entries + ((uint32_t)slots[i] - 1);
        if (o->hash == e->hash && o->length == e->length && same_bytes(r->arena.data + o->doc, doc, n)) {
            r->repeated = 1;
            break;
        }
    }
    if (!slots[i]) slots[i] = (tag << 32) | (uint32_t)(count + 1);
    if (count && !r->unsorted) {
        Key last = {e[-1].score, (uint32_t)(count - 1)}, this = {e->score, (uint32_t)count};
        r->unsorted = precedes(r, entries, &this, &last);
    }
    return 0;
}

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
    if (same && r->topic >= 0) {  /* the tables are asked for while the score is read */
        PREFETCH(r->index->row_slot + r->index->table_start[r->topic] + (hash & r->index->table_mask[r->topic]));
        if (r->known.size) PREFETCH((uint64_t *)r->known.data + ((hash >> 20) & r->known_mask));
    }
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
    return add_entry(r, doc, (size_t)(doc_end - doc), hash, score) ? -1 : 0;
}

/* Keeps the tag of the last line, before the text it stands in goes away. */
static int keep_tag(RunScanner *r)
{
    if (!r->last_tag) return 0;
    r->tag.size = 0;
    int failed = arena_append(&r->tag, r->last_tag, (size_t)(field_end(r->last_tag) - r->last_tag));
    r->last_tag = NULL;
    return failed;
}

/* Scans the line left over from earlier text. */
int scan_rest(RunScanner *r)
{
    if (arena_append(&r->rest, "\n", 1)) return -1;
    int status = scan_line(r, r->rest.data, r->rest.data + r->rest.size - 1);
    return keep_tag(r) ? -1 : status;
}

int scan_text(RunScanner *r, const char *p, size_t n)
{
    const char *end = p + n;
    int status = 0;
    r->text_end = NULL;
    if (r->rest.size) {
        const char *newline = memchr(p, '\n', n);
        if (arena_append(&r->rest, p, newline ? (size_t)(newline - p) : n)) return -1;
        if (!newline) return 0;
        status = scan_rest(r);
        r->rest.size = 0;
        p = newline + 1;
    }
    r->text_end = end;
    while (!status && p < end) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        if (!newline) {
            if (arena_append(&r->rest, p, (size_t)(end - p))) return -1;
            break;
        }
        status = scan_line(r, p, newline);
        p = newline + 1;
    }
    r->text_end = NULL;
    return keep_tag(r) ? -1 : status;
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
    for (size_t i = 0; i < n; i++) {
        const char *stop = ends ? docs + ends[i] : memchr(p, '\n', (size_t)(end - p));
        if (!stop) stop = end;
        size_t length = (size_t)(stop - p);
        if (add_entry(r, p, length, hash_bytes(p, length), scores[i])) return -1;
        p = stop + (ends ? 0 : 1);
    }
    return 0;
}
