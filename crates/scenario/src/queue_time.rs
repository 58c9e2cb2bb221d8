//! Queues that are written as a time: how much data that is at the rate of the link.

use optcp_units::{Bytes, Duration, Rate};

use crate::problem::Problem;
use crate::tree::{Node, Value};

/// What is assumed where no rate stands beside the queue.
const EXAMPLE_BPS: u64 = 1_000_000_000;

/// Adds the conversion to problems with a queue that is a time: "at 1 Gbps 5 ms are `625 kB`".
pub(crate) fn add_conversions(tree: &Node, problems: &mut [Problem]) {
    for problem in problems {
        if let Some(help) = conversion(tree, problem, None) {
            problem.help = Some(help);
        }
    }
}

/// The conversion, if the value with the problem is a queue below this node; `rate` is that of the tables around it.
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
    Some(format!("a queue is packets or data: at {rate} {time} are `{size}`"))
}
