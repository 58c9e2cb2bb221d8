//! CUBIC, in the versions of RFC 9438 and of Linux.

mod keys;
mod linux;
mod rfc9438;

use optcp_units::{Duration, Time, states};

use super::controller::{Controller, Start};
use super::event::AckEvent;
use crate::window::Window;

pub use keys::{CubicKeys, CubicVersion};
use linux::Linux;
use rfc9438::Rfc9438;

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

    /// RFC 8511 section 3.1.
    const ABE: Option<f64> = Some(0.85);

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
