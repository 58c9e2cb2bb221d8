//! `[sweep]`: key paths with the values that a study assigns to them.

use optcp_units::Quantity;
use optcp_units::nearest::suggestion;
use std::collections::{BTreeMap, BTreeSet};

use crate::every::Every;
use crate::library::Library;
use crate::overrides::{self, Setting};
use crate::problem::{Problem, Problems};
use crate::tree::{Entry, Node, Value, written};
use crate::{expression, schema};

/// Swept parameter of a study.
pub(crate) struct Axis {
    /// Key path.
    pub key: String,
    pub values: Values,
}

/// Values of a swept parameter.
pub(crate) enum Values {
    /// Values as written.
    Listed(Vec<String>),
    /// Elements of the network.
    Every(Every),
}

/// Returns the swept parameters that no override fixes.
pub(crate) fn axes(
    tree: &Node,
    overrides: &[(String, String)],
    library: &Library,
    problems: &mut Problems<'_>,
) -> Vec<Axis> {
    let fixed: Vec<Vec<String>> = overrides.iter().map(|(key, _)| overrides::split(key)).collect();
    let mut reader = Reader { tree, fixed, library, axes: Vec::new(), problems };
    for entry in tree.get("sweep").map_or(&[][..], Node::entries) {
        match overrides::names_choices(entry) {
            true => reader.choices(entry),
            false => reader.entry(entry, ""),
        }
    }
    reader.axes
}

/// Returns the problem for the first duplicate value, either the same text or an equal quantity.
fn repeated(key: &str, values: &[Node]) -> Option<Problem> {
    let (mut texts, mut quantities) = (BTreeMap::new(), BTreeMap::new());
    for value in values {
        let text = value.to_text();
        let quantity = Quantity::parse(&text, None).ok().map(Quantity::in_si);
        let quantity = quantity.map(|(number, unit)| (unit, number.to_bits()));
        let before = texts.get(&text).or_else(|| quantities.get(&quantity?));
        if let Some(before) = before {
            let problem = Problem::new(value.origin, format!("duplicate value in `{key}`"));
            return Some(problem.label(format!("equals `{before}`, which is earlier in the list")));
        }
        quantities.extend(quantity.map(|quantity| (quantity, text.clone())));
        texts.insert(text.clone(), text);
    }
    None
}

/// Removes the swept parameters that overrides fix. A single combination then does not carry long lists of
/// values.
pub(crate) fn without_fixed(tree: &mut Node, overrides: &[(String, String)]) {
    let fixed: BTreeSet<Vec<String>> =
        overrides.iter().map(|(key, _)| overrides::split(key)).collect();
    let Value::Table(sections) = &mut tree.value else { return };
    for section in sections.iter_mut().filter(|section| section.key == "sweep") {
        remove(&mut section.node, &[], &fixed);
    }
    sections.retain(|section| section.key != "sweep" || !section.node.entries().is_empty());
}

/// Removes swept parameters below a step of a key path, and tables that become empty.
fn remove(node: &mut Node, path: &[String], fixed: &BTreeSet<Vec<String>>) {
    let Value::Table(entries) = &mut node.value else { return };
    entries.retain_mut(|entry| {
        let choices = path.is_empty() && overrides::names_choices(entry);
        let steps: Vec<String> = match choices {
            true => vec!["sweep".to_owned(), entry.key.clone()],
            false => path.iter().cloned().chain(overrides::split(&entry.key)).collect(),
        };
        if fixed.contains(&steps) {
            return false;
        }
        let table = matches!(entry.node.value, Value::Table(_)) && !choices;
        if table {
            remove(&mut entry.node, &steps, fixed);
        }
        !table || !entry.node.entries().is_empty()
    });
}

struct Reader<'r, 't> {
    tree: &'r Node,
    /// Key paths that overrides fix.
    fixed: Vec<Vec<String>>,
    library: &'r Library,
    axes: Vec<Axis>,
    problems: &'r mut Problems<'t>,
}

impl Reader<'_, '_> {
    /// Accepts `"parameters.rate" = [..]` and `parameters.rate = [..]`, which TOML reads as a table.
    fn entry(&mut self, entry: &Entry, prefix: &str) {
        let key = format!("{prefix}{}", entry.key);
        let steps = overrides::split(&key);
        match &entry.node.value {
            _ if self.fixed.contains(&steps) => {}
            _ if self.axes.iter().any(|axis| overrides::split(&axis.key) == steps) => {
                let problem = Problem::new(entry.key_origin, format!("`{key}` is swept twice"));
                self.problems.found.push(problem.label("write one list of values per key"));
            }
            Value::Array(values) if !values.is_empty() => {
                if let Some(problem) = repeated(&key, values) {
                    self.problems.found.push(problem);
                    return;
                }
                let setting = |value: &Node| Setting {
                    key: key.clone(),
                    value: value.clone(),
                    origin: entry.key_origin,
                };
                if self.check(values.iter().map(|value| vec![setting(value)])) {
                    let values = Values::Listed(values.iter().map(Node::to_text).collect());
                    self.axes.push(Axis { key, values });
                }
            }
            Value::String(text) if Every::begins(text) => {
                match Every::read(&steps, text, entry.node.origin) {
                    Ok(every) => self.axes.push(Axis { key, values: Values::Every(every) }),
                    Err(problem) => self.problems.found.push(problem),
                }
            }
            Value::Table(entries) => {
                entries.iter().for_each(|entry| self.entry(entry, &format!("{key}.")));
            }
            _ => {
                let problem = Problem::new(entry.node.origin, format!("`{key}` has no values"));
                let label = "expected a list such as `[\"0 ms\", \"50 ms\"]`";
                self.problems.found.push(problem.label(label));
            }
        }
    }

    /// Reads a swept parameter with named options: `[sweep.mechanism]`, with one table of settings per
    /// option.
    fn choices(&mut self, axis: &Entry) {
        let key = format!("sweep.{}", axis.key);
        if self.fixed.contains(&overrides::split(&key)) {
            return;
        }
        let choices = axis.node.entries();
        let table = |choice: &&Entry| matches!(choice.node.value, Value::Table(_));
        if let Some(other) = choices.iter().find(|choice| !table(choice)) {
            let sections = schema::SECTIONS.iter().copied();
            let help = suggestion(&axis.key, "sections of a file", sections);
            let message = format!("`{}` is not a section of the file", axis.key);
            let label = format!("and value `{}` is {}, not a table", other.key, other.node.kind());
            self.problems
                .found
                .push(Problem::new(axis.key_origin, message).label(label).help(help));
            return;
        }
        if choices.is_empty() {
            let problem = Problem::new(axis.key_origin, format!("`{}` has no values", axis.key));
            self.problems.found.push(problem.label("each value needs a table of settings"));
            return;
        }
        if self.check(choices.iter().map(|choice| overrides::settings_in(&choice.node))) {
            let names = choices.iter().map(|choice| written(&choice.key)).collect();
            self.axes.push(Axis { key, values: Values::Listed(names) });
        }
    }

    /// Applies the settings of each value and reads the file again. The full check is left to each combination: a
    /// value may be valid only together with values of other swept parameters.
    fn check(&mut self, values: impl Iterator<Item = Vec<Setting>>) -> bool {
        let before = self.problems.found.len();
        let mut world = self.tree.clone();
        // A combination has no sweep; with it, a long list would be read once per value.
        if let Value::Table(entries) = &mut world.value {
            entries.retain(|entry| entry.key != "sweep");
        }
        for settings in values {
            let mut cell = world.clone();
            let put = |setting: Setting| match setting.key.starts_with("sweep") {
                true => Err(Problem::new(setting.origin, "nested sweep")),
                false => overrides::put(&mut cell, &setting.key, setting.value, setting.origin),
            };
            if let Err(problem) = settings.into_iter().try_for_each(put) {
                self.problems.found.push(problem);
                return false;
            }
            let mut in_cell = Problems::new(&cell);
            let (resolved, _) = expression::resolve(self.library, &mut in_cell);
            let mut found = in_cell.found;
            if found.is_empty() {
                let mut reader = Problems::new(&resolved);
                schema::read(&mut reader);
                found = reader.found;
            }
            self.problems.found.extend(found);
        }
        self.problems.found.len() == before
    }
}
