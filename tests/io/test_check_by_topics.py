"""`check` looks at ordinary topics by a C kernel: it must find what reading the lines one by one finds."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from kernel_twins import needs_c
from places import DATA

from unjudged import kernels
from unjudged.io import files
from unjudged.io.check.inspection import RunCheck, check_qrels
from unjudged.kernels import _numpy

JUDGED = b"".join(b"%d 0 d%d %d\n" % (topic, doc, doc % 3) for topic in (1, 2, 3, 10) for doc in range(0, 120, 3))
JUDGED += b"2 0 d1-with-a-long-name 1\n"


def generated(rng: random.Random) -> bytes:
    """A run with, here and there, everything `check` knows, and much of what it does not."""
    odd = rng.choice((0.0, 0.0, 0.002, 0.02))
    second, tag = rng.choice((b"Q0", b"Q0", b"0")), rng.choice((b"r", b"r", b"1.5", b"-3"))
    first = rng.choice((1, 1, 0, -1, 7))
    ranks = rng.choice(("rising", "rising", "rising", "same", "mixed"))
    scores = rng.choice(("falling", "falling", "few", "one", "mixed", "long"))
    lines: list[str] = []
    for topic in rng.sample(
        [b"1", b"2", b"3", b"10", b"outside", b"t\xc3\xa9"[: rng.choice((1, 3))]], rng.randint(1, 5)
    ):
        many = rng.choice((1, 2, 3, 11, 40, 150))
        docs = rng.sample([b"d%d" % i for i in range(200)] + [b"clueweb12-%040d" % i for i in range(3)], many)
        for i, doc in enumerate(docs):
            score = {
                "falling": b"%.4f" % (50 - i / 7),
                "few": b"%d" % (9 - i // 8),
                "one": b"1",
                "mixed": b"%d.5" % rng.randint(-20, 20),
                "long": b"%r" % (1 / (i + 3)) + b"000000000000000000",
            }[scores]
            rank = first + {"rising": i, "same": 0, "mixed": rng.randint(0, 9)}[ranks]
            line = b"%b %b %b %d %b %b" % (topic, second, doc, rank, score, tag)
            if rng.random() < odd:
                line = strange(rng, line, docs, lines)  # type: ignore[arg-type]
            lines.append(line)  # type: ignore[arg-type]
        if rng.random() < odd * 3:
            rng.shuffle(lines)
    return b"\n".join(lines) + rng.choice((b"", b"\n", b"\n\n", b"\r\n"))  # type: ignore[arg-type]


def strange(rng: random.Random, line: bytes, docs: list[bytes], lines: list[bytes]) -> bytes:
    fields = line.split()
    place, text = rng.choice(
        (
            (2, docs[0]),
            (2, b"d\xff"),
            (2, b"d\xc3\xa9"),
            (2, b"d 1"),
            (2, b"x" * 70),
            (3, b"+5"),
            (3, b"best"),
            (3, b"12345678901"),
            (4, b"nan"),
            (4, b"inf"),
            (4, b"1e400"),
            (4, b"0x1"),
            (4, b"1_0"),
            (5, b"another"),
            (5, b"r extra"),
            (5, b""),
            (0, b"# 1"),
            (0, b"#1"),
            (0, b" 1"),
            (1, b"\tq0"),
            (0, b"\n\n" + fields[0]),
            (5, b"r\r"),
            (5, b"r\0"),
        )
    )
    fields[place] = text
    return b" ".join(fields)


def found(path: Path, judged: Path) -> dict[str, Any]:
    """Everything that is known of a run once it was looked through, but how far ties could reach.

    Of that both ways have bounds, and the quick one's is nearer (tests/io/test_check_ties.py).
    """
    look = RunCheck(str(path), check_qrels(str(judged))[1]).read()
    return {
        name: value for name, value in vars(look).items() if name not in ("tally", "judged", "shapes", "tie_reach")
    } | {
        "findings": look.tally.findings(),
        "shapes": look.shapes.found,
    }


def looked_at_line_by_line(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(kernels, "look_at_topics", _numpy.look_at_topics)


@needs_c
@pytest.mark.parametrize("block", range(8))
def test_same_findings_as_line_by_line(block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run, judged = tmp_path / "r", tmp_path / "q"
    judged.write_bytes(JUDGED)
    index, told = check_qrels(str(judged))[1].index, 0
    for seed in range(100 * block, 100 * block + 100):
        rng = random.Random(seed)
        text = generated(rng)
        run.write_bytes(text)
        told += len(kernels.look_at_topics(text, 0, 0, True, index)[0])
        with monkeypatch.context() as patch:
            patch.setattr(files, "_CHUNK", rng.choice((64, 1000, 1 << 18)))
            patch.setattr(files, "_COMPRESSED_CHUNK", rng.choice((64, 1000, 1 << 18)))
            fast = found(run, judged)
            looked_at_line_by_line(patch)
            assert fast == found(run, judged), f"seed {seed}"
    assert told > 100  # else nothing was compared


@needs_c
@pytest.mark.skipif(not DATA.is_dir(), reason="the shared data is not here")
def test_same_findings_on_real_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    for collection in ("dl19-passage", "trec2-adhoc"):
        folder = DATA / collection
        qrels = next(path for path in sorted(folder.iterdir()) if "qrels" in path.name)
        for run in sorted((folder / "runs").iterdir())[:4]:
            fast = found(run, qrels)
            with monkeypatch.context() as patch:
                looked_at_line_by_line(patch)
                assert fast == found(run, qrels), run.name


def test_endless_line_and_wrong_arguments(tmp_path: Path) -> None:
    (tmp_path / "q").write_bytes(JUDGED)
    (tmp_path / "r").write_bytes(b"1 Q0 d1 1 2.0 r\n" + b"x" * (kernels.LONGEST_LINE + (1 << 20)))
    look = RunCheck(str(tmp_path / "r"), check_qrels(str(tmp_path / "q"))[1]).read()
    assert list(look.tally.found) == ["UJ100"] and look.tally.found["UJ100"][0] == 2
    if kernels.IN_USE == "C":
        with pytest.raises(TypeError):
            kernels.look_at_topics(b"", 1, 0, True, check_qrels(str(tmp_path / "q"))[1].index)
        with pytest.raises(TypeError):
            kernels.look_at_topics(b"", 0, 0, True, object())
