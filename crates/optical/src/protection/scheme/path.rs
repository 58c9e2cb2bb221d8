//! Path protection: an end-to-end backup, used when the PSL is notified.
//!
//! # Model
//! The node in front of the failure notifies the PSL, node by node against the direction of the packets. Repairs are
//! notified in the same way. Each node takes `processing` per message; links take their propagation delay.
//!
//! # References
//! GMPLS paper, section 2, Fig. 1, and section 8.1 ("path"); RFC 4427, section 4.12 (notification).
//!
//! # Limitations
//! Messages are not simulated as packets: they use no capacity, are never lost, and cross links whose downstream
//! direction has failed.

use super::{ProtectedSegment, SetUp, SwitchPoint};

pub(super) fn points(segment: &ProtectedSegment, _: SetUp) -> Vec<SwitchPoint> {
    let reports =
        segment.covered.iter().map(|&link| (link, segment.upstream_notification_delay(link)));
    vec![segment.head(reports.collect())]
}
