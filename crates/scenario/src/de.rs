//! Serde deserializer for the tree. Errors carry the origin of the key or value that caused them.

use std::fmt::Display;

use serde::de::value::SeqDeserializer;
use serde::de::{
    self, DeserializeOwned, DeserializeSeed, Deserializer, Expected, IntoDeserializer, MapAccess,
    Unexpected, Visitor,
};
use serde::forward_to_deserialize_any;

use crate::problem::Problem;
use crate::schema::belongs;
use crate::tree::{Entry, Node, Origin, Value};
use optcp_units::nearest::suggestion;

/// Deserializes a value of the schema.
pub(crate) fn read<T: DeserializeOwned>(node: &Node) -> Result<T, Problem> {
    T::deserialize(node).map_err(|error| {
        let (origin, used_at) = error.place.unwrap_or((node.origin, node.used_at));
        Problem { message: error.message, label: error.label, help: error.help, origin, used_at }
    })
}

/// Problem whose place is not final yet.
#[derive(Debug)]
pub(crate) struct Error {
    message: String,
    label: Option<String>,
    help: Option<String>,
    place: Option<(Origin, Option<Origin>)>,
}

impl Error {
    fn new(message: String, label: impl Into<Option<String>>, help: Option<String>) -> Self {
        Error { message, label: label.into(), help, place: None }
    }

    /// Sets the place, unless it was set at a deeper level.
    fn at(mut self, origin: Origin, used_at: Option<Origin>) -> Self {
        self.place.get_or_insert((origin, used_at));
        self
    }
}

impl Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl de::Error for Error {
    /// Serde passes one text; types of the schema separate message, label and help by line breaks.
    fn custom<T: Display>(text: T) -> Self {
        let text = text.to_string();
        let mut lines = text.splitn(3, '\n').map(str::to_owned);
        let message = lines.next().unwrap_or_default();
        let mut rest = || lines.next().filter(|line| !line.is_empty());
        Error::new(message, rest(), rest())
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let found = match found {
            Unexpected::Bool(value) => format!("`{value}`"),
            Unexpected::Unsigned(value) => format!("the number `{value}`"),
            Unexpected::Signed(value) => format!("the number `{value}`"),
            Unexpected::Float(value) => format!("the number `{value}`"),
            Unexpected::Str(text) => format!("the string `{text}`"),
            Unexpected::Seq => "a list".to_owned(),
            Unexpected::Map => "a table".to_owned(),
            other => other.to_string(),
        };
        // Serde's type names do not match TOML's.
        let expected = match expected.to_string().as_str() {
            "a boolean" => "`true` or `false`".to_owned(),
            "a sequence" => "a list".to_owned(),
            other if other.starts_with("struct ") => "a table".to_owned(),
            other => other.to_owned(),
        };
        Error::new(format!("{found} is not valid here"), format!("expected {expected}"), None)
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::invalid_type(found, expected)
    }

    fn unknown_variant(name: &str, known: &'static [&'static str]) -> Self {
        let help =
            belongs(name, known).or_else(|| suggestion(name, "choices", known.iter().copied()));
        Error::new(format!("unknown value `{name}`"), one_of(known), help)
    }

    fn unknown_field(name: &str, known: &'static [&'static str]) -> Self {
        let help = suggestion(name, "keys of this table", known.iter().copied());
        Error::new(format!("unknown key `{name}`"), "not a key of this table".to_owned(), help)
    }

    fn missing_field(name: &'static str) -> Self {
        Error::new(format!("`{name}` is missing"), format!("this needs `{name}`"), None)
    }
}

fn one_of(known: &[&str]) -> String {
    format!("expected one of {}", known.join(", "))
}

impl<'de> Deserializer<'de> for &'de Node {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let result = match &self.value {
            Value::String(text) => visitor.visit_str(text),
            Value::Integer(value) => visitor.visit_i64(*value),
            Value::Float(text) => match text.parse() {
                Ok(value) => visitor.visit_f64(value),
                Err(_) => visitor.visit_str(text),
            },
            Value::Boolean(value) => visitor.visit_bool(*value),
            Value::Datetime(text) => visitor.visit_str(text),
            Value::Array(items) => {
                let mut items = SeqDeserializer::new(items.iter());
                visitor.visit_seq(&mut items)
            }
            Value::Table(entries) => {
                visitor.visit_map(Entries { entries: entries.iter(), value: None })
            }
        };
        result.map_err(|error| error.at(self.origin, self.used_at))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let result = match &self.value {
            Value::String(text) => visitor.visit_enum(text.as_str().into_deserializer()),
            _ => Err(Error::new(
                format!("{} is not valid here", self.kind()),
                one_of(variants),
                None,
            )),
        };
        result.map_err(|error| error.at(self.origin, self.used_at))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

impl<'de> IntoDeserializer<'de, Error> for &'de Node {
    type Deserializer = Self;
    fn into_deserializer(self) -> Self {
        self
    }
}

/// The entries of a table, in order.
struct Entries<'de> {
    entries: std::slice::Iter<'de, Entry>,
    value: Option<&'de Node>,
}

impl<'de> MapAccess<'de> for Entries<'de> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Error> {
        let Some(entry) = self.entries.next() else { return Ok(None) };
        self.value = Some(&entry.node);
        let key = de::value::StrDeserializer::<Error>::new(&entry.key);
        seed.deserialize(key).map(Some).map_err(|error| error.at(entry.key_origin, None))
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Error> {
        match self.value.take() {
            Some(node) => seed.deserialize(node),
            None => Err(de::Error::custom("value requested before its key")),
        }
    }
}
