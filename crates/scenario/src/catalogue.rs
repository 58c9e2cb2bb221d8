//! Catalogue of the names that scenario files accept, and the JSON Schema of the files.

use optcp_units::UNITS;
use optcp_units::registry::Family;
use serde_json::{Value, json};

use crate::plan::CapacityKind;
use crate::schema::{
    Chosen, CodepointKind, DISTRIBUTIONS, DelayCourse, Directions, Disjoint, EceFlag,
    FailedDirections, FailedPackets, File, GeneratorKind, LinkState, MembersKind, Metric, Phases,
    ScheduleForm, Transmitter, Weights,
};
use crate::warnings::WarningKind;

/// Entry of `optcp list`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CatalogueEntry {
    /// Family of the name.
    pub family: &'static str,
    /// Name in scenario files.
    pub name: String,
    /// Effect, in one line.
    pub summary: String,
    /// RFC section, paper or program that defines it.
    pub source: String,
}

/// Returns all families of names, in the order of `optcp list`.
fn families() -> impl Iterator<Item = Family> {
    let of_files = [
        CapacityKind::FAMILY,
        FailedPackets::FAMILY,
        FailedDirections::FAMILY,
        MembersKind::FAMILY,
        Directions::FAMILY,
        Transmitter::FAMILY,
        DelayCourse::FAMILY,
        LinkState::FAMILY,
        GeneratorKind::FAMILY,
        Phases::FAMILY,
        ScheduleForm::FAMILY,
        EceFlag::FAMILY,
        CodepointKind::FAMILY,
        Chosen::FAMILY,
        Metric::FAMILY,
        Weights::FAMILY,
        Disjoint::FAMILY,
        WarningKind::FAMILY,
    ];
    [
        optcp_tcp::FAMILIES,
        optcp_optical::FAMILIES,
        optcp_routing::FAMILIES,
        optcp_net::FAMILIES,
        optcp_traffic::FAMILIES,
        optcp_engine::FAMILIES,
        &of_files,
    ]
    .concat()
    .into_iter()
}

/// Returns all registered options, losses, observations, distributions and units.
#[must_use]
pub fn catalogue() -> Vec<CatalogueEntry> {
    let entry = |family, name: &str, summary: &str, source: &str| CatalogueEntry {
        family,
        name: name.to_owned(),
        summary: summary.to_owned(),
        source: source.to_owned(),
    };
    let registered = families().flat_map(|family| {
        family.members.iter().map(move |e| entry(family.name, e.name, e.summary, e.source))
    });
    let distributions =
        DISTRIBUTIONS.iter().map(|one| entry("distributions", one.form, one.summary, one.source));
    let units = UNITS.iter().map(|unit| {
        let aliases = match unit.aliases {
            [] => String::new(),
            aliases => format!(" (also {})", aliases.join(", ")),
        };
        entry("units", unit.name, &format!("{}{aliases}", unit.summary), "SI, IEC 80000-13")
    });
    registered.chain(distributions).chain(units).collect()
}

/// Returns the JSON Schema of a scenario file.
#[must_use]
pub fn json_schema() -> String {
    let mut schema = schemars::schema_for!(File).to_value();
    remove_null(&mut schema);
    if let Some(definitions) = schema.get_mut("$defs").and_then(Value::as_object_mut) {
        for definition in definitions.values_mut() {
            admit_expressions(definition);
        }
        definitions.insert(
            "Expression".to_owned(),
            json!({
                "type": "string",
                "pattern": "\\$|\\*",
                "description": "parameter such as `$name`, or product such as `0.9 * $name`",
            }),
        );
    }
    format!("{schema:#}\n")
}

/// Removes `null` from the schema: schemars adds it for optional keys, but TOML has no null.
fn remove_null(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            if let Some(Value::Array(kinds)) = object.get_mut("type") {
                kinds.retain(|kind| kind != "null");
                if let [kind] = kinds.as_slice() {
                    let kind = kind.clone();
                    object.insert("type".to_owned(), kind);
                }
            }
            if let Some(Value::Array(cases)) = object.get_mut("anyOf") {
                cases.retain(|case| *case != json!({ "type": "null" }));
                if let [case] = cases.as_slice() {
                    let case = case.as_object().cloned().unwrap_or_default();
                    object.remove("anyOf");
                    object.extend(case);
                }
            }
            object.values_mut().for_each(remove_null);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_null),
        _ => {}
    }
}

/// Allows an expression for every value that is not a plain string.
fn admit_expressions(definition: &mut Value) {
    let expression = || json!({ "$ref": "#/$defs/Expression" });
    // Names of a registry.
    if let Some(choices) = definition.get_mut("oneOf").and_then(Value::as_array_mut) {
        choices.push(expression());
    }
    let Some(properties) = definition.get_mut("properties").and_then(Value::as_object_mut) else {
        return;
    };
    for property in properties.values_mut() {
        let Some(object) = property.as_object_mut() else { continue };
        let Some(kind) = object.remove("type") else { continue };
        if kind != "boolean" && kind != "array" {
            object.insert("type".to_owned(), kind);
            continue;
        }
        // The description stays outside; the type constraints move into one of two cases.
        let mut case = json!({ "type": kind });
        if let (Some(items), Some(case)) = (object.remove("items"), case.as_object_mut()) {
            case.insert("items".to_owned(), items);
        }
        object.insert("anyOf".to_owned(), json!([case, expression()]));
    }
}
