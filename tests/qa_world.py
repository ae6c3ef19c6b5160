"""A small made-up collection of questions: classes of answers with levels, and runs of different skill."""

from __future__ import annotations

import random
from pathlib import Path


def write_questions(folder: Path, questions: int = 20, runs: int = 6, seed: int = 1) -> Path:
    """qrels.tsv and runs/ in the folder; every question has one to three classes of right answers."""
    draw = random.Random(seed)
    (folder / "runs").mkdir(parents=True)
    lines, right = ["question\tclass\tlevel\tanswer"], {}
    for q in range(1, questions + 1):
        classes = draw.randint(1, 3)
        right[q] = [f"answer {q}.{c}" for c in range(1, classes + 1)]
        for c in range(1, classes + 1):
            lines.append(f"Q{q}\t{c}\t{draw.choice('SAB')}\tanswer {q}.{c}")
            lines.append(f"Q{q}\t{c}\tB\tthe answer {q}.{c}")
    (folder / "qrels.tsv").write_text("\n".join(lines) + "\n")
    for r in range(runs):
        skill = (r + 1) / (runs + 1)
        text = ["question\trank\tanswer"]
        for q, known in right.items():
            given = [draw.choice(known) if draw.random() < skill / 2 else f"wrong {i}" for i in range(5)]
            text += [f"Q{q}\t{i}\t{answer}" for i, answer in enumerate(given, 1)]
        (folder / "runs" / f"run{r + 1}").write_text("\n".join(text) + "\n")
    return folder
