//! CUBIC, in the version of its RFC and in that of Linux.

mod linux;
mod rfc9438;

use optcp_units::{Duration, Time, registry, states};

use super::controller::{Controller, Start, keys};
use super::event::AckEvent;
use crate::window::Window;

use linux::Linux;
use rfc9438::Rfc9438;

registry! {
    /// Whose CUBIC it is.
    pub enum CubicVersion ("cubic_version") {
        "rfc9438" => Rfc9438: "to the fraction of a segment, with every ACK", "RFC 9438";
        "linux" => Linux: "in whole segments; one in 20 at least while no loss is known", "Linux";
    }
}

keys! {
    /// What CUBIC chooses for itself alone.
    pub struct CubicKeys {
        /// Whether it aims lower after a loss at a smaller window than the one before (RFC 9438 section
        /// 4.7), which gives way to new flows.
        fast_convergence: bool = true, "RFC 9438 section 4.7, for a connection that is set to CUBIC";
        /// Whose arithmetic it is.
        cubic_version: CubicVersion = CubicVersion::Rfc9438, "the standard";
    }
}

states! { $
    /// The state of the chosen version.
    #[derive(Clone, Debug)]
    pub enum Cubic, each! {
        Rfc9438: Rfc9438,
        Linux: Linux,
    }
}

impl Controller for Cubic {
    type Keys = CubicKeys;

    fn new(keys: &CubicKeys, start: Start) -> Self {
        match keys.cubic_version {
            CubicVersion::Rfc9438 => Cubic::Rfc9438(Rfc9438::new(keys, start)),
            CubicVersion::Linux => Cubic::Linux(Linux::new(keys, start)),
        }
    }

    fn on_open(&mut self) {
        each!(self, it => it.on_open());
    }

    fn on_ack(&mut self, window: &mut Window, mss: f64, ack: &AckEvent) {
        each!(self, it => it.on_ack(window, mss, ack));
    }

    fn on_loss(&mut self, window: &Window, mss: f64, amount: f64) -> Option<f64> {
        each!(self, it => it.on_loss(window, mss, amount))
    }

    fn on_timeout(&mut self, window: &mut Window, mss: f64) {
        each!(self, it => it.on_timeout(window, mss));
    }

    fn save(&mut self) {
        each!(self, it => it.save());
    }

    fn on_undo(&mut self, window: &mut Window, before: Window) {
        each!(self, it => it.on_undo(window, before));
    }

    fn on_resume(&mut self, now: Time, idle: Duration) {
        each!(self, it => it.on_resume(now, idle));
    }
}
