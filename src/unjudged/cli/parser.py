"""argparse as this command line uses it."""

from __future__ import annotations

import argparse
import inspect
import sys
import textwrap
from collections.abc import Sequence
from typing import Any, NoReturn

from unjudged.errors import nearest, one_line

RARE = ("reading", "scores at hand")
"""Groups of options that few people need."""


def with_examples_apart(text: str) -> tuple[str, str]:
    """What a help text says, and its examples: the lines that are commands."""
    lines = inspect.cleandoc(text).splitlines()
    commands = [line.strip() for line in lines if line.strip().startswith("unjudged ")]
    rest = "\n".join(line for line in lines if not line.strip().startswith("unjudged "))
    while "\n\n\n" in rest:
        rest = rest.replace("\n\n\n", "\n\n")
    return rest.strip(), "\n".join(["examples:", *(f"  {command}" for command in commands)]) if commands else ""


class Parser(argparse.ArgumentParser):
    """argparse that answers a mistake with one sentence, a suggestion and exit code 2."""

    def print_help(self, file: Any = None) -> None:
        """Print the help, no wider than the terminal."""
        from unjudged.cli.width import refilled

        self._print_message(refilled(self.format_help()), file or sys.stdout)

    def error(self, message: str) -> NoReturn:
        print(
            f"{self.prog}: {one_line(message)}{self._meant(message)} ('{self.prog} --help' explains)", file=sys.stderr
        )
        raise SystemExit(2)

    def most_needed_first(self, usual: Sequence[str] = ()) -> None:
        """Rare options of reading come last in the help, and the usage line names what most people need.

        That is the `usual` flags; else the options that stand under no heading. What is required is always there.
        """
        rare = [group for group in self._action_groups if group.title in RARE]
        self._action_groups = [group for group in self._action_groups if group not in rare] + rare
        own = [action for action in self._optionals._group_actions if "--help" not in action.option_strings]
        if usual:
            flagged = {action for action in self._actions if action.required and action.option_strings}
            flagged -= {self._option_string_actions[flag] for flag in usual}
            own = [*sorted(flagged, key=self._actions.index), *map(self._option_string_actions.__getitem__, usual)]
        places = list(self._positionals._group_actions)
        wanted = self._usage_of(places).replace("[QRELS]", "QRELS").replace("[RUN ...]", "RUN...")
        shown = " ".join(filter(None, (wanted.replace("RUN RUN...", "RUN..."), self._usage_of(own))))
        if len(self._actions) > len(own) + len(places) + 1:
            shown = f"{shown} [OPTION ...]"
        self.usage = textwrap.fill(
            f"{self.prog} {shown}".replace("%", "%%"), 90, subsequent_indent="    ", break_on_hyphens=False
        )

    def _usage_of(self, actions: list[argparse.Action]) -> str:
        """These arguments as a usage line has them."""
        formatter = self._get_formatter()
        formatter.add_usage(None, actions, [], prefix="")
        return " ".join(formatter.format_help().split()).removeprefix(self.prog).strip()

    def _meant(self, message: str) -> str:
        """What may have been meant by unknown arguments."""
        unknown = message.removeprefix("unrecognized arguments: ").split()
        if not unknown or len(unknown) == len(message.split()):
            return ""
        if unknown[0].startswith("-"):
            return nearest(unknown[0], [flag for flag in self._option_string_actions if flag.startswith("--")])
        return " (measures are separated by commas: -m AP,nDCG@10)" if "-m" in self._option_string_actions else ""
