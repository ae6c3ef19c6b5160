/* RunScanner: one run, fed as text or topic by topic; keeps the judged hits of each topic.
 * scan.c reads lines, entries.c keeps a topic's documents, ranking.c ranks them, scanner.c is what Python sees. */
#ifndef UNJUDGED_SCANNER_H
#define UNJUDGED_SCANNER_H

#include "index.h"

enum { TIES_TREC10 = 0, TIES_TREC9 = 1, TIES_FILE = 2, TIES_ASCENDING = 3 };

typedef struct {
    double score;                /* as the tie rule compares it */
    uint64_t hash;
    uint64_t doc;                /* offset in the arena, or with IN_TEXT in the text being read */
    uint32_t length;
    int32_t row;                 /* in the judgments, -1 if it is not there */
} Entry;

#define IN_TEXT (1ull << 63)

typedef struct { double score; uint32_t entry; } Key;

typedef struct {
    PyObject_HEAD
    Index *index;
    int ties, lenient, gather, keep_docs, tie_groups, narrow;
    int64_t truncate;
    /* the topic being read */
    int64_t topic;               /* -1: outside the judgments; -2: none yet */
    Arena topic_id, entries, arena;
    size_t in_arena;             /* entries whose documents are in the arena; the others' are in the text */
    size_t first_hit;            /* hits are noted as if the documents stood in order, from this one on */
    int unsorted, repeated;      /* do its documents stand in another order than ranked; is one there twice? */
    Arena known;                 /* its documents, open addressing: bits of the hash above those of entry + 1 */
    uint64_t known_mask;
    Arena entry_topic;           /* the topic of each entry, while gathering */
    Arena keys, spare, table;
    /* text left over from the last feed, line count, tag of the last line */
    Arena rest, tag;
    const char *last_tag, *text;
    int64_t line;
    /* results */
    Arena rows, ranks, docs, doc_ends, doc_rows, doc_scores, tie_first, tie_size;
    int64_t *hit_start, *hit_end, *doc_start, *doc_stop;
    int32_t *length;
    uint8_t *seen;
    int64_t duplicates, duplicate_topic, split, lines, outside_lines;
    Arena duplicate_doc, repeats; /* repeats: int32 pairs (topic, rank above the repeated line) */
    /* topics outside the judgments: number + 1, open addressing; their names */
    uint32_t *outside;
    uint64_t outside_size, outside_count;
    Arena outside_names, outside_ends;
    uint64_t steps;              /* places of tables that were taken by others, for tests */
    int64_t endless;             /* the line that has no end, or 0 */
    BadLines bad;
    int stopped, failed, busy;
} RunScanner;

static inline int compare_ids(const char *a, size_t n, const char *b, size_t m)
{
    size_t shared = n < m ? n : m;
    int c = shared ? memcmp(a, b, shared) : 0;
    return c ? c : (n > m) - (n < m);
}

static inline const char *doc_of(const RunScanner *r, const Entry *e)
{
    if (!(e->doc & IN_TEXT)) return r->arena.data + e->doc;
    return (const char *)((uintptr_t)r->text + (uintptr_t)(e->doc & ~IN_TEXT));
}

/* Does x stand before y in the ranking? */
static inline int precedes(const RunScanner *r, const Entry *entries, const Key *x, const Key *y)
{
    if (x->score != y->score) return x->score > y->score;
    if (r->ties == TIES_FILE) return x->entry < y->entry;
    const Entry *a = entries + x->entry, *b = entries + y->entry;
    int c = compare_ids(doc_of(r, a), a->length, doc_of(r, b), b->length);
    if (!c) return x->entry < y->entry;
    return r->ties == TIES_ASCENDING ? c < 0 : c > 0;
}

/* Ranks the documents of one topic, drops later duplicates, keeps the judged ones as hits. */
int rank_topic(RunScanner *r, int64_t topic, const Entry *entries, size_t n, int unsorted, int repeated);

/* Turns to a topic; what is known of the one before is ranked. */
int open_topic(RunScanner *r, const char *s, size_t n);
int close_topic(RunScanner *r);

/* Copies the documents that stand in the text being read, before it goes away. */
int leave_text(RunScanner *r);

/* 0, -1 (memory) or 1 (unusable line, stop) */
int scan_text(RunScanner *r, const char *p, size_t n);
int scan_rest(RunScanner *r);

/* One topic given as newline-joined ids and float64 scores. 0: done; -1: memory; -2: counts differ; >0: NaN at i-1 */
int64_t add_topic(RunScanner *r, const char *topic, size_t topic_n, const char *docs, size_t docs_n,
                  const int64_t *ends, const double *scores, size_t n);

/* A document of the topic being read, with the hash of its id; it stands inside r->text. */
typedef struct { const char *doc; size_t n; uint64_t hash; double score; } Listed;

/* One thread at a time works on a scanner; -1 (and RuntimeError): another does, or it has failed. end_work passes on a result. */
int begin_work(RunScanner *r);
PyObject *end_work(RunScanner *r, PyObject *result);

/* add_run(topics, topic_ends, starts, docs, doc_ends, scores): a whole run (dicts.c). */
PyObject *scanner_add_run(RunScanner *r, PyObject *args);

/* Notes documents of the topic being read: are they judged, there already, in order? -1: no memory */
int add_listed(RunScanner *r, const Listed *listed, size_t n);

#endif
