"""The routes of the local page."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from functools import partial
from types import TracebackType
from typing import Any, Self

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

from unjudged.collection import Collection
from unjudged.errors import UnjudgedError, UsageError, one_line
from unjudged.measures import REGISTRY
from unjudged.reporting import Asking, Report, Section, Settings, page
from unjudged.reporting.report import name_of
from unjudged.reporting.sections import share_of
from unjudged.studies import QUESTIONS, study
from unjudged.thresholds import Thresholds, default_thresholds
from unjudged.web import own_run, topics
from unjudged.web.exchange import as_json, read_object
from unjudged.web.guard import IN_ADDRESS, Guard, Receive, Scope, Send
from unjudged.web.jobs import Job, Jobs
from unjudged.web.judging import Desk, Judging
from unjudged.web.state import State, state_of
from unjudged.web.uploads import TooLarge, Uploads

CHANGES = "Each line is a run: the open circle is its score before, the filled one after the change."
ADDED = (
    "A run that was added was not pooled: its unjudged documents count as nonrelevant. The corrected score is what it "
    "might have had if it had been in the pool (Lipani, Lupu and Hanbury 2015). Commands name it by its file; "
    "where that is in another folder, write the folder before it."
)
LISTS = ("run", "team", "measures")
ELSE = ("a", "b", "by", "topic", "name")
"""What a request says beside the state."""
ASSETS = {
    "tokens.css": "text/css",
    "report.css": "text/css",
    "live.css": "text/css",
    "sortable.js": "text/javascript",
    "report.js": "text/javascript",
    "live.js": "text/javascript",
}


class Page:
    """The page of a collection as an ASGI application, with its jobs and uploads; use it in a `with` block.

    `max_upload` is in bytes; `desk` is the judging page's. `before_section` is called in the working thread with each
    section's key. `work` is handed on to the questions: second (other judges), of_judges, executor, jobs, workdir.
    """

    def __init__(
        self,
        collection: Collection,
        settings: Settings | None = None,
        thresholds: Thresholds | None = None,
        *,
        max_upload: int = 100_000_000,
        desk: Desk | None = None,
        before_section: Callable[[str], None] | None = None,
        **work: Any,
    ) -> None:
        self.settings, self.thresholds, self.work = settings or Settings(), thresholds or default_thresholds(), work
        self.token = secrets.token_urlsafe(32)
        self.uploads = Uploads(collection, max_upload)
        self.jobs = Jobs(self._shown)
        self.before_section = before_section
        self.desk = desk or Desk(collection, Judging())
        self.desk.current = lambda: self.uploads.collection
        self.guard = Guard(self._routes(), self.token)

    @property
    def secret(self) -> str:
        """What the address needs to be let in."""
        return f"{IN_ADDRESS}={self.token}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.guard(scope, receive, send)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.jobs.close()
        self.uploads.close()

    def _routes(self) -> Any:
        routes = [
            Route("/", self.home),
            Route("/assets/{name}", self.asset),
            Route("/api/collection", self.about),
            Route("/api/jobs", self.start, methods=["POST"]),
            Route("/api/jobs/{number}", self.look),
            Route("/api/jobs/{number}", self.cancel, methods=["DELETE"]),
            Route("/api/jobs/{number}/report.html", self.save),
            Route("/api/runs", self.upload, methods=["POST"]),
            Route("/api/runs", self.remove, methods=["DELETE"]),
            Route("/api/score", self.own_score),
            Route("/api/run", self.own_run),
            Route("/api/topics", self.topics),
            Route("/api/topic", self.topic),
            *self.desk.routes(self.token),
        ]
        return Starlette(
            routes=routes,
            exception_handlers={UnjudgedError: _refuse, TooLarge: _too_large, ClientDisconnect: _half_sent},
        )

    # -- the page

    async def home(self, request: Request) -> Response:
        """The page itself."""
        template = page.templates().get_template("live.html")
        about = self._about()
        data, symbols = page.as_script(about), page.symbols()
        return HTMLResponse(page.printable(template.render(token=self.token, about=about, data=data, symbols=symbols)))

    async def asset(self, request: Request) -> Response:
        """Scripts and styles of this package, nothing else."""
        name = request.path_params["name"]
        if name not in ASSETS:
            return PlainTextResponse("there is no such file", 404)
        return Response(page.asset(name), media_type=f"{ASSETS[name]}; charset=utf-8")

    async def about(self, request: Request) -> Response:
        """What can be chosen."""
        return as_json(self._about())

    def _about(self) -> dict[str, Any]:
        c, added = self.uploads.now
        return {
            "title": f"{name_of(c)}: how far can it be trusted?",
            "runs": list(c.runs),
            "added": list(added),
            "teams": {run: team for run, team in c.teams.items() if run in set(c.runs)},
            "topics": list(c.topics),
            "known": sorted(REGISTRY),
            "settings": self.settings.to_dict(),
            "sections": list(QUESTIONS),
            "most": self.uploads.most,
        }

    # -- computing

    async def start(self, request: Request) -> Response:
        """Start (or find) the computation of a state."""
        state = state_of(await read_object(request, "the state"), self.settings)
        state.settings(self.settings)
        collection, added = self.uploads.now
        work = partial(self._work, state, collection, list(added))
        job = self.jobs.start((state, tuple(added)), len(QUESTIONS), work)
        return as_json({"job": job.number})

    def _work(self, state: State, whole: Collection, added: list[str], job: Job) -> Iterator[Section]:
        """The sections of a state, one by one; then the report."""
        settings = state.settings(self.settings)
        before = state.narrowed(whole)
        after = state.changed(before, settings)
        asking = Asking(after, settings, self.thresholds, call="unjudged serve", **self.work)
        shown = [run for run in added if run in after.runs]
        if state.changes or shown:
            self._hold(job, "changes", 0.0)
            yield self._changes(asking, before, shown if not state.changes else [])
        answers = []
        for place, key in enumerate(QUESTIONS):
            self._hold(job, key, place / len(QUESTIONS))
            tell = share_of(place, partial(job.tell, key))
            answers.append(asking.section(key, tell))
            yield answers[-1]
        job.report = Report(asking, answers)
        yield job.report.how_made

    def _changes(self, asking: Asking, before: Collection, added: list[str]) -> Section:
        """What the change does to every run; or the corrected scores of the runs that were added."""
        options = {n: v for n, v in asking.settings.options().items() if n in ("measures", "rel", "unjudged")}
        if not added:
            found = study("change", asking.collection, before=before, jobs=1, **options)
            return Section("changes", "What changes?", CHANGES, found)
        pool: dict[str, Any] = {"depth": asking.settings.depth, "pooled": asking.settings.pooled}
        try:
            found = study("correct", asking.collection, new=added, rel=options["rel"], jobs=1, **pool)
        except UsageError as problem:
            found = asking.unanswered("after-correction", str(problem))
        return Section("changes", "What would the added run have scored in the pool?", ADDED, found)

    def _shown(self, section: Section) -> dict[str, Any]:
        html = self.uploads.as_sent(page.fragment(section))
        return {"key": section.key, "html": html, "columns": page.packed_columns(section)}

    def _hold(self, job: Job, key: str, share: float) -> None:
        job.tell(key, share)
        if self.before_section is not None:
            self.before_section(key)
        job.tell(key, share)

    async def look(self, request: Request) -> Response:
        """How far a job is, with the sections behind the first `after` ones."""
        job = self._job(request)
        seen = _small(request.query_params.get("after", "")) or 0
        over, sections = job.over, job.sections[seen:]
        answered = {
            "state": job.state if over or job.state != "done" else "running",
            "now": _question(job.now),
            "share": job.share,
        }
        head = None
        if over and job.report is not None:
            html = await run_in_threadpool(page.short_fragment, job.report)
            head = {"key": "in-short", "html": self.uploads.as_sent(html)}
        return as_json(
            {
                **answered,
                "message": job.message,
                "sections": sections,
                "head": head,
                "what": job.report.what if job.report else "",
            }
        )

    async def cancel(self, request: Request) -> Response:
        """End a job."""
        job = self._job(request)
        self.jobs.cancel(job)
        return as_json({"state": "cancelled"})

    async def save(self, request: Request) -> Response:
        """The finished job as a report file."""
        job = self._job(request)
        if job.report is None:
            return PlainTextResponse("this computation is not finished", 409)
        text = self.uploads.as_sent(await run_in_threadpool(job.report.html))
        return HTMLResponse(
            text,
            headers={
                "content-disposition": 'attachment; filename="trust.html"',
                "content-security-policy": "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; "
                "style-src 'unsafe-inline'",
            },
        )

    def _job(self, request: Request) -> Job:
        number = _small(request.path_params["number"])
        job = None if number is None else self.jobs.get(number)
        if job is None:
            raise UsageError("there is no such computation any more")
        return job

    # -- runs and topics

    async def upload(self, request: Request) -> Response:
        """Add a run."""
        said = _small(request.headers.get("content-length", "0"))
        if said is None or said > self.uploads.most:
            raise TooLarge
        run, path = await self.uploads.receive(request.query_params.get("name", ""), request.stream())
        await run_in_threadpool(self.uploads.add, run, path)
        return as_json({**self._about(), "run": run})

    async def remove(self, request: Request) -> Response:
        """Take an added run away."""
        await run_in_threadpool(self.uploads.remove, request.query_params.get("name", ""))
        return as_json(self._about())

    async def own_score(self, request: Request) -> Response:
        """The score of one run, before it is set beside the others."""
        asked = (self.uploads.collection, request.query_params.get("name", ""), self._state(request), self.settings)
        return as_json(await run_in_threadpool(own_run.scored, *asked))

    async def own_run(self, request: Request) -> Response:
        """One run among the others: score, rank, outcome against the best and the baseline, holes."""
        state, q = self._state(request), request.query_params
        usual = self.desk.setup.question.baseline
        asked = own_run.asked(self.uploads.collection, q.get("name", ""), state, self.settings, usual)
        return as_json(await run_in_threadpool(asked))

    async def topics(self, request: Request) -> Response:
        """Topics by difference of two runs."""
        state, q = self._state(request), request.query_params
        found = await run_in_threadpool(
            topics.differences,
            self.uploads.collection,
            q.get("a", ""),
            q.get("b", ""),
            q.get("by") or state.measures[0],
            state.rel,
            state.unjudged,
            self.desk.queries,
        )
        return as_json(found)

    async def topic(self, request: Request) -> Response:
        """Two lists of one topic."""
        state, q = self._state(request), request.query_params
        found = await run_in_threadpool(
            topics.side_by_side,
            self.uploads.collection,
            q.get("a", ""),
            q.get("b", ""),
            q.get("topic", ""),
            state.rel,
            self.desk.queries,
            self.desk.documents,
        )
        return as_json(found)

    def _state(self, request: Request) -> State:
        q = request.query_params
        own = {key: q.getlist(key) if key in LISTS else q[key] for key in q if key not in ELSE}
        return state_of(own, self.settings)


def _small(text: str) -> int | None:
    """A whole number of at most 12 digits, else None."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 12 else None


def _question(key: str) -> str:
    """What is being answered, as a reader asks it; nothing between the questions."""
    return QUESTIONS[key].text if key in QUESTIONS else ""


async def _refuse(request: Request, problem: Exception) -> Response:
    return PlainTextResponse(one_line(str(problem)), 400)


async def _half_sent(request: Request, problem: Exception) -> Response:
    return PlainTextResponse("the request did not arrive whole", 408, headers={"connection": "close"})


async def _too_large(request: Request, problem: Exception) -> Response:
    return PlainTextResponse("more than may be uploaded", 413, headers={"connection": "close"})
