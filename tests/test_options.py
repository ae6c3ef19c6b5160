"""Options are declared once: every command, study and Python function has the help, default and check of the table."""

from __future__ import annotations

import argparse
import ast
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import unjudged as uj
from unjudged import options
from unjudged.cli import commands, main
from unjudged.errors import UsageError
from unjudged.options import OPTIONS, Option, option
from unjudged.simulation.presets import parameter_help, parameter_names
from unjudged.studies import QUESTIONS, find, known

COMMANDS = {name: parser for name, _, parser in commands() if parser is not None}
CLI = Path(inspect.getfile(main)).parent


def arguments() -> Iterator[tuple[str, argparse.Action]]:
    """Every argument of every command, -h aside."""
    for command, parser in COMMANDS.items():
        for action in parser._actions:
            if not isinstance(action, argparse._HelpAction):
                yield command, action


def meant(command: str) -> str:
    """The command itself; for a question of the report, the study that answers it."""
    verb, _, part = command.partition(" ")
    return f"study {QUESTIONS[part].study}" if verb == "study" and part not in known() else command


def of_studies(command: str) -> dict[str, Any]:
    """The defaults of a study's own options; nothing for other commands."""
    verb, _, study = meant(command).partition(" ")
    return find(study).defaults if verb == "study" else {}


def declared(command: str, action: argparse.Action) -> Option:
    return option(action.dest, meant(command))


def test_every_argument_of_every_command_is_declared() -> None:
    for command, action in arguments():
        found = declared(command, action)
        assert tuple(action.option_strings) == found.spellings, (command, action.dest)
        words = parameter_help(action.dest) if not found.help else found.help
        assert (action.help or "").startswith(words.replace("%", "%%")), (command, action.dest)
        if action.option_strings and action.dest not in of_studies(command):
            assert action.required == found.required, (command, action.dest)


def test_every_default_is_the_declared_one() -> None:
    for command, action in arguments():
        if not action.option_strings:
            continue
        found = declared(command, action)
        if found.flag:
            assert action.default is False
        elif found.repeats:  # given several times: nothing, until the command fills the default in
            assert action.default in (None, []), (command, action.dest)
        elif action.dest in (own := of_studies(command)):
            assert action.default is None, "the study fills in its own default"
            assert own[action.dest] in (None, "", found.default), (command, action.dest)
        else:
            assert action.default == found.default, (command, action.dest)


def test_every_default_is_told() -> None:
    for command, action in arguments():
        found = declared(command, action)
        default = of_studies(command).get(action.dest, found.default)
        if action.option_strings and not found.flag and default not in (None, (), ""):
            assert "default" in (action.help or ""), (command, action.dest)


def test_no_declared_option_is_unused() -> None:
    used = {declared(command, action).name for command, action in arguments()}
    derived = {name.rpartition(".")[2] for name in OPTIONS if "." in name}  # others derive their meaning from these
    assert [name for name in OPTIONS if name not in used and name not in derived] == []


@pytest.mark.slow
def test_names_are_given_once() -> None:
    source = Path(options.__file__).read_text("utf-8")
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    plain = [
        call.args[0].value
        for call in calls
        if isinstance(call.func, ast.Name) and call.func.id == "Option" and isinstance(call.args[0], ast.Constant)
    ]
    assert len(plain) == len(set(plain)) > 100


def literal_options(source: str) -> list[int]:
    """Lines on which an option is put on a parser with words of its own."""
    return [
        node.lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "add_argument"
        and any(isinstance(a, (ast.Constant, ast.JoinedStr)) for a in node.args)
    ]


def test_verbs_have_no_options_of_their_own_words() -> None:
    for file in CLI.rglob("*.py"):
        assert literal_options(file.read_text("utf-8")) == [], file.name


def test_an_option_of_ones_own_words_is_seen() -> None:
    assert literal_options('parser.add_argument("--alpha", type=float)') == [1]
    assert literal_options('group.add_argument("-m", f"--{name}")') == [1]
    assert literal_options("parser.add_argument(*option.spellings)") == []


PYTHON = {
    uj.score: "score",
    uj.compare: "compare",
    uj.correct: "correct",
    uj.report: "report",
    uj.reduce: "qrels reduce",
    uj.leave_out: "qrels leave-out",
    uj.take: "qrels take",
    uj.favour: "qrels noise",
    uj.merge: "qrels merge",
    uj.judge_agreement: "qrels agree",
    uj.describe: "pool describe",
    uj.contributions: "pool contributions",
    uj.build_pool: "pool build",
    uj.simulate: "simulate",
    uj.load: "score",
}
"""Functions, and the command that does the same."""
SAME = {("pooled", None): "all", ("jobs", 1): None, ("measures", None): ("AP", "nDCG@10", "P@10")}
"""What Python writes another way: None are all runs; one thread where the command line takes one per core."""


@pytest.mark.parametrize("function", PYTHON, ids=PYTHON.values())
def test_python_has_the_same_defaults(function: Any) -> None:
    known_here = {action.dest for command, action in arguments() if command == PYTHON[function]}
    for name, parameter in inspect.signature(function).parameters.items():
        if name in known_here and parameter.default is not inspect.Parameter.empty:
            expected = option(name, PYTHON[function])
            default = parameter.default
            if expected.flag or (default is None and expected.default is None):
                continue
            assert expected.default in (default, SAME.get((name, default), default)), (name, default)


def test_one_default_where_the_meaning_is_one() -> None:
    """DESIGN 7: infer wherever a verdict is given, all in qrels; seed 0, alpha 0.05 and jobs alike everywhere."""
    found: dict[str, set[Any]] = {}
    for command, action in arguments():
        if action.dest in ("pooled", "seed", "alpha", "jobs") and not command.startswith("study "):
            found.setdefault(f"{command.split()[0]} {action.dest}", set()).add(action.default)
    for verb in ("correct", "report", "serve"):
        assert found[f"{verb} pooled"] == {"infer"}
    assert found["qrels pooled"] == {"all"}
    assert option("pooled", "pool describe").default is None  # infer for --runs, all for the table
    assert option("pooled", "pool contributions").default == "infer"
    seeds = {key: value for key, value in found.items() if key.endswith(" seed")}
    assert all(value == {0} for key, value in seeds.items() if key.split()[0] not in ("simulate", "demo"))
    assert found["compare alpha"] == found["ci alpha"] == {0.05}
    assert {next(iter(v)) for k, v in found.items() if k.endswith(" jobs") and k != "simulate jobs"} == {None}


def test_every_verb_with_a_pool_takes_it_alike() -> None:
    verbs = ["correct", "report", "serve", "pool describe", "pool contributions"]
    verbs += ["qrels leave-out", "qrels take", "qrels shallow"]
    for command in verbs:
        assert {"--depth", "--pooled"} <= set(COMMANDS[command]._option_string_actions), command
    for command in ("report", "serve", *(f"study {name}" for name in known())):
        assert {"--workdir", "--cluster", "--jobs"} <= set(COMMANDS[command]._option_string_actions), command


@pytest.mark.parametrize(
    ("name", "good", "bad", "sentence"),
    [
        ("alpha", (0.001, 0.999), (0, 1, -1, float("nan")), "alpha lies between 0 and 1, not "),
        ("seed", (0, 7), (-1, True, 0.5), "a seed is a whole number of 0 or more, not "),
        ("jobs", (1, 64), (0, -2), "jobs must be at least 1, not "),
        ("depth", (1, 2**31 - 1), (0, 2**31), "the pool depth is a positive number of documents, not "),
        ("tolerance", (0, 0.2, 3), (-0.1, float("nan"), float("inf")), "the tolerance is a share of the depth"),
        ("margin", (0, 0.5), (-0.01, float("nan"), float("inf")), "the smallest difference that matters is 0 or more"),
        ("holes", (0, 1), (-0.1, 1.1), "the share of unjudged documents allowed lies between 0 and 1"),
        ("repeats", (1,), (0,), "at least 1 repeat is needed, not 0"),
        ("resamples", (1,), (0,), "at least 1 resample is needed, not 0"),
        ("stability", (0.5,), (0, 1), "the wanted reliability lies between 0 and 1, not "),
        ("port", (0, 65535), (-1, 65536), "a port is a number from 0 to 65535, not "),
        ("max_upload", (1,), (0,), "the largest upload is a positive number of megabytes, not 0"),
    ],
)
def test_values_that_mean_nothing(name: str, good: tuple[Any, ...], bad: tuple[Any, ...], sentence: str) -> None:
    for value in (*good, None):
        options.check(name, value)
    for value in bad:
        with pytest.raises(UsageError) as refused:
            options.check(name, value)
        assert str(refused.value).startswith(sentence)


def test_variants_are_found_from_the_narrow_to_the_wide() -> None:
    assert option("depth", "qrels shallow").required and not option("depth", "qrels take").required
    assert (option("pooled", "qrels take").default, option("pooled", "correct").default) == ("all", "infer")
    assert option("measures", "serve") is option("measures", "report") is not option("measures", "compare")
    with pytest.raises(KeyError, match="no option 'alpah'"):
        option("alpah", "compare")


def test_help_of_names_lists_all_there_are() -> None:
    """Names of tests, corrections, rules of ties, methods: the help has each of them."""

    from unjudged.correction.experiment import METHODS  # type: ignore[attr-defined]
    from unjudged.correction.lipani import INDICATORS
    from unjudged.kernels import TIES
    from unjudged.scoring import POLICIES
    from unjudged.studies.engine.significance import CORRECTIONS, TESTS  # type: ignore[attr-defined]
    from unjudged.studies.swap import SAMPLINGS  # type: ignore[attr-defined]

    lists: dict[str, Any] = {
        "test": TESTS,
        "correction": CORRECTIONS,
        "ties": TIES,
        "methods": METHODS,
        "unjudged": POLICIES,
    }
    lists |= {"indicator": INDICATORS, "sampling": SAMPLINGS, "correct.method": METHODS}
    for name, there in lists.items():
        for one in there:
            assert one in OPTIONS[name].explained, f"--{name} does not name {one}"


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("levels", "50,10,0.5", (50, 10, 0.5)),
        ("top", "30", 30),
        ("top", "0.75", 0.75),
        ("sampling", "disjoint, replacement", ("disjoint", "replacement")),
        ("gains", "1:1,2:3", {1: 1.0, 2: 3.0}),
        ("collapse", "2:1,3:1", {2: 1, 3: 1}),
        ("set", "k=60", ("k", "60")),
        ("alpha", "5e-2", 0.05),
    ],
)
def test_how_values_are_written(name: str, text: str, value: Any) -> None:
    assert OPTIONS[name].parse(text) == value


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("depth", "ten", "a whole number is needed, not 'ten'"),
        ("depth", "1.5", "a whole number is needed, not '1.5'"),
        ("alpha", "5%", "a number is needed, not '5%'"),
        ("top", "1,2", "a number is needed, not '1,2'"),
        ("levels", "a,b", "numbers are given as 50,10,1, not 'a,b'"),
        ("gains", "1=2", "gains are given as 1:1,2:3, not '1=2'"),
        ("collapse", "1", "grades are given as 2:1,3:1, not '1'"),
        ("set", "k", "NAME=VALUE is needed, not 'k'"),
    ],
)
def test_values_that_cannot_be_read(name: str, text: str, sentence: str) -> None:
    with pytest.raises(UsageError) as refused:
        OPTIONS[name].parse(text)
    assert str(refused.value) == sentence


def test_simulation_parameters_are_explained_by_the_simulator() -> None:
    assert {name.rpartition(".")[2] for name, found in OPTIONS.items() if not found.help} <= set(parameter_names())
