//! Congestion control: how the window grows, and what is left of it after a loss.

mod reno;

use optcp_units::{Duration, Time};

use crate::config::{Config, CongestionKind};
use crate::core::Seq;
use crate::window::Window;

pub use reno::Reno;

/// What an ACK of new data tells congestion control.
#[derive(Clone, Copy, Debug, Default)]
pub struct AckEvent {
    /// The present.
    pub now: Time,
    /// Segments that it acknowledges cumulatively for the first time.
    pub acked: u32,
    /// The round trip that it measures, if it does.
    pub rtt: Option<Duration>,
    /// The smoothed round trip, once there is one.
    pub srtt: Option<Duration>,
    /// Everything below is acknowledged now.
    pub una: Seq,
    /// One past the highest segment sent: where the present round trip ends.
    pub max: Seq,
}

/// The state of the chosen congestion control. It alone grows the window; it *answers* what
/// ssthresh should be and never sets it.
#[derive(Clone, Debug)]
pub enum CongestionControl {
    /// See [`Reno`].
    Reno(Reno),
}

impl CongestionControl {
    /// The state at the start of a connection.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        match config.congestion {
            CongestionKind::Reno => CongestionControl::Reno(Reno::new(config.increase)),
        }
    }

    /// An ACK of new data outside recovery: grow the window.
    pub fn on_ack(&mut self, window: &mut Window, mss: f64, _: &AckEvent) {
        match self {
            CongestionControl::Reno(reno) => reno.on_ack(window, mss),
        }
    }

    /// A loss with `amount` bytes (a flight or a window, see
    /// [`ReductionBasis`](crate::config::ReductionBasis)) at stake: the threshold after it.
    #[must_use]
    pub fn ssthresh(&mut self, amount: f64) -> f64 {
        match self {
            CongestionControl::Reno(reno) => reno.ssthresh(amount),
        }
    }
}
