"""trec_eval the way Pyserini and Anserini call it: `python -m unjudged.trec_eval -c -m ndcg_cut.10 QRELS RUN`.

As `unjudged trec_eval`, with what their wrapper adds: `-remove-unjudged` anywhere, `-m judged.10,100` (the share of
judged documents among the first k of all lists together, those of topics nobody judged, too), MS MARCO's three-column
runs, and the name of a dataset of ir_datasets in place of QRELS.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from unjudged.cli import main as unjudged
from unjudged.cli import refusing

REMOVE = "-remove-unjudged"
JUDGED = "judged."


def main(argv: Sequence[str] | None = None) -> int:
    """Run trec_eval's verb with the wrapper's flags; returns the exit code."""
    given = list(sys.argv[1:] if argv is None else argv)
    condensed = REMOVE in given
    given = [text for text in given if text != REMOVE]
    cuts: list[str] = []
    kept: list[str] = []
    for text in given:
        if text.startswith((JUDGED, f"-m{JUDGED}")):
            cuts += text.partition(JUDGED)[2].split(",")
            if not text.startswith("-m"):
                kept.pop()  # the -m before it
        else:
            kept.append(text)
    others = any(text.startswith("-m") for text in kept) or not cuts
    flags = [*(["-J"] if condensed else []), *kept]
    if argv is None and not cuts:  # a program of its own, which may end as quickly as the verb does
        sys.argv[1:] = ["trec_eval", *flags]
        return unjudged()
    code = unjudged(["trec_eval", *flags]) if others else 0
    return code or refusing(lambda: _judged(cuts, kept[-2:], condensed))


def _judged(cuts: list[str], files: list[str], condensed: bool) -> int:
    """Print the share of judged documents for each cut-off."""
    if not cuts:
        return 0
    from unjudged.collection.load import read_collection
    from unjudged.errors import UsageError
    from unjudged.io.trec import Reading

    wrong = [cut for cut in cuts if not cut.isdigit() or not int(cut)]
    if wrong or len(files) != 2:
        raise UsageError(
            f"judged takes cut-offs, as in judged.10,100, not {wrong[0]!r}" if wrong else "two files needed"
        )
    collection = read_collection(files[0], files[1], Reading(), topic_notes=False, lists=False)
    hits = collection.hits.condensed() if condensed else collection.hits
    length = hits.length
    if any(collection.outside) and not condensed:  # lists of topics nobody judged count there
        length = read_collection(None, files[1], Reading(), topic_notes=False, lists=False).hits.length
    for cut in map(int, cuts):
        retrieved = float(length.clip(max=cut).sum())
        share = float(hits.top(cut).count().sum()) / retrieved if retrieved else 0.0
        print(f"{f'judged_{cut}':<22}\tall\t{share:.4f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
