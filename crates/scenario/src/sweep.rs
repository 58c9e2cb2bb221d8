//! `[sweep]`: key paths and the values that a study gives them.

use crate::overrides;
use crate::plan::{LinkPlan, Plan};
use crate::problem::{Problem, Problems};
use crate::tree::{Node, Value, written};
use crate::{expression, schema};

/// The axes of the file that no override fixes: key path and values, as written.
pub(crate) fn axes(
    tree: &Node,
    overrides: &[(String, String)],
    problems: &mut Problems<'_>,
) -> Vec<(String, Vec<String>)> {
    let mut axes = Vec::new();
    let fixed: Vec<Vec<String>> = overrides.iter().map(|(key, _)| overrides::split(key)).collect();
    if let Some(sweep) = tree.get("sweep") {
        collect(tree, sweep, "", &fixed, &mut axes, problems);
    }
    axes
}

/// What stands for every link in turn.
const EVERY: &str = "every";

/// Puts the links of the network where [`EVERY`] stands for them.
pub(crate) fn every_link(plan: &Plan, axes: &mut [(String, Vec<String>)]) {
    let name = |link: &LinkPlan| written(&link.name);
    for (_, values) in axes.iter_mut().filter(|(_, values)| values.is_empty()) {
        // Circuits fail with the links that they go over.
        *values = plan.links.iter().filter(|link| link.over.is_empty()).map(name).collect();
    }
}

/// `"parameters.rate" = [..]`, and `parameters.rate = [..]`, which TOML reads as a table.
fn collect(
    tree: &Node,
    table: &Node,
    prefix: &str,
    fixed: &[Vec<String>],
    axes: &mut Vec<(String, Vec<String>)>,
    problems: &mut Problems<'_>,
) {
    for entry in table.entries() {
        let key = format!("{prefix}{}", entry.key);
        match &entry.node.value {
            _ if fixed.contains(&overrides::split(&key)) => {}
            Value::Array(values) if !values.is_empty() => {
                if check(tree, &key, entry.key_origin, values, problems) {
                    axes.push((key, values.iter().map(Node::to_text).collect()));
                }
            }
            Value::String(every) if every == EVERY && key.ends_with(".link") => {
                axes.push((key, Vec::new()));
            }
            Value::Table(_) => {
                collect(tree, &entry.node, &format!("{key}."), fixed, axes, problems)
            }
            _ => {
                let problem = Problem::new(entry.node.origin, format!("`{key}` has no values"));
                problems
                    .found
                    .push(problem.label("expected a list such as `[\"0 ms\", \"50 ms\"]`"));
            }
        }
    }
}

/// Puts every value in its place and reads the file again. Whether the world is possible is left to
/// each cell of the study: one value alone may be wrong and right together with those of other axes.
fn check(
    tree: &Node,
    key: &str,
    key_origin: crate::tree::Origin,
    values: &[Node],
    problems: &mut Problems<'_>,
) -> bool {
    let before = problems.found.len();
    if key.starts_with("sweep") {
        problems.found.push(Problem::new(key_origin, "a sweep of a sweep"));
        return false;
    }
    let mut world = tree.clone();
    // A cell has no sweep of its own; with it, a long list would be read once for each of its values.
    if let Value::Table(entries) = &mut world.value {
        entries.retain(|entry| entry.key != "sweep");
    }
    for value in values {
        let mut cell = world.clone();
        if let Err(problem) = overrides::put(&mut cell, key, value.clone(), key_origin) {
            problems.found.push(problem);
            return false;
        }
        let mut in_cell = Problems::new(&cell);
        let resolved = expression::resolve(&mut in_cell);
        let mut found = in_cell.found;
        if found.is_empty() {
            let mut reader = Problems::new(&resolved);
            schema::read(&mut reader);
            found = reader.found;
        }
        problems.found.extend(found);
    }
    problems.found.len() == before
}
