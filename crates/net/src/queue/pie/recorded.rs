//! Comparison with PIE of ns-3.37, update by update, from the same probability and delays.

use serde_json::Value;

use super::*;
use crate::QueueLimit;
use crate::queue::tests::link;

const RECORD: &str =
    include_str!("../../../../../papers/optcp_papers/evidence/data/queue_ns3.json");

/// Returns delay and probability after an update.
fn row(row: &Value) -> (Duration, f64) {
    let ms = row[0].as_f64().unwrap();
    (Duration::from_secs_f64(ms * 1e-3).unwrap(), row[1].as_f64().unwrap())
}

/// Compares the first 200 updates of seven scenarios, after the burst allowance is used. Until then ns-3 keeps the
/// probability at zero, while RFC 8033 (section 4.4 and appendix A) lets it grow. Recorded probabilities have ten
/// digits.
#[test]
fn ns_3_updates_alike() {
    let record: Value = serde_json::from_str(RECORD).unwrap();
    let mut compared = 0;
    for (name, world) in record["cbr"].as_object().unwrap() {
        let Some(rows) = world["pie"].as_array() else { continue };
        let mut parameters = PieParameters::default();
        if name.starts_with("pie-20") {
            (parameters.target, parameters.update) = (Duration::from_ms(20), Duration::from_ms(30));
        }
        for pair in rows[..200].windows(2) {
            let (before, (delay, expected)) = (row(&pair[0]), row(&pair[1]));
            if expected == 0.0 {
                continue;
            }
            let mut pie = Pie::new(&parameters, &link(QueueLimit::Unlimited));
            (pie.delay, pie.probability) = before;
            pie.update(delay);
            let error = (pie.probability - expected).abs();
            assert!(error <= 1e-9 * expected + 1e-11, "{name}: {} {expected}", pie.probability);
            compared += 1;
        }
    }
    assert!(compared > 1000, "{compared}");
}
