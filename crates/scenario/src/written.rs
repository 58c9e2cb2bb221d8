//! Conversion of a tree to a TOML file.

use crate::tree::{Entry, Node, Value, quoted};

/// Formats a tree as TOML, with a section per table and per entry of a list of tables.
pub(crate) fn file(tree: &Node) -> String {
    let mut out = String::new();
    section(tree.entries(), "", &mut out);
    out
}

/// Writes values first, because everything after the header of a sub-section would belong to it.
fn section(entries: &[Entry], prefix: &str, out: &mut String) {
    let parts = |entry: &Entry| match &entry.node.value {
        Value::Table(_) => true,
        Value::Array(items) => {
            !items.is_empty() && items.iter().all(|item| matches!(item.value, Value::Table(_)))
        }
        _ => false,
    };
    // Deeper tables are inline: `links.0.rate = {..}`.
    let nested = |entry: &Entry| parts(entry) && matches!(prefix, "" | "tcp.");
    for entry in entries.iter().filter(|entry| !nested(entry)) {
        out.push_str(&format!("{} = {}\n", bare(&entry.key), entry.node.to_toml()));
    }
    for entry in entries.iter().filter(|entry| nested(entry)) {
        let name = format!("{prefix}{}", bare(&entry.key));
        match &entry.node.value {
            Value::Array(items) => {
                for item in items {
                    out.push_str(&format!("\n[[{name}]]\n"));
                    section(item.entries(), &format!("{name}."), out);
                }
            }
            _ => {
                out.push_str(&format!("\n[{name}]\n"));
                section(entry.node.entries(), &format!("{name}."), out);
            }
        }
    }
}

/// Formats a key, quoted if necessary.
fn bare(key: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if !key.is_empty() && key.chars().all(plain) { key.to_owned() } else { quoted(key) }
}
