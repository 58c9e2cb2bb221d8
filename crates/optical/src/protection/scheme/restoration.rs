//! End-to-end restoration: the backup is found and set up after the fault.
//!
//! # Models
//! The PSL is told as with path protection, computes a route, and sets it up by a message down the
//! backup and one back up; then it switches.
//! # Source
//! RFC 4427, section 4.6 (full LSP re-routing); RFC 4428, section 5.5.2; RSVP-TE's Path and Resv messages (RFC 3473).
//! # Parameters
//! `computation`, the time to find the route; `processing` of each node that a message comes to.
//! # Limits
//! The route is that of the scenario, whatever has failed; set-up never fails for want of capacity.

use super::{ProtectedSegment, SetUp, SwitchPoint, path};

pub(super) fn points(segment: &ProtectedSegment, set_up: SetUp) -> Vec<SwitchPoint> {
    let messages = segment.message(&segment.backup) + segment.message(&segment.backup_upstream);
    let mut points = path::points(segment, set_up);
    for point in &mut points {
        point.set_up = set_up.computation + messages;
    }
    points
}
