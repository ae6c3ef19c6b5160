/* The documents of the topic being read: opened, kept, closed. */
#include "scanner.h"

/* The hits noted while reading stand: only the truncation is left to do. */
static void take_in_order(RunScanner *r, size_t n)
{
    int64_t length = r->truncate && r->truncate < (int64_t)n ? r->truncate : (int64_t)n;
    size_t hits = r->rows.size / sizeof(int32_t);
    while (hits > r->first_hit && ((int32_t *)r->ranks.data)[hits - 1] > length) hits--;
    r->rows.size = r->ranks.size = hits * sizeof(int32_t);
    r->hit_start[r->topic] = (int64_t)r->first_hit;
    r->hit_end[r->topic] = (int64_t)hits;
    r->length[r->topic] = (int32_t)length;
    r->seen[r->topic] = 1;
}

/* Empties the set of the topic's documents: as a whole, or the few places used. */
static void clear_known(RunScanner *r, const Entry *entries, size_t n)
{
    uint32_t *slots = (uint32_t *)r->known.data;
    if (n >= r->known_mask / 64) memset(slots, 0, r->known.size);
    else
        for (size_t e = 0; e < n; e++)
            for (uint64_t i = (entries[e].hash >> 20) & r->known_mask; slots[i]; i = (i + 1) & r->known_mask) slots[i] = 0;
}

int close_topic(RunScanner *r)
{
    if (r->topic < 0 || r->gather) return 0;
    const Entry *entries = (const Entry *)r->entries.data;
    size_t n = r->entries.size / sizeof(Entry);
    int failed = 0;
    if (r->unsorted || r->repeated || r->keep_docs || r->tie_groups) {
        r->rows.size = r->ranks.size = r->first_hit * sizeof(int32_t);
        failed = rank_topic(r, r->topic, entries, n, r->unsorted, r->repeated);
    } else take_in_order(r, n);
    if (r->known.size) clear_known(r, entries, n);
    r->entries.size = r->arena.size = r->in_arena = 0;
    r->unsorted = r->repeated = 0;
    return failed;
}

/* Without full lists, no more topics than this are told apart: a file may hold any number. The same in _numpy.py. */
enum { OUTSIDE_COUNTED = 1000000 };

/* A topic that was counted: where its name ends in outside_names (a newline stands before each but the first). */
static const char *outside_at(const RunScanner *r, uint32_t topic, size_t *n)
{
    const int64_t *ends = (const int64_t *)r->outside_ends.data;
    int64_t start = topic ? ends[topic - 1] + 1 : 0;
    *n = (size_t)(ends[topic] - start);
    return r->outside_names.data ? r->outside_names.data + start : "";   /* one topic without a name has no bytes */
}

static int note_outside(RunScanner *r, const char *s, size_t n)
{
    if (!r->keep_docs && r->outside_count == OUTSIDE_COUNTED) return 0;
    if (r->outside_count == UINT32_MAX - 1) return -1;
    if (2 * (r->outside_count + 1) > r->outside_size) {
        uint64_t size = r->outside_size ? 2 * r->outside_size : 64;
        uint32_t *grown = calloc(size, sizeof *grown);
        if (!grown) return -1;
        for (uint32_t t = 0; t < r->outside_count; t++) {
            size_t m;
            const char *name = outside_at(r, t, &m);
            uint64_t j = hash_bytes(name, m) & (size - 1);
            while (grown[j]) j = (j + 1) & (size - 1);
            grown[j] = t + 1;
        }
        free(r->outside);
        r->outside = grown;
        r->outside_size = size;
    }
    uint64_t i = hash_bytes(s, n) & (r->outside_size - 1);
    for (; r->outside[i]; i = (i + 1) & (r->outside_size - 1)) {
        size_t m;
        const char *name = outside_at(r, r->outside[i] - 1, &m);
        r->steps++;
        if (m == n && same_bytes(name, s, n)) return 0;
    }
    if ((r->outside_count && arena_append(&r->outside_names, "\n", 1)) || arena_append(&r->outside_names, s, n)) return -1;
    int64_t end = (int64_t)r->outside_names.size;
    if (arena_append(&r->outside_ends, &end, sizeof end)) return -1;
    r->outside[i] = (uint32_t)++r->outside_count;
    return 0;
}

int open_topic(RunScanner *r, const char *s, size_t n)
{
    if (close_topic(r)) return -1;
    r->topic_id.size = 0;
    if (arena_append(&r->topic_id, s, n)) return -1;
    r->topic = index_find_topic(r->index, s, n);
    r->first_hit = r->rows.size / sizeof(int32_t);
    if (r->topic < 0) return note_outside(r, s, n);
    if (r->seen[r->topic]) {
        if (!r->gather) r->split = 1;
    } else if (r->gather) r->seen[r->topic] = 1;
    return 0;
}

/* Puts an entry into the set of the topic's documents; 1: its document is there already. */
static inline int put_known(RunScanner *r, const Entry *entries, uint32_t entry)
{
    uint32_t *slots = (uint32_t *)r->known.data, mask = (uint32_t)r->known_mask;
    const Entry *e = entries + entry;
    uint32_t tag = (uint32_t)(e->hash >> 32) & ~mask, i = (uint32_t)(e->hash >> 20) & mask, v;
    for (; (v = slots[i]); i = (i + 1) & mask) {
        r->steps++;
        if ((v & ~mask) != tag) continue;
        const Entry *o = entries + ((v & mask) - 1);
        if (o->hash == e->hash && o->length == e->length && same_id(doc_of(r, o), doc_of(r, e), e->length)) return 1;
    }
    slots[i] = tag | (entry + 1);
    return 0;
}

/* Makes room for `more` documents in the set of the topic's documents, which is at most a third full. */
static int grow_known(RunScanner *r, size_t more)
{
    size_t count = r->entries.size / sizeof(Entry);
    uint64_t size = r->known.size ? r->known_mask + 1 : 0;
    if (3 * (count + more) <= size) return 0;
    if (!size) size = 4096;
    while (3 * (count + more) > size) size *= 2;
    r->known.size = 0;
    if (size > 1ull << 31 || arena_reserve(&r->known, size * sizeof(uint32_t))) return -1;
    r->known.size = size * sizeof(uint32_t);
    memset(r->known.data, 0, r->known.size);
    r->known_mask = size - 1;
    const Entry *entries = (const Entry *)r->entries.data;
    for (size_t e = 0; e < count; e++) put_known(r, entries, (uint32_t)e);
    return 0;
}

static inline int out_of_order(const RunScanner *r, const Entry *entries, uint32_t entry)
{
    Key last = {entries[entry - 1].score, entry - 1}, this = {entries[entry].score, entry};
    return precedes(r, entries, &this, &last);
}

int add_listed(RunScanner *r, const Listed *listed, size_t n)
{
    size_t count = r->entries.size / sizeof(Entry);
    if (arena_reserve(&r->entries, n * sizeof(Entry)) || (!r->gather && grow_known(r, n)) ||
        arena_reserve(&r->rows, n * sizeof(int32_t)) || arena_reserve(&r->ranks, n * sizeof(int32_t)))
        return -1;
    Entry *entries = (Entry *)r->entries.data;
    const Rows judged = index_rows(r->index, r->topic);
    for (size_t k = 0; k < n; k++) {
        if (listed[k].n > UINT32_MAX) return -1;
        double score = r->ties == TIES_TREC9 ? (double)(float)listed[k].score : listed[k].score;
        int32_t row = may_be_judged(&judged, listed[k].hash) ? find_row(&judged, listed[k].doc, listed[k].n, listed[k].hash) : -1;
        entries[count + k] = (Entry){score, listed[k].hash, (uint64_t)((uintptr_t)listed[k].doc - (uintptr_t)r->text) | IN_TEXT,
                                     (uint32_t)listed[k].n, row};
    }
    r->entries.size += n * sizeof(Entry);
    if (r->gather) {
        int32_t topic = (int32_t)r->topic;
        for (size_t k = 0; k < n; k++)
            if (arena_append(&r->entry_topic, &topic, sizeof topic)) return -1;
        return 0;
    }
    int32_t *rows = (int32_t *)r->rows.data, *ranks = (int32_t *)r->ranks.data;
    size_t hits = r->rows.size / sizeof(int32_t);
    for (size_t e = count; e < count + n; e++) {
        rows[hits] = entries[e].row;
        ranks[hits] = (int32_t)(e + 1);
        hits += entries[e].row >= 0;
        if (put_known(r, entries, (uint32_t)e)) r->repeated = 1;
        if (e && !(entries[e].score < entries[e - 1].score) && !r->unsorted) r->unsorted = out_of_order(r, entries, (uint32_t)e);
    }
    r->rows.size = r->ranks.size = hits * sizeof(int32_t);
    return 0;
}

int leave_text(RunScanner *r)
{
    if (arena_reserve(&r->arena, 1)) return -1;   /* an empty id has a place, too */
    Entry *entries = (Entry *)r->entries.data;
    for (size_t n = r->entries.size / sizeof(Entry); r->in_arena < n; r->in_arena++) {
        Entry *e = entries + r->in_arena;
        uint64_t at = r->arena.size;
        if (arena_append(&r->arena, doc_of(r, e), e->length)) return -1;
        e->doc = at;
    }
    r->text = NULL;
    return 0;
}
