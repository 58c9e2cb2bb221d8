//! Congestion control: how the window grows, and what is left of it after a loss.

mod ack_counting;
mod bbr;
mod cubic;
mod hystart;
mod hystart_plus_plus;
mod reno;
mod slow_start;
mod window_validation;

use optcp_units::{Duration, Time};

use crate::config::{Config, CongestionKind};
use crate::core::Seq;
use crate::delivery::{DeliveryRate, RateSample};
use crate::window::Window;

pub use bbr::Bbr;
pub use cubic::Cubic;
pub use reno::Reno;
pub(crate) use window_validation::WindowUse;

/// What an ACK of new data tells congestion control.
#[derive(Clone, Copy, Debug, Default)]
pub struct AckEvent {
    /// The present.
    pub now: Time,
    /// Segments that it acknowledges cumulatively for the first time.
    pub acked: u32,
    /// Segments of which no ACK had told before, be it cumulatively or by SACK.
    pub delivered: u32,
    /// The round trip that it measures, if it does.
    pub rtt: Option<Duration>,
    /// The smoothed round trip, once there is one.
    pub srtt: Option<Duration>,
    /// Everything below is acknowledged now.
    pub una: Seq,
    /// One past the highest segment sent: where the present round trip ends.
    pub max: Seq,
    /// Whether the window limits what is sent, so that it may grow.
    pub limited: bool,
}

/// What the sender is repairing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Repair {
    /// Nothing.
    #[default]
    Nothing,
    /// Losses that ACKs revealed.
    Losses,
    /// A timeout.
    Timeout,
}

/// What an ACK tells congestion control that goes by deliveries.
#[derive(Clone, Copy, Debug, Default)]
pub struct DeliveryEvent {
    /// The present.
    pub now: Time,
    /// Segments delivered that no ACK had told of before.
    pub delivered: u32,
    /// Segments found lost.
    pub lost: u32,
    /// Segments that the network carried before the ACK, as far as the sender knew.
    pub prior_in_flight: u32,
    /// And after it.
    pub in_flight: u32,
    /// What the sender is repairing now.
    pub repair: Repair,
    /// The latest round trip that it measures, if it does.
    pub rtt: Option<Duration>,
    /// The smoothed round trip, once there is one.
    pub srtt: Option<Duration>,
    /// The rate of delivery that it measures, if it does.
    pub sample: Option<RateSample>,
}

/// The state of the chosen congestion control. It alone grows the window. It *answers* what ssthresh
/// should be after a loss; only slow start that ends without one sets it. One that governs recovery sets
/// the window itself on every ACK, from what is delivered, and nobody else does.
#[derive(Clone, Debug)]
pub enum CongestionControl {
    /// See [`Reno`].
    Reno(Reno),
    /// See [`Cubic`].
    Cubic(Box<Cubic>),
    /// See [`Bbr`].
    Bbr(Box<Bbr>),
}

impl CongestionControl {
    /// The state at the start of a connection of a sender whose clock stands at `clock_phase` at time
    /// zero.
    #[must_use]
    pub fn new(config: &Config, clock_phase: Duration) -> Self {
        match config.congestion {
            CongestionKind::Reno => CongestionControl::Reno(Reno::new(config)),
            CongestionKind::Cubic => CongestionControl::Cubic(Box::new(Cubic::new(config))),
            CongestionKind::Bbr => CongestionControl::Bbr(Box::new(Bbr::new(clock_phase))),
        }
    }

    /// An ACK of new data outside recovery: grow the window.
    #[inline]
    pub fn on_ack(&mut self, window: &mut Window, mss: f64, ack: &AckEvent) {
        match self {
            CongestionControl::Reno(reno) => reno.on_ack(window, mss, ack),
            CongestionControl::Cubic(cubic) => cubic.on_ack(window, mss, ack),
            CongestionControl::Bbr(_) => {}
        }
    }

    /// The connection is open: the round trip of the SYN is none of data.
    pub fn on_open(&mut self) {
        match self {
            CongestionControl::Reno(reno) => reno.on_open(),
            CongestionControl::Cubic(cubic) => cubic.on_open(),
            CongestionControl::Bbr(_) => {}
        }
    }

    /// A loss with `amount` bytes (a flight or a window, see
    /// [`ReductionBasis`](crate::config::ReductionBasis)) at stake: the threshold after it.
    #[must_use]
    pub fn ssthresh(&mut self, window: &Window, mss: f64, amount: f64) -> f64 {
        match self {
            CongestionControl::Reno(reno) => reno.ssthresh(amount),
            CongestionControl::Cubic(cubic) => cubic.ssthresh(window, mss, amount),
            CongestionControl::Bbr(_) => amount,
        }
    }

    /// The retransmission timer expired with a window of `window` segments; the threshold is set.
    pub fn on_timeout(&mut self, window: u32) {
        match self {
            CongestionControl::Reno(reno) => reno.on_timeout(),
            CongestionControl::Cubic(cubic) => cubic.on_timeout(),
            CongestionControl::Bbr(bbr) => bbr.on_timeout(window),
        }
    }

    /// A reduction begins that may be taken back.
    pub fn save(&mut self) {
        match self {
            CongestionControl::Reno(_) | CongestionControl::Bbr(_) => {}
            CongestionControl::Cubic(cubic) => cubic.save(),
        }
    }

    /// The reduction that began last is taken back.
    pub fn on_undo(&mut self) {
        match self {
            CongestionControl::Reno(_) => {}
            CongestionControl::Cubic(cubic) => cubic.on_undo(),
            CongestionControl::Bbr(bbr) => bbr.on_undo(),
        }
    }

    /// Whether it goes by what is delivered and sets the window itself, in recovery too.
    #[must_use]
    pub fn governs_recovery(&self) -> bool {
        match self {
            CongestionControl::Reno(_) | CongestionControl::Cubic(_) => false,
            CongestionControl::Bbr(_) => true,
        }
    }

    /// Any ACK, where it governs recovery.
    pub fn on_delivery(
        &mut self,
        window: &mut Window,
        mss: f64,
        ack: &DeliveryEvent,
        rate: &mut DeliveryRate,
    ) {
        match self {
            CongestionControl::Reno(_) | CongestionControl::Cubic(_) => {}
            CongestionControl::Bbr(bbr) => bbr.on_delivery(window, mss, ack, rate),
        }
    }

    /// A recovery begins with a window of `window` segments, where it governs recovery.
    pub fn on_loss(&mut self, window: u32) {
        match self {
            CongestionControl::Reno(_) | CongestionControl::Cubic(_) => {}
            CongestionControl::Bbr(bbr) => bbr.on_loss(window),
        }
    }

    /// The time between segments, if it has an opinion, for a window of `window` segments.
    #[must_use]
    pub fn interval(&self, window: u32, srtt: Option<Duration>) -> Option<Duration> {
        match self {
            CongestionControl::Reno(_) | CongestionControl::Cubic(_) => None,
            CongestionControl::Bbr(bbr) => Some(bbr.interval(window, srtt)),
        }
    }
}
