//! Edits of a scenario's text that preserve everything else, including comments.

use serde::Deserialize;
use toml_edit::{ArrayOfTables, DocumentMut, InlineTable, Item, Table, Value};

/// Text, with changes to apply in order.
#[derive(Deserialize)]
pub(crate) struct Edit {
    text: String,
    changes: Vec<Change>,
}

/// Change of a text. Values are in TOML.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Change {
    /// Sets the value of a key.
    Set(Vec<Step>, String),
    /// Appends a table of keys and values to a list, which is created if missing.
    Push(String, Vec<(String, String)>),
    /// Removes a key or list entry; an empty list is removed as well.
    Remove(Vec<Step>),
}

/// Step of a path: key, or position in a list.
#[derive(Deserialize)]
#[serde(untagged)]
enum Step {
    Position(usize),
    Key(String),
}

impl Edit {
    /// Returns the changed text, or the error.
    pub(crate) fn made(self) -> Result<String, String> {
        let mut document: DocumentMut = self.text.parse().map_err(|error| format!("{error}"))?;
        for change in self.changes {
            match change {
                Change::Set(path, written) => set(document.as_item_mut(), &path, &written)?,
                Change::Push(list, entry) => push(document.as_table_mut(), &list, &entry)?,
                Change::Remove(path) => remove(document.as_item_mut(), &path)?,
            }
        }
        Ok(document.to_string())
    }
}

fn value(written: &str) -> Result<Value, String> {
    written.parse().map_err(|_| format!("{written} is no value of TOML"))
}

/// Returns the table or list that contains the last step of the path.
fn parent<'a>(root: &'a mut Item, path: &[Step]) -> Result<&'a mut Item, String> {
    let steps = path.split_last().map_or(path, |(_, before)| before);
    steps.iter().try_fold(root, |item, step| {
        match step {
            Step::Position(at) => item.get_mut(at),
            Step::Key(key) => item.get_mut(key.as_str()),
        }
        .ok_or_else(|| "the text has no such table".to_owned())
    })
}

fn set(root: &mut Item, path: &[Step], written: &str) -> Result<(), String> {
    let mut value = value(written)?;
    let holder = parent(root, path)?;
    let Some(Step::Key(key)) = path.last() else { return Err("a key has a value".to_owned()) };
    let table = holder.as_table_like_mut().ok_or("the text has no such table")?;
    match table.get_mut(key).and_then(Item::as_value_mut) {
        Some(old) => {
            // Surrounding text, above all a comment after the value.
            *value.decor_mut() = old.decor().clone();
            *old = value;
        }
        None => drop(table.insert(key, value.into())),
    }
    Ok(())
}

fn push(document: &mut Table, list: &str, entry: &[(String, String)]) -> Result<(), String> {
    let mut table = Table::new();
    for (key, written) in entry {
        table.insert(key, value(written)?.into());
    }
    match document.entry(list).or_insert(ArrayOfTables::new().into()) {
        Item::ArrayOfTables(tables) => {
            table.decor_mut().set_prefix("\n");
            tables.push(table);
        }
        Item::Value(Value::Array(values)) => {
            let inline: InlineTable = table.into_inline_table();
            values.push(inline);
        }
        _ => return Err(format!("`{list}` is no list in the text")),
    }
    Ok(())
}

fn remove(root: &mut Item, path: &[Step]) -> Result<(), String> {
    let holder = parent(root, path)?;
    let empty = match (path.last(), holder) {
        (Some(Step::Position(at)), Item::ArrayOfTables(tables)) if *at < tables.len() => {
            tables.remove(*at);
            tables.is_empty()
        }
        (Some(Step::Position(at)), Item::Value(Value::Array(values))) if *at < values.len() => {
            values.remove(*at);
            values.is_empty()
        }
        (Some(Step::Key(key)), holder) => {
            let table = holder.as_table_like_mut().ok_or("the text has no such table")?;
            table.remove(key);
            false
        }
        _ => return Err("the text has no such entry".to_owned()),
    };
    if empty { remove(root, &path[..path.len() - 1]) } else { Ok(()) }
}
