//! Token buckets of ports.

use optcp_net::{Bucket, Policer, Shaper, Trtcm};

use optcp_scenario::plan::{BucketEffect, BucketPlan, DirectedLink, Plan};

/// Returns the token buckets of a port, in the order of the file.
pub(super) fn buckets(plan: &Plan, hop: DirectedLink) -> Vec<Bucket> {
    let bucket = |&BucketPlan { bucket, peak, effect, .. }: &BucketPlan| match effect {
        BucketEffect::Policer { at, exceeding } => {
            Bucket::Policer(at, Policer::new(bucket, peak, exceeding))
        }
        BucketEffect::Trtcm { at, aware, actions } => {
            let peak = peak.expect("a marker has two rates");
            Bucket::Trtcm(at, Trtcm::new(bucket, peak, aware, actions))
        }
        BucketEffect::Shaper => Bucket::Shaper(Shaper::new(bucket, peak)),
    };
    plan.buckets.iter().filter(|entry| entry.hop == hop).map(bucket).collect()
}
