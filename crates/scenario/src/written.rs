//! A tree as a TOML file again.

use crate::tree::{Entry, Node, Value, quoted};

/// The TOML file of a tree: a section for each table and each entry of a list of tables.
pub(crate) fn file(tree: &Node) -> String {
    let mut out = String::new();
    section(tree.entries(), "", &mut out);
    out
}

/// Values first, since whatever follows the head of a section belongs to that one.
fn section(entries: &[Entry], prefix: &str, out: &mut String) {
    let parts = |entry: &Entry| match &entry.node.value {
        Value::Table(_) => true,
        Value::Array(items) => {
            !items.is_empty() && items.iter().all(|item| matches!(item.value, Value::Table(_)))
        }
        _ => false,
    };
    // Below a section tables are short: `links.0.rate = {..}`.
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

/// A key, in quotes where it needs them.
fn bare(key: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if !key.is_empty() && key.chars().all(plain) { key.to_owned() } else { quoted(key) }
}
