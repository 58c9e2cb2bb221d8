//! RTT samples from ACKs.

use optcp_units::{Duration, Time};

use super::delivered::Delivery;
use crate::acknowledgment::Ack;
use crate::config::Measurement;
use crate::tcb::Tcb;

/// Takes the RTT sample of an ACK that has not been counted, if any. Congestion control gets the
/// newest segment's RTT, the timer the oldest's. With per-network state, only segments sent since
/// the last change of network are measured.
pub(super) fn measure(
    tcb: &mut Tcb,
    now: Time,
    ack: &Ack,
    delivery: Delivery,
    advanced: bool,
) -> Option<Duration> {
    let since = tcb.networks.as_ref().map_or(Time::ZERO, |networks| networks.since);
    if tcb.config.measurement == Measurement::EveryAck {
        if let Some(times) = delivery.unambiguous() {
            if times.first < since {
                return None;
            }
            tcb.measure_sent(now, ack, times.first);
            return Some(now - times.last);
        }
        if !tcb.config.timestamps {
            return None;
        }
    }
    let before = since > Time::ZERO && tcb.config.timestamps && tcb.sent_at(ack.echo, now) < since;
    if advanced && !before { tcb.measure(now, ack) } else { None }
}
