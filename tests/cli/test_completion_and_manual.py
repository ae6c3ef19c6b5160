"""Completion scripts and the manual page know every command and option, and the real shells accept them."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from unjudged.cli import commands, main

LISTED = list(commands())


def printed(capfd: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(words) == 0
    return capfd.readouterr().out


def bash(script: str, *words: str) -> set[str]:
    """What bash offers after these words, the last being completed."""
    typed = " ".join(f"'{word}'" for word in words)
    code = (
        f"{script}\nCOMP_WORDS=({typed}); COMP_CWORD={len(words) - 1}\n_unjudged\nprintf '%s\\n' \"${{COMPREPLY[@]}}\""
    )
    ran = subprocess.run(["bash", "--norc", "-c", code], capture_output=True, text=True, check=True, cwd="/")
    assert ran.stderr == ""
    return set(ran.stdout.split())


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")
def test_bash_completes(capfd: pytest.CaptureFixture[str]) -> None:
    script = printed(capfd, "completion", "bash")
    assert bash(script, "unjudged", "sc") == {"score"}
    assert bash(script, "unjudged", "score", "--unj") == {"--unjudged"}
    assert bash(script, "unjudged", "score", "--format", "la") == {"latex"}
    assert bash(script, "unjudged", "pool", "desc") == {"describe"}
    assert bash(script, "unjudged", "completion", "f") == {"fish"}
    assert "--depth" in bash(script, "unjudged", "pool", "describe", "--de")
    assert "etc" in bash(script, "unjudged", "score", "et"), "files where nothing else fits"


@pytest.mark.skipif(shutil.which("fish") is None, reason="no fish here")
def test_fish_completes(capfd: pytest.CaptureFixture[str]) -> None:
    script = printed(capfd, "completion", "fish")

    def offered(typed: str) -> set[str]:
        code = f"{script}\ncomplete -C '{typed}'"
        ran = subprocess.run(["fish", "--no-config", "-c", code], capture_output=True, text=True, check=True, cwd="/")
        assert ran.stderr == ""
        return {line.split("\t")[0] for line in ran.stdout.splitlines()}

    assert offered("unjudged stud") == {"study"}
    assert offered("unjudged study leave-t") == {"leave-team-out"}
    assert {"latex"} <= offered("unjudged score --format la")


@pytest.mark.skipif(shutil.which("zsh") is None, reason="no zsh here")
def test_zsh_takes_the_script(capfd: pytest.CaptureFixture[str]) -> None:
    script = printed(capfd, "completion", "zsh")
    code = f"autoload -U compinit; compinit -u -D\n{script}\necho $_comps[unjudged]"
    ran = subprocess.run(["zsh", "-f", "-c", code], capture_output=True, text=True, check=True, cwd="/")
    assert "_unjudged" in ran.stdout and ran.stderr == ""


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_command_and_option_is_there(shell: str, capfd: pytest.CaptureFixture[str]) -> None:
    script = printed(capfd, "completion", shell)
    for name, _, parser in LISTED:
        assert all(word in script for word in name.split())
        for action in parser._actions if parser else ():
            for flag in action.option_strings:
                assert (flag.lstrip("-") if shell == "fish" else flag) in script
    if shutil.which(shell):
        ran = subprocess.run([shell, "-n"], input=script, text=True, capture_output=True, check=False)
        assert (ran.returncode, ran.stderr) == (0, "")


@pytest.mark.slow
def test_the_manual_page(capfd: pytest.CaptureFixture[str]) -> None:
    page = printed(capfd, "manual")
    for name, _, parser in LISTED:
        assert f".SS {name}\n" in page.replace("\\-", "-")
        for action in parser._actions if parser else ():
            assert all(flag in page.replace("\\-", "-") for flag in action.option_strings)
    if groff := shutil.which("groff"):
        ran = subprocess.run(
            [groff, "-man", "-Tascii", "-ww"], input=page.encode("utf-8"), capture_output=True, check=True
        )
        assert b"130 interrupted" in ran.stdout
        assert ran.stderr == b""
