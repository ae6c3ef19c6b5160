"""Print a completion script for your shell.

unjudged completion bash > ~/.local/share/bash-completion/completions/unjudged
unjudged completion zsh > ~/.zfunc/_unjudged
unjudged completion fish > ~/.config/fish/completions/unjudged.fish
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from unjudged.cli import VERBS, options

HELP = "a completion script for bash, zsh or fish"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The verb's arguments."""
    options.add(parser, "shell", command="completion")


def run(args: argparse.Namespace) -> int:
    """Print the script."""
    script = {"bash": _bash, "zsh": _zsh, "fish": _fish}[args.shell]
    options.write_output(script(_words()), None)
    return 0


def _words() -> dict[str, tuple[list[str], dict[str, list[str]]]]:
    """Command -> the words that may follow it, and the values of the options that have a choice."""
    from unjudged.cli import commands

    found: dict[str, tuple[list[str], dict[str, list[str]]]] = {"": ([*VERBS, "--help", "--version"], {})}
    for name, _, parser in commands():
        verb, _, part = name.partition(" ")
        if part:
            found.setdefault(verb, ([], {}))[0].append(part)
        actions = [] if parser is None else parser._actions
        flags = [flag for action in actions for flag in action.option_strings]
        flags += [str(c) for action in actions if not action.option_strings for c in action.choices or ()]
        values = {
            flag: [str(c) for c in action.choices]
            for action in actions
            if action.choices is not None
            for flag in action.option_strings
        }
        found[name] = (flags, values)
    return found


def _cases(words: dict[str, tuple[list[str], dict[str, list[str]]]]) -> Iterable[str]:
    """Shell `case` branches: command and option before -> values, command -> words."""
    for name, (_, values) in words.items():
        for flag, choices in values.items():
            yield f'    "{name}:{flag}") choices="{" ".join(choices)}" ;;'
    for name, (following, _) in words.items():
        yield f'    "{name}:"*) choices="{" ".join(following)}" ;;'


def _bash(words: dict[str, tuple[list[str], dict[str, list[str]]]]) -> str:
    parts = " ".join(f"[{verb}]=1" for verb in VERBS if any(name.startswith(f"{verb} ") for name in words))
    return "\n".join(
        [
            "# bash completion for unjudged",
            "_unjudged() {",
            "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command='' choices=''",
            f"  local -A with_parts=({parts})",
            "  if [ $COMP_CWORD -gt 1 ]; then",
            '    command=${COMP_WORDS[1]}; [ -n "${with_parts[$command]}" ] && [ $COMP_CWORD -gt 2 ] '
            '&& command="$command ${COMP_WORDS[2]}"',
            "  fi",
            '  case "$command:$before" in',
            *_cases(words),
            "  esac",
            '  COMPREPLY=($(compgen -W "$choices" -- "$word"))',
            '  [ ${#COMPREPLY[@]} -eq 0 ] && COMPREPLY=($(compgen -f -- "$word"))',
            "}",
            "complete -o filenames -F _unjudged unjudged",
            "",
        ]
    )


def _zsh(words: dict[str, tuple[list[str], dict[str, list[str]]]]) -> str:
    return "#compdef unjudged\nautoload -U +X bashcompinit && bashcompinit\n" + _bash(words).split("\n", 1)[1]


def _fish(words: dict[str, tuple[list[str], dict[str, list[str]]]]) -> str:
    lines = ["# fish completion for unjudged"]
    for name, (following, values) in words.items():
        first, _, second = name.partition(" ")
        seen = [f"__fish_seen_subcommand_from {word}" for word in (first, second) if word]
        when = "; and ".join(seen) or "__fish_use_subcommand"
        for word in following:
            if word.startswith("--"):
                takes = f" -xa '{' '.join(values[word])}'" if word in values else ""
                lines.append(f"complete -c unjudged -n '{when}' -l {word[2:]}{takes}")
            elif word.startswith("-"):
                lines.append(f"complete -c unjudged -n '{when}' -s {word[1:]}")
            else:
                lines.append(f"complete -c unjudged -n '{when}' -a {word}")
    return "\n".join([*lines, ""])
