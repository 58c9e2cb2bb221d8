//! Congestion control: how the window grows, and what is left of it after a loss.

mod ack_counting;
mod cubic;
mod hystart;
mod hystart_plus_plus;
mod reno;
mod slow_start;
mod window_validation;

use optcp_units::{Duration, Time};

use crate::config::{Config, CongestionKind};
use crate::core::Seq;
use crate::window::Window;

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

/// The state of the chosen congestion control. It alone grows the window. It *answers* what ssthresh
/// should be after a loss; only slow start that ends without one sets it.
#[derive(Clone, Debug)]
pub enum CongestionControl {
    /// See [`Reno`].
    Reno(Reno),
    /// See [`Cubic`].
    Cubic(Box<Cubic>),
}

impl CongestionControl {
    /// The state at the start of a connection.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        match config.congestion {
            CongestionKind::Reno => CongestionControl::Reno(Reno::new(config)),
            CongestionKind::Cubic => CongestionControl::Cubic(Box::new(Cubic::new(config))),
        }
    }

    /// An ACK of new data outside recovery: grow the window.
    pub fn on_ack(&mut self, window: &mut Window, mss: f64, ack: &AckEvent) {
        match self {
            CongestionControl::Reno(reno) => reno.on_ack(window, mss, ack),
            CongestionControl::Cubic(cubic) => cubic.on_ack(window, mss, ack),
        }
    }

    /// A loss with `amount` bytes (a flight or a window, see
    /// [`ReductionBasis`](crate::config::ReductionBasis)) at stake: the threshold after it.
    #[must_use]
    pub fn ssthresh(&mut self, window: &Window, mss: f64, amount: f64) -> f64 {
        match self {
            CongestionControl::Reno(reno) => reno.ssthresh(amount),
            CongestionControl::Cubic(cubic) => cubic.ssthresh(window, mss, amount),
        }
    }

    /// The retransmission timer expired; the threshold is set.
    pub fn on_timeout(&mut self) {
        match self {
            CongestionControl::Reno(reno) => reno.on_timeout(),
            CongestionControl::Cubic(cubic) => cubic.on_timeout(),
        }
    }

    /// A reduction begins that may be taken back.
    pub fn save(&mut self) {
        match self {
            CongestionControl::Reno(_) => {}
            CongestionControl::Cubic(cubic) => cubic.save(),
        }
    }

    /// The reduction that began last is taken back.
    pub fn on_undo(&mut self) {
        match self {
            CongestionControl::Reno(_) => {}
            CongestionControl::Cubic(cubic) => cubic.on_undo(),
        }
    }
}
