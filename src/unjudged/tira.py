"""An evaluator for TIRA: `python -m unjudged.tira --run $inputRun --truth $inputDataset --output $outputDir`.

The folders are TIRA's: the run is the one run file of the first, the judgments the one qrels file of the second. The
output folder gets `evaluation.prototext` with the means, `per-topic.jsonl` with a line for each topic, and
`ir_metadata.yml` where PyYAML is there. `-m` names measures as everywhere (default: those of `score`).
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from unjudged.cli import refusing
from unjudged.errors import InputError, UsageError

RUNS = ("run.txt", "run.txt.gz", "run.jsonl", "run.jsonl.gz", "run.json")
QRELS = ("qrels.txt", "qrels.txt.gz", "qrels.jsonl", "qrels.tsv")


def _only_file(folder: str, names: Sequence[str], what: str) -> str:
    """The file of one of these names, or the only file whose name begins as they do."""
    where = Path(folder)
    if where.is_file():
        return folder
    found = [where / name for name in names if (where / name).is_file()]
    found = found or [
        f for f in sorted(where.rglob("*")) if f.is_file() and f.name.startswith(names[0].partition(".")[0])
    ]
    if len(found) != 1:
        raise InputError(f"one {what} ({names[0]}) is needed in this folder, found {len(found)}", folder)
    return str(found[0])


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def evaluate(run: str, truth: str, output: str, measures: str | None) -> int:
    """Score the run and write TIRA's files."""
    from unjudged.adapters import to_ir_metadata
    from unjudged.collection.load import read_collection
    from unjudged.io.trec import Reading
    from unjudged.io.write import write_whole
    from unjudged.scoring import score

    if Path(output).is_file():
        raise UsageError(f"the output {output} is a file, a folder is needed")
    collection = read_collection(_only_file(truth, QRELS, "file of judgments"), _only_file(run, RUNS, "run"), Reading())
    for note in collection.notes:
        print(f"unjudged: {note}", file=sys.stderr)
    scores = score(collection, measures) if measures else score(collection)
    names = [str(measure) for measure in scores.measures]
    folder = Path(output)
    folder.mkdir(parents=True, exist_ok=True)
    means = zip(names, scores.mean_values()[0].tolist(), strict=True)
    text = "".join(f'measure{{\n  key: {_quoted(name)}\n  value: "{value:.6f}"\n}}\n' for name, value in means)
    write_whole(folder / "evaluation.prototext", text.encode())
    lines = [
        json.dumps(
            {"query_id": topic, **dict(zip(names, scores.values[0, t].tolist(), strict=True))}, ensure_ascii=False
        )
        for t, topic in enumerate(scores.topics)
    ]
    write_whole(folder / "per-topic.jsonl", "".join(f"{line}\n" for line in lines).encode())
    if importlib.util.find_spec("yaml") is not None:
        from unjudged.io import ir_metadata

        ir_metadata.write(folder / "ir_metadata.yml", to_ir_metadata(scores, dict(collection.teams)))
    return 0


def main(argv: Sequence[str] | None = None) -> int:
    """Parse TIRA's arguments and evaluate; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m unjudged.tira", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--run", required=True, help="folder with the run (TIRA's $inputRun)")
    parser.add_argument("--truth", required=True, help="folder with the judgments (TIRA's $inputDataset)")
    parser.add_argument("--output", required=True, help="folder to write to (TIRA's $outputDir)")
    parser.add_argument("-m", "--measures", help="measures, as AP,nDCG@10 (default: those of score)")
    given = parser.parse_args(argv)
    return refusing(lambda: evaluate(given.run, given.truth, given.output, given.measures))


if __name__ == "__main__":
    sys.exit(main())
