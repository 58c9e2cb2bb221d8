//! What a congestion control is.

use optcp_units::{Duration, Time};

use super::event::{AckEvent, DeliveryEvent};
use super::slow_start::SlowStart;
use crate::delivery::DeliveryRate;
use crate::ecn::Feedback;
use crate::seq::Seq;
use crate::window::Window;

/// A choice of one controller alone: its key in scenario files, and why it is what it is unless a profile or a
/// scenario says otherwise.
pub type OwnKey = (&'static str, &'static str);

/// The choices of one controller alone. `Default` is what they are unless a profile or a scenario says otherwise.
pub trait Keys: Clone + Default {
    /// All of them.
    const ALL: &'static [OwnKey];
}

/// A controller without choices of its own.
impl Keys for () {
    const ALL: &'static [OwnKey] = &[];
}

/// Declares the choices of one controller alone, with their defaults and the reasons for these.
macro_rules! keys {
    (
        $(#[$doc:meta])*
        $vis:vis struct $Keys:ident {
            $( $(#[$field_doc:meta])* $field:ident : $Type:ty = $value:expr, $why:literal; )+
        }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        $vis struct $Keys {
            $( $(#[$field_doc])* pub $field: $Type, )+
        }

        impl Default for $Keys {
            fn default() -> Self {
                $Keys { $( $field: $value, )+ }
            }
        }

        impl $crate::congestion::controller::Keys for $Keys {
            const ALL: &'static [$crate::congestion::controller::OwnKey] =
                &[ $( (stringify!($field), $why), )+ ];
        }
    };
}

pub(super) use keys;

/// What every controller starts from beside its own keys.
#[derive(Clone, Debug)]
pub struct Start {
    /// The slow start of the connection.
    pub slow_start: SlowStart,
    /// Where the sender's clock stands at time zero.
    pub clock_phase: Duration,
}

/// What a controller needs to know of marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NeedsEcn {
    /// It can do without.
    Nothing,
    /// That there are none: it takes the flags for something else.
    Off,
    /// Whether there were any.
    Any,
    /// How many.
    Accurate,
}

/// A congestion control: how the window grows, what a loss leaves of it, at what rate segments leave. Its state
/// is plain data. Everything but its start and its answer to losses has a default, which is what a controller does
/// that only grows a window; one that governs sending overrides what it wants done otherwise.
///
/// Windows are in bytes, of segments of `mss` bytes. Of an ACK it is told in this order: `observe`; `on_recovered`,
/// `on_undo`, `on_loss` or `on_mark`, if a recovery ends or begins or a mark asks for a reduction; `on_ack`; `on_delivery`.
/// Without SACK `on_mark` comes behind `on_ack`, if that comes at all.
pub trait Controller: Clone + Sized {
    /// The choices that it alone has.
    type Keys: Keys;

    /// Whether it asks for the rate of delivery, which only SACK tells while something is missing.
    const WANTS_RATES: bool = false;

    /// Whether it finds the rate at which segments leave: `interval` has an answer, and needs pacing at it.
    const PACES: bool = false;

    /// Whether it asks for one-way delays, which need timestamps.
    const WANTS_DELAYS: bool = false;

    /// What it needs to know of marks.
    const ECN: NeedsEcn = NeedsEcn::Nothing;

    /// Whether it answers marks as L4S asks for (RFC 9331 section 4.3), which ECT(1) says.
    const L4S: bool = false;

    /// Whether a mark counts for as much as a loss, so that one of them in a window of data is enough.
    const MARKS_ARE_LOSSES: bool = true;

    /// Whether ACKs that report marks grow the window too.
    const GROWS_WITH_MARKS: bool = false;

    /// Whether the window is its answer to a mark at once and to the fraction of a segment, whatever `rate_reduction` and
    /// `halving` say.
    const MARKS_EXACT: bool = false;

    /// What a mark leaves of what is at stake with ABE (RFC 8511), if that is defined for it.
    const ABE: Option<f64> = None;

    /// The state at the start of a connection.
    fn new(keys: &Self::Keys, start: Start) -> Self;

    /// Data begin: the round trip of the SYN, of which `observe` was told, is none of data.
    fn on_open(&mut self) {}

    /// The round trip of the SYN, if it was sent once; data begin after that, with this window.
    fn on_handshake(&mut self, _window: &mut Window, _mss: f64, _now: Time, _rtt: Duration) {}

    /// Data begin behind a SYN that had to be sent again, which says nothing of the path's capacity.
    fn on_lost_syn(&mut self, keys: &Self::Keys, start: Start) {
        *self = Self::new(keys, start);
    }

    /// Any ACK that tells of segments for the first time, in recovery too, before anything follows from it.
    fn observe(&mut self, _ack: &AckEvent) {}

    /// An ACK of new data outside a recovery of losses, though perhaps before all is repaired after a timeout: the
    /// window may grow.
    fn on_ack(&mut self, _window: &mut Window, _mss: f64, _ack: &AckEvent) {}

    /// Any ACK, where it asks for the rate of delivery, after everything that follows from it.
    fn on_delivery(
        &mut self,
        _window: &mut Window,
        _mss: f64,
        _ack: &DeliveryEvent,
        _rate: &mut DeliveryRate,
    ) {
    }

    /// A segment has left, first or again, where it asks for the rate of delivery; with it the network carries
    /// `in_flight` segments.
    fn on_sent(&mut self, _seq: Seq, _in_flight: u32, _rate: &DeliveryRate) {}

    /// The last transmission of a segment is held to be lost, where it asks for the rate of delivery: before anything
    /// follows from it.
    fn on_lost(
        &mut self,
        _window: &Window,
        _mss: f64,
        _seq: Seq,
        _now: Time,
        _rate: &DeliveryRate,
    ) {
    }

    /// The application has paused and nothing is under way: the next segment is about to leave, where it asks for the
    /// rate of delivery.
    fn on_restart(&mut self, _window: &mut Window, _mss: f64, _now: Time, _rate: &DeliveryRate) {}

    /// A recovery begins or the timer expired, with `amount` bytes at stake (a flight or a window, see
    /// [`ReductionBasis`](crate::config::ReductionBasis)): what ssthresh should be. `None` leaves ssthresh, and in a
    /// recovery the window too.
    fn on_loss(&mut self, window: &Window, mss: f64, amount: f64) -> Option<f64>;

    /// An ACK reports a mark, the first in a window of data, with `amount` bytes at stake: what ssthresh and the window
    /// should be. `None` leaves both.
    fn on_mark(&mut self, window: &Window, mss: f64, amount: f64) -> Option<f64> {
        self.on_loss(window, mss, amount)
    }

    /// The SYN exchange is over, or was none: what the sender understands of marks.
    fn on_feedback(&mut self, _feedback: Feedback) {}

    /// The retransmission timer expired; ssthresh is set. The window falls to a segment after this.
    fn on_timeout(&mut self, window: &mut Window, mss: f64);

    /// A recovery of losses is complete, and the window what it left.
    fn on_recovered(&mut self, _window: &mut Window, _mss: f64) {}

    /// A reduction begins that may be taken back.
    fn save(&mut self) {}

    /// The reduction that began last is taken back; the window was `before` then.
    fn on_undo(&mut self, window: &mut Window, before: Window) {
        window.restore(before);
    }

    /// Nothing was sent for longer than the retransmission timeout: the window falls to `restart` bytes
    /// (`idle_restart` and `restart_after_idle`).
    fn on_idle(&mut self, window: &mut Window, _mss: f64, restart: f64) {
        window.cwnd = window.cwnd.min(restart);
    }

    /// Data is sent with nothing outstanding, `idle` after the last segment that was sent.
    fn on_resume(&mut self, _now: Time, _idle: Duration) {}

    /// The time between segments, if it finds the rate, for a window of `window` segments.
    fn interval(&self, _window: u32, _srtt: Option<Duration>) -> Option<Duration> {
        None
    }
}
