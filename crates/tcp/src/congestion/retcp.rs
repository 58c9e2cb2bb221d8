//! reTCP: separate windows for two networks.
//!
//! # Model
//! Reno with explicit notification of a circuit by the ECE flag in ACKs. The first ACK with ECE that may
//! increase the window does so and then doubles it. The first ACK without ECE after that halves it. ssthresh
//! does not change.
//!
//! # References
//! M. K. Mukerjee et al., *Adapting TCP for Reconfigurable Datacenter Networks*, NSDI 2020, section 4;
//! behaviour of the authors' module for Linux. Whole segments: Linux.
//!
//! # Parameters
//! `retcp_jump`, `slow_start`, `ack_counting`, `reduction_basis`, `timeout_basis`. `ece` of `[[schedules]]`
//! sets the flag.
//!
//! # Limitations
//! - Needs `ecn = "off"`: the echo of a mark would look like a circuit.
//! - Losses and RTOs do not reset the doubled state, so that the reduced window is also halved when the
//!   circuit ends. At least one segment remains; in the module the window may become zero.
//! - ACKs in fast recovery neither double nor halve.
//! - An undo restores the previous window in either state.

use super::controller::{Controller, NeedsEcn, Start, keys};
use super::event::AckEvent;
use super::growth::Growth;
use crate::window::Window;

keys! {
    /// Parameters of reTCP.
    pub struct RetcpKeys {
        /// Factor by which the window is multiplied when a circuit starts, and divided when it ends.
        retcp_jump: u8 = 2, "Mukerjee et al. 2020: the default of their module, both ways";
    }
}

/// State of reTCP.
#[derive(Clone, Debug)]
pub struct Retcp {
    growth: Growth,
    jump: u8,
    /// `true`: the window has been enlarged for the circuit.
    jumped: bool,
}

impl Controller for Retcp {
    type Keys = RetcpKeys;

    const ECN: NeedsEcn = NeedsEcn::Off;

    fn new(keys: &RetcpKeys, start: Start) -> Self {
        Retcp { growth: Growth::new(start.slow_start), jump: keys.retcp_jump, jumped: false }
    }

    fn on_open(&mut self) {
        self.growth.on_open();
        self.jumped = false;
    }

    fn on_ack(&mut self, window: &mut Window, mss: f64, ack: &AckEvent) {
        self.growth.reno(window, mss, ack);
        if ack.ece == self.jumped {
            return;
        }
        self.jumped = ack.ece;
        let jump = f64::from(self.jump);
        let segments = f64::from(window.segments(mss));
        let segments = if ack.ece { segments * jump } else { (segments / jump).floor().max(1.0) };
        window.cwnd = segments * mss;
    }

    fn on_loss(&mut self, _window: &Window, _mss: f64, amount: f64) -> Option<f64> {
        self.growth.on_loss();
        Some(amount / 2.0)
    }

    fn on_timeout(&mut self, _window: &mut Window, _mss: f64) {
        self.growth.on_timeout();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{AckCounting, SlowStartKind};
    use crate::congestion::slow_start::SlowStart;
    use optcp_units::Duration;

    const MSS: f64 = 1000.0;

    fn retcp(retcp_jump: u8) -> Retcp {
        let slow_start = SlowStart::new(SlowStartKind::Standard, AckCounting::Segments, false);
        Retcp::new(&RetcpKeys { retcp_jump }, Start { slow_start, clock_phase: Duration::ZERO })
    }

    /// The windows in segments after ACKs of a segment each, with the flag or without.
    fn windows(retcp: &mut Retcp, window: &mut Window, flags: &[bool]) -> Vec<u32> {
        let mut after = |&ece: &bool| {
            let ack =
                AckEvent { acked: 1, delivered: 1, limited: true, ece, ..AckEvent::default() };
            retcp.on_ack(window, MSS, &ack);
            window.segments(MSS)
        };
        flags.iter().map(&mut after).collect()
    }

    /// Four segments in congestion avoidance. Three ACKs count 3; the flag: 4 make a segment, so 5, doubled 10, once. Of 10
    /// more the sixth has no flag: 11 are not reached (6 of 10 counted), and 10 / 2 = 5. There 6 count for more than a window
    /// of 5: a segment at the next ACK.
    #[test]
    fn the_window_doubles_with_the_flag_and_halves_without_it() {
        let mut window = Window { cwnd: 4.0 * MSS, ssthresh: 4.0 * MSS };
        let flags = [[false; 3].as_slice(), &[true; 6], &[false; 2]].concat();
        let got = windows(&mut retcp(2), &mut window, &flags);
        assert_eq!(got, [4, 4, 4, 10, 10, 10, 10, 10, 10, 5, 6]);
        assert_eq!(window.ssthresh.to_bits(), f64::to_bits(4.0 * MSS));
    }

    /// In slow start, where each ACK adds a segment first: 2, 3; (3 + 1) * 2 = 8; 9; (9 + 1) / 2 = 5. With odd windows:
    /// (5 + 1) * 2 = 12, (12 + 1) / 2 = 6.
    #[test]
    fn growth_precedes_the_jump() {
        let mut window = Window { cwnd: 2.0 * MSS, ssthresh: f64::INFINITY };
        let got = windows(&mut retcp(2), &mut window, &[false, true, true, false, true, false]);
        assert_eq!(got, [3, 8, 9, 5, 12, 6]);
    }

    /// A window that is not used does not grow, but jumps; of one segment one is left.
    #[test]
    fn window_jumps_although_it_does_not_limit_sending() {
        let mut window = Window { cwnd: 7.0 * MSS, ssthresh: 4.0 * MSS };
        let mut retcp = retcp(3);
        let mut after = |cwnd: Option<f64>, ece| {
            window.cwnd = cwnd.map_or(window.cwnd, |segments| segments * MSS);
            let ack = AckEvent { acked: 1, delivered: 1, ece, ..AckEvent::default() };
            retcp.on_ack(&mut window, MSS, &ack);
            window.segments(MSS)
        };
        let got = [after(None, true), after(Some(20.0), false), after(Some(1.0), true)];
        assert_eq!(got, [21, 6, 3]);
        assert_eq!(after(Some(1.0), false), 1);
    }

    /// Reno's half, and a timeout leaves what is to be halved when the circuit ends.
    #[test]
    fn losses_halve_and_do_not_end_the_circuit() {
        let mut window = Window { cwnd: 10.0 * MSS, ssthresh: 10.0 * MSS };
        let mut retcp = retcp(2);
        assert_eq!(windows(&mut retcp, &mut window, &[true]), [20]);
        let half = retcp.on_loss(&window, MSS, 20.0 * MSS).map(f64::to_bits);
        assert_eq!(half, Some(f64::to_bits(10.0 * MSS)));
        retcp.on_timeout(&mut window, MSS);
        window = Window { cwnd: MSS, ssthresh: 10.0 * MSS };
        assert_eq!(windows(&mut retcp, &mut window, &[true, true, false]), [2, 3, 2]);
        // Marks of the SYN exchange do not count for the connection.
        windows(&mut retcp, &mut window, &[true]);
        retcp.on_open();
        assert!(!retcp.jumped);
    }
}
