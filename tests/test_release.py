"""What a release rests on: one version, workflows that fit their schema, wheels named for what is in them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from places import ROOT

import unjudged

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def release_module() -> object:
    import importlib.util

    spec = importlib.util.spec_from_file_location("release", ROOT / "docs" / "site" / "release.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_version_changelog_and_citation_agree() -> None:
    assert release_module().disagreements() == []  # type: ignore[attr-defined]


def test_another_version_in_any_place_is_told(tmp_path: Path) -> None:
    for name in ("CHANGELOG.md", "CITATION.cff"):
        (tmp_path / name).write_text((ROOT / name).read_text().replace(unjudged.__version__, "9.9.9"))
    told = release_module().disagreements("v1.0.0", tmp_path)  # type: ignore[attr-defined]
    assert len(told) >= 3
    assert all(unjudged.__version__ in sentence for sentence in told[:3])


def test_the_command_line_says_the_version_and_the_package_takes_it_from_the_same_place() -> None:
    said = subprocess.run([sys.executable, "-m", "unjudged", "--version"], capture_output=True, text=True, check=True)
    assert said.stdout.split()[1] == unjudged.__version__
    assert 'dynamic = ["version"]' in (ROOT / "pyproject.toml").read_text()


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_fits_the_schema_of_workflows(path: Path) -> None:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows", str(path)]
    said = subprocess.run(command, capture_output=True, text=True)
    assert said.returncode == 0, said.stdout


def test_the_action_fits_the_schema_of_actions() -> None:
    action = str(ROOT / "action.yml")
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-actions", action]
    said = subprocess.run(command, capture_output=True, text=True)
    assert said.returncode == 0, said.stdout


def test_workflows_call_make_targets_that_exist() -> None:
    makefile = (ROOT / "Makefile").read_text()
    called = {
        target
        for path in WORKFLOWS
        for job in yaml.safe_load(path.read_text())["jobs"].values()
        for step in job.get("steps", ())
        for target in re.findall(r"\bmake ([\w-]+)", step.get("run", ""))
    }
    assert {"test", "browser", "docs", "dist-check", "release-check", "lowest"} <= called
    for target in called:
        assert re.search(rf"^{target}:", makefile, re.M), f"make {target} does not exist"


def test_all_supported_pythons_are_tried() -> None:
    matrix = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text())["jobs"]["tests"]["strategy"][
        "matrix"
    ]
    declared = re.findall(r"Python :: (3\.\d+)", (ROOT / "pyproject.toml").read_text())
    assert matrix["python"] == declared
    assert {"ubuntu-latest", "macos-latest", "windows-latest"} == set(matrix["os"])


def test_a_wheel_without_the_c_kernels_has_another_name(tmp_path: Path) -> None:
    """CC=false leaves the kernels out; the wheel then fits every machine, and its name says so."""
    import os

    copy = tmp_path / "copy"
    command = ["git", "-C", str(ROOT), "ls-files", "-z", "setup.py", "pyproject.toml", "README.md", "LICENSE", "src"]
    for name in subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\0")[:-1]:
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        (copy / name).write_bytes((ROOT / name).read_bytes())
    environment = os.environ | {"CC": "false"}
    build = [sys.executable, "setup.py", "-q", "bdist_wheel", "--dist-dir", str(tmp_path / "dist")]
    subprocess.run(build, cwd=copy, env=environment, check=True, capture_output=True)
    (wheel,) = (tmp_path / "dist").iterdir()
    assert wheel.name.endswith("-py3-none-any.whl")


def test_every_attack_named_has_its_test() -> None:
    named = re.findall(r"`tests/([\w/]+\.py)::(test_\w+)`", (ROOT / "SECURITY.md").read_text("utf-8"))
    assert len(named) > 30
    for file, test in named:
        assert f"def {test}(" in (ROOT / "tests" / file).read_text("utf-8"), f"{file}::{test}"
