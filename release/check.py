"""What `make release-check` checks; the steps of a release are in docs/developers/release.md.

A step passes, fails, or cannot be run on this machine: then it says why, and is never taken for one that passed.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
DIST = ROOT / "target" / "dist"
MOST_MB = 8
"""No wheel is larger."""
PLAYGROUND = Path("python/optcp/web/playground/simulator.wasm.gz")


class NotChecked(Exception):  # noqa: N818
    """What this machine cannot say."""


def run(*command: str, cwd: Path = ROOT, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a program and keep what it says."""
    environment = os.environ | environment
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)


def must(*command: str, cwd: Path = ROOT, **environment: str) -> str:
    """Run a program that must end well."""
    done = run(*command, cwd=cwd, **environment)
    assert done.returncode == 0, f"{' '.join(command)}\n{(done.stdout + done.stderr)[-2000:]}"
    return done.stdout.strip()


def only(pattern: str) -> Path:
    """The one file of its kind among what was built."""
    (file,) = DIST.glob(pattern)
    return file


def tree() -> str:
    """Everything is committed."""
    changed = must("git", "status", "--porcelain")
    assert not changed, f"not committed:\n{changed}"
    return must("git", "rev-parse", "HEAD")


def version() -> str:
    """The version is the same everywhere, and the changelog has it."""
    ours = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    found = re.findall(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    papers = tomllib.loads((ROOT / "papers" / "pyproject.toml").read_text())["project"]["version"]
    archive = json.loads((ROOT / ".zenodo.json").read_text())["version"]
    assert [*found, papers, archive] == [ours] * 3, (
        f"Cargo.toml says {ours}, CITATION.cff {found}, papers/pyproject.toml {papers}, .zenodo.json {archive}"
    )
    if f"## [{ours}]" not in (ROOT / "CHANGELOG.md").read_text():
        raise NotChecked(f"CHANGELOG.md has no section [{ours}] yet: this is no release")
    return ours


def crates() -> str:
    """Licences, sources and duplicates of the crates are what deny.toml allows."""
    return deny("licenses", "bans", "sources")


def advisories() -> str:
    """No crate has a known vulnerability."""
    return deny("advisories")


def deny(*checks: str) -> str:
    """Ask cargo-deny."""
    if not shutil.which("cargo-deny"):
        raise NotChecked("cargo-deny is not installed: cargo install --locked cargo-deny")
    done = run("cargo", "deny", "--locked", "--all-features", "check", "--hide-inclusion-graph", *checks)
    if "failed to fetch advisory database" in done.stderr:
        raise NotChecked("the database of advisories cannot be fetched from here")
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout.strip() or done.stderr.strip().splitlines()[-1]


def packages() -> str:
    """No package of requirements.lock has a known vulnerability."""
    done = run("pip-audit", "-r", "requirements.lock", "--no-deps", "--disable-pip", "-f", "json")
    # pip-audit ends well where it found out nothing about a package.
    try:
        found = json.loads(done.stdout)["dependencies"]
    except ValueError:
        raise NotChecked(f"pip-audit gave no answer: {(done.stderr.splitlines() or ['nothing'])[-1][:200]}") from None
    bad = [
        f"{one['name']} {one['version']}: {', '.join(v['id'] for v in one['vulns'])}"
        for one in found
        if one.get("vulns")
    ]
    assert not bad, "\n".join(bad)
    skipped = [one["name"] for one in found if "skip_reason" in one]
    if skipped:
        raise NotChecked(f"nothing is known here of {len(skipped)} of {len(found)} packages")
    return f"{len(found)} packages"


def built() -> str:
    """Source archive and wheel are built; the wheel is small enough."""
    must("make", "sdist", "wheel")
    size_mb = only("optcp-*.whl").stat().st_size / 1e6
    assert size_mb <= MOST_MB, f"the wheel has {size_mb:.1f} MB, more than {MOST_MB}"
    return (
        f"{only('optcp-*.whl').name}: {size_mb:.1f} MB; {only('optcp-*.tar.gz').stat().st_size / 1e6:.1f} MB of source"
    )


def again() -> str:
    """The wheel that the source archive gives, elsewhere and without a registry, has the same bytes."""
    commit = must("git", "rev-parse", "--short=12", "HEAD")
    if must("git", "status", "--porcelain", "--untracked-files=no"):
        commit += ".dirty"
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(only("optcp-*.tar.gz")) as archive:
            archive.extractall(folder, filter="data")
        (source,) = Path(folder).iterdir()
        if (ROOT / PLAYGROUND).is_file():
            shutil.copyfile(ROOT / PLAYGROUND, source / PLAYGROUND)  # by `make playground`, and in no archive
        tools = f"TOOLS={ROOT / 'target' / 'tools'}"
        must("make", "wheel", tools, cwd=source, CARGO_NET_OFFLINE="true", OPTCP_COMMIT=commit)
        (other,) = source.glob("target/dist/optcp-*.whl")
        first, second = (hashlib.sha256(one.read_bytes()).hexdigest() for one in (only("optcp-*.whl"), other))
    assert first == second, f"{first} here, {second} from the source archive"
    return first


def paths() -> str:
    """No path of this machine is in what is made for the wheel; the rest of it are files of the checkout."""
    ours = [str(ROOT), str(Path.home()), tempfile.gettempdir()]
    with zipfile.ZipFile(only("optcp-*.whl")) as wheel:
        names = [name for name in wheel.namelist() if re.search(r"/_core\.|\.dist-info/|\.wasm\.gz$", name)]
        made = {name: wheel.read(name) for name in names}
    made |= {name: gzip.decompress(content) for name, content in made.items() if name.endswith(".gz")}
    found = [f"{name}: {path}" for name, content in made.items() for path in ours if path.encode() in content]
    assert not found, "\n".join(found)
    return f"none of {', '.join(ours)} in {len(made)} files"


def bills() -> str:
    """There is a bill of materials of the crates, inside the wheel, and one of the Python packages, beside it."""
    with zipfile.ZipFile(only("optcp-*.whl")) as wheel:
        (name,) = (name for name in wheel.namelist() if "/sboms/" in name)
        inside = json.loads(wheel.read(name))
    beside = DIST / "requirements.cdx.json"
    must("cyclonedx-py", "requirements", "requirements.lock", "--output-reproducible", "-o", str(beside))
    outside = json.loads(beside.read_text())
    return f"{len(inside['components'])} crates, {len(outside['components'])} Python packages"


def environments() -> str:
    """The wheel works in clean environments, with the oldest and the newest of what it needs."""
    return must("make", "--no-print-directory", "test-wheel").splitlines()[-1]


def recipes() -> str:
    """The recipes for conda can be rendered."""
    try:
        from rattler_build import RattlerBuildError, Stage0Recipe, VariantConfig
    except ImportError:
        raise NotChecked("no py-rattler-build here: pip install py-rattler-build") from None
    compilers = VariantConfig.from_yaml("c_stdlib: [sysroot]\nc_compiler: [gcc]\nrust_compiler: [rust]\n")
    names = []
    for file in sorted((ROOT / "release" / "conda").glob("*/recipe.yaml")):
        try:
            names += [one.recipe.package.name for one in Stage0Recipe.from_file(str(file)).render(compilers)]
        except RattlerBuildError as error:
            raise AssertionError(f"{file.relative_to(ROOT)}: {error}") from error
    return ", ".join(map(str, names))


def container() -> str:
    """The container can be built, and runs a scenario while it is."""
    builders = [name for name in ("podman", "docker") if shutil.which(name) and run(name, "info").returncode == 0]
    if not builders:
        raise NotChecked("no podman here, and no docker with a daemon")
    must(builders[0], "build", "--file", "Containerfile", "--tag", "optcp", ".")
    return must(builders[0], "run", "--rm", "optcp", "--version")


STEPS = (tree, version, crates, advisories, packages, built, again, paths, bills, environments, recipes, container)


def main() -> int:
    """Run all steps; 1 if one failed."""
    failed = 0
    for step in STEPS:
        try:
            result, what = "passed", step()
        except NotChecked as reason:
            result, what = "NOT CHECKED", str(reason)
        except AssertionError as error:
            result, what, failed = "FAILED", str(error), failed + 1
        print(f"{result:11}  {step.__doc__}\n             {what}", flush=True)
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
