//! Everything that a scenario file can name, and the JSON Schema of the file.

use optcp_tcp::config::{
    AckCounting, AckKind, AfterTimeout, Backoff, CongestionKind, DuplicateAckKind, Expiry,
    FirstLoss, Halving, Increase, LossDetectionKind, Measurement, NewRenoTimer, Pacing, PartialAck,
    RateReduction, RecoveryExit, RecoveryKind, ReductionBasis, RttKind, SlowStartKind,
    TimeoutBasis, WindowValidation,
};
use optcp_tcp::profile::Profile;
use optcp_tcp::registry::Entry;
use optcp_units::UNITS;
use serde_json::{Value, json};

use crate::plan::ObserveKind;
use crate::schema::{
    AssemblyKind, CapacityKind, ConvergeKind, ConversionKind, FailedDirections, FailedPackets,
    File, LossKind, LossyPackets, MembersKind, ProcessKind, ProtectKind, RepairKind, RevertKind,
    SchedulingKind, SchemeKind, SelectionKind, SizesKind, TunnelTtl,
};

/// One line of `optcp list`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CatalogueEntry {
    /// What kind of thing it is.
    pub family: &'static str,
    /// Its name in scenario files.
    pub name: String,
    /// One line: what it is or does.
    pub summary: String,
    /// The RFC section, paper or program that it follows.
    pub source: String,
}

/// The families of names that are one registry each.
const REGISTRIES: &[(&str, &[Entry])] = &[
    (Profile::FAMILY, Profile::CATALOGUE),
    (RecoveryKind::FAMILY, RecoveryKind::CATALOGUE),
    (LossDetectionKind::FAMILY, LossDetectionKind::CATALOGUE),
    (RateReduction::FAMILY, RateReduction::CATALOGUE),
    (AfterTimeout::FAMILY, AfterTimeout::CATALOGUE),
    (CongestionKind::FAMILY, CongestionKind::CATALOGUE),
    (Increase::FAMILY, Increase::CATALOGUE),
    (AckCounting::FAMILY, AckCounting::CATALOGUE),
    (SlowStartKind::FAMILY, SlowStartKind::CATALOGUE),
    (WindowValidation::FAMILY, WindowValidation::CATALOGUE),
    (Pacing::FAMILY, Pacing::CATALOGUE),
    (RttKind::FAMILY, RttKind::CATALOGUE),
    (Measurement::FAMILY, Measurement::CATALOGUE),
    (Expiry::FAMILY, Expiry::CATALOGUE),
    (NewRenoTimer::FAMILY, NewRenoTimer::CATALOGUE),
    (PartialAck::FAMILY, PartialAck::CATALOGUE),
    (RecoveryExit::FAMILY, RecoveryExit::CATALOGUE),
    (ReductionBasis::FAMILY, ReductionBasis::CATALOGUE),
    (TimeoutBasis::FAMILY, TimeoutBasis::CATALOGUE),
    (Halving::FAMILY, Halving::CATALOGUE),
    (Backoff::FAMILY, Backoff::CATALOGUE),
    (FirstLoss::FAMILY, FirstLoss::CATALOGUE),
    (AckKind::FAMILY, AckKind::CATALOGUE),
    (DuplicateAckKind::FAMILY, DuplicateAckKind::CATALOGUE),
    (SchemeKind::FAMILY, SchemeKind::CATALOGUE),
    (RevertKind::FAMILY, RevertKind::CATALOGUE),
    (CapacityKind::FAMILY, CapacityKind::CATALOGUE),
    (FailedPackets::FAMILY, FailedPackets::CATALOGUE),
    (FailedDirections::FAMILY, FailedDirections::CATALOGUE),
    (RepairKind::FAMILY, RepairKind::CATALOGUE),
    (ProtectKind::FAMILY, ProtectKind::CATALOGUE),
    (ConvergeKind::FAMILY, ConvergeKind::CATALOGUE),
    (TunnelTtl::FAMILY, TunnelTtl::CATALOGUE),
    (MembersKind::FAMILY, MembersKind::CATALOGUE),
    (SelectionKind::FAMILY, SelectionKind::CATALOGUE),
    (AssemblyKind::FAMILY, AssemblyKind::CATALOGUE),
    (SchedulingKind::FAMILY, SchedulingKind::CATALOGUE),
    (ConversionKind::FAMILY, ConversionKind::CATALOGUE),
    (LossKind::FAMILY, LossKind::CATALOGUE),
    (LossyPackets::FAMILY, LossyPackets::CATALOGUE),
    (ProcessKind::FAMILY, ProcessKind::CATALOGUE),
    (SizesKind::FAMILY, SizesKind::CATALOGUE),
    (ObserveKind::FAMILY, ObserveKind::CATALOGUE),
];

/// Every registered choice, loss, observation, distribution and unit.
#[must_use]
pub fn catalogue() -> Vec<CatalogueEntry> {
    let entry = |family, name: &str, summary: &str, source: &str| CatalogueEntry {
        family,
        name: name.to_owned(),
        summary: summary.to_owned(),
        source: source.to_owned(),
    };
    let registered = REGISTRIES.iter().flat_map(|(family, entries)| {
        entries.iter().map(move |e| entry(family, e.name, e.summary, e.source))
    });
    let distributions = [entry(
        "distributions",
        "uniform(low, high)",
        "any value from low to high, all equally likely; drawn once a link or flow",
        "OpTCP",
    )];
    let units = UNITS.iter().map(|unit| {
        let aliases = match unit.aliases {
            [] => String::new(),
            aliases => format!(" (also {})", aliases.join(", ")),
        };
        entry("units", unit.name, &format!("{}{aliases}", unit.summary), "SI, IEC 80000-13")
    });
    registered.chain(distributions).chain(units).collect()
}

/// The JSON Schema of a scenario file.
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
                "description": "a parameter such as `$name`, or a product such as `0.9 * $name`",
            }),
        );
    }
    format!("{schema:#}\n")
}

/// Takes out `null`, which is how schemars writes an optional key and which TOML does not have.
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

/// Lets an expression stand where the schema has something that is not a plain string.
fn admit_expressions(definition: &mut Value) {
    let expression = || json!({ "$ref": "#/$defs/Expression" });
    // The names of a registry.
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
        // What describes the property stays outside, what restricts it goes into one of two cases.
        let mut case = json!({ "type": kind });
        if let (Some(items), Some(case)) = (object.remove("items"), case.as_object_mut()) {
            case.insert("items".to_owned(), items);
        }
        object.insert("anyOf".to_owned(), json!([case, expression()]));
    }
}
