"""Reading measures as people write them: `nDCG@10`, `P(rel=2)@5`, `AP'`, `ndcg_cut_10`, `P.5,10`, set names."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from unjudged.errors import MeasureError, nearest
from unjudged.measures import sets, trec_names
from unjudged.measures._measure import ALIASES, REGISTRY, Measure
from unjudged.measures.paper_names import from_paper
from unjudged.measures.token_budgets import in_tokens

if TYPE_CHECKING:
    from unjudged.collection import Collection

_SPELLING = re.compile(
    r"(?P<name>[A-Za-z_][A-Za-z_0-9#-]*)(?P<prime>['’′]?)(?P<params>\(.*\))?(?:@(?P<cut>[0-9.]+))?", re.S
)


SHOWS_ALL = "; 'unjudged explain --list' shows all"


def split_list(text: str) -> list[str]:
    """Split at commas outside brackets and quotes; a bare number continues a trec_eval list (`P.5,10`)."""
    parts: list[str] = [""]
    depth, quote = 0, ""
    for i, c in enumerate(text):
        if quote:
            quote = "" if c == quote else quote
        elif c in "\"'" and depth:
            quote = c
        elif c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        elif c == "," and not depth:
            if re.match(r"\s*[-+.0-9][-+.0-9=eE]*\s*(,|$)", text[i + 1 :]) and "." in parts[-1]:
                parts[-1] += c
            else:
                parts.append("")
            continue
        parts[-1] += c
    return [part.strip() for part in parts if part.strip()]


def parse(text: str) -> list[Measure]:
    """The measures one spelling or set name stands for: `nDCG@10`, `AP'`, `P.5,10`, `official`.

    Raises MeasureError, with the nearest name, for what does not exist.
    """
    text = text.strip()
    if text in sets.NAMED:
        return [m for name in sets.NAMED[text] for m in parse(name)]
    direct = _direct(text)
    if direct is not None:
        return [direct.complete()]
    found = trec_names.parse(text)
    if found is not None:
        return [m.measure for m in found if m.measure is not None]
    if (ours := from_paper(text)) is not None:
        return parse(ours)
    if (found_anyway := in_any_case(text)) is not None:
        return [found_anyway.complete()]
    if parts := [name for name in sets.NAMED if name.startswith(f"{text}-")]:
        told = ", ".join(f"{name} ({len(sets.NAMED[name])} measures)" for name in parts)
        raise MeasureError(f"{text} has {len(parts)} sets of measures, take one or several: {told}")
    if (cut := in_tokens(text)) is not None:
        raise MeasureError(
            f"{text}: lists are cut at tokens when they are read: load them with tokens={cut[1]} and the "
            f"lengths of the chunks, then ask for {cut[0]}"
        )
    raise MeasureError(f"unknown measure {text!r}{_hint(text)}{SHOWS_ALL}")


def _hint(text: str) -> str:
    """What may have been meant by a spelling nobody knows."""
    parts = text.split()
    if len(parts) > 1 and all(map(_understood, parts)):
        return f" (several are separated by commas: {', '.join(parts)})"
    known = {*REGISTRY, *ALIASES}
    name, at, cut = text.partition("@")
    if not at and (word := text.rstrip("0123456789")) in known and word != text:
        return f" (a cut-off is written {word}@{text[len(word) :]})"
    if at and name in known:
        return f" (after @ comes a number, as in {name}@10)"
    if at and name in trec_names.NAMES and (theirs := trec_names.parse(name)) and (ours := theirs[0].measure):
        return f" (did you mean {ours.name}@{cut}?)"
    found = nearest(re.split(r"[('’′@.]", text)[0], [*REGISTRY, *ALIASES, *trec_names.NAMES, *sets.NAMED])
    whole = f"{found[len(' (did you mean ') : -2]}@{cut}"
    with_cut = found and whole != text and re.fullmatch(r"[0-9.]+", cut) and _understood(whole)
    return f" (did you mean {whole}?)" if with_cut else found


OTHER_MEANING = ("accuracy",)
"""Names whose lower case means another measure elsewhere: sentence-transformers' accuracy@k is Success@k."""


def in_any_case(text: str) -> Measure | None:
    """The measure of our own spelling in another case (`recall@10`, `mrr@10`), where nothing else has that name."""
    match = _SPELLING.fullmatch(text)
    if not match or match["name"].casefold() in OTHER_MEANING:
        return None
    ours = {name.casefold(): name for name in (*ALIASES, *REGISTRY)}.get(match["name"].casefold())
    return _direct(ours + text[len(match["name"]) :]) if ours else None


def _understood(text: str) -> bool:
    try:
        return bool(parse(text))
    except MeasureError:
        return False


def registered(name: str) -> Measure | None:
    """The registered measure of this name or spelling, complete or not; None if there is none."""
    return _direct(name.strip())


def _direct(text: str) -> Measure | None:
    """The measure of our own spelling, or None if the name is not ours."""
    match = _SPELLING.fullmatch(text)
    if not match:
        return None
    name = match["name"]
    if name not in REGISTRY and name not in ALIASES:
        return None
    made = REGISTRY.get(name)
    if made is None:
        made = REGISTRY[ALIASES[name]] if ALIASES[name] in REGISTRY else _direct(ALIASES[name])
        assert made is not None
    params = _arguments(match["params"], text)
    if match["prime"]:
        params["judged_only"] = True
    if params:
        made = made(**params)
    if match["cut"]:
        try:
            cut = float(match["cut"])
        except ValueError:
            raise MeasureError(f"{text}: the cut-off {match['cut']!r} is not a number") from None
        made = made @ (int(cut) if cut.is_integer() and made.definition.cutoff == "k" else cut)
    return made


def _arguments(text: str | None, whole: str) -> dict[str, Any]:
    if not text:
        return {}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", SyntaxWarning)  # `1if 2` is refused, not remarked upon
            call = ast.parse(f"f{text}", mode="eval").body
        assert isinstance(call, ast.Call)
        if call.args:
            raise MeasureError(f"{whole}: parameters are given by name, as in P(rel=2)@5")
        return {str(k.arg): ast.literal_eval(k.value) for k in call.keywords}
    except MeasureError:
        raise
    except (SyntaxError, SyntaxWarning, ValueError, AssertionError, RecursionError, MemoryError, TypeError):
        raise MeasureError(f"{whole}: {text} is not a list of parameters like (rel=2, gains={{1: 1, 2: 3}})") from None


def _from_ir_measures(thing: Any) -> list[Measure]:
    """A measure object of the ir_measures package, with that package's defaults."""
    params = dict(thing.params)
    if thing.NAME == "RBP":
        params.setdefault("p", 0.8)
    known = REGISTRY.get(thing.NAME) or REGISTRY.get(ALIASES.get(thing.NAME, ""))
    if known is None:
        raise MeasureError(f"ir_measures' {thing} has no counterpart here{nearest(thing.NAME, REGISTRY)}")
    if "cutoff" in params and "k" not in known.definition.parameters:
        raise MeasureError(f"{known.name} has no cut-off")
    return [known(**params).complete()]


def measures_for(collection: Collection, wanted: Any, rel: int | None = None) -> list[Measure]:
    """The measures as `measures` reads them, those of named sets with the gains of their paper (see `sets`).

    The gains are in the spelling, so that one label never stands for two values. They are brought to judgments of
    documents with the grades 0, 1, 2 where the user gave no gains.
    """
    judgments = collection.judgments
    own = judgments.gains
    fits = not own.levels and judgments.group is None and own.top_grade == max(sets.PAPER_GAINS)
    return _read(wanted, rel, sets.PAPER_GAINS if fits else None)


def _of_paper(measure: Measure, gains: dict[int, float]) -> Measure:
    """With these gains, where the measure takes gains and names none."""
    takes = "gains" in measure.params and measure.params["gains"] is None
    return measure(gains=gains) if takes else measure


def _spellings(wanted: Any) -> list[str]:
    """The texts among the measures asked for, each as it was written."""
    names = [wanted] if isinstance(wanted, str) else wanted if isinstance(wanted, (list, tuple)) else []
    return [part for name in names if isinstance(name, str) for part in split_list(name)]


def names_a_paper(wanted: Any) -> bool:
    """Is a set of one of the papers on retrieval among the measures asked for?"""
    return any(part in sets.PAPERS for part in _spellings(wanted))


def measures(wanted: Any, rel: int | None = None) -> list[Measure]:
    """Measures from a spelling, a Measure, an ir_measures object, or any mix of them in a list.

    `rel` becomes the smallest relevant grade of those that name none. Each measure appears once.
    """
    return _read(wanted, rel, None)


def _parsed(part: str, gains: dict[int, float] | None) -> list[Measure]:
    """The measures of one spelling or set, those of a set that brings gains with them."""
    brought = gains if part in sets.WITH_PAPER_GAINS else None
    return [_of_paper(measure, brought) if brought else measure for measure in parse(part)]


def _each(parts: Iterable[Any], read: Callable[[Any], list[Measure]]) -> list[Measure]:
    """What is read of every part; what is wrong with any of them is said at once."""
    found: list[Measure] = []
    wrong: list[str] = []
    for part in parts:
        try:
            found += read(part)
        except MeasureError as problem:
            wrong.append(str(problem))
    if wrong:
        said = [text.removesuffix(SHOWS_ALL) for text in wrong]
        raise MeasureError("; ".join(dict.fromkeys(said)) + SHOWS_ALL * (said != wrong))
    return found


def _read(wanted: Any, rel: int | None, gains: dict[int, float] | None) -> list[Measure]:
    """The measures; `gains` are for those of the sets that bring them."""
    found: list[Measure] = []
    if isinstance(wanted, str):
        found = _each(split_list(wanted), lambda part: _parsed(part, gains))
    elif isinstance(wanted, Measure):
        found = [wanted.complete()]
    elif hasattr(wanted, "NAME") and hasattr(wanted, "params"):
        found = _from_ir_measures(wanted)
    elif isinstance(wanted, Iterable):
        found = _each(wanted, lambda part: _read(part, None, gains))
    else:
        raise MeasureError(f"a measure is a spelling like 'nDCG@10' or a measure object, not {wanted!r}")
    if rel is not None:
        found = [m.default_rel(rel) for m in found]
    if not found:
        raise MeasureError("no measure given")
    return list(dict.fromkeys(found))
