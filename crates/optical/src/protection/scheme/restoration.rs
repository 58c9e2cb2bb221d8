//! End-to-end restoration: the backup is computed and set up after the failure.
//!
//! # Model
//! The PSL is notified as with path protection and computes a route in `computation`. It sets up the backup with a
//! message downstream and another one upstream, and then switches. Each node takes `processing` per message.
//!
//! # References
//! RFC 4427, section 4.6 (full LSP re-routing); RFC 4428, section 5.5.2; RSVP-TE's Path and Resv messages (RFC 3473).
//!
//! # Limitations
//! The scenario defines the route, regardless of the failed links. Set-up never fails for lack of capacity.

use super::{ProtectedSegment, SetUp, SwitchPoint, path};

pub(super) fn points(segment: &ProtectedSegment, set_up: SetUp) -> Vec<SwitchPoint> {
    let messages = segment.message(&segment.backup) + segment.message(&segment.backup_upstream);
    let mut points = path::points(segment, set_up);
    for point in &mut points {
        point.set_up = set_up.computation + messages;
    }
    points
}
