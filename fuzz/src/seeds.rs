//! Initial inputs: files of the repository, and small inputs that failed before.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use super::Target;

/// Returns the checkout; this file is compiled at more than one place of it.
static ROOT: LazyLock<PathBuf> = LazyLock::new(|| {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = here.ancestors().find(|at| at.join("fuzz/corpus").is_dir());
    root.expect("the sources are there").to_owned()
});

/// Returns the directory of the shipped scenarios.
const SCENARIOS: [&str; 6] = [
    "python/optcp/scenarios",
    "papers/optcp_papers/das/scenarios",
    "papers/optcp_papers/gmpls/scenarios",
    "papers/optcp_papers/lbas/scenarios",
    "papers/optcp_papers/obs/scenarios",
    "papers/optcp_papers/slides/scenarios",
];

static SHIPPED: LazyLock<Vec<(String, String)>> = LazyLock::new(|| {
    let text = |(name, bytes)| (name, String::from_utf8(bytes).expect("scenarios are text"));
    scenarios().map(text).collect()
});

/// Returns the text of a shipped scenario, or of an arbitrary one if the name is unknown.
pub fn shipped(name: &str) -> &'static str {
    let found = SHIPPED.iter().find(|(file, _)| file.strip_suffix(".toml") == Some(name));
    &found.unwrap_or(&SHIPPED[0]).1
}

/// Returns the initial inputs of a target, in the order of their paths.
pub fn of(target: Target) -> Vec<Vec<u8>> {
    let corpus = format!("fuzz/corpus/{}", target.name());
    let more = match target {
        Target::Scenario => scenarios().chain(files("crates/scenario/tests/bad")).collect(),
        Target::Packetdrill => files("tests/packetdrill"),
        Target::Overrides | Target::Conformance | Target::Parquet => Vec::new(),
    };
    files(&corpus).into_iter().chain(more).map(|(_, bytes)| bytes).collect()
}

/// Returns the shipped scenarios, without the Python modules of the same folders.
fn scenarios() -> impl Iterator<Item = (String, Vec<u8>)> {
    let found = SCENARIOS.into_iter().flat_map(files);
    found.filter(|(name, _)| Path::new(name).extension().is_some_and(|kind| kind == "toml"))
}

/// Returns the name and content of every file below a directory.
fn files(directory: &str) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    collect(&ROOT.join(directory), &mut found);
    found.sort();
    found
}

#[expect(clippy::disallowed_methods, reason = "inputs are made from files of the repository")]
fn collect(directory: &Path, found: &mut Vec<(String, Vec<u8>)>) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, found);
        } else {
            let name = entry.file_name().to_string_lossy().into_owned();
            found.push((name, fs::read(&path).expect("a file can be read")));
        }
    }
}
