"""Compile the simulator for browsers and write the page that runs it: target/playground/index.html.

The compiled simulator also goes into the package, for `optcp playground`, the report and the site. Where no compiler
for WebAssembly is installed, this says so and ends with status 0.
"""

from __future__ import annotations

import gzip
import os
import shutil
import subprocess
from pathlib import Path

from optcp.web.playground import page, starts
from optcp.web.playground.page import MODULE

ROOT = Path(__file__).parents[1]
TARGET = "wasm32-unknown-unknown"
MISSING = (
    f"no compiler for {TARGET} is installed: `rustup target add {TARGET}`, or on Debian the packages rustc-web, "
    "cargo-web, rust-web-src and lld, bring one"
)


def _said(*command: str) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def compiler() -> tuple[list[str], dict[str, str]] | None:
    """Find what compiles for WebAssembly: a command of cargo, and what it needs in its environment; None without one.

    A compiler with the target's standard library comes first, then one with the library's source, which compiles that
    too. Debian's compiler lies beside that of rustup.
    """
    for rustc in dict.fromkeys(filter(None, (shutil.which("rustc"), shutil.which("rustc", path="/usr/bin")))):
        cargo = str(Path(rustc).with_name("cargo"))
        library = _said(rustc, "--print", "target-libdir", "--target", TARGET)
        if library and list(Path(library).glob("libstd-*.rlib")):
            return [cargo], {"RUSTC": rustc}
        linker = shutil.which("rust-lld") or shutil.which("wasm-ld")
        source = Path(_said(rustc, "--print", "sysroot") or "/-") / "lib/rustlib/src/rust/library/std"
        if linker and source.is_dir() and shutil.which(cargo):
            variables = {"CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER": linker, "RUSTC_BOOTSTRAP": "1", "RUSTC": rustc}
            return [cargo, "-Zbuild-std=std,panic_abort"], variables
    return None


def compiled() -> Path | None:
    """Compile crates/web; None where nothing can."""
    found = compiler()
    if found is None:
        return None
    (cargo, *options), variables = found
    directory = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    build = ["build", "--profile", "web", "--locked", "--quiet", "--package", "optcp-web", "--target", TARGET]
    # No path of this machine is in a page that is given away.
    cargo_home = os.environ.get("CARGO_HOME", Path.home() / ".cargo")
    remapped = f"--remap-path-prefix={ROOT}=optcp --remap-path-prefix={cargo_home}=cargo"
    flags = f"{os.environ.get('RUSTFLAGS', '')} {remapped}"
    subprocess.run([cargo, *build, *options], cwd=ROOT, env={**os.environ, "RUSTFLAGS": flags, **variables}, check=True)
    return directory / TARGET / "web" / "optcp_web.wasm"


def main() -> None:
    """Compile it into the package, and write a page with it."""
    module = compiled()
    if module is None:
        print(f"the playground is not built: {MISSING}")
        return
    content = module.read_bytes()
    packed = gzip.compress(content, 9, mtime=0)
    (ROOT / "python/optcp/web/playground" / MODULE).write_bytes(packed)
    written = ROOT / "target/playground/index.html"
    written.parent.mkdir(parents=True, exist_ok=True)
    written.write_text(page(starts()), encoding="utf-8")
    whole = f"{written.stat().st_size / 1000:.0f} kB"
    sizes = f"{len(content) / 1000:.0f} kB, {len(packed) / 1000:.0f} kB with gzip -9"
    print(f"{written.relative_to(ROOT)}: {whole}; the module in it {sizes}")


if __name__ == "__main__":
    main()
