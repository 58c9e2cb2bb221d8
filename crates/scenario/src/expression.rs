//! Parameters (`$name`) and products such as `"$access_share * $backbone"`, evaluated exactly.

use std::collections::BTreeMap;

use optcp_units::{Duration, Quantity};

use crate::library::Library;
use crate::problem::{Problem, Problems};
use crate::schema::{describe_error, drawn_from};
use crate::tree::{Entry, Node, Origin, Value};
use optcp_units::nearest::suggestion;

/// Maximum depth of references between parameters.
const MAX_DEPTH: usize = 64;

/// Maximum number of bytes of all expanded parameters. A few parameters that double each other could exceed
/// any memory.
const MOST_BYTES: usize = 10_000_000;

/// Replaces every `$name`, product and `file(name)` by its value. Also returns the places of expressions that
/// stay because a parameter in them has a problem. The title is plain text, and values of the sweep are not
/// replaced yet.
pub(crate) fn resolve(library: &Library, problems: &mut Problems<'_>) -> (Node, Vec<Origin>) {
    let tree = problems.tree;
    let parameters = tree.get("parameters").map_or(&[][..], Node::entries);
    let mut scope = Scope {
        parameters,
        library,
        known: BTreeMap::new(),
        active: Vec::new(),
        bytes: 0,
        unresolved: Vec::new(),
    };
    let mut resolved = tree.clone();
    if let Value::Table(entries) = &mut resolved.value {
        for entry in entries {
            match entry.key.as_str() {
                "title" | "sweep" => {}
                "parameters" => scope.all_parameters(&mut entry.node, &mut problems.found),
                _ => scope.replace(&mut entry.node, &mut problems.found),
            }
        }
    }
    (resolved, scope.unresolved)
}

/// Names that an expression may refer to.
struct Scope<'t> {
    parameters: &'t [Entry],
    library: &'t Library,
    /// Values of evaluated parameters; `None` for parameters with a problem, which is reported once.
    known: BTreeMap<&'t str, Option<Node>>,
    /// Parameters being evaluated, outermost first.
    active: Vec<&'t str>,
    /// Number of bytes of all expanded values so far.
    bytes: usize,
    /// Places of expressions that stay unchanged.
    unresolved: Vec<Origin>,
}

impl<'t> Scope<'t> {
    fn all_parameters(&mut self, table: &mut Node, found: &mut Vec<Problem>) {
        for entry in self.parameters {
            // A value with a problem stays as written; the problem is on the list.
            let value = self.parameter(entry, found).unwrap_or_else(|| entry.node.clone());
            if let Value::Table(entries) = &mut table.value
                && let Some(slot) = entries.iter_mut().find(|slot| slot.key == entry.key)
            {
                slot.node = value;
            }
        }
    }

    /// Replaces all expressions in `node`.
    fn replace(&mut self, node: &mut Node, found: &mut Vec<Problem>) {
        match &mut node.value {
            Value::String(text) if text.contains(['$', '*']) => {
                let here = node.origin;
                match self.evaluate(text, here, found) {
                    Ok(Some(value)) => *node = value,
                    Ok(None) => self.unresolved.push(here),
                    Err(problem) => found.push(problem),
                }
            }
            Value::String(text) => {
                if let Some((_, arguments)) = drawn_from(text).filter(|(name, _)| *name == "file") {
                    match self.read(&arguments, node.origin) {
                        Ok(values) => node.value = Value::String(values),
                        Err(problem) => found.push(problem),
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.replace(item, found)),
            Value::Table(entries) => {
                entries.iter_mut().for_each(|entry| self.replace(&mut entry.node, found));
            }
            _ => {}
        }
    }

    /// Reads the values of a file and returns a `choice(...)` of them.
    fn read(&mut self, arguments: &[&str], here: Origin) -> Result<String, Problem> {
        let values = self.library.values(arguments[0]).map_err(|said| Problem::new(here, said))?;
        let unit = arguments.get(1).map_or(String::new(), |unit| format!(" {unit}"));
        for (line, value) in &values {
            let text = format!("{value}{unit}");
            if let Err(error) = text.parse::<Duration>() {
                let (message, help) = describe_error(&text, &error);
                let message = format!("`{}`, line {line}: {message}", arguments[0]);
                let label = "expected values such as `12.5 ms`, or `12.5` with a separate unit";
                return Err(Problem::new(here, message).label(label).help(help));
            }
        }
        let values: Vec<String> = values.into_iter().map(|(_, value)| value).collect();
        let choice = values.join(&format!("{unit}, "));
        self.bytes += choice.len();
        if values.is_empty() || self.bytes > MOST_BYTES {
            let wrong = if values.is_empty() { "has no values" } else { "has too many values" };
            return Err(Problem::new(here, format!("`{}` {wrong}", arguments[0])));
        }
        Ok(format!("choice({choice}{unit})"))
    }

    /// Evaluates an expression at `here`; returns `None` if a parameter in it has a known problem.
    fn evaluate(
        &mut self,
        text: &str,
        here: Origin,
        found: &mut Vec<Problem>,
    ) -> Result<Option<Node>, Problem> {
        if let Some(name) = text.trim().strip_prefix('$')
            && is_name(name)
        {
            let Some(mut node) = self.named(name, here, found)? else { return Ok(None) };
            mark_use(&mut node, here);
            return Ok(Some(node));
        }
        let text = match drawn_from(text) {
            Some((name, arguments)) => {
                let mut texts = Vec::new();
                for argument in arguments {
                    let Some(product) = self.product(argument, here, found)? else {
                        return Ok(None);
                    };
                    texts.push(product.to_string());
                }
                format!("{name}({})", texts.join(", "))
            }
            None => match self.product(text, here, found)? {
                None => return Ok(None),
                Some(product) => match (product.dimension, product.amount.to_u64()) {
                    (None, Some(whole)) if i64::try_from(whole).is_ok() => {
                        let whole = i64::try_from(whole).unwrap_or(i64::MAX);
                        return Ok(Some(Node::new(here, Value::Integer(whole))));
                    }
                    (None, _) => {
                        return Ok(Some(Node::new(here, Value::Float(product.to_string()))));
                    }
                    _ => product.to_string(),
                },
            },
        };
        Ok(Some(Node::new(here, Value::String(text))))
    }

    /// Returns the exact product of factors separated by `*`.
    fn product(
        &mut self,
        text: &str,
        here: Origin,
        found: &mut Vec<Problem>,
    ) -> Result<Option<Quantity>, Problem> {
        let mut product: Option<Quantity> = None;
        for factor in text.split('*').map(str::trim) {
            let quantity = match factor.strip_prefix('$') {
                Some(name) if is_name(name) => {
                    let Some(node) = self.named(name, here, found)? else { return Ok(None) };
                    let value = match &node.value {
                        Value::String(text) | Value::Float(text) => text.clone(),
                        Value::Integer(value) => value.to_string(),
                        _ => {
                            let message =
                                format!("`${name}` cannot be multiplied: it is {}", node.kind());
                            return Err(Problem::new(here, message));
                        }
                    };
                    Quantity::parse(&value, None).map_err(|error| {
                        let (why, help) = describe_error(&value, &error);
                        Problem::new(here, format!("`${name}` cannot be multiplied: {why}"))
                            .label(format!("`${name}` is `{value}`"))
                            .help(help)
                    })
                }
                Some(name) => Err(Problem::new(here, format!("`${name}` is not a parameter name"))
                    .label("expected `$name`, or a product such as `0.9 * $name`")),
                None => Quantity::parse(factor, None).map_err(|error| {
                    let (message, help) = describe_error(factor, &error);
                    Problem::new(here, message)
                        .label("expected a product of numbers, quantities and parameters")
                        .help(help)
                }),
            }?;
            product = Some(match product {
                None => quantity,
                Some(product) => product
                    .times(quantity)
                    .map_err(|error| Problem::new(here, error.to_string()))?,
            });
        }
        Ok(product)
    }

    /// Returns the value of parameter `name`, used at `here`.
    fn named(
        &mut self,
        name: &str,
        here: Origin,
        found: &mut Vec<Problem>,
    ) -> Result<Option<Node>, Problem> {
        if self.bytes > MOST_BYTES {
            return Ok(None);
        }
        let parameters = self.parameters;
        match parameters.iter().find(|entry| entry.key == name) {
            Some(entry) => {
                let value = self.parameter(entry, found);
                let before = self.bytes;
                self.bytes += value.as_ref().map_or(0, Node::bytes);
                if before > MOST_BYTES {
                    return Ok(None);
                }
                if self.bytes > MOST_BYTES {
                    let message = format!("parameters expand to more than {MOST_BYTES} bytes");
                    return Err(Problem::new(here, message));
                }
                Ok(value)
            }
            None => Err(Problem::new(here, format!("unknown parameter `{name}`"))
                .label("not in [parameters]")
                .help(suggestion(name, "parameters", parameters.iter().map(|e| e.key.as_str())))),
        }
    }

    /// Returns the value of a parameter, evaluated at most once.
    fn parameter(&mut self, entry: &'t Entry, found: &mut Vec<Problem>) -> Option<Node> {
        let name = entry.key.as_str();
        if let Some(value) = self.known.get(name) {
            return value.clone();
        }
        let circle = self.active.iter().position(|active| *active == name);
        if circle.is_some() || self.active.len() == MAX_DEPTH {
            let from = circle.unwrap_or(0);
            let names: Vec<&str> = self.active[from..].iter().copied().chain([name]).collect();
            let message = match circle {
                Some(_) => format!("circular parameters: {}", names.join(" -> ")),
                None => format!("parameters are nested more than {MAX_DEPTH} levels deep"),
            };
            found.push(Problem::new(entry.node.origin, message));
            self.known.insert(name, None);
            return None;
        }
        self.active.push(name);
        let before = found.len();
        let mut value = entry.node.clone();
        self.replace(&mut value, found);
        self.active.pop();
        // A circular reference through this parameter was reported during its evaluation.
        let failed = found.len() > before || self.known.get(name).is_some_and(Option::is_none);
        let value = (!failed).then_some(value);
        self.known.insert(name, value.clone());
        value
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-')
}

/// Returns whether a text refers to parameter `name`.
pub(crate) fn refers(text: &str, name: &str) -> bool {
    text.split('$').skip(1).any(|rest| {
        rest.strip_prefix(name)
            .is_some_and(|rest| !rest.starts_with(|c: char| is_name(c.encode_utf8(&mut [0; 4]))))
    })
}

/// Records the place where a parameter is used, in its value and everything inside.
fn mark_use(node: &mut Node, here: Origin) {
    node.used_at = Some(here);
    match &mut node.value {
        Value::Array(items) => items.iter_mut().for_each(|item| mark_use(item, here)),
        Value::Table(entries) => {
            entries.iter_mut().for_each(|entry| mark_use(&mut entry.node, here));
        }
        _ => {}
    }
}
