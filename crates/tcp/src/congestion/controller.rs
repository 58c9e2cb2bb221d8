//! Trait of congestion controls.

use optcp_units::{Duration, Time};

use super::event::{AckEvent, DeliveryEvent, SubflowState};
use super::slow_start::SlowStart;
use crate::delivery::DeliveryRate;
use crate::ecn::Feedback;
use crate::seq::Seq;
use crate::window::Window;

/// Parameter of one controller: key in scenario files, and reason for its default.
pub type OwnKey = (&'static str, &'static str);

/// Parameters of one controller. `Default` gives the values without a profile or scenario.
pub trait Keys: Clone + Default {
    /// All parameters.
    const ALL: &'static [OwnKey];
}

/// No parameters.
impl Keys for () {
    const ALL: &'static [OwnKey] = &[];
}

/// Declares the parameters of one controller, with defaults and reasons.
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

/// Initial state of every controller, besides its own parameters.
#[derive(Clone, Debug)]
pub struct Start {
    /// Slow start of the connection.
    pub slow_start: SlowStart,
    /// Value of the sender's clock at time zero.
    pub clock_phase: Duration,
}

/// ECN feedback that a controller needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NeedsEcn {
    /// None.
    Nothing,
    /// No ECN: the controller uses the flags for another purpose.
    Off,
    /// Whether any segment was marked.
    Any,
    /// Number of marked segments.
    Accurate,
}

/// Congestion control: window growth, reaction to losses, and pacing rate. Its state is plain data. Only
/// `new`, `on_loss` and `on_timeout` are required; the defaults suit controllers that only set the window.
/// Rate-based controllers override more.
///
/// Windows are in bytes, with segments of `mss` bytes. An ACK causes calls in this order:
/// `observe`; `on_recovered`, `on_undo`, `on_loss` or `on_mark`; `on_ack`; `on_delivery`. The
/// second group applies if a recovery ends or starts, or a mark requires a reduction. Without SACK,
/// `on_mark` follows `on_ack`, if that is called at all.
pub trait Controller: Clone + Sized {
    /// Parameters of the controller.
    type Keys: Keys;

    /// `true`: needs delivery rates, which during loss recovery only SACK provides.
    const WANTS_RATES: bool = false;

    /// `true`: computes a pacing rate; `interval` returns a value, and pacing must use it.
    const PACES: bool = false;

    /// `true`: needs one-way delays, which require timestamps.
    const WANTS_DELAYS: bool = false;

    /// `true`: needs the time of each input, through `at`.
    const WANTS_TIMES: bool = false;

    /// `true`: depends on the other subflows of a connection, through `couple`.
    const COUPLED: bool = false;

    /// ECN feedback that it needs.
    const ECN: NeedsEcn = NeedsEcn::Nothing;

    /// `true`: reacts to marks as L4S requires (RFC 9331 section 4.3), which ECT(1) indicates.
    const L4S: bool = false;

    /// `true`: a mark counts like a loss, so that one reduction per window of data is sufficient.
    const MARKS_ARE_LOSSES: bool = true;

    /// `true`: ACKs that report marks also increase the window.
    const GROWS_WITH_MARKS: bool = false;

    /// `true`: the reaction to a mark is immediate and includes fractions of a segment, independent of
    /// `rate_reduction` and `halving`.
    const MARKS_EXACT: bool = false;

    /// `true`: the pacing rate counts headers, but the wait after a segment only its payload, as in Linux.
    const PACES_HEADERS: bool = false;

    /// Factor of the reduction basis after a mark with ABE (RFC 8511), if defined.
    const ABE: Option<f64> = None;

    /// Returns the state at the start of a connection.
    fn new(keys: &Self::Keys, start: Start) -> Self;

    /// Called at each ACK, timer and restart, with the current time, before all other calls, if the controller needs it.
    fn at(&mut self, _now: Time, _window: &Window, _mss: f64) {}

    /// Called before each ACK, if the controller is coupled, with the states of all subflows of the connection, of which this
    /// one is number `own`.
    fn couple(&mut self, _subflows: &[SubflowState], _own: usize) {}

    /// Returns [`SubflowState::between_losses`].
    fn between_losses(&self) -> f64 {
        0.0
    }

    /// Called before the first data: the RTT of the SYN, passed to `observe`, is not a data RTT.
    fn on_open(&mut self) {}

    /// Called with the RTT of a SYN that was sent once. Data start after it, with this window.
    fn on_handshake(&mut self, _window: &mut Window, _mss: f64, _now: Time, _rtt: Duration) {}

    /// Called before the first data after a retransmitted SYN, which does not indicate the path's capacity.
    fn on_lost_syn(&mut self, keys: &Self::Keys, start: Start) {
        *self = Self::new(keys, start);
    }

    /// Called for any ACK that newly reports segments, also in recovery, before any other effect.
    fn observe(&mut self, _ack: &AckEvent) {}

    /// Called for an ACK of new data outside recovery, possibly before all losses of an RTO are repaired. The
    /// window may grow.
    fn on_ack(&mut self, _window: &mut Window, _mss: f64, _ack: &AckEvent) {}

    /// Called for any ACK after all its effects, if the controller needs delivery rates.
    fn on_delivery(
        &mut self,
        _window: &mut Window,
        _mss: f64,
        _ack: &DeliveryEvent,
        _rate: &mut DeliveryRate,
    ) {
    }

    /// Called when a segment has left, new or retransmitted, if the controller needs delivery rates.
    /// `in_flight` includes it.
    fn on_sent(&mut self, _seq: Seq, _in_flight: u32, _rate: &DeliveryRate) {}

    /// Called when the last transmission of a segment is considered lost, before any other effect, if the
    /// controller needs delivery rates.
    fn on_lost(
        &mut self,
        _window: &Window,
        _mss: f64,
        _seq: Seq,
        _now: Time,
        _rate: &DeliveryRate,
    ) {
    }

    /// Called before the next segment after an application pause with nothing in flight, if the controller
    /// needs delivery rates.
    fn on_restart(&mut self, _window: &mut Window, _mss: f64, _now: Time, _rate: &DeliveryRate) {}

    /// Called when a recovery starts or the timer fires. `amount` is the reduction basis in bytes (see
    /// [`ReductionBasis`](crate::config::ReductionBasis)). Returns the new ssthresh. `None` keeps ssthresh,
    /// and in a recovery also the window.
    fn on_loss(&mut self, window: &Window, mss: f64, amount: f64) -> Option<f64>;

    /// Called for the first reported mark in a window of data. Returns the new ssthresh and window; `None`
    /// keeps both.
    fn on_mark(&mut self, window: &Window, mss: f64, amount: f64) -> Option<f64> {
        self.on_loss(window, mss, amount)
    }

    /// Called after the SYN exchange, or without one at the start, with the ECN feedback of the connection.
    fn on_feedback(&mut self, _feedback: Feedback) {}

    /// Called when the retransmission timer has fired and ssthresh is set. The window then falls to one
    /// segment.
    fn on_timeout(&mut self, window: &mut Window, mss: f64);

    /// Called at the end of a loss recovery, with the resulting window.
    fn on_recovered(&mut self, _window: &mut Window, _mss: f64) {}

    /// Called at the start of a reduction that may be undone.
    fn save(&mut self) {}

    /// Called when the last reduction is undone. `before` is the window before the reduction.
    fn on_undo(&mut self, window: &mut Window, before: Window) {
        window.restore(before);
    }

    /// Called when nothing was sent for more than one RTO: the window falls to `restart` bytes
    /// (`idle_restart` and `restart_after_idle`).
    fn on_idle(&mut self, window: &mut Window, _mss: f64, restart: f64) {
        window.cwnd = window.cwnd.min(restart);
    }

    /// Called when data are sent with nothing outstanding, `idle` after the last segment.
    fn on_resume(&mut self, _now: Time, _idle: Duration) {}

    /// Returns the time between segments for a window of `window` segments, if the controller computes a
    /// rate.
    fn interval(&self, _window: u32, _srtt: Option<Duration>) -> Option<Duration> {
        None
    }
}
