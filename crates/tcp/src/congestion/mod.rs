//! Congestion control: how the window grows, and what is left of it after a loss.

mod reno;

use crate::config::{CongestionKind, Increase};
use crate::window::Window;

pub use reno::Reno;

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
    pub fn new(kind: CongestionKind, increase: Increase) -> Self {
        match kind {
            CongestionKind::Reno => CongestionControl::Reno(Reno::new(increase)),
        }
    }

    /// An ACK of new data outside recovery: grow the window.
    pub fn on_ack(&mut self, window: &mut Window, mss: f64) {
        match self {
            CongestionControl::Reno(reno) => reno.on_ack(window, mss),
        }
    }

    /// The threshold after a loss with `amount` bytes (a flight or a window, see
    /// [`ReductionBasis`](crate::config::ReductionBasis)) at stake.
    #[must_use]
    pub fn ssthresh(&self, amount: f64) -> f64 {
        match self {
            CongestionControl::Reno(reno) => reno.ssthresh(amount),
        }
    }
}
