"""`make release-check` never passes unchecked items: pip-audit succeeds for packages that it does not know."""

import importlib.util
import json
import subprocess
from pathlib import Path

import pytest

SPEC = importlib.util.spec_from_file_location("check", Path(__file__).parents[2] / "release" / "check.py")
check = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(check)

FETCH = "[ERROR] failed to fetch advisory database https://github.com/RustSec/advisory-db with cli: failed to clone"


@pytest.fixture
def says(monkeypatch):
    def answer(code=0, out="", err=""):
        monkeypatch.setattr(check, "run", lambda *command, **_: subprocess.CompletedProcess(command, code, out, err))
        monkeypatch.setattr(check.shutil, "which", lambda name: name)

    return answer


def audited(*packages):
    return json.dumps({"dependencies": [{"name": "a", "version": "1", **package} for package in packages], "fixes": []})


def test_packages_not_found_are_not_checked(says):
    says(out=audited({"vulns": []}, {"skip_reason": "Dependency not found"}))
    with pytest.raises(check.NotChecked, match="1 of 2 packages"):
        check.packages()


def test_missing_answer_counts_as_not_checked(says):
    says(1, err="Traceback\nConnectionError: no route")
    with pytest.raises(check.NotChecked, match="ConnectionError: no route"):
        check.packages()


def test_known_vulnerability_fails_even_if_others_are_unknown(says):
    says(1, audited({"vulns": [{"id": "PYSEC-2026-1"}]}, {"skip_reason": "Dependency not found"}))
    with pytest.raises(AssertionError, match="a 1: PYSEC-2026-1"):
        check.packages()
    says(out=audited({"vulns": []}))
    assert check.packages() == "1 packages"


def test_unavailable_advisories_count_as_not_checked(says):
    says(1, err=FETCH)
    with pytest.raises(check.NotChecked, match="cannot be fetched"):
        check.advisories()
    says(4, err="error[vulnerability]: out of bounds")
    with pytest.raises(AssertionError, match="out of bounds"):
        check.advisories()


def test_without_cargo_deny_nothing_is_checked(says, monkeypatch):
    says()
    monkeypatch.setattr(check.shutil, "which", lambda _: None)
    with pytest.raises(check.NotChecked, match="cargo install --locked cargo-deny"):
        check.crates()


def test_one_failure_fails_all_but_other_checks_run(monkeypatch, capsys):
    def fine():
        """Fine."""
        return "so it is"

    def unknown():
        """Unknown."""
        raise check.NotChecked("no network")

    def broken():
        """Broken."""
        raise AssertionError("too large")

    monkeypatch.setattr(check, "STEPS", (broken, unknown, fine))
    assert check.main() == 1
    found = [line.split("  ")[0] for line in capsys.readouterr().out.splitlines()[::2]]
    assert found == ["FAILED", "NOT CHECKED", "passed"]
    monkeypatch.setattr(check, "STEPS", (unknown, fine))
    assert check.main() == 0
