"""Judgments by intent as NTCIR's INTENT and IMine tasks have them: D files and I files.

The D file holds `topic intent doc level`, levels L0, L1, ...; the I file holds `topic intent probability`. The I file
stands beside the D file and ends in `.Iprob`. All intents it lists count, also those no document is relevant to.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from unjudged.errors import InputError
from unjudged.io import files
from unjudged.io.aspects import Aspect, Said, checked_grade, checked_weight, table_of
from unjudged.io.columns import fields_of
from unjudged.io.trec import QrelsTable, Reading

PROBABILITIES = ".Iprob"


def read_qrels(path: str, reading: Reading | None = None) -> QrelsTable:
    """A D file with the I file beside it."""
    source = files.source_name(path)
    beside = _probabilities(path)
    listed: dict[str, dict[str, Aspect]] = {}
    for number, (topic, intent, probability) in fields_of(beside, beside, ("topic", "intent", "probability")):
        of_topic = listed.setdefault(topic, {})
        if intent in of_topic:
            raise InputError(f"intent {intent} of topic {topic} appears twice", beside, number)
        of_topic[intent] = Aspect(checked_weight(probability, beside, number))
    for topic, of_topic in listed.items():
        if not sum(one.weight for one in of_topic.values()) > 0:
            raise InputError(f"the intents of topic {topic} have no probability above 0", beside)

    def said() -> Iterator[Said]:
        for number, (topic, intent, doc, level) in fields_of(path, source, ("topic", "intent", "doc", "level")):
            if topic not in listed:
                raise InputError(f"{beside} has no probabilities for topic {topic}", source, number)
            yield Said(topic, intent, doc, checked_grade(level, source, number, "L"), number)

    return table_of(source, said(), listed)


def _probabilities(path: str) -> str:
    """The I file of the same name, or the only one in the folder."""
    file = Path(path)
    same = file.with_suffix(PROBABILITIES)
    found = [same] if same.is_file() else sorted(file.parent.glob(f"*{PROBABILITIES}"))
    if len(found) != 1:
        many = "none" if not found else f"{len(found)}"
        raise InputError(
            f"intents need one file of probabilities beside the judgments, {same.name} or another *{PROBABILITIES}; "
            f"found {many}",
            files.source_name(path),
        )
    return str(found[0])
