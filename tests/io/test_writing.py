"""`write_whole`: files appear whole, links stay links, pipes and open files are written into.

No test writes to a real device: run as root, a mistake would take /dev/null away.
"""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import unjudged as uj
from unjudged.errors import InputError
from unjudged.io.write import write_whole

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes and links as tested here on this system")


def test_a_file_is_replaced_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    (tmp_path / "out").write_bytes(b"old")
    write_whole(tmp_path / "out", b"new")
    write_whole(str(tmp_path / "other"), b"first")
    assert (tmp_path / "out").read_bytes() == b"new"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["other", "out"]


def test_a_pipe_stays_a_pipe_and_its_reader_gets_all(tmp_path: Path) -> None:
    pipe, data, got = tmp_path / "pipe", bytes(range(256)) * 1200, []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    write_whole(pipe, data)
    reader.join()
    assert got == [data]
    assert stat.S_ISFIFO(pipe.lstat().st_mode)
    assert [p.name for p in tmp_path.iterdir()] == ["pipe"]


def test_a_link_to_a_pipe_leads_into_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append((tmp_path / "pipe").read_bytes()))
    reader.start()
    write_whole(tmp_path / "link", b"text")
    reader.join()
    assert got == [b"text"]
    assert (tmp_path / "link").is_symlink()


@pytest.mark.parametrize("there", [True, False])
def test_a_link_stays_and_its_file_is_written(tmp_path: Path, there: bool) -> None:
    (tmp_path / "far").mkdir()
    file, link = tmp_path / "far" / "file", tmp_path / "link"
    if there:
        file.write_bytes(b"old")
    (tmp_path / "far" / "second").symlink_to("file")
    link.symlink_to("far/second")
    write_whole(link, b"new")
    assert file.read_bytes() == b"new"
    assert link.is_symlink()
    assert (tmp_path / "far" / "second").is_symlink()
    assert sorted(p.name for p in (tmp_path / "far").iterdir()) == ["file", "second"]


def test_a_link_to_itself_is_refused(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(InputError, match="cannot be written"):
        write_whole(tmp_path / "loop", b"x")
    assert (tmp_path / "loop").is_symlink()


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written"):
        write_whole(tmp_path, b"x")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/dev/fd").is_dir(), reason="no /dev/fd here")
def test_the_name_of_an_open_file_is_written_into(tmp_path: Path) -> None:
    """`-o /dev/stdout >> file`: the file keeps what it had, and stays the one that is open."""
    out = tmp_path / "out"
    out.write_bytes(b"before\n")
    code = "from unjudged.io.write import write_whole; write_whole('/dev/fd/1', b'after\\n')"
    inode = out.stat().st_ino
    with out.open("ab") as file:
        subprocess.run([sys.executable, "-c", code], stdout=file, check=True)
    assert out.read_bytes() == b"before\nafter\n"
    assert out.stat().st_ino == inode


def test_results_are_written_whole(tmp_path: Path) -> None:
    scores = uj.score(uj.load({"1": {"a": 1}}, {"r": {"1": {"a": 1.0}}}), "AP")
    for write in (scores.to_csv, scores.to_json, scores.to_latex, scores.to_html):
        write(tmp_path / "result")
        assert (tmp_path / "result").read_text("utf-8") == write()
        with pytest.raises(InputError, match="cannot be written"):
            write(tmp_path / "nowhere" / "result")
    assert [path.name for path in tmp_path.iterdir()] == ["result"]
