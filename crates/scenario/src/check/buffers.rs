//! Queue limits relative to the rate of their port: a time, or a multiple of the bandwidth-delay product (BDP).

use std::collections::BTreeMap;

use optcp_units::{Bytes, Duration, Rate};

use crate::plan::{DirectedLink, QueueLimit};
use crate::schema::{Buffer, QueueEntry};
use crate::tree::Step;

const BITS_A_BYTE_IN_PS: u128 = 8_000_000_000_000;

/// Payload of an Ethernet frame.
pub(super) const FRAME: Bytes = Bytes::new(1500);

/// Relative limit of a port, and its place in the file.
#[derive(Clone, Debug)]
pub(super) struct Relative {
    pub(super) buffer: Buffer,
    pub(super) place: Vec<Step<'static>>,
}

/// Relative limits by port.
pub(super) type Relatives = BTreeMap<DirectedLink, Relative>;

/// Returns the limit of a queue; unlimited until it is resolved if it is relative.
pub(super) fn limit(queue: &QueueEntry) -> QueueLimit {
    match queue.limit {
        Buffer::Limit(limit) => limit,
        Buffer::Time(_) | Buffer::Bdp(_) => QueueLimit::Unlimited,
    }
}

/// Notes the limit of a queue if it is relative.
pub(super) fn note(
    queue: &QueueEntry,
    port: DirectedLink,
    place: &[Step<'static>],
    relatives: &mut Relatives,
) {
    if !matches!(queue.limit, Buffer::Limit(_)) {
        relatives.insert(port, Relative { buffer: queue.limit, place: place.to_vec() });
    }
}

/// Returns the limit of a circuit with its own rate in place of a port.
pub(super) fn scaled(limit: QueueLimit, from: Rate, to: Rate) -> QueueLimit {
    match limit {
        QueueLimit::Bytes(bytes) => {
            let scaled = u128::from(bytes.count()) * u128::from(to.bps()) / u128::from(from.bps());
            QueueLimit::Bytes(Bytes::new(u64::try_from(scaled).unwrap_or(u64::MAX)).max(FRAME))
        }
        other => other,
    }
}

/// Returns the data that a link sends in a multiple of a time.
pub(super) fn data(rate: Rate, time: Duration, millionths: u64) -> Bytes {
    let sent = u128::from(rate.bps()) * u128::from(time.as_ps()) / BITS_A_BYTE_IN_PS;
    let bytes = sent.saturating_mul(millionths.into()) / u128::from(Buffer::MILLION);
    Bytes::new(u64::try_from(bytes).unwrap_or(u64::MAX))
}
