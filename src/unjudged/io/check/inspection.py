"""Look through judgments and runs for trouble (`unjudged check`): codes and words are in findings.py.

Nothing stops here: a line `score` would refuse is a finding, a file that cannot be read is one as well, and the
other files are still looked at. Lines are read as trec.py reads them, by the same rules for fields and numbers.
"""

from __future__ import annotations

import hashlib
import math
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import accumulate, pairwise
from statistics import median, median_high
from typing import Any, NamedTuple, Protocol, TypeVar

from unjudged import kernels
from unjudged.errors import InputError
from unjudged.io import files, formats
from unjudged.io.check.findings import Tally, example, many, quoted, shown, where, why
from unjudged.io.check.repair import grade_of, not_utf8, ranked, repeated, score_of, unusable
from unjudged.io.ids import to_bytes, to_text
from unjudged.io.teams import read_teams

USUAL_DEPTH = 1000


class Judged(dict[bytes, dict[bytes, int]]):
    """The grades of each topic's documents, as far as they can be read."""

    @cached_property
    def index(self) -> Any:
        """The kernel's look-up, of the judgments as they are when it is first asked for."""
        docs = [doc for grades in self.values() for doc in grades]
        starts = accumulate((len(grades) for grades in self.values()), initial=0)
        ends = (array("q", accumulate(map(len, ids))) for ids in (self, docs))
        return kernels.Index(b"".join(self), next(ends), b"".join(docs), next(ends), array("q", starts))

    @cached_property
    def _longest(self) -> dict[bytes, int]:
        return {topic: max(map(len, grades), default=0) for topic, grades in self.items()}

    def longest(self, topic: bytes) -> int:
        """How long the longest id of a judged document of the topic is."""
        return self._longest[topic]


Shape = tuple[int, bool, bool]
"""How many fields a line has, is the rank a whole number, is the tag a number?"""


class SeenList(NamedTuple):
    """What a list that was read before shows: its length, how many of its documents have a score that others have
    (from which place on, and across ranks 10 and 11), whether all have one score; equal digests for equal lists."""

    length: int
    tied: int = 0
    first_tied: int = 0
    at_ten: bool = False
    one_score: bool = False
    digest: bytes = b""

    @classmethod
    def of(cls, scores: list[float], digest: bytes) -> SeenList:
        """From scores in the order of the list."""
        if not scores:
            return cls(0)
        counts = Counter(scores) if len(set(scores)) < len(scores) else Counter()
        tied = sum(n for n in counts.values() if n > 1)
        place = next((i for i, s in enumerate(scores, 1) if counts[s] > 1), 0) if tied else 0
        at_ten = len(scores) > 10 and scores[9] == scores[10]
        return cls(len(scores), tied, place, at_ten, scores[0] == scores[-1], digest)


# -- judgments


def check_qrels(path: str) -> tuple[Tally, Judged]:
    """Look through a judgment file."""
    tally, topics = Tally(files.source_name(path)), Judged()
    try:
        _check_qrels(path, tally, topics)
    except InputError as problem:
        tally.found.clear()
        tally.note("UJ100", problem.line, detail=why(problem))
        topics.clear()
    return tally, topics


def _check_qrels(path: str, tally: Tally, topics: Judged) -> None:
    note = tally.note
    began: dict[bytes, int] = {}
    scattered: set[bytes] = set()
    disputed: set[tuple[bytes, bytes]] = set()
    topic: bytes | None = None
    grades: dict[bytes, int] = {}
    written: dict[bytes, int | None] = {}  # grades as they stand in the file
    for number, line in files.lines(path):
        fields = line.split()
        many_fields = len(fields)
        if not many_fields or line[:1] == b"#":
            continue
        if many_fields >= 6 and not topics and fields[1].upper() == b"Q0":
            raise InputError(files.SWAPPED, path, number)
        grade = None
        if many_fields >= 4 and (grade := written.get(fields[3])) is None:
            grade = written[fields[3]] = grade_of(fields[3])
        if grade is None:
            note("UJ121", number, detail=partial(unusable, line, "judgment"))
            continue
        doc = fields[2]
        if many_fields > 4:
            note("UJ127", number, detail=partial(quoted, line))
        if fields[0] != topic:
            topic = fields[0]
            if topic in topics and topic not in scattered:
                scattered.add(topic)
                note("UJ128", number, detail=example([topic]))
            grades = topics.setdefault(topic, {})
            began.setdefault(topic, number)
        if doc not in grades:
            grades[doc] = grade
        elif grades[doc] == grade:
            note("UJ122", number, detail=where(doc, topic))
        elif (topic, doc) not in disputed:
            disputed.add((topic, doc))
            subtopic = "" if fields[1] in (b"0", b"Q0") else " (subtopics? --qrels-format diversity)"
            note("UJ123", number, detail=f"{where(doc, topic)}, {grades[doc]} and {grade}{subtopic}")
        if grade < 0:
            note("UJ125", number, detail=partial("{} for {}".format, grade, where(doc, topic)))
        if not line.isascii():
            for name in not_utf8((topic, doc)):
                note("UJ113", number, detail=shown(name))
    if not topics and "UJ121" not in tally.found:
        raise InputError("no judgments in this file", path)
    for topic, grades in topics.items():
        if max(grades.values()) < 1:
            note("UJ124", began[topic], detail=example([topic]))
        if 0 not in grades.values():
            note("UJ126", began[topic], detail=example([topic]))


# -- runs


def _is_number(field: bytes) -> bool:
    return field.removeprefix(b"-").replace(b".", b"", 1).isdigit()


class Shapes:
    """The shapes of a file's lines: how many lines have each, and the first of them.

    A blank inside an id shifts every field behind it.
    """

    def __init__(self) -> None:
        self.found: dict[Shape, list[int]] = {}
        self.first: dict[Shape, bytes] = {}

    def see(self, number: int, line: bytes, fields: list[bytes]) -> None:
        """One more line of six fields or more."""
        shape = len(fields), fields[3].isdigit(), _is_number(fields[5])
        if counted := self.found.get(shape):
            counted[1] += 1
        else:
            self.found[shape], self.first[shape] = [number, 1], line

    def see_many(self, number: int, count: int, shape: Shape) -> None:
        """More lines of six fields, all of one shape; `number` is the first."""
        counted = self.found.setdefault(shape, [number, 0])
        counted[1] += count
        self.first.setdefault(shape, b"")  # never shown: no line has fewer fields

    def note_shifted(self, tally: Tally) -> None:
        """Lines with more fields than most, whose rank is no number or whose tag is one, unlike those of most lines."""
        if not self.found:
            return
        usual = max(self.found, key=lambda shape: self.found[shape][1])
        for shape, (number, count) in self.found.items():
            if shape[0] > usual[0] and (shape[1] < usual[1] or shape[2] > usual[2]):
                tally.note("UJ120", number, count, quoted(self.first[shape]))


class _Scattered(Exception):
    """The lines of a topic do not stand together: the file has to be held whole."""


class _Block:
    """The lines of one topic."""

    def __init__(self) -> None:
        self.rows: list[list[bytes]] = []
        self.held: list[bytes] = []  # instead of rows, where the whole file is held
        self.numbers, self.scores = array("q"), array("d")

    def add(self, fields: list[bytes], number: int, score: float) -> None:
        """One more line."""
        self.rows.append(fields)
        self.numbers.append(number)
        self.scores.append(score)

    def hold(self, line: bytes, number: int, score: float) -> None:
        """One more line, which takes less memory than its fields."""
        self.held.append(line)
        self.numbers.append(number)
        self.scores.append(score)


class Ordinary(NamedTuple):
    """What `kernels.look_at_topics` tells of a topic whose lines are in order; 0 stands for no line."""

    topic: bytes
    line: int
    tag: bytes
    odd_seconds: int
    odd_second_line: int
    odd_second: bytes
    digits: int
    """Are the ranks digits without a sign?"""
    lowest: int
    trouble: tuple[int, int, int]
    """The line and the two ranks that contradict each other or the scores."""
    unsorted_line: int
    tied: int
    tied_line: int
    at_ten: int
    """Are the documents at ranks 10 and 11 tied?"""
    one_score: int
    hits: int
    longest_hits: int
    """Judged documents whose ids are as long as the longest."""
    longest: int
    names: bytes
    """The documents in the reader's order."""


class _Text:
    """The pieces of a text, put together to as much as it takes to see a topic whole."""

    def __init__(self, source: str, pieces: Iterator[bytes | memoryview]) -> None:
        self._source, self._pieces = source, pieces
        self._open = 0  # the length of the line that has not ended

    def more(self, rest: bytes, lines: int) -> tuple[bytes, bool]:
        """The rest of what was read, behind so many lines, with at least as much behind it; was that all?"""
        parts, size = [rest], 0
        for piece in map(bytes, self._pieces):
            last = piece.rfind(b"\n")
            self._open = len(piece) - last - 1 if last >= 0 else self._open + len(piece)
            parts.append(piece)
            if self._open > kernels.LONGEST_LINE:
                raise files.endless(self._source, lines + sum(part.count(b"\n") for part in parts) + 1)
            size += len(piece)
            if size > len(rest):
                return b"".join(parts), False
        return b"".join(parts), True


def _digest(names: bytes) -> bytes:
    return hashlib.blake2b(names, digest_size=16).digest()


def _rank_trouble(above: int, below: int, topic: bytes) -> str:
    if above == below:
        return f"e.g. rank {above} twice in topic {shown(topic)}"
    return f"e.g. at ranks {above} and {below} of topic {shown(topic)}"


class RunCheck:
    """One run: its findings, and what the comparison with other runs needs."""

    def __init__(self, path: str, judged: Judged) -> None:
        self.path, self.judged = path, judged
        self.name = files.run_name(path)
        self.tally = Tally(files.source_name(path))
        self.clear()

    def clear(self) -> None:
        """Forget everything found so far."""
        self.tally.found.clear()
        self.began: dict[bytes, int] = {}
        self.length: dict[bytes, int] = {}
        self.orders: dict[bytes, bytes] = {}
        self.tags: dict[bytes, int] = {}
        self.lines = self.tied = self.tied_line = self.tied_at_ten = 0
        self.any_tied = False
        self.tie_reach = 0.0
        self.hits = self.retrieved = 0
        self.cut: Counter[int] = Counter()
        self.whole: Counter[int] = Counter()
        self.sample: list[bytes] = []
        self.shapes = Shapes()

    def read(self) -> RunCheck:
        """Look through the file."""
        try:
            held = files.read_all(self.path) if self.path == files.STDIN else None
            try:
                self._scan(held)
            except _Scattered:
                self.clear()
                self._gather(held)
            if not self.lines and "UJ101" not in self.tally.found:
                raise InputError("no run lines in this file", self.path)
            if self.lines:
                self._summarise()
        except InputError as problem:
            self.clear()
            self.tally.note("UJ100", problem.line, detail=why(problem))
        return self

    def seen(self, lists: Mapping[bytes, SeenList], tag: str, hits: int, sample: list[bytes]) -> RunCheck:
        """A run that was read before, without a second look at its lines: what its lists show.

        `hits`: judged documents among them. `sample`: some of its documents.
        """
        self.began = dict.fromkeys(lists, 1)
        self.length = {topic: told.length for topic, told in lists.items()}
        self.orders = {topic: told.digest for topic, told in lists.items()}
        self.tags, self.lines = {to_bytes(tag or self.name): 1}, sum(self.length.values())
        self.hits, self.retrieved, self.whole[0], self.sample = hits, self.lines, 1, sample
        self.tie_reach = math.inf  # not known without the judgments' grades
        for topic, told in lists.items():
            if told.length:
                self._note_scores(topic, 1, told.length, told.tied, told.first_tied, told.at_ten, told.one_score)
        if self.lines:
            self._summarise()
        return self

    def _scan(self, held: bytes | None) -> None:
        """Topic by topic: by the kernel where a topic is ordinary, by its lines where it is not."""
        pieces = files.chunks(self.path) if held is None else iter((held,))
        whole = _Text(files.source_name(self.path), pieces)
        text, start, number, final = b"", 0, 0, False
        topic: bytes | None = None  # the topic whose lines are read one by one
        block = _Block()
        while not final:
            text, final = whole.more(text[start:], number)
            start = 0
            while start < len(text):
                if topic is None:
                    told, start, number, odd = kernels.look_at_topics(text, start, number, final, self.judged.index)
                    for one in told:
                        self._take(Ordinary(*one))
                    if not odd:
                        break
                end = text.find(b"\n", start)
                if end < 0 and not final:
                    break
                line = text[start : end if end >= 0 else len(text)]
                fields = line.split() if line[:1] != b"#" else []
                if topic is not None and len(fields) > 5 and fields[0] != topic and score_of(fields[4]) is not None:
                    self._close(topic, block)
                    topic, block = None, _Block()
                    continue  # the next topic may be an ordinary one
                number += 1
                start = end + 1 if end >= 0 else len(text)
                if (score := self._usable(number, line, fields)) is not None:
                    if topic is None:
                        topic = fields[0]
                        self._open(topic, number)
                    block.add(fields[:6], number, score)
        if topic is not None:
            self._close(topic, block)
        if number != self.lines:  # a line is no rank where lines are blank, comments or no run lines
            self.tie_reach = math.inf

    def _usable(self, number: int, line: bytes, fields: list[bytes]) -> float | None:
        """The score of a line; None where it is none of the run's, which is noted unless it says nothing."""
        if not fields or line[:1] == b"#":
            return None
        score = score_of(fields[4]) if len(fields) >= 6 else None
        if score is None:
            self.tally.note("UJ101", number, detail=partial(unusable, line, "run"))
            return None
        self.shapes.see(number, line, fields)
        if len(fields) > 6:
            self.tally.note("UJ111", number, detail=partial(quoted, line))
        return score

    def _open(self, topic: bytes, number: int) -> None:
        if topic in self.began:
            raise _Scattered
        self.began[topic] = number

    def _gather(self, held: bytes | None) -> None:
        """All lines, the topics put together."""
        blocks: dict[bytes, _Block] = {}
        scattered: set[bytes] = set()
        topic: bytes | None = None
        for number, line in files.lines(self.path, held):
            fields = line.split()
            if (score := self._usable(number, line, fields)) is None:
                continue
            if fields[0] != topic:
                topic = fields[0]
                if topic not in blocks:
                    self.began[topic], blocks[topic] = number, _Block()
                elif topic not in scattered:
                    scattered.add(topic)
                    self.tally.note("UJ112", number, detail=example([topic]))
            blocks[topic].hold(line, number, score)
        for name in list(blocks):
            self._close(name, blocks.pop(name))

    def _take(self, told: Ordinary) -> None:
        """One topic's list, as the kernel tells it: what `_close` finds in the lines of such a topic."""
        note, topic, first = self.tally.note, told.topic, told.line
        self._open(topic, first)
        many_docs = told.names.count(b"\n") + 1
        self.lines += many_docs
        self.shapes.see_many(first, many_docs, (6, bool(told.digits), _is_number(told.tag)))
        if told.odd_seconds:
            note("UJ108", told.odd_second_line, told.odd_seconds, f"e.g. {shown(told.odd_second, 20)}")
        if len(self.tags) < 2:
            self.tags.setdefault(told.tag, first)
        self.orders[topic] = _digest(told.names)
        self.length[topic] = many_docs
        if told.unsorted_line:
            note("UJ118", told.unsorted_line, detail=example([topic]))
        self._note_scores(topic, first, many_docs, told.tied, told.tied_line, bool(told.at_ten), bool(told.one_score))
        if told.tied:
            self._reach(topic, told.tied, 1 if told.unsorted_line else told.tied_line - first + 1, bool(told.at_ten))
        if told.lowest != 1:
            note("UJ117", first, detail=f"e.g. {told.lowest} in topic {shown(topic)}")
        line, above, below = told.trouble
        if line:
            note("UJ106", line, detail=_rank_trouble(above, below, topic))
        if (judged := self.judged.get(topic)) is None:
            return
        self.retrieved += many_docs
        self.hits += told.hits
        self.sample += told.names.split(b"\n", 10)[:10]
        self.whole[told.longest] += told.longest_hits
        if self.judged.longest(topic) > told.longest:
            self._look_for_cut_ids(judged, set(told.names.split(b"\n")), told.longest)

    def _close(self, topic: bytes, block: _Block) -> None:
        """Look at one topic's list."""
        note, numbers, scores = self.tally.note, block.numbers, block.scores.tolist()
        rows = block.rows or [line.split(None, 6)[:6] for line in block.held]
        _, second, docs, ranks, _, tags = zip(*rows, strict=True)
        block.rows, block.held = [], []
        self.lines += len(docs)
        if odd := len(docs) - second.count(b"Q0"):
            place = next(i for i, q in enumerate(second) if q != b"Q0")
            note("UJ108", numbers[place], odd, f"e.g. {shown(second[place], 20)}")
        if len(self.tags) < 2 and not self.tags.keys() >= set(tags):
            for tag, number in zip(tags, numbers, strict=True):
                self.tags.setdefault(tag, number)
        unique = set(docs)
        falling = sorted(scores, reverse=True)
        in_order = falling == scores
        order = ranked(docs, scores)
        if repeats := len(docs) - len(unique):
            again = repeated(docs)[0]
            note("UJ102", numbers[again], repeats, where(docs[again], topic))
            falling = [scores[i] for i in order]
        names = b"\n".join([docs[i] for i in order])
        self.orders[topic] = _digest(names)
        self.length[topic] = len(order)
        if not (names.isascii() and topic.isascii()):
            for name in not_utf8((topic, *unique)):
                note("UJ113", numbers[docs.index(name) if name in unique else 0], detail=shown(name))
        if not in_order:
            place = next(i for i in range(1, len(scores)) if scores[i] > scores[i - 1])
            note("UJ118", numbers[place], detail=example([topic]))
        if falling[0] - falling[0] or falling[-1] - falling[-1]:  # inf - inf is NaN, and true
            infinite = [i for i, s in enumerate(scores) if s - s]
            note("UJ116", numbers[infinite[0]], len(infinite), where(docs[infinite[0]], topic))
        self._look_at_scores(topic, falling, numbers, scores)
        self._look_at_ranks(topic, ranks, scores, numbers, in_order)
        self._look_at_documents(topic, docs, order, unique)

    def _look_at_scores(self, topic: bytes, falling: list[float], numbers: array[int], scores: list[float]) -> None:
        counts = Counter(falling) if len(set(falling)) < len(falling) else Counter()
        tied = sum(n for n in counts.values() if n > 1)
        line = next((n for n, s in zip(numbers, scores, strict=True) if counts[s] > 1), 0) if tied else 0
        at_ten = len(falling) > 10 and falling[9] == falling[10]
        self._note_scores(topic, numbers[0], len(falling), tied, line, at_ten, falling[0] == falling[-1])
        if tied:
            self._reach(topic, tied, 1, True)

    def _note_scores(
        self, topic: bytes, first: int, length: int, tied: int, tied_line: int, at_ten: bool, one_score: bool
    ) -> None:
        """What there is to say of a list's length and of `tied` documents of equal score."""
        if length > USUAL_DEPTH:
            self.tally.note("UJ109", first, detail=f"{example([topic])} with {length}")
        self.any_tied |= bool(tied)
        if one_score and length > 2:
            self.tally.note("UJ115", first, detail=example([topic]))
        elif tied:
            self.tied += tied
            self.tied_line = self.tied_line or tied_line
            self.tied_at_ten += at_ten

    def _reach(self, topic: bytes, tied: int, rank: int, at_ten: bool) -> None:
        """Add to `tie_reach`, over judged topics, what the order of tied documents, the first of them at a rank, can
        change AP or P@10 by at most.

        A group of s tied documents from rank r on, m of them relevant, moves each of these by s - m ranks. The
        precision there changes by less than (s - m) / (r + s - m), so AP by m / R of that.
        """
        grades = self.judged.get(topic)
        relevant = 0 if grades is None else sum(grade > 0 for grade in grades.values())
        if relevant:
            by_precision = min(tied, relevant) / relevant * (tied - 1) / (rank + tied - 1)
            self.tie_reach += max(by_precision, min(tied - 1, 10) / 10 if at_ten else 0.0)

    def _look_at_ranks(
        self, topic: bytes, ranks: Sequence[bytes], scores: list[float], numbers: array[int], in_order: bool
    ) -> None:
        note = self.tally.note
        try:
            given = list(map(int, ranks))
        except ValueError:
            place = next((i for i, r in enumerate(ranks) if grade_of(r) is None), 0)
            note("UJ106", numbers[place], detail=f"e.g. '{shown(ranks[place], 20)}' in topic {shown(topic)}")
            return
        if (first := min(given)) != 1:
            note("UJ117", numbers[0], detail=f"e.g. {first} in topic {shown(topic)}")
        if in_order and given == list(range(given[0], given[0] + len(given))):
            return
        by_rank = sorted(range(len(given)), key=given.__getitem__)
        for a, b in pairwise(by_rank):
            if given[a] == given[b] or scores[a] < scores[b]:
                note("UJ106", numbers[max(a, b)], detail=_rank_trouble(given[a], given[b], topic))
                return

    def _look_at_documents(self, topic: bytes, docs: Sequence[bytes], order: list[int], unique: set[bytes]) -> None:
        if (judged := self.judged.get(topic)) is None:
            return
        self.retrieved += len(unique)
        common = unique & judged.keys()
        self.hits += len(common)
        self.sample += [docs[i] for i in order[:10]]
        longest = max(map(len, unique))
        self.whole[longest] += sum(len(doc) == longest for doc in common)
        self._look_for_cut_ids(judged, unique, longest)

    def _look_for_cut_ids(self, judged: Iterable[bytes], unique: set[bytes], longest: int) -> None:
        self.cut[longest] += len(unique.intersection(doc[:longest] for doc in judged if len(doc) > longest))

    def _summarise(self) -> None:
        """What can be said once the whole file was seen."""
        note = self.tally.note
        self.shapes.note_shifted(self.tally)
        if self.path == files.STDIN:
            self.name = to_text(next(iter(self.tags)))
        if self.tied:
            detail = f"{100 * self.tied / self.lines:.2g}% of the lines are tied within their topic"
            if self.tied_at_ten:
                detail += f", across ranks 10 and 11 in {many(self.tied_at_ten, 'topic')}"
            note("UJ105", self.tied_line, self.tied, detail)
        tag, *others = self.tags
        if others:
            changed = f"the tag changes from '{shown(tag, 30)}' to '{shown(others[0], 30)}'"
            note("UJ107", self.tags[others[0]], len(self.tags), changed)
        elif to_text(tag).casefold() not in self.name.casefold():
            note("UJ107", self.tags[tag], 1, f"the tag '{shown(tag, 30)}' does not occur in the file name")
        counted = {topic: n for topic, n in self.length.items() if topic in self.judged or not self.judged}
        usual = median(counted.values()) if counted else 0
        for topic, length in counted.items():
            if length * 10 < usual:
                detail = f"e.g. {many(length, 'document')} in topic {shown(topic)} ({usual:.0f} in the usual one)"
                note("UJ110", self.began[topic], detail=detail)
        if self.judged:
            self._compare_topics()

    def _compare_topics(self) -> None:
        note, answered = self.tally.note, self.began.keys()
        if not answered & self.judged.keys():
            here, there = example(answered), example(self.judged)
            note("UJ135", min(self.began.values()), len(answered), f"here {here}, there {there}")
            return
        if missing := [topic for topic in self.judged if topic not in answered]:
            note("UJ103", None, len(missing), example(missing))
        if outside := [topic for topic in answered if topic not in self.judged]:
            note("UJ104", self.began[outside[0]], len(outside), example(outside))
        longest = max(self.whole)
        if not self.hits:
            known = {doc for docs in self.judged.values() for doc in docs}
            note("UJ114", None, self.retrieved, f"none of the documents is judged, {_kinship(self.sample, known)}")
        elif self.cut[longest] >= 5 and self.cut[longest] > self.whole[longest]:
            detail = (
                f"ids look cut to {longest} characters, {self.cut[longest]} of them begin the id of a judged document"
            )
            note("UJ114", None, self.cut[longest], detail)

    def order(self) -> bytes:
        """Equal for runs with the same documents in the same order in all topics."""
        return b"".join(sorted(topic + b" " + self.orders[topic] for topic in self.orders))


# -- all files together


def check(
    qrels: str, runs: Sequence[str], teams: str | None = None, qrels_format: str | None = None
) -> tuple[list[Tally], list[RunCheck]]:
    """Findings of every file in the order given (judgments, runs, teams), and the runs themselves.

    TREC text is looked at line by line, other formats by what they hold. `qrels_format` names that of the judgments
    where it cannot be recognised.
    """
    from unjudged.io.check import contents

    by_line = is_trec_judgments(qrels, qrels_format)
    tally, judged = check_qrels(qrels) if by_line else contents.check_judgments(qrels, qrels_format)

    def look(path: str) -> RunCheck:
        return RunCheck(path, judged).read() if is_trec_run(path) else contents.check_run(path, judged)

    tallies, looks = look_at(runs, look)
    compare_runs(looks)
    if teams is not None:
        tallies.append(check_teams(teams, [look.name for look in looks]))
    return [tally, *tallies], looks


def is_trec_judgments(path: str, format: str | None = None) -> bool:
    """Are these judgments to be looked at line by line?"""
    return (format or formats.qrels_format(path)) == "trec"


def is_trec_run(path: str) -> bool:
    """Is this run to be looked at line by line?"""
    return formats.run_format(path) == "trec"


class Look(Protocol):
    """A run that was looked through."""

    @property
    def path(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def tally(self) -> Tally: ...


L = TypeVar("L", bound=Look)


def look_at(runs: Sequence[str], look: Callable[[str], L]) -> tuple[list[Tally], list[L]]:
    """Findings of every run, and the runs; what names no file is a finding, too."""
    tallies: list[Tally] = []
    looks: list[L] = []
    for spec in runs:
        try:
            paths = [path for _, path in formats.runs(spec)]
        except InputError as problem:
            tallies.append(Tally(spec))
            tallies[-1].note("UJ100", detail=why(problem))
            continue
        for path in paths:
            looks.append(look(path))
            tallies.append(looks[-1].tally)
    return tallies, looks


def note_same_names(looks: Sequence[Look]) -> None:
    """A name that several runs have is a finding of all but the first."""
    for group in _groups(looks, lambda look: look.name):
        for look in group[1:]:
            look.tally.note("UJ136", detail=f"{shown(look.name)} is also that of {group[0].path}")


def _groups(looks: Iterable[L], key: Callable[[L], object]) -> list[list[L]]:
    found: dict[object, list[L]] = {}
    for look in looks:
        found.setdefault(key(look), []).append(look)
    return [group for group in found.values() if len(group) > 1]


def _names(names: Sequence[str]) -> str:
    return ", ".join(shown(name, 40) for name in names[:4]) + ", ..." * (len(names) > 4)


def compare_runs(looks: Sequence[RunCheck]) -> None:
    """Findings about several runs, added to one of them."""
    note_same_names(looks)
    readable = [look for look in looks if look.lines]
    for group in _groups((look for look in readable if len(look.tags) == 1), lambda look: next(iter(look.tags))):
        tag, line = next(iter(group[1].tags.items()))
        detail = f"the tag '{shown(tag, 30)}' ({_names([look.name for look in group])})"
        group[1].tally.note("UJ131", line, len(group), detail)
    for group in _groups(readable, RunCheck.order):
        group[1].tally.note("UJ132", None, len(group), _names([look.name for look in group]))
    longest = {look.path: max(look.length.values()) for look in readable}
    if len(longest) > 1:
        usual = median_high(longest.values())
        for look in readable:
            if longest[look.path] * 2 <= usual:
                look.tally.found.pop("UJ110", None)
                detail = f"at most {many(longest[look.path], 'document')} (other runs: {usual})"
                look.tally.note("UJ110", None, len(look.length), detail)


def check_teams(path: str, names: list[str]) -> Tally:
    tally = Tally(path)
    try:
        teams = [files.called(run, names) for run in read_teams(path)]
    except InputError as problem:
        tally.note("UJ100", problem.line, detail=why(problem))
        return tally
    if absent := [name for name in names if name not in teams]:
        tally.note("UJ133", None, len(absent), _names(absent))
    if unused := [name for name in teams if name not in names]:
        tally.note("UJ134", None, len(unused), _names(unused))
    return tally


def _kinship(sample: Sequence[bytes], known: set[bytes]) -> str:
    """How the ids of a run without judged documents may be related to the judged ones (`known`), in words."""
    here, there = shown(sample[0], 40), shown(min(known), 40)
    enough = max(1, len(sample) // 10)
    if len(known.intersection(sample)) >= enough:
        return "but they are for other topics: are the topics mixed up?"
    folded = {doc.lower() for doc in known}
    if sum(doc.lower() in folded for doc in sample) >= enough:
        return f"ids differ in upper and lower case (here e.g. {here}, there e.g. {there})"
    ids = sorted(known)
    for doc in sample:
        place = bisect_left(ids, doc)
        if not doc.isdigit() and ids[min(place, len(ids) - 1)].startswith(doc):
            return f"ids look cut (here e.g. {shown(doc, 40)}, there {shown(ids[place], 40)})"
        if not doc.isdigit() and place and doc.startswith(ids[place - 1]):
            judged = ids[place - 1]
            said = f"ids are longer than judged ones (here e.g. {shown(doc, 40)}, there {shown(judged, 40)})"
            mark = to_text(doc)[len(to_text(judged))]
            return said if mark.isalnum() else f"{said}: for chunks of documents score takes --units doc:'{mark}'"
    return f"ids look like another collection's (here e.g. {here}, there e.g. {there})"
