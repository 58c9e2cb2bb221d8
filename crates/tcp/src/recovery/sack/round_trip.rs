//! Which round trip an ACK measures.

use optcp_units::{Duration, Time};

use super::delivered::Delivery;
use crate::acknowledgment::Ack;
use crate::config::Measurement;
use crate::tcb::Tcb;

/// The round trip of an ACK that is not yet counted, if it measures one: of the newest segment for
/// congestion control; the timer is given that of the oldest. Where networks are kept apart it measures one of
/// segments that were sent since the network changed.
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
