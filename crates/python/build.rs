//! Tells the module which commit it was built from.

use std::process::Command;

fn main() {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim().to_owned())
    };
    // Outside a checkout (a source archive) the version stands alone, or whoever builds says of which commit it is.
    if let Some(commit) = option_env!("OPTCP_COMMIT") {
        println!("cargo::rustc-env=OPTCP_COMMIT={commit}");
        return;
    }
    let commit = git(&["rev-parse", "--short=12", "HEAD"]).unwrap_or_default();
    let changed = git(&["status", "--porcelain", "--untracked-files=no"]).unwrap_or_default();
    let dirty = if commit.is_empty() || changed.is_empty() { "" } else { ".dirty" };
    println!("cargo::rustc-env=OPTCP_COMMIT={commit}{dirty}");
    for path in ["HEAD", "index", "refs/heads"] {
        if let Some(path) = git(&["rev-parse", "--git-path", path]) {
            println!("cargo::rerun-if-changed=../../{path}");
        }
    }
    println!("cargo::rerun-if-changed=build.rs");
}
