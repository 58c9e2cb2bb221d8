//! Scenario file as a tree with source positions.
//!
//! The tree lies between the TOML parser, whose spans it keeps, and serde. Overrides and parameters are
//! applied to it, and later messages can still show the text that caused a problem.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Origin of a value or key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Bytes `start..end` of the file.
    File { start: usize, end: usize },
    /// Override with this index.
    Override(usize),
}

/// Value with its origin.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub origin: Origin,
    /// Place where the file uses it, if it is the value of a parameter.
    pub used_at: Option<Origin>,
    pub value: Value,
}

/// Value of a TOML file.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    String(String),
    Integer(i64),
    /// Text as written: a float in a scenario is an exact decimal.
    Float(String),
    Boolean(bool),
    /// Date, which no key accepts.
    Datetime(String),
    Array(Vec<Node>),
    Table(Vec<Entry>),
}

/// Key of a table with its value, in the order of the file.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub key: String,
    pub key_origin: Origin,
    pub node: Node,
}

/// Step of a path into the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

impl<'a> From<&'a str> for Step<'a> {
    fn from(key: &'a str) -> Self {
        Step::Key(key)
    }
}

impl From<usize> for Step<'_> {
    fn from(index: usize) -> Self {
        Step::Index(index)
    }
}

/// Builds a path into the tree: `place!["links", 3, "rate"]`.
macro_rules! place {
    ($($step:expr),* $(,)?) => { &[$($crate::tree::Step::from($step)),*][..] };
}
pub(crate) use place;

impl Node {
    pub(crate) fn new(origin: Origin, value: Value) -> Self {
        Node { origin, used_at: None, value }
    }

    /// Converts a parsed file of `length` bytes.
    pub(crate) fn of_file(table: &DeTable<'_>, length: usize) -> Self {
        Node::new(Origin::File { start: 0, end: length }, Value::Table(entries(table)))
    }

    /// Converts a parsed value that was written at `origin`.
    pub(crate) fn of_value(value: &DeValue<'_>, origin: Origin) -> Self {
        let mut node = Node::new(origin, Value::of(value));
        node.set_origin(origin);
        node
    }

    fn set_origin(&mut self, origin: Origin) {
        self.origin = origin;
        match &mut self.value {
            Value::Array(items) => items.iter_mut().for_each(|item| item.set_origin(origin)),
            Value::Table(entries) => entries.iter_mut().for_each(|entry| {
                entry.key_origin = origin;
                entry.node.set_origin(origin);
            }),
            _ => {}
        }
    }

    /// Returns the entries of a table; empty for other values.
    pub(crate) fn entries(&self) -> &[Entry] {
        match &self.value {
            Value::Table(entries) => entries,
            _ => &[],
        }
    }

    /// Returns the number of items of an array; zero for other values.
    pub(crate) fn items(&self) -> usize {
        match &self.value {
            Value::Array(items) => items.len(),
            _ => 0,
        }
    }

    /// Returns the entry with this key.
    pub(crate) fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries().iter().find(|entry| entry.key == key)
    }

    /// Returns the value with this key.
    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.node)
    }

    /// Returns the value at the path, or its deepest existing parent.
    pub(crate) fn deepest(&self, path: &[Step<'_>]) -> &Node {
        let mut node = self;
        for step in path {
            let next = match (&node.value, step) {
                (Value::Array(items), Step::Index(index)) => items.get(*index),
                (Value::Table(_), Step::Key(key)) => node.get(key),
                _ => None,
            };
            match next {
                Some(next) => node = next,
                None => break,
            }
        }
        node
    }

    /// Returns the heap bytes of a copy: the texts, and the contents of lists and tables.
    pub(crate) fn bytes(&self) -> usize {
        match &self.value {
            Value::String(text) | Value::Float(text) | Value::Datetime(text) => text.len(),
            Value::Integer(_) | Value::Boolean(_) => 0,
            Value::Array(items) => items.iter().map(|item| size_of::<Node>() + item.bytes()).sum(),
            Value::Table(entries) => {
                let bytes = |e: &Entry| size_of::<Entry>() + e.key.len() + e.node.bytes();
                entries.iter().map(bytes).sum()
            }
        }
    }

    /// Formats the value as in a file or after `--set key=`.
    pub(crate) fn to_text(&self) -> String {
        match &self.value {
            Value::String(text) => written(text),
            _ => self.to_toml(),
        }
    }

    /// Formats the value as TOML in one line.
    pub(crate) fn to_toml(&self) -> String {
        match &self.value {
            Value::String(text) => quoted(text),
            Value::Integer(value) => value.to_string(),
            Value::Float(text) | Value::Datetime(text) => text.clone(),
            Value::Boolean(value) => value.to_string(),
            Value::Array(items) => {
                let items: Vec<String> = items.iter().map(Node::to_toml).collect();
                format!("[{}]", items.join(", "))
            }
            Value::Table(entries) => {
                let entry = |e: &Entry| format!("{} = {}", quoted(&e.key), e.node.to_toml());
                let entries: Vec<String> = entries.iter().map(entry).collect();
                format!("{{{}}}", entries.join(", "))
            }
        }
    }

    /// Returns the type of the value for messages.
    pub(crate) fn kind(&self) -> &'static str {
        match self.value {
            Value::String(_) => "a string",
            Value::Integer(_) | Value::Float(_) => "a number",
            Value::Boolean(_) => "true or false",
            Value::Datetime(_) => "a date",
            Value::Array(_) => "a list",
            Value::Table(_) => "a table",
        }
    }
}

/// Formats a text as after `--set key=`, quoted only if it would otherwise be read as another type.
pub(crate) fn written(text: &str) -> String {
    if DeValue::parse(text).is_err() { text.to_owned() } else { quoted(text) }
}

/// Formats `text` as a TOML basic string.
pub(crate) fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => quoted.push_str(&format!("\\U{:08X}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

fn entries(table: &DeTable<'_>) -> Vec<Entry> {
    let mut entries: Vec<Entry> = table
        .iter()
        .map(|(key, value)| Entry {
            key: key.get_ref().to_string(),
            key_origin: file(key.span()),
            node: spanned(value),
        })
        .collect();
    // The parser's map sorts by name, but swept parameters and TCP tables must keep the order of the file.
    entries.sort_by_key(|entry| match entry.key_origin {
        Origin::File { start, .. } => start,
        Origin::Override(index) => index,
    });
    entries
}

fn spanned(value: &Spanned<DeValue<'_>>) -> Node {
    Node::new(file(value.span()), Value::of(value.get_ref()))
}

fn file(span: std::ops::Range<usize>) -> Origin {
    Origin::File { start: span.start, end: span.end }
}

impl Value {
    fn of(value: &DeValue<'_>) -> Self {
        match value {
            DeValue::String(text) => Value::String(text.to_string()),
            DeValue::Integer(number) => {
                match i64::from_str_radix(number.as_str(), number.radix()) {
                    Ok(value) => Value::Integer(value),
                    // Integers beyond the range stay as text, so that the message can quote them.
                    Err(_) => Value::Float(number.to_string()),
                }
            }
            DeValue::Float(number) => {
                Value::Float(number.as_str().trim_start_matches('+').replace('_', ""))
            }
            DeValue::Boolean(value) => Value::Boolean(*value),
            DeValue::Datetime(date) => Value::Datetime(date.to_string()),
            DeValue::Array(items) => Value::Array(items.iter().map(spanned).collect()),
            DeValue::Table(table) => Value::Table(entries(table)),
        }
    }
}
