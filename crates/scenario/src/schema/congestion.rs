//! Value of `congestion`: a registered name, or a class of another program.

use std::fmt;

use optcp_tcp::config::{Config, CongestionKind};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::StrDeserializer;
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer};

/// Congestion control as written in a scenario.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Congestion {
    pub(crate) kind: CongestionKind,
    /// Class, such as `module.Class`.
    pub(crate) class: Option<String>,
}

/// Kinds that are followed by a class.
const WITH_CLASS: [CongestionKind; 2] = [CongestionKind::Python, CongestionKind::PythonPaced];

impl<'de> Deserialize<'de> for Congestion {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(CongestionVisitor)
    }
}

/// Reads the text, so that errors have its place.
struct CongestionVisitor;

impl Visitor<'_> for CongestionVisitor {
    type Value = Congestion;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a congestion control")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Congestion, E> {
        if let Some((prefix, class)) = text.split_once(':')
            && let Some(&kind) = WITH_CLASS.iter().find(|kind| kind.name() == prefix)
        {
            return match class.rsplit_once('.') {
                Some((module, name)) if !module.is_empty() && !name.is_empty() => {
                    Ok(Congestion { kind, class: Some(class.to_owned()) })
                }
                _ => Err(E::custom(format_args!(
                    "`{text}` names no class: expected `{prefix}:MODULE.CLASS`"
                ))),
            };
        }
        let kind = CongestionKind::deserialize(StrDeserializer::<E>::new(text))?;
        match WITH_CLASS.contains(&kind) {
            true => {
                Err(E::custom(format_args!("`{text}` needs a class: write `{text}:MODULE.CLASS`")))
            }
            false => Ok(Congestion { kind, class: None }),
        }
    }
}

impl JsonSchema for Congestion {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Congestion".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Congestion control.",
            "anyOf": [
                generator.subschema_for::<CongestionKind>(),
                { "type": "string", "pattern": "^python(-paced)?:.+\\..+$" },
            ],
        })
    }
}

/// Returns the congestion control of a connection as in a scenario.
pub(crate) fn congestion(config: &Config) -> String {
    let name = config.congestion.name();
    match config.controllers.class() {
        Some(class) => format!("{name}:{}", class.name()),
        None => name.to_owned(),
    }
}
