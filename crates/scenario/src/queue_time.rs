//! Help for queue limits that are written as a time: the amount of data at the rate of the link.

use optcp_units::{Bytes, Duration, Rate};

use crate::problem::Problem;
use crate::tree::{Node, Value};

/// Rate of the example if the queue has no rate next to it.
const EXAMPLE_BPS: u64 = 1_000_000_000;

/// Adds the conversion to problems with such a queue: "at 1 Gbps, 5 ms corresponds to `625 kB`".
pub(crate) fn add_conversions(tree: &Node, problems: &mut [Problem]) {
    for problem in problems {
        if let Some(help) = conversion(tree, problem, None) {
            problem.help = Some(help);
        }
    }
}

/// Returns the conversion if the value with the problem is a queue below this node. `rate` is the rate in the
/// enclosing tables.
fn conversion(node: &Node, problem: &Problem, rate: Option<Rate>) -> Option<String> {
    if let Value::Array(items) = &node.value {
        return items.iter().find_map(|item| conversion(item, problem, rate));
    }
    let text = |key: &str| match node.get(key).map(|node| &node.value) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    };
    let rate = text("rate").and_then(|text| text.parse().ok()).or(rate);
    node.entries().iter().find_map(|entry| match (&*entry.key, &entry.node.value) {
        ("queue" | "limit", Value::String(text)) if entry.node.origin == problem.origin => {
            written(text.parse().ok()?, rate)
        }
        _ => conversion(&entry.node, problem, rate),
    })
}

fn written(time: Duration, rate: Option<Rate>) -> Option<String> {
    let rate = rate.or(Rate::from_bps(EXAMPLE_BPS))?;
    let bytes = u128::from(rate.bps()) * u128::from(time.as_ps()) / 8_000_000_000_000;
    let size = Bytes::new(u64::try_from(bytes).ok()?).in_largest_unit();
    Some(format!("a queue limit is in packets or bytes: at {rate}, {time} corresponds to `{size}`"))
}
