"""The judging page: a query, a document, keys for grades; a label is on disk before the next document comes.

    /judge                    the page
    /api/judging              POST: look, label, skip, note, undo; the answer is what to show next
    /api/judging/judgments    the labels as judgments, alone or with those there were
    /api/judging/notes        what judges wrote about documents, as a table

What the judge is not shown does not leave the program: runs, ranks, chances, and the direction unless it is asked for.
"""

from __future__ import annotations

import functools
import getpass
import threading
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

from unjudged.changes.rejudge import judgments_of
from unjudged.collection import Collection
from unjudged.errors import UsageError, as_utf8
from unjudged.holes.answers import merged
from unjudged.holes.judging import Question
from unjudged.holes.labels import LabelFile, Row, grades, highest
from unjudged.holes.scale import Grade, scale_of, with_scale
from unjudged.holes.session import Session
from unjudged.io.texts import Texts
from unjudged.io.write import qrels_text
from unjudged.reporting import page
from unjudged.results import Provenance, Result
from unjudged.text import as_written
from unjudged.web.exchange import as_json, read_object

LONGEST = 100_000
"""Characters of a document that are shown."""
KEPT = 4
"""Questions whose sessions are kept."""
ASSETS = {"tokens.css": "text/css", "judge.css": "text/css", "judge.js": "text/javascript"}
"""Files of the page; the colours are those of the report."""


@dataclass(frozen=True)
class Judging:
    """How the judging page is set up.

    `labels` is the label file, `judge` the name labels are given under unless the page is told another one, `queries`
    and `corpus` are texts as in `next`, `scale` the grades (a number, or names from 0 up), `question` what is asked
    unless the address says otherwise.
    """

    labels: str = "labels.sqlite"
    judge: str | None = None
    queries: str | None = None
    corpus: str | None = None
    scale: str | None = None
    batch: int = 10
    seed: int = 0
    question: Question = field(default_factory=Question)

    @property
    def who(self) -> str:
        """The judge's name: given, or that of the user of this computer."""
        if self.judge is not None:
            return self.judge
        try:
            return getpass.getuser()
        except (OSError, KeyError):  # a user without a name
            return "judge"


class Desk:
    """Where judges work: the sessions of one collection, their label file and their texts.

    `current` gives the collection; a page that adds runs to it sets this.
    """

    def __init__(self, collection: Collection, setup: Judging) -> None:
        self.current: Callable[[], Collection] = lambda: collection
        self.setup = setup
        self._lock = threading.Lock()
        self._sessions: dict[Any, Session] = {}
        self.queries, self.documents = Texts(setup.queries), Texts(setup.corpus)

    def routes(self, token: str) -> list[Route]:
        """The routes of the page; labels are taken from those who know the token."""
        return [
            Route("/judge", functools.partial(self.home, token)),
            Route("/judge/{name}", self.asset),
            Route("/api/judging", self.act, methods=["POST"]),
            Route("/api/judging/judgments", self.judgments),
            Route("/api/judging/notes", self.notes),
        ]

    @functools.cached_property
    def labels(self) -> LabelFile:
        """The label file; it belongs to the judgments, whatever runs are added."""
        return LabelFile(self.setup.labels, self.current().judgments)

    @functools.cached_property
    def scale(self) -> tuple[Grade, ...]:
        """The grades there are keys for."""
        collection, given = self.current(), self.setup.scale
        most = highest(self.labels.rows())
        longer = given is None and most > collection.judgments.gains.top_grade
        return scale_of(collection, str(most) if longer else given)

    def session(self, question: Question) -> Session:
        """The session of a question, begun where it is new."""
        with self._lock:
            collection = self.current()
            key = question, collection.runs
            if key not in self._sessions:
                setup = self.setup
                scaled = with_scale(collection, self.scale[-1].number)
                begun = Session(scaled, self.labels, question, batch=setup.batch, seed=setup.seed)
                self.queries.need(set(collection.topics))
                self.documents.need({doc for _, doc in begun.holes})
                self._sessions = {**dict(list(self._sessions.items())[1 - KEPT :]), key: begun}
            return self._sessions[key]

    # -- the page

    async def home(self, token: str, request: Request) -> Response:
        """The page itself."""
        about = await run_in_threadpool(self._about)
        html = files(__package__).joinpath("judge.html").read_text("utf-8")
        template = page.templates().from_string(html)
        return HTMLResponse(page.printable(template.render(token=token, about=about, data=page.as_script(about))))

    async def asset(self, request: Request) -> Response:
        """Script and style of the page."""
        name = request.path_params["name"]
        if name not in ASSETS:
            return PlainTextResponse("there is no such file", 404)
        text = page.asset(name) if name == "tokens.css" else files(__package__).joinpath(name).read_text("utf-8")
        return Response(text, media_type=f"{ASSETS[name]}; charset=utf-8")

    def _about(self) -> dict[str, Any]:
        collection = self.current()
        return {
            "name": as_utf8(collection.judgments.source.rsplit("/", 1)[-1]),
            "runs": list(collection.runs),
            "question": asdict(self.setup.question),
            "scale": [asdict(grade) for grade in self.scale],
            "judge": self.setup.who,
            "labels": as_utf8(Path(self.setup.labels).name),
            "batch": self.setup.batch,
        }

    # -- what judges do

    async def act(self, request: Request) -> Response:
        """Do what was asked, then say what to show."""
        given = await read_object(request, "what was asked")
        return as_json(await run_in_threadpool(self._act, given))

    def _act(self, given: Mapping[str, Any]) -> dict[str, Any]:
        question = question_of(given.get("question", {}), self.setup.question)
        session = self.session(question)
        judge, client = _text(given, "judge"), _text(given, "client")
        done = _text(given, "do")
        if done == "label":
            session.label(judge, _text(given, "topic"), _text(given, "document"), given.get("grade"))  # type: ignore[arg-type]
        elif done == "skip":
            session.skip(judge, _text(given, "topic"), _text(given, "document"))
        elif done == "note":
            written = given.get("text")
            if not isinstance(written, str):
                raise UsageError("a note is a text")
            session.note(judge, _text(given, "topic"), _text(given, "document"), written)
        elif done == "undo":
            number = given.get("number")
            session.undo(client, judge, number if isinstance(number, int) else 0)
        elif done != "look":
            raise UsageError(f"the page cannot {as_written(done)}")
        return self._state(session, judge, client, bool(given.get("skipped")), bool(given.get("outcome")))

    def _state(self, session: Session, judge: str, client: str, skipped: bool, outcome: bool) -> dict[str, Any]:
        document = session.next_for(client, judge, skipped=skipped)
        progress = session.progress()
        points = [
            {
                "labels": p.labels,
                "near": p.near,
                **({"difference": p.difference, "margin": p.margin} if outcome else {}),
            }
            for p in progress.points
        ]
        return {
            "question": f"{session.aim.name}, by {session.question.measure}",
            "pair": session.aim.one is not None,
            "phase": progress.phase,
            "headline": progress.headline,
            "sentence": progress.sentence,
            "judged": progress.judged,
            "left": progress.left,
            "points": points,
            "outcome": asdict(session.outcome()) if outcome else None,
            "document": None if document is None else {**self._shown(*document), "note": self._note(judge, *document)},
            "last": _told(session.last_of(judge)),
        }

    def _shown(self, topic: str, doc: str) -> dict[str, Any]:
        query, text = self.queries.get(topic), self.documents.get(doc)
        body = text.body if text is not None else ""
        return {
            "topic": topic,
            "document": doc,
            "query": query.body if query is not None else "",
            "need": query.need if query is not None else "",
            "title": text.title if text is not None else "",
            "text": body[:LONGEST],
            "known": text is not None,
            "more": max(len(body) - LONGEST, 0),
        }

    def _note(self, judge: str, topic: str, doc: str) -> str:
        """What this judge wrote about a document."""
        mine = (judge.strip(), topic, doc)
        return next((note.text for note in self.labels.notes() if (note.judge, note.topic, note.doc) == mine), "")

    async def notes(self, request: Request) -> Response:
        """The notes as a table."""
        text = await run_in_threadpool(self._notes)
        return Response(
            text,
            media_type="text/tab-separated-values; charset=utf-8",
            headers={"content-disposition": 'attachment; filename="notes.tsv"'},
        )

    async def judgments(self, request: Request) -> Response:
        """The labels as TREC judgments; `which=all`: with those there were."""
        everything = request.query_params.get("which") == "all"
        text = await run_in_threadpool(self._judgments, everything)
        name = "judgments.txt" if everything else "labels.txt"
        return Response(
            text,
            media_type="text/plain; charset=utf-8",
            headers={"content-disposition": f'attachment; filename="{name}"'},
        )

    def _notes(self) -> bytes:
        from unjudged import __version__

        rows = [(note.topic, note.doc, note.judge, note.time, note.text) for note in self.labels.notes()]
        if not rows:
            raise UsageError("there are no notes yet")
        provenance = Provenance(__version__, "unjudged judge", (self.setup.labels,), {})
        columns = ("topic", "document", "judge", "time", "note")
        return as_utf8(Result(columns, lambda: rows, provenance).render("tsv")).encode()

    def _judgments(self, everything: bool) -> bytes:
        rows = self.labels.rows()
        if not (given := grades(rows)):
            raise UsageError("there are no labels yet")
        if not everything:
            return qrels_text(judgments_of(given))
        return qrels_text(merged(with_scale(self.current(), highest(rows)), given).collection.judgments)


def question_of(given: Any, usual: Question) -> Question:
    """A question from decoded JSON; the usual one where it says nothing. Anything odd gets a sentence."""
    if not isinstance(given, dict):
        raise UsageError("a question is an object")
    known = ("measure", "new", "baseline", "top", "all")
    if unknown := sorted(set(given) - set(known)):
        raise UsageError(f"a question knows no {unknown[0]!r}; there are {', '.join(known)}")
    said = {name: _text(given, name) for name in known if given.get(name)}
    measure = said.pop("measure", usual.measure)
    if not said:
        return replace(usual, measure=measure)
    top = said.get("top")
    if top is not None and not (top.isascii() and top.isdigit() and len(top) < 6):
        raise UsageError(f"the top k: k is a whole number, not {as_written(top)}")
    many = None if top is None else int(top)
    new, baseline = said.get("new"), said.get("baseline")
    return replace(usual, measure=measure, new=new, baseline=baseline, top=many, all_pairs="all" in said)


def _text(given: Mapping[str, Any], name: str) -> str:
    value = given.get(name)
    if not isinstance(value, str) or not value:
        raise UsageError(f"{name} is a text, not {as_written(value)}")
    return value


def _told(row: Row | None) -> dict[str, Any] | None:
    """What a judge did last."""
    return None if row is None else {"number": row.number, "kind": row.kind, "grade": row.grade, "document": row.doc}
