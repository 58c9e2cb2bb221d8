//! `--set key=value`: values put into the tree before anything is read from it.

use toml::de::DeValue;

use crate::problem::Problem;
use crate::schema::SECTIONS;
use crate::tree::{Entry, Node, Origin, Value};
use optcp_units::nearest::suggestion;

/// Deeper than anything in a scenario, and no deeper than a tree can be walked.
const MOST_STEPS: usize = 32;

/// Puts the override with that index into the tree.
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
            let message = format!("`{key}` has no `{value}`");
            Err(Problem::new(origin, message).help(help))
        }
    }
}

/// A value that a named choice of settings puts at a key path.
pub(crate) struct Setting {
    pub key: String,
    pub value: Node,
    pub origin: Origin,
}

/// The settings that `key` with `value` stands for, if `key` is an axis of named choices, such as `sweep.mechanism`; what
/// to say if it has no such choice.
fn chosen(tree: &Node, key: &str, value: &str) -> Option<Result<Vec<Setting>, Option<String>>> {
    let steps = split(key);
    let [first, name] = steps.as_slice() else { return None };
    let sweep = tree.get("sweep").filter(|_| first == "sweep")?;
    let axis = sweep.entry(name).filter(|entry| names_choices(entry))?;
    let value = value.trim().trim_matches('"');
    let names = axis.node.entries().iter().map(|choice| choice.key.as_str());
    let settings = axis.node.get(value).map(settings_in);
    Some(settings.ok_or_else(|| suggestion(value, &format!("choices of {name}"), names)))
}

/// Whether an entry of `[sweep]` is an axis of named choices: a table whose name is no section of a file.
pub(crate) fn names_choices(entry: &Entry) -> bool {
    let table = matches!(entry.node.value, Value::Table(_));
    table && !entry.key.contains('.') && !SECTIONS.contains(&entry.key.as_str())
}

/// The settings of a named choice: tables in it are walked down to values. A queue with its kind is one.
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

/// The value as TOML if it is that, otherwise as text: `5 ms` needs no quotes.
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
        let message = format!("a key path of {} steps", steps.len());
        return Err(Problem::new(origin, message).label(format!("at most {MOST_STEPS}")));
    }
    let mut node = tree;
    for (depth, step) in steps.iter().enumerate() {
        let so_far = steps[..depth].join(".");
        let unknown = |what: &str, help: Option<String>| {
            Problem::new(origin, format!("no key `{key}`: {what}")).help(help)
        };
        let kind = node.kind();
        node = match &mut node.value {
            Value::Array(items) => {
                let count = items.len();
                let item = step.parse::<usize>().ok().and_then(|index| items.get_mut(index));
                item.ok_or_else(|| {
                    let help = match count {
                        0 => "it is empty".to_owned(),
                        _ => format!("its entries are {so_far}.0 to {so_far}.{}", count - 1),
                    };
                    unknown(&format!("`{so_far}` is a list without an entry `{step}`"), Some(help))
                })?
            }
            Value::Table(entries) => {
                let position = entries.iter().position(|entry| entry.key == *step);
                let position = match position {
                    Some(position) => position,
                    // Inside an entry of the schema an unknown key is refused when the entry is read;
                    // these tables hold free names, so a new one would go unnoticed.
                    None if matches!(so_far.as_str(), "parameters" | "tcp") => {
                        let names = entries.iter().map(|entry| entry.key.as_str());
                        let help = suggestion(step, &format!("names in [{so_far}]"), names);
                        return Err(unknown(&format!("[{so_far}] has no `{step}`"), help));
                    }
                    // An axis may be the first one.
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

/// Lists what could be put into a tree at key paths to get this one: values that are no tables, nor lists of them.
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

/// A key as a step of a key path.
pub(crate) fn step(key: &str) -> String {
    if key.contains('.') { format!("\"{key}\"") } else { key.to_owned() }
}

/// The steps of a key path; a step with a dot in it is quoted.
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
