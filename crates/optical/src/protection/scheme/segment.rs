//! Segment protection: a path is divided into consecutive segments, each with its own backup and switching nodes.
//!
//! # Model
//! The node in front of the failure notifies the head end of its segment, node by node against the direction of the
//! packets. Path protection does the same for a whole path. Only the affected segment switches. The scenario divides the path. A
//! segment ends where the next one starts, so the notification is shorter than for the path.
//!
//! # References
//! RFC 4873 (segment recovery of GMPLS).
//!
//! # Limitations
//! Segments do not overlap, so the node between two segments is not protected. Messages are as with path protection.

use super::{ProtectedSegment, SetUp, SwitchPoint, path};

pub(super) fn points(segment: &ProtectedSegment, set_up: SetUp) -> Vec<SwitchPoint> {
    path::points(segment, set_up)
}
