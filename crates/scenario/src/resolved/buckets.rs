//! Token buckets as JSON.

use optcp_net::BucketKind;
use optcp_units::{Bytes, Rate};
use serde_json::{Value, json};

use crate::plan::{BucketEffect, BucketPlan, Plan};

use super::with_optional;

/// Returns a token bucket of a port.
pub(super) fn bucket(plan: &Plan, entry: &BucketPlan) -> Value {
    let filled = |(rate, burst): (Rate, Bytes)| json!([rate.bps(), burst.count()]);
    let (kind, keys) = match entry.effect {
        BucketEffect::Policer { at, exceeding } => {
            (BucketKind::Policer, json!({ "at": at, "exceeding": exceeding }))
        }
        BucketEffect::Trtcm { at, aware, actions } => {
            (BucketKind::Trtcm, json!({ "at": at, "colour_aware": aware, "actions": actions }))
        }
        BucketEffect::Shaper => (BucketKind::Shaper, json!({})),
    };
    let always = json!({
        "port": plan.port_name(entry.hop),
        "kind": kind,
        "rate_bps_burst_bytes": filled(entry.bucket),
    });
    let optional = json!({ "peak_rate_bps_burst_bytes": entry.peak.map(filled) });
    with_optional(with_optional(always, keys), optional)
}
