/* Scanning plain lines (see plain_line.h): included by scan.c once for every kind of processor, with the name of the
 * function, what it is compiled for and how it marks blanks. */

/* Scans plain lines up to the first that is not; NULL: no memory. */
PLAIN_FOR static const char *PLAIN_NAME(RunScanner *r, const char *p, const char *end)
{
    enum { BATCH = 64 };
    Listed listed[BATCH];
    PlainLine f;
    int plain = 1;
    while (plain) {
        /* lines of one topic: first all their fields, then all look-ups */
        size_t n = 0, known = r->topic == -2 ? 0 : r->topic_id.size;
        uint64_t word = load_bytes(r->topic_id.data, known < 8 ? known : 8);
        while (n < BATCH && (plain = end - p >= PLAIN_MARGIN)) {
            uint64_t blanks, newlines;
            PLAIN_MARK(p, &blanks, &newlines);
            if (!(plain = split_plain(p, end, blanks, newlines, &f))) break;
            if (f.topic_n != known || !same_text(f.topic, word, r->topic_id.data, known)) {
                if (n) break;
                double score;
                if (!(plain = !parse_score(f.score, f.score_n, &score))) break;
                if (open_topic(r, f.topic, f.topic_n)) return NULL;
                known = r->topic_id.size;
                word = load_bytes(r->topic_id.data, known < 8 ? known : 8);
            }
            Listed *l = listed + n;
            if (!plain_score(f.score, f.score_n, &l->score) && !(plain = !parse_score(f.score, f.score_n, &l->score))) break;
            l->doc = f.doc;
            l->n = f.doc_n;
            l->hash = plain_hash(f.doc, f.doc_n);
            r->last_tag = f.tag;
            p = f.newline + 1;
            n++;
        }
        r->line += (int64_t)n;
        r->lines += (int64_t)n;
        if (r->topic < 0) r->outside_lines += (int64_t)n;
        else if (n && add_listed(r, listed, n)) return NULL;
    }
    return p;
}
