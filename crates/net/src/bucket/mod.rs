//! Token buckets of a port: policers and markers before or behind its queue, and shapers.
//!
//! To add one, write its file, and add its module, its variant and its registration here.

mod action;
mod colour;
mod policer;
mod shaper;
#[cfg(test)]
mod tests;
mod tokens;
mod trtcm;

use optcp_units::{Time, registry};

use crate::Packet;

pub use action::Action;
pub use colour::Colour;
pub use policer::Policer;
pub use shaper::Shaper;
pub use trtcm::Trtcm;

registry! {
    /// Kind of a token bucket.
    pub enum BucketKind ("buckets") {
        "policer" => Policer: "drops, marks or colours packets beyond a rate and burst", "RFC 2475 section 2.3.3; Linux, police";
        "shaper" => Shaper: "delays packets to a rate and burst", "RFC 2475 section 2.3.3; Linux, tbf";
        "trtcm" => Trtcm: "colours packets green, yellow or red by two rates", "RFC 2698";
    }
}

registry! {
    /// Position of a policer or marker.
    pub enum BucketPlace ("bucket-places") {
        "ingress" => Ingress: "before the queue of the link, for each arriving packet", "OpTCP";
        "egress" => Egress: "behind the queue, when the transmitter takes a packet", "OpTCP";
    }
}

/// Token bucket of a port with its state. A port may have several; they apply in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bucket {
    /// Policer.
    Policer(BucketPlace, Policer),
    /// Two-rate three-colour marker.
    Trtcm(BucketPlace, Trtcm),
    /// Shaper.
    Shaper(Shaper),
}

impl Bucket {
    /// Applies the bucket to a packet at a position. Returns the packet, which it may mark or colour; `None` if it is
    /// dropped.
    fn meter(&mut self, at: BucketPlace, now: Time, packet: Packet) -> Option<Packet> {
        let (colour, action) = match self {
            Bucket::Policer(place, policer) if *place == at => policer.meter(now, packet.size()),
            Bucket::Trtcm(place, marker) if *place == at => {
                marker.meter(now, packet.size(), packet.colour())
            }
            _ => return Some(packet),
        };
        action.apply(packet, colour)
    }
}

/// Applies the buckets of a port to a packet at a position. Returns the packet, which they may mark or colour; `None` if
/// it is dropped.
pub(crate) fn meter(
    buckets: &mut [Bucket],
    at: BucketPlace,
    now: Time,
    packet: Packet,
) -> Option<Packet> {
    buckets.iter_mut().try_fold(packet, |packet, bucket| bucket.meter(at, now, packet))
}

/// Returns whether a port has a shaper.
pub(crate) fn shapes(buckets: &[Bucket]) -> bool {
    buckets.iter().any(|bucket| matches!(bucket, Bucket::Shaper(_)))
}

/// Returns the first time from `now` on at which the shapers of a port have tokens for `bytes` bytes.
pub(crate) fn ready(buckets: &[Bucket], now: Time, bytes: u64) -> Time {
    let ready = buckets.iter().map(|bucket| match bucket {
        Bucket::Shaper(shaper) => shaper.ready(now, bytes),
        Bucket::Policer(..) | Bucket::Trtcm(..) => now,
    });
    ready.fold(now, Time::max)
}

/// Returns the time from `now` on at which the shapers of a port let a packet begin, and takes its tokens.
pub(crate) fn begin(buckets: &mut [Bucket], now: Time, packet: Packet) -> Time {
    let at = ready(buckets, now, packet.size().into());
    for bucket in buckets {
        if let Bucket::Shaper(shaper) = bucket {
            shaper.take(at, packet.size());
        }
    }
    at
}
