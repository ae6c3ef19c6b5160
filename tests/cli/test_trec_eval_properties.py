"""Properties of `unjudged trec_eval`: parameters as people type them, z scores, sets, flags in any order.

Values come from pytrec_eval, one measure at a time where it takes parameters at all; what is printed around them is
put together here, apart from `test_trec_eval_generated.py`. `TREC_EVAL=/path/to/trec_eval` (version 9) holds the same
cases, and those whose values pytrec_eval cannot give, against that program; `UNJUDGED_EXAMPLES=1000` draws so many.
"""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytrec_eval
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from unjudged.cli import main

REAL = os.environ.get("TREC_EVAL")
EXAMPLES = int(os.environ.get("UNJUDGED_EXAMPLES", "40"))
SLOW = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.data_too_large]

# How a whole number may be typed, and what C's atol makes of it.
WHOLE = (("{}", 1), (" {}", 1), ("+{}", 1), ("0{}", 1), ("{}.7", 1), ("{}x", 1), ("{}e2", 1))
CUT = ("P", "recall", "ndcg_cut", "map_cut", "relative_P", "success")
PLAIN = (
    "map",
    "ndcg",
    "recip_rank",
    "bpref",
    "infAP",
    "Rprec",
    "set_P",
    "set_recall",
    "set_map",
    "num_ret",
    "num_rel",
    "binG",
)
# What pytrec_eval has no parameters for; the real program alone is asked.
OTHERS = (
    *(
        "11pt_avg.0,.1,.50,1.0",
        "11pt_avg.0.25,0.25x",
        "iprec_at_recall.1,.20,0.5x",
        "Rprec_mult.2,.5,1e0",
        "set_F.2",
        "set_F..5x",
    ),
    *(
        "utility.1,-1,0,x",
        "utility.0.5,-.25,1e0,2",
        "ndcg.1=3,2=5",
        "ndcg_rel.2=4",
        "Rndcg.1=2,3=9",
        "G.1=3,2=8",
        "relstring.3",
    ),
    *("relstring", "yaap", "official", "set", "all_trec", "gm_map", "gm_bpref", "runid", "num_q"),
    # numbers nobody means, which trec_eval takes all the same
    *("iprec_at_recall.-1,.5,2", "11pt_avg.0.8,.5,-1", "Rprec_mult.-1,0,.5", "set_F.-.5", "relstring.-3"),
    *("ndcg.0=1,1=-2", "ndcg_rel.-1=2,2=.5", "Rndcg.1=.5,2=.7,3=.2", "G.0=.5,-2=1,12=3", "G.1=2,1=5", "ndcg.x=1,1x=2"),
)

topics = st.lists(
    st.sampled_from(("1", "10", "2", "02", "a", "Z", "é", "t-1", "_")), min_size=1, max_size=5, unique=True
)
docs = [f"d{i}" for i in range(12)] + ["D1", "_d", "é"]
scores = st.sampled_from(
    ("1", "1.0", "2.5", "-3", "+4", "5.", ".5", "1e3", "1E-3", "1e-45", "16777217", "16777216", "-0.0")
)


@dataclass
class Drawn:
    """Judgments and a run, as they are written: scores as text."""

    qrels: dict[str, dict[str, int]]
    run: dict[str, dict[str, str]]

    def write(self, folder: Path) -> None:
        lines = [f"{t}\t0  {d} {g}\n" for t, found in self.qrels.items() for d, g in found.items()]
        (folder / "qrels").write_text("".join(lines), encoding="utf-8")
        lines = [f"{t} Q0 {d}\t0 {s} tag\n" for t, found in self.run.items() for d, s in found.items()]
        (folder / "run").write_text("".join(lines), encoding="utf-8")


@st.composite
def drawn(draw: st.DrawFn) -> Drawn:
    names = draw(topics)
    grade = draw(st.sampled_from(((0, 1), (0, 1, 2, 3), (-1, 0, 2), (1,), (-2, -1, 0, 1, 12))))
    judged = st.dictionaries(st.sampled_from(docs), st.sampled_from(grade), min_size=1, max_size=12)
    qrels = {name: draw(judged.filter(lambda found: max(found.values()) >= 0)) for name in names}
    listed = st.dictionaries(st.sampled_from(docs), scores, min_size=1, max_size=15)
    run = {name: draw(listed) for name in names[: draw(st.integers(1, len(names)))]}
    if draw(st.booleans()):
        run["outside"] = {"d1": "1"}
    return Drawn(qrels, run)


def ours(folder: Path, arguments: list[str]) -> str:
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="surrogateescape", write_through=True)
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()) as told:
        code = main(["trec_eval", "--as", "9", *arguments, str(folder / "qrels"), str(folder / "run")])
    assert code == 0, told.getvalue()
    raw: Any = out.buffer
    text: str = raw.getvalue().decode("utf-8", "surrogateescape")
    return text


flags = st.lists(
    st.sampled_from(("-q", "-c", "-o", "-J", "-l2", "-l 1x", "-M4", "-M 3.9")), max_size=4, unique_by=lambda f: f[:2]
)


def typed(flag: str) -> list[str]:
    """`-l 1x` as two arguments, `-l1` as one."""
    return [flag[:2], flag[3:]] if " " in flag else [flag]


def number(chosen: list[str], flag: str) -> int | None:
    return next((int(f[2:].strip()[0]) for f in chosen if f.startswith(flag)), None)


@st.composite
def cutoffs(draw: st.DrawFn) -> tuple[str, list[int]]:
    """A list of cut-offs as typed, and the cut-offs it means."""
    values = draw(st.lists(st.sampled_from((1, 2, 3, 5, 8, 13)), min_size=1, max_size=4, unique=True))
    shapes = [draw(st.sampled_from(WHOLE))[0] for _ in values]
    return ",".join(shape.format(value) for shape, value in zip(shapes, values, strict=True)), sorted(values)


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=SLOW)
@given(drawn(), flags, st.lists(st.sampled_from(PLAIN), unique=True, max_size=4), st.data())
def test_values_are_those_of_pytrec_eval(
    tmp_path: Path, case: Drawn, chosen: list[str], plain: list[str], data: st.DataObject
) -> None:
    """Every line that is printed, in `-q` and summary, repeated measures and parameters read as far as they go."""
    case.write(tmp_path)
    cut = data.draw(st.dictionaries(st.sampled_from(CUT), cutoffs(), max_size=3))
    wanted = [*plain, *(f"{name}.{text}" for name, (text, _) in cut.items())]
    wanted += [f"{name}.{data.draw(cutoffs())[0]}" for name in cut]  # given again: the first parameters count
    assume(wanted)
    arguments = [part for flag in chosen for part in typed(flag)]
    for measure in wanted:
        arguments += ["-m", measure] if data.draw(st.booleans()) else [f"-m{measure}"]
    level, depth = number(chosen, "-l") or 1, number(chosen, "-M")
    run = {t: {d: float(s) for d, s in found.items()} for t, found in case.run.items() if t in case.qrels}
    if depth is not None:  # ties by id, the largest first, scores in single precision
        import numpy as np

        order = {
            t: sorted(found, key=lambda d: (np.float32(found[d]), d.encode()), reverse=True) for t, found in run.items()
        }
        run = {t: {d: found[d] for d in order[t][:depth]} for t, found in run.items()}
    names = {*plain, *(f"{name}.{','.join(map(str, values))}" for name, (_, values) in cut.items())}
    peer = pytrec_eval.RelevanceEvaluator(
        case.qrels, names, relevance_level=level, judged_docs_only_flag="-J" in chosen
    )
    values = peer.evaluate(run)
    counted = len(case.qrels) if "-c" in chosen else len(run)
    answered = sorted(run, key=lambda t: t.encode())
    expected: dict[tuple[str, str], str] = {}
    for name in values[answered[0]]:
        whole = name.startswith("num_")
        for topic in answered if "-q" in chosen else ():
            expected[name, topic] = f"{values[topic][name]:.0f}" if whole else f"{values[topic][name]:6.4f}"
        total = 0.0
        for topic in answered:
            total += values[topic][name]
        if name == "num_rel" and "-c" in chosen:
            total = float(sum(g > 0 for found in case.qrels.values() for g in found.values()))
        expected[name, "all"] = f"{total:.0f}" if whole else f"{total / counted:6.4f}"
    shown = [line.split("\t") for line in ours(tmp_path, arguments).splitlines()]
    assert {(name.strip(), topic): value for name, topic, value in shown} == expected
    assert len(shown) == len(expected)


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=SLOW)
@given(drawn(), st.data())
def test_z_scores_are_those_of_the_values(tmp_path: Path, case: Drawn, data: st.DataObject) -> None:
    """(value - mean) / deviation of the file, for each topic, and their mean; a deviation of 0 or no line: -1000000."""
    case.write(tmp_path)
    answered = sorted((t for t in case.run if t in case.qrels), key=lambda t: t.encode())
    measures = data.draw(
        st.lists(st.sampled_from(("map", "ndcg", "recip_rank", "set_P", "num_ret")), min_size=1, unique=True)
    )
    known = {}
    for topic in answered:
        for name in measures:
            if data.draw(st.booleans()):
                known[topic, name] = (
                    data.draw(st.sampled_from((0.0, 0.25, 1.0))),
                    data.draw(st.sampled_from((0.5, 2.0, 0.0))),
                )
    assume(known)
    (tmp_path / "z").write_text("".join(f"{t} {n} {m} {d}\n" for (t, n), (m, d) in known.items()), encoding="utf-8")
    run = {t: {d: float(s) for d, s in case.run[t].items()} for t in answered}
    values = pytrec_eval.RelevanceEvaluator(case.qrels, set(measures)).evaluate(run)
    expected = {}
    for name in measures:
        total = 0.0
        for topic in answered:
            mean, deviation = known.get((topic, name), (0.0, -1.0))
            value = values[topic][name]
            z = 0.0 if deviation == 0 and value == mean else -1000000.0
            z = (value - mean) / deviation if deviation > 0 else z
            expected[f"Z{name}", topic] = f"{z:6.4f}"
            total += z
        expected[f"Z{name}", "all"] = f"{total if name == 'num_ret' else total / len(answered):6.4f}"
    arguments = ["-q", "-Z", str(tmp_path / "z"), *(part for name in measures for part in ("-m", name))]
    shown = [line.split("\t") for line in ours(tmp_path, arguments).splitlines()]
    assert {(name.strip(), topic): value for name, topic, value in shown} == expected


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=SLOW)
@given(drawn(), flags, st.lists(st.sampled_from(OTHERS), min_size=1, max_size=5))
def test_order_and_repetition_change_nothing(tmp_path: Path, case: Drawn, chosen: list[str], wanted: list[str]) -> None:
    """Flags before or behind the files, measures joined to their flag or not, long names: the same bytes."""
    case.write(tmp_path)
    before = [part for flag in chosen for part in typed(flag)] + [part for name in wanted for part in ("-m", name)]
    shown = ours(tmp_path, before)
    assert shown == ours(tmp_path, [*(f"-m{name}" for name in wanted), *(p for f in chosen[::-1] for p in typed(f))])
    assert shown == ours(
        tmp_path, [*(f"--measure={name}" for name in [*wanted, wanted[0]]), *before[: len(before) - 2 * len(wanted)]]
    )
    lines = shown.splitlines()
    assert len(set(lines)) == len(lines)
    assert all(line.count("\t") == 2 for line in lines)


@pytest.mark.skipif(not REAL, reason="TREC_EVAL does not name a trec_eval binary")
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=SLOW)
@given(drawn(), flags, st.booleans(), st.lists(st.sampled_from((*OTHERS, *PLAIN)), min_size=1, max_size=5), st.data())
def test_bytes_are_those_of_the_program(
    tmp_path: Path, case: Drawn, chosen: list[str], emptied: bool, wanted: list[str], data: st.DataObject
) -> None:
    assert REAL is not None
    case.write(tmp_path)
    chosen = [*chosen, "-M0"] if emptied else chosen
    cut = data.draw(st.dictionaries(st.sampled_from(CUT), cutoffs(), max_size=2))
    arguments = [part for flag in chosen for part in typed(flag)]
    arguments += [part for name in (*wanted, *(f"{n}.{text}" for n, (text, _) in cut.items())) for part in ("-m", name)]
    program = subprocess.run(
        [REAL, *arguments, str(tmp_path / "qrels"), str(tmp_path / "run")], capture_output=True, check=True
    )
    assert ours(tmp_path, arguments) == program.stdout.decode("utf-8", "surrogateescape"), arguments
