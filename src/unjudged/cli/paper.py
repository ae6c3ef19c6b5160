"""Every table and figure of a paper for your own collections, and whether its findings hold there.

unjudged paper sakai2009 qrels.txt runs/ --teams teams.tsv -o sakai2009
unjudged paper sakai2005 --collections collections.toml --table 3 --figure 7
"""

from __future__ import annotations

import argparse
import sys
import textwrap
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from unjudged.cli import options, progress
from unjudged.cli.study import name_of
from unjudged.errors import UsageError
from unjudged.io.write import refuse_unwritable_folder

HELP = "every table and figure of a paper for your own collections, and its findings"


class Part:
    """One paper as a part of the verb."""

    def __init__(self, name: str) -> None:
        from unjudged.papers import PAPERS

        self._paper = PAPERS[name]
        self.HELP = self._paper.title
        numbers = ", ".join(item.title for item in self._paper.items)
        said = (
            f"{self._paper.about} It has {numbers}. Without -o the page is written to standard output as Markdown; -o "
            "DIR makes a folder with the page (index.html, paper.md), the tables (CSV, LaTeX) and the figures (SVG)."
        )
        example = f"  unjudged paper {name} --collections collections.toml -o {name}"
        title = f"{self._paper.title} ({self._paper.citation})."
        self.__doc__ = "\n\n".join([title, textwrap.fill(said, 100), example])

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """The same for every paper."""
        command = f"paper {self._paper.name}"
        options.add_all(parser, command, *options.COLLECTIONS, "table", "figure", "seed", "trials", "resamples")
        options.add(parser, "thresholds", command=command)
        options.group(parser, "work", *options.WORK, command=command)
        options.group(parser, "output", "format", "output", command=command)

    def run(self, args: argparse.Namespace) -> int:
        """Read the collections, make the paper, write it."""
        from unjudged.collection.manifest import Collections
        from unjudged.papers.run import paper
        from unjudged.thresholds import read_thresholds

        self._paper.chosen(
            args.table, args.figure
        )  # a number the paper does not have is refused before anything is read
        limits = read_thresholds(args.thresholds)
        if args.output is not None:
            if Path(args.output).is_file():
                raise UsageError(f"{args.output}: -o names a folder for the page, and this is a file")
            refuse_unwritable_folder(args.output)
        start = time.monotonic()
        with options.on_cluster(args.cluster) as executor:
            if args.collections is None:
                options.needs_collection(args)
            progress.units(f"paper {self._paper.name}: reading", 0, 1, 0)
            if args.collections is None:
                collections = Collections({name_of(args.qrels): options.open_collection(args)}, {})
            else:
                collections = options.open_manifest(args)
            progress.units(f"paper {self._paper.name}: reading", 1, 1, 0)
            made = paper(
                self._paper.name,
                collections,
                executor=executor,
                progress=progress.units,
                thresholds=limits,
                **options.keywords(args, "table", "figure", "seed", "trials", "resamples", "jobs", "workdir"),
                call=args.call,
            )
        options.print_notes(made.notes)
        if args.output is None:
            options.write_output(made.render(args.format), None)
            return 0
        made.save(args.output)
        for found in made.findings:
            print(f"{found.sentence}.")
        print(f"wrote {args.output} in {time.monotonic() - start:.1f} s", file=sys.stderr)
        return 0


class _Papers(Mapping[str, Part]):
    """The papers there are."""

    def __iter__(self) -> Iterator[str]:
        from unjudged.papers import PAPERS

        return iter(PAPERS)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __getitem__(self, name: str) -> Part:
        return Part(name)


PARTS = _Papers()
