//! The arrows between the crates, as docs/architecture.md draws them.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

/// Each crate and those of the project that it may depend on; nothing else may be drawn.
const ARROWS: &[(&str, &[&str])] = &[
    ("optcp-units", &[]),
    ("optcp-des", &["optcp-units"]),
    ("optcp-tcp", &["optcp-units"]),
    ("optcp-net", &["optcp-units", "optcp-des", "optcp-tcp"]),
    ("optcp-optical", &["optcp-units", "optcp-net"]),
    ("optcp-routing", &["optcp-units"]),
    ("optcp-traffic", &["optcp-units", "optcp-des"]),
    (
        "optcp-engine",
        &["optcp-units", "optcp-des", "optcp-tcp", "optcp-traffic", "optcp-net", "optcp-optical"],
    ),
    (
        "optcp-scenario",
        &[
            "optcp-units",
            "optcp-des",
            "optcp-tcp",
            "optcp-net",
            "optcp-optical",
            "optcp-routing",
            "optcp-traffic",
            "optcp-engine",
        ],
    ),
    ("optcp-python", &["optcp-units", "optcp-scenario"]),
];

/// What a crate below `scenario` has no business with.
const ABOVE_ONLY: &[&str] = &["toml", "miette", "serde_json", "pyo3", "numpy"];

#[test]
fn arrows_between_the_crates_point_down() {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline", "--manifest-path"])
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.toml"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let allowed: BTreeMap<&str, &[&str]> = ARROWS.iter().copied().collect();
    let mut seen = BTreeSet::new();
    for package in metadata["packages"].as_array().unwrap() {
        let name = package["name"].as_str().unwrap();
        let below = allowed.get(name).unwrap_or_else(|| panic!("{name} is not in the picture"));
        seen.insert(name);
        for dependency in package["dependencies"].as_array().unwrap() {
            // Tests may use what they like.
            if dependency["kind"] == "dev" {
                continue;
            }
            let other = dependency["name"].as_str().unwrap();
            if allowed.contains_key(other) {
                assert!(below.contains(&other), "{name} must not depend on {other}");
            }
            let front = ["optcp-scenario", "optcp-python"].contains(&name);
            assert!(front || !ABOVE_ONLY.contains(&other), "{name} must not depend on {other}");
        }
    }
    assert_eq!(seen, allowed.keys().copied().collect());
}
