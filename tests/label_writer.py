"""Programs that write labels, for tests that kill them or take their disk away: `python label_writer.py WHAT FILE ...`.

kill FILE TIMES SEED     children write labels without end and tell each one on a pipe once it is saved; each is
                         killed (-9) at a random moment; prints the labels that were told, one a line
write FILE JUDGE MANY    one writer among others; prints the numbers of its rows
full FILE LIMIT          writes until files may not grow further; prints the sentence, then how many were saved
read-only FILE           tries to write as somebody who may only read; prints the sentence
"""

from __future__ import annotations

import importlib
import os
import random
import resource
import signal
import sys
import time

import unjudged as uj
from unjudged.errors import InputError
from unjudged.holes.labels import LabelFile

NOBODY = 65534


def labels(path: str) -> LabelFile:
    return LabelFile(path, uj.load({"1": {"a": 1, "b": 0}}, {"run": {"1": {"a": 2.0}}}).judgments)


def kill(path: str, times: int, seed: int) -> None:
    draws, told, file, wait = random.Random(seed), [], labels(path), 0.008
    file.rows()  # everything is loaded before children are made
    for child in range(times):
        out, into = os.pipe()
        process = os.fork()
        if not process:
            os.close(out)
            number = 0
            while True:
                doc = f"d{child}-{number}"
                file.add(f"judge {child % 3}", "1", doc, number % 4)
                os.write(into, f"{doc} {number % 4}\n".encode())
                number += 1
        os.close(into)
        time.sleep(draws.expovariate(1 / wait))
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        with os.fdopen(out, "rb") as pipe:
            lines = [line for line in pipe.read().decode().split("\n")[:-1] if line]
        told += lines
        wait = 0.008 if lines else min(2 * wait, 0.5)  # on a busy machine a child may not have had its turn
    print("\n".join(told))


def write(path: str, judge: str, many: int) -> None:
    file = labels(path)
    print(*(file.add(judge, "1", f"d{number}", number % 2).number for number in range(many)))


def full(path: str, limit: int) -> None:
    file, saved = labels(path), 0
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    try:
        while True:
            file.add("Ann", "1", f"document {saved}", 1)
            saved += 1
    except InputError as problem:
        print(problem)
    print(saved)


def read_only(path: str) -> None:
    file = labels(path)
    importlib.import_module("unjudged.io.write")  # nobody may not read this Python
    importlib.import_module("urllib.parse")  # which pathlib loads late from Python 3.13 on
    if os.getuid() == 0:
        os.setuid(NOBODY)
    try:
        file.add("Ann", "1", "another", 1)
    except InputError as problem:
        print(problem)
    try:
        file.check()
    except InputError as problem:
        print(problem)
    print(len(file.rows()))


if __name__ == "__main__":
    what, path, *more = sys.argv[1:]
    if what == "kill":
        kill(path, int(more[0]), int(more[1]))
    elif what == "write":
        write(path, more[0], int(more[1]))
    elif what == "full":
        full(path, int(more[0]))
    else:
        read_only(path)
