/* Judged documents per topic, read-only after construction, shared by all threads. */
#ifndef UNJUDGED_INDEX_H
#define UNJUDGED_INDEX_H

#include "text.h"

typedef struct {
    PyObject_HEAD
    Arena topics, docs;          /* the ids, one after the other */
    int64_t *topic_end, *doc_end, *row_start;
    int64_t n_topics, n_rows;
    uint32_t *topic_slot;        /* topic + 1, open addressing */
    uint64_t topic_mask;
    uint64_t *row_slot;          /* upper half of the hash, row + 1; a table per topic, one after the other */
    uint64_t *row_hash;
    int64_t *table_start;
    uint64_t *table_mask;
    uint8_t *row_bits;           /* eight bits for each place of row_slot: a filter before the look-up */
    Arena duplicates;            /* int64 pairs (row, earlier row with the same document) */
} Index;

int64_t index_find_topic(const Index *x, const char *s, size_t n);
PyObject *index_new(PyTypeObject *type, PyObject *args, PyObject *kwargs);

/* An index of these arrays, which it takes over: none of them empty. */
PyObject *index_take(PyTypeObject *type, Arena *topics, Arena *topic_ends, Arena *docs, Arena *doc_ends, Arena *starts);
void free_object(PyObject *self);

/* The judged documents of one topic. */
typedef struct {
    const Index *index;
    const uint64_t *slot;
    const uint8_t *bits;
    uint64_t mask;
} Rows;

static inline Rows index_rows(const Index *x, int64_t topic)
{
    return (Rows){x, x->row_slot + x->table_start[topic], x->row_bits + x->table_start[topic], x->table_mask[topic]};
}

/* Can a document with this hash be judged? Of those that are not, about three in a hundred can. */
static inline int may_be_judged(const Rows *judged, uint64_t h)
{
    return judged->bits[(h >> 3) & judged->mask] >> (h & 7) & 1;
}

static inline int32_t find_row(const Rows *judged, const char *s, size_t n, uint64_t h)
{
    uint64_t v, tag = h >> 32;
    for (uint64_t i = h & judged->mask; (v = judged->slot[i]); i = (i + 1) & judged->mask) {
        if (v >> 32 != tag) continue;
        size_t m;
        int64_t row = (int64_t)(uint32_t)v - 1;
        const char *d = id_at(&judged->index->docs, judged->index->doc_end, row, &m);
        if (m == n && judged->index->row_hash[row] == h && same_id(s, d, n)) return (int32_t)row;
    }
    return -1;
}

#endif
