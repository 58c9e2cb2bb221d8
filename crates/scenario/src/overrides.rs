//! `--set key=value`: values that are put into the tree before it is read.

use toml::de::DeValue;

use crate::problem::Problem;
use crate::schema::SECTIONS;
use crate::tree::{Entry, Node, Origin, Value};
use optcp_units::nearest::suggestion;

/// Maximum length of a key path; longer than any valid one, and short enough for recursion.
const MOST_STEPS: usize = 32;

/// Applies the override with this index to the tree.
pub(crate) fn apply(
    tree: &mut Node,
    index: usize,
    (key, value): &(String, String),
) -> Result<(), Problem> {
    let origin = Origin::Override(index);
    match chosen(tree, key, value) {
        None => put(tree, key, value_of(value, origin), origin),
        Some(Ok(settings)) => settings
            .iter()
            .try_for_each(|setting| put(tree, &setting.key, setting.value.clone(), setting.origin)),
        Some(Err(help)) => {
            let message = format!("`{key}` has no value `{value}`");
            Err(Problem::new(origin, message).help(help))
        }
    }
}

/// Setting that a named option assigns to a key path.
pub(crate) struct Setting {
    pub key: String,
    pub value: Node,
    pub origin: Origin,
}

/// Returns the settings of option `value` if `key` is a swept parameter with named options, such as
/// `sweep.mechanism`. The inner `Err` is the help text if there is no such option.
fn chosen(tree: &Node, key: &str, value: &str) -> Option<Result<Vec<Setting>, Option<String>>> {
    let steps = split(key);
    let [first, name] = steps.as_slice() else { return None };
    let sweep = tree.get("sweep").filter(|_| first == "sweep")?;
    let axis = sweep.entry(name).filter(|entry| names_choices(entry))?;
    let value = value.trim().trim_matches('"');
    let names = axis.node.entries().iter().map(|choice| choice.key.as_str());
    let settings = axis.node.get(value).map(settings_in);
    Some(settings.ok_or_else(|| suggestion(value, &format!("values of {name}"), names)))
}

/// Returns whether an entry of `[sweep]` has named options: it is a table, and its name is not a section of a
/// file.
pub(crate) fn names_choices(entry: &Entry) -> bool {
    let table = matches!(entry.node.value, Value::Table(_));
    table && !entry.key.contains('.') && !SECTIONS.contains(&entry.key.as_str())
}

/// Returns the settings of a named option: all values in its tables. A queue table with a kind counts as one
/// value.
pub(crate) fn settings_in(choice: &Node) -> Vec<Setting> {
    fn walk(node: &Node, prefix: &str, found: &mut Vec<Setting>) {
        for Entry { key, key_origin, node } in node.entries() {
            let key = format!("{prefix}{key}");
            let queue = key.rsplit('.').next() == Some("queue") && node.get("kind").is_some();
            match node.value {
                Value::Table(_) if !queue => walk(node, &format!("{key}."), found),
                _ => found.push(Setting { key, value: node.clone(), origin: *key_origin }),
            }
        }
    }
    let mut found = Vec::new();
    walk(choice, "", &mut found);
    found
}

/// Parses the value as TOML if possible, otherwise as text: `5 ms` needs no quotes.
fn value_of(text: &str, origin: Origin) -> Node {
    match DeValue::parse(text) {
        Ok(value) => Node::of_value(value.get_ref(), origin),
        Err(_) => Node::new(origin, Value::String(text.to_owned())),
    }
}

/// Replaces the value at a key path such as `links.0.rate`, or adds it where the schema may know the key.
pub(crate) fn put(tree: &mut Node, key: &str, value: Node, origin: Origin) -> Result<(), Problem> {
    let steps = split(key);
    if steps.iter().any(String::is_empty) {
        return Err(Problem::new(origin, format!("`{key}` is not a key path"))
            .label("expected a path such as `parameters.name` or `links.0.rate`"));
    }
    if steps.len() > MOST_STEPS {
        let message = format!("key path with {} steps", steps.len());
        return Err(Problem::new(origin, message).label(format!("at most {MOST_STEPS}")));
    }
    let mut node = tree;
    for (depth, step) in steps.iter().enumerate() {
        let so_far = steps[..depth].join(".");
        let unknown = |what: &str, help: Option<String>| {
            Problem::new(origin, format!("unknown key `{key}`: {what}")).help(help)
        };
        let kind = node.kind();
        node = match &mut node.value {
            Value::Array(items) => {
                let count = items.len();
                let item = step.parse::<usize>().ok().and_then(|index| items.get_mut(index));
                item.ok_or_else(|| {
                    let help = match count {
                        0 => "the list is empty".to_owned(),
                        _ => format!("its entries are {so_far}.0 to {so_far}.{}", count - 1),
                    };
                    unknown(&format!("list `{so_far}` has no entry `{step}`"), Some(help))
                })?
            }
            Value::Table(entries) => {
                let position = entries.iter().position(|entry| entry.key == *step);
                let position = match position {
                    Some(position) => position,
                    // Unknown keys inside an entry of the schema are rejected when it is read. These tables
                    // have free names, so a misspelled name would not be noticed.
                    None if matches!(so_far.as_str(), "parameters" | "tcp") => {
                        let names = entries.iter().map(|entry| entry.key.as_str());
                        let help = suggestion(step, &format!("names in [{so_far}]"), names);
                        return Err(unknown(&format!("[{so_far}] has no `{step}`"), help));
                    }
                    // `[sweep]` may be missing so far.
                    None if depth == 0 && steps.len() > 1 && step != "sweep" => {
                        let names = entries.iter().map(|entry| entry.key.as_str());
                        let help = suggestion(step, "sections of the file", names);
                        return Err(unknown(&format!("the file has no `{step}`"), help));
                    }
                    None => {
                        let table = Node::new(origin, Value::Table(Vec::new()));
                        let entry = Entry { key: step.clone(), key_origin: origin, node: table };
                        entries.push(entry);
                        entries.len() - 1
                    }
                };
                &mut entries[position].node
            }
            _ => {
                let what = format!("`{so_far}` is {kind}");
                return Err(unknown(&what, None));
            }
        };
    }
    *node = value;
    Ok(())
}

/// Lists the key paths and values that would recreate this tree: values other than tables and lists of
/// tables.
pub(crate) fn settings(node: &Node, key: &str, found: &mut Vec<(String, String)>) {
    match &node.value {
        Value::Table(entries) => {
            for entry in entries {
                settings(&entry.node, &format!("{key}.{}", step(&entry.key)), found);
            }
        }
        Value::Array(items) if items.iter().any(|item| matches!(item.value, Value::Table(_))) => {
            for (index, item) in items.iter().enumerate() {
                settings(item, &format!("{key}.{index}"), found);
            }
        }
        _ => found.push((key.to_owned(), node.to_text())),
    }
}

/// Formats a key as a step of a key path.
pub(crate) fn step(key: &str) -> String {
    if key.contains('.') { format!("\"{key}\"") } else { key.to_owned() }
}

/// Splits a key path into steps. A step with a dot is quoted.
pub(crate) fn split(key: &str) -> Vec<String> {
    let mut steps = vec![String::new()];
    let mut quoted = false;
    for c in key.trim().chars() {
        match c {
            '"' => quoted = !quoted,
            '.' if !quoted => steps.push(String::new()),
            c => {
                if let Some(step) = steps.last_mut() {
                    step.push(c);
                }
            }
        }
    }
    steps
}
