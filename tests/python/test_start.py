"""First steps: a new scenario, its schema in editors, completion in shells, help by sections."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

from optcp import catalogue
from optcp.cli import completion
from optcp.cli.main import SECTIONS, cli
from optcp.papers import registry
from optcp.scenarios.shipped import SCHEMA, scenarios

ROOT = Path(__file__).parents[2]
TAPLO = Path(sys.executable).with_name("taplo")


def taplo(path):
    """Return exit status and messages of the linter for a file whose first line names the schema."""
    done = subprocess.run(
        [TAPLO, "lint", "--colors", "never", path], cwd="/", capture_output=True, text=True, check=False
    )
    return done.returncode, done.stderr + done.stdout


# A scenario


def test_a_new_scenario_is_valid_and_runs_at_once(command, tmp_path):
    said = command("new", "my worlds/first.toml").stdout
    assert said == (
        f"my worlds/first.toml: written\nmy worlds/{SCHEMA}: written\n"
        "Next:\n  optcp validate 'my worlds/first.toml'\n  optcp run 'my worlds/first.toml'\n"
    )
    checked = command("validate", "my worlds/first.toml")
    assert checked.stdout.startswith("my worlds/first.toml: valid\n")
    assert checked.stderr == ""
    assert "3 runs stored in results/first" in command("run", "my worlds/first.toml").stdout
    assert (tmp_path / "my worlds" / SCHEMA).read_text() == command("schema").stdout.removesuffix("\n")


def test_page_shows_written_scenario(command, tmp_path):
    command("new", "ring.toml")
    page = (ROOT / "docs" / "start.md").read_text(encoding="utf-8")
    assert f"```toml\n{(tmp_path / 'ring.toml').read_text()}```" in page


def test_comments_describe_every_table(command, tmp_path):
    command("new", "ring.toml")
    text = (tmp_path / "ring.toml").read_text()
    assert "# Change first: " in text
    tables = re.findall(r"^\[.*", text, re.MULTILINE)
    assert [line for line in tables if "  # " not in line] == []
    assert len(tables) == 10


def test_a_new_scenario_is_the_shipped_one(command, tmp_path):
    command("new", "mine.toml", "--from", "single-failure")
    first, rest = (tmp_path / "mine.toml").read_text().split("\n", 1)
    assert first == f"#:schema ./{SCHEMA}"
    assert rest == scenarios()["single-failure"].read_text()


def test_an_unknown_scenario_is_answered_with_the_nearest(optcp, tmp_path):
    status, out, err = optcp("new", "mine.toml", "--from", "single-failur")
    assert (status, out) == (2, "")
    assert err.startswith("Error: --from single-failur: unknown scenario; did you mean 'single-failure'?")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("mine", "Error: mine: expected a name that ends with .toml, as editors do, such as mine.toml\n"),
        ("mine.d", "such as mine.d.toml\n"),
        (".", "File '.' is a directory"),
        ("", "the path is empty"),
    ],
)
def test_invalid_scenario_name_is_refused(optcp, tmp_path, name, said):
    status, out, err = optcp("new", name)
    assert (status, out) == (2, "")
    assert said in err
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_overwritten_without_force(optcp, tmp_path):
    (tmp_path / "mine.toml").write_text("mine")
    assert optcp("new", "mine.toml") == (
        2,
        "",
        "Error: mine.toml: the file exists with other content; use --force to overwrite it\n",
    )
    assert [path.name for path in tmp_path.iterdir()] == ["mine.toml"]
    assert (tmp_path / "mine.toml").read_text() == "mine"
    assert optcp("new", "mine.toml", "--force")[0] == 0
    assert (tmp_path / "mine.toml").read_text().startswith("#:schema ")


def test_older_schema_names_command_that_renews_it(optcp, tmp_path):
    (tmp_path / SCHEMA).write_text("{}")
    status, _, err = optcp("new", "mine.toml")
    assert (status, [path.name for path in tmp_path.iterdir()]) == (2, [SCHEMA])
    assert f"use --force to overwrite it or `optcp schema --out {SCHEMA}` to renew it" in err
    assert optcp("schema", "--out", SCHEMA) == (0, f"{SCHEMA}\n", "")
    assert optcp("new", "mine.toml")[0] == 0
    assert f"mine.toml: unchanged\n{SCHEMA}: unchanged\n" in optcp("new", "mine.toml")[1]


# Its schema


@pytest.mark.parametrize("name", scenarios())
def test_an_editor_finds_the_schema_and_no_mistake(optcp, tmp_path, name):
    assert optcp("new", "mine.toml", "--from", name)[0] == 0
    assert taplo(tmp_path / "mine.toml")[0] == 0


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ('delay = "4 ms"', 'dealy = "4 ms"', "'dealy' was unexpected"),
        ('interval = "100 ms"', "interval = 100", "is not of type"),
        ('kind = "goodput"', 'kind = "godput"', '"godput"'),
        ('stop = "8 s"', "", '"stop" is a required property'),
    ],
)
def test_an_editor_marks_a_mistake(optcp, tmp_path, right, wrong, said):
    optcp("new", "mine.toml")
    path = tmp_path / "mine.toml"
    assert path.read_text().count(right) == 1
    path.write_text(path.read_text().replace(right, wrong))
    status, messages = taplo(path)
    assert status != 0
    assert said in messages


def test_missing_schema_file_is_ignored(optcp, tmp_path):
    optcp("new", "mine.toml")
    (tmp_path / "mine.toml").write_text(f"#:schema ./{SCHEMA}\nnodes = 3\n")
    assert taplo(tmp_path / "mine.toml")[0] != 0
    (tmp_path / SCHEMA).write_text("{}")
    assert taplo(tmp_path / "mine.toml")[0] == 0


# Completion


def complete(words, cwd, shell="bash"):
    """Return the command's answer to a shell."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", "from optcp.cli.main import main; main()"],
        cwd=cwd,
        env={
            **os.environ,
            "_OPTCP_COMPLETE": f"{shell}_complete",
            "COMP_WORDS": words,
            "COMP_CWORD": str(len(words.split(" ")) - 1),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    imports = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    imported = {line.rpartition("|")[2].strip().partition(".")[0] for line in imports}
    assert not imported & {"numpy", "scipy", "matplotlib", "rich", "jinja2", "networkx", "pandas"}
    assert (done.returncode, len(imports)) == (0, len(done.stderr.splitlines())), done.stderr
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("optcp val", ["plain,validate"]),
        ("optcp run sing", ["plain,single-failure"]),
        ("optcp animate sing", ["plain,single-failure"]),
        ("optcp playground ring sing", ["plain,single-failure"]),
        ("optcp run mi", ["plain,mine.toml"]),
        ("optcp run ./mi", ["plain,./mine.toml"]),
        ("optcp run nowhere", ["file,nowhere"]),
        ("optcp new mine.toml --from gmpls-section7", ["plain,gmpls-section7"]),
        ("optcp run mine.toml --by completion_p9", ["plain,completion_p95_s", "plain,completion_p99_s"]),
        ("optcp plot results --y drop_", ["plain,drop_share"]),
        ("optcp compare results --metric wavelength", ["plain,wavelength_utilisation"]),
        (
            "optcp reproduce gmpls/table3 gmpls/fig1",
            [f"plain,gmpls/fig1{place}" for place in (0, 1, 2, 3, 4, 5, 6, 8, 9)],
        ),
        ("optcp sensitivity lbas/tr", ["plain,lbas/trends"]),
        ("optcp list sndl", ["plain,sndlib"]),
        ("optcp list profi", ["plain,profiles"]),
        ("optcp completion f", ["plain,fish"]),
        ("optcp rnu valid", ["plain,validate"]),  # and no message in the middle of a line that is being typed
        ("optcp run nosuch --dry", ["plain,--dry-run"]),
    ],
)
def test_shell_completion_offers_matching_names(tmp_path, words, expected):
    (tmp_path / "mine.toml").touch()
    (tmp_path / "mi ne.toml").touch()
    assert complete(words, tmp_path) == expected


def test_names_for_shells_are_those_of_the_program():
    assert set(completion.exhibits()) == {*registry.exhibits(), *registry.names()}
    assert set(completion.families()) == {*catalogue.families(), *catalogue.collections()}


@pytest.fixture
def home(tmp_path, monkeypatch):
    for variable in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "ZDOTDIR"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def test_install_reports_its_change_and_is_idempotent(optcp, home):
    (home / ".bashrc").write_text("alias a=b")
    (home / ".bashrc").chmod(0o600)
    script = home / ".local/share/optcp/completion.bash"
    line = f"[ ! -r {script} ] || . {script}  # completion of optcp"
    last = f"Start a new bash to use it. To remove it, delete {script}.\n"
    said = (0, f"{script}: written\n{home}/.bashrc: line added: {line}\n{last}", "")
    assert optcp("completion", "--install", "bash") == said
    said = (0, f"{script}: unchanged\n{home}/.bashrc: unchanged\n{last}", "")
    assert optcp("completion", "--install", "bash") == said
    assert (home / ".bashrc").read_text() == f"alias a=b\n{line}\n"
    assert (home / ".bashrc").stat().st_mode & 0o777 == 0o600
    assert script.read_text() == optcp("completion", "bash")[1]


def test_a_shell_that_optcp_cannot_complete_is_named(optcp, monkeypatch):
    monkeypatch.setenv("SHELL", "/bin/tcsh")
    status, out, err = optcp("completion", "--install")
    assert (status, out) == (2, "")
    assert "no completion for the shell tcsh; there are: bash, fish, zsh" in err


@pytest.mark.skipif(os.name == "nt", reason="a login shell is POSIX's")
def test_without_shell_in_the_environment_the_login_shell_counts(optcp, home, monkeypatch):
    import pwd

    monkeypatch.setenv("SHELL", "")
    for login, said in (
        ("/bin/fish", "Start a new fish to use it."),
        ("/sbin/nologin", "no completion for the shell nologin; "),
    ):
        entry = (*pwd.getpwuid(os.getuid())[:6], login)
        monkeypatch.setattr(pwd, "getpwuid", lambda _, entry=entry: pwd.struct_passwd(entry))
        assert said in "".join(optcp("completion", "--install")[1:])
    assert (home / ".config/fish/completions/optcp.fish").is_file()


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_completes_once_it_is_installed(optcp, home):
    assert optcp("completion", "--install", "bash")[0] == 0
    binary = home / "bin" / "optcp"
    binary.parent.mkdir()
    binary.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m optcp "$@"\n')
    binary.chmod(0o755)
    # compopt needs a line being typed, and there is none here.
    ask = (
        'compopt() { echo "compopt $*"; }; COMP_WORDS=(optcp run erl); COMP_CWORD=2; '
        '_optcp_completion optcp; echo "${COMPREPLY[*]}"; complete -p optcp'
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", f'. "$HOME/.bashrc"; {ask}'],
        env={**os.environ, "PATH": f"{binary.parent}:{os.environ['PATH']}"},
        cwd=home,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("erlang-b\ncomplete -o nosort -F _optcp_completion optcp\n", "")
    (home / ".local/share/optcp/completion.bash").unlink()
    undone = subprocess.run(["bash", "--norc", "-ec", '. "$HOME/.bashrc"'], capture_output=True, text=True, check=False)
    assert (undone.returncode, undone.stdout, undone.stderr) == (0, "", "")


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_have_their_own_files(optcp, home, monkeypatch, shell):
    monkeypatch.setenv("SHELL", f"/usr/bin/{shell}")
    status, out, _ = optcp("completion", "--install")
    assert status == 0
    script, start = {
        "zsh": (".local/share/optcp/completion.zsh", ".zshrc"),
        "fish": (".config/fish/completions/optcp.fish", None),
    }[shell]
    assert f"{home / script}: written\n" in out
    assert f"{shell}_complete" in (home / script).read_text()
    assert {path.name for path in home.glob(".*")} == {Path(script).parts[0], *([start] if start else [])}
    if shutil.which(shell):
        files = [home / name for name in (script, start) if name]
        for file in files:
            subprocess.run([shell, "-n", file], check=True)


# Help


def test_every_command_is_in_one_section_of_the_help():
    known = cli.list_commands(click.Context(cli))
    assert sorted(verb for verbs in SECTIONS.values() for verb in verbs) == known


def test_the_help_lists_commands_by_section(optcp, snapshot):
    status, out, _ = optcp("--help")
    assert status == 0
    assert out == snapshot
