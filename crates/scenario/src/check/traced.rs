//! Rows of a CSV file.

use serde::de::DeserializeOwned;

use crate::de;
use crate::library::Library;
use crate::problem::Problems;
use crate::tree::{Entry, Node, Origin, Step, Value};

/// Returns a temporary origin that identifies a column of a row; no override has such an index.
fn column_origin(number: usize) -> Origin {
    Origin::Override(usize::MAX - number)
}

/// Returns the rows of a file with their line numbers; `None` if a problem was reported. `what` is the name
/// of a row in messages.
pub(super) fn rows<T: DeserializeOwned>(
    file: &str,
    what: &str,
    place: &[Step<'_>],
    library: &Library,
    problems: &mut Problems<'_>,
) -> Option<Vec<(u64, T)>> {
    let rows = match library.table(file) {
        Ok(rows) if rows.is_empty() => {
            problems.at(place, format!("`{file}` has no {what}"));
            return None;
        }
        Ok(rows) => rows,
        Err(message) => {
            problems.at(place, message);
            return None;
        }
    };
    let origin = problems.tree.deepest(place).origin;
    let mut found = Vec::with_capacity(rows.len());
    for (line, fields) in rows {
        let entry = |(number, (key, value)): (usize, (String, String))| Entry {
            key,
            key_origin: origin,
            node: Node::new(column_origin(number), Value::String(value)),
        };
        let entries: Vec<Entry> = fields.into_iter().enumerate().map(entry).collect();
        let row = Node::new(origin, Value::Table(entries));
        match de::read(&row) {
            Ok(row) => found.push((line, row)),
            Err(mut problem) => {
                let wrong = row.entries().iter().find(|one| one.node.origin == problem.origin);
                let column = wrong.map_or(String::new(), |one| format!("column `{}`: ", one.key));
                problem.message = format!("`{file}`, line {line}: {column}{}", problem.message);
                problem.origin = origin;
                problems.found.push(problem);
                return None;
            }
        }
    }
    Some(found)
}
