//! JSON Schema and catalogue, from which other parts of the project are generated.

use std::collections::BTreeSet;

use optcp_scenario::plan::ObserveKind;
use optcp_scenario::{catalogue, json_schema};

/// After a change of the schema: `UPDATE_SCHEMA=1 cargo test -p optcp-scenario schema`.
#[test]
#[expect(clippy::disallowed_methods, reason = "only this test writes the committed schema")]
fn the_committed_schema_is_fresh() {
    let schema = json_schema();
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/schema.json");
        std::fs::write(path, &schema).unwrap();
        return;
    }
    assert!(
        schema == include_str!("../schema.json"),
        "stale: UPDATE_SCHEMA=1 cargo test -p optcp-scenario schema"
    );
}

/// The text of a key names the kinds that take it, and no others.
#[test]
fn the_keys_of_observations_name_their_kinds() {
    let schema: serde_json::Value = serde_json::from_str(&json_schema()).unwrap();
    for kind in ObserveKind::ALL {
        let keys = kind.keys();
        for (key, takes) in [
            ("groups", keys.groups.is_some()),
            ("links", keys.links.is_some()),
            ("interval", keys.interval),
            ("after", keys.after),
            ("until", keys.until),
        ] {
            let text = &schema["$defs"]["ObserveEntry"]["properties"][key]["description"];
            let said = text.as_str().unwrap().contains(&format!("`{}`", kind.name()));
            assert_eq!(said, takes, "kind `{}`, key `{key}`: {text}", kind.name());
        }
    }
}

#[test]
fn the_catalogue_has_every_family_once() {
    let entries = catalogue();
    let names: BTreeSet<_> = entries.iter().map(|entry| (entry.family, &entry.name)).collect();
    assert_eq!(names.len(), entries.len());
    for (family, name) in [
        ("profiles", "ns2-2001"),
        ("recovery", "newreno"),
        ("observations", "goodput"),
        ("distributions", "uniform(low, high)"),
        ("units", "Mbps"),
    ] {
        let entry = entries.iter().find(|entry| entry.family == family && entry.name == name);
        let entry = entry.unwrap_or_else(|| panic!("{family} {name}"));
        assert!(!entry.summary.is_empty() && !entry.source.is_empty());
    }
}
