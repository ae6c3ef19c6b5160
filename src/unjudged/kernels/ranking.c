/* The documents of one topic, ranked: sort, duplicates, hits. */
#include "scanner.h"

#include <math.h>

static void insertion_sort(const RunScanner *r, const Entry *entries, Key *keys, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        Key k = keys[i];
        size_t j = i;
        for (; j && precedes(r, entries, &k, &keys[j - 1]); j--) keys[j] = keys[j - 1];
        keys[j] = k;
    }
}

/* Stable merge sort on short insertion-sorted runs; runs already in order are not touched. */
static void merge_sort(const RunScanner *r, const Entry *entries, Key *keys, Key *spare, size_t n)
{
    enum { RUN = 12 };
    for (size_t start = 0; start < n; start += RUN)
        insertion_sort(r, entries, keys + start, start + RUN < n ? RUN : n - start);
    for (size_t width = RUN; width < n; width *= 2)
        for (size_t start = 0; start + width < n; start += 2 * width) {
            size_t middle = start + width, end = middle + width < n ? middle + width : n;
            if (!precedes(r, entries, &keys[middle], &keys[middle - 1])) continue;
            memcpy(spare, keys + start, width * sizeof *keys);
            size_t a = 0, b = middle, to = start;
            while (a < width && b < end)
                keys[to++] = precedes(r, entries, &keys[b], &spare[a]) ? keys[b++] : spare[a++];
            while (a < width) keys[to++] = spare[a++];
        }
}

/* The entries as keys, spread over as many places as there are entries by their share of the range of scores.
 * Returns how many share the fullest place at most; n: they were not spread. */
static size_t spread(const Entry *entries, size_t n, Key *keys, uint32_t *place, uint32_t *start)
{
    double low = entries[0].score, high = low;
    for (size_t i = 1; i < n; i++) {
        low = entries[i].score < low ? entries[i].score : low;
        high = entries[i].score > high ? entries[i].score : high;
    }
    double scale = (double)(n - 1) / (high - low);
    if (n < 32 || !isfinite(high - low) || !isfinite(scale)) {
        for (size_t i = 0; i < n; i++) keys[i] = (Key){entries[i].score, (uint32_t)i};
        return n;
    }
    memset(start, 0, (n + 1) * sizeof *start);
    for (size_t i = 0; i < n; i++) start[(place[i] = (uint32_t)((high - entries[i].score) * scale)) + 1]++;
    uint32_t fullest = 0;
    for (size_t p = 0; p < n; p++) {
        fullest = start[p + 1] > fullest ? start[p + 1] : fullest;
        start[p + 1] += start[p];
    }
    for (size_t i = 0; i < n; i++) keys[start[place[i]]++] = (Key){entries[i].score, (uint32_t)i};
    return fullest;
}

/* The documents ranked from first to last share a score: tell their hits (from `hit` on). */
static int close_group(RunScanner *r, size_t hit, int64_t first, int64_t last)
{
    int32_t group[2] = {(int32_t)first, (int32_t)(last - first + 1)};
    for (size_t n = r->rows.size / sizeof(int32_t); hit < n; hit++)
        if (arena_append(&r->tie_first, &group[0], 4) || arena_append(&r->tie_size, &group[1], 4)) return -1;
    return 0;
}

/* Sorts the entries of one topic where they are not in order; NULL keys: they are. */
static int order_entries(RunScanner *r, const Entry *entries, size_t n, int unsorted, const Key **order)
{
    *order = NULL;
    if (!unsorted) return 0;
    r->keys.size = r->spare.size = 0;
    if (arena_reserve(&r->keys, (n + 1) * sizeof(Key)) || arena_reserve(&r->spare, (n + 1) * sizeof(Key))) return -1;
    Key *keys = (Key *)r->keys.data, *spare = (Key *)r->spare.data;
    if (spread(entries, n, keys, (uint32_t *)spare, (uint32_t *)spare + n) <= 24) insertion_sort(r, entries, keys, n);
    else merge_sort(r, entries, keys, spare, n);
    *order = keys;
    return 0;
}

/* Was this entry's document ranked already? Keeps it in the table if not. */
static int already_ranked(RunScanner *r, const Entry *entries, uint32_t entry, uint32_t *table, uint64_t mask)
{
    const Entry *e = entries + entry;
    uint64_t slot = (e->hash >> 20) & mask;
    for (; table[slot]; slot = (slot + 1) & mask) {
        const Entry *o = entries + (table[slot] - 1);
        r->steps++;
        if (o->hash == e->hash && o->length == e->length &&
            same_id(doc_of(r, o), doc_of(r, e), e->length))
            return 1;
    }
    table[slot] = entry + 1;
    return 0;
}

/* Ranks the documents of one topic, drops later duplicates, keeps the judged ones as hits. */
int rank_topic(RunScanner *r, int64_t topic, const Entry *entries, size_t n, int unsorted, int repeated)
{
    const Key *order;
    uint32_t *table = NULL;
    uint64_t size = table_size(n);
    if (order_entries(r, entries, n, unsorted, &order)) return -1;
    if (repeated) {
        r->table.size = 0;
        if (arena_reserve(&r->table, size * sizeof *table)) return -1;
        table = (uint32_t *)r->table.data;
        memset(table, 0, size * sizeof *table);
    }
    int64_t rank = 0, group_first = 1;
    size_t group_hit = r->rows.size / sizeof(int32_t);
    double group_score = 0;
    r->hit_start[topic] = (int64_t)group_hit;
    if (r->keep_docs) r->doc_start[topic] = (int64_t)(r->doc_rows.size / sizeof(int32_t));
    for (size_t i = 0; i < n && !(r->truncate && rank >= r->truncate); i++) {
        uint32_t entry = order ? order[i].entry : (uint32_t)i;
        const Entry *e = entries + entry;
        if (repeated && already_ranked(r, entries, entry, table, size - 1)) {
            if (!r->duplicates++ || topic < r->duplicate_topic) {
                r->duplicate_topic = topic;
                r->duplicate_doc.size = 0;
                if (arena_append(&r->duplicate_doc, doc_of(r, e), e->length)) return -1;
            }
            int32_t repeat[2] = {(int32_t)topic, (int32_t)rank};
            if (arena_append(&r->repeats, repeat, sizeof repeat)) return -1;
            continue;
        }
        if (r->tie_groups && rank && e->score != group_score) {
            if (close_group(r, group_hit, group_first, rank)) return -1;
            group_hit = r->rows.size / sizeof(int32_t);
            group_first = rank + 1;
        }
        group_score = e->score;
        rank++;
        if (e->row >= 0) {
            int32_t at = (int32_t)rank;
            if (arena_append(&r->rows, &e->row, sizeof e->row) || arena_append(&r->ranks, &at, sizeof at)) return -1;
        }
        if (r->keep_docs) {
            if (arena_append(&r->docs, doc_of(r, e), e->length)) return -1;
            int64_t end = (int64_t)r->docs.size;
            if (arena_append(&r->doc_ends, &end, sizeof end) || arena_append(&r->doc_rows, &e->row, sizeof e->row) ||
                arena_append(&r->doc_scores, &e->score, sizeof e->score))
                return -1;
        }
    }
    if (r->tie_groups && close_group(r, group_hit, group_first, rank)) return -1;
    r->hit_end[topic] = (int64_t)(r->rows.size / sizeof(int32_t));
    if (r->keep_docs) r->doc_stop[topic] = (int64_t)(r->doc_rows.size / sizeof(int32_t));
    r->length[topic] = (int32_t)rank;
    r->seen[topic] = 1;
    return 0;
}
