//! Rows of a CSV file.

use serde::de::DeserializeOwned;

use crate::de;
use crate::library::Library;
use crate::problem::Problems;
use crate::tree::{Entry, Node, Step, Value};

/// The rows of a file, each with its line; `None` if there is a problem, which has then been reported. `what` is what a row is
/// called.
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
        let entry = |(key, value): (String, String)| Entry {
            key,
            key_origin: origin,
            node: Node::new(origin, Value::String(value)),
        };
        let row = Node::new(origin, Value::Table(fields.into_iter().map(entry).collect()));
        match de::read(&row) {
            Ok(row) => found.push((line, row)),
            Err(mut problem) => {
                problem.message = format!("`{file}`, line {line}: {}", problem.message);
                problems.found.push(problem);
                return None;
            }
        }
    }
    Some(found)
}
