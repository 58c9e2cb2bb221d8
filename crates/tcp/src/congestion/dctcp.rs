//! DCTCP.
//!
//! # Model
//! Reno with a proportional reaction to ECN marks. Alpha is the smoothed share of marked segments, updated
//! once per window of data. A window with a mark is reduced by the share alpha / 2. A loss halves the window
//! like Reno, or reduces it by alpha / 2.
//!
//! # References
//! RFC 8257 sections 3.3 and 3.5; M. Alizadeh et al., *Data Center TCP (DCTCP)*, SIGCOMM 2010. Linux: alpha
//! in 1/1024, whole segments, and (until 5.0) alpha as reaction to losses.
//!
//! # Parameters
//! `dctcp_shift_g`, `dctcp_alpha_on_init`, `dctcp_loss`, `slow_start`, `ack_counting`, `reduction_basis`,
//! `timeout_basis`.
//!
//! # Limitations
//! Alpha counts segments, not bytes, which is equivalent here. An RTO in the same window of data as a mark
//! also halves ssthresh; in Linux it does not.

use super::controller::{Controller, NeedsEcn, Start, keys};
use super::event::AckEvent;
use super::reno::{Increase, Reno, RenoKeys};
use crate::seq::Seq;
use crate::window::Window;
use optcp_units::registry;

registry! {
    /// Reaction of DCTCP to a loss.
    pub enum DctcpLoss ("dctcp_loss") {
        "halve" => Halve: "half of the window, like Reno", "RFC 8257 section 3.5; Linux since 5.1";
        "alpha" => Alpha: "alpha / 2, as for a mark", "Linux before 5.1";
    }
}

keys! {
    /// Parameters of DCTCP.
    pub struct DctcpKeys {
        /// The share with which a new window counts in alpha, as a power of 1/2.
        dctcp_shift_g: u8 = 4, "RFC 8257 section 4.2: g = 1/16";
        /// Alpha at the start, in 1024ths.
        dctcp_alpha_on_init: u16 = 1024, "RFC 8257 section 3.3: 1, so that the first mark halves the window";
        /// Reaction to a loss.
        dctcp_loss: DctcpLoss = DctcpLoss::Halve, "RFC 8257 section 3.5";
    }
}

/// Alpha of 1.
const ONE: u32 = 1024;
/// Binary logarithm of `ONE`.
const ONE_BITS: u32 = 10;

/// State of DCTCP.
#[derive(Clone, Debug)]
pub struct Dctcp {
    reno: Reno,
    keys: DctcpKeys,
    /// Alpha in 1/1024.
    alpha: u32,
    /// End of the current window of data; its segments so far, and the marked ones.
    until: Seq,
    delivered: u64,
    marked: u64,
}

impl Dctcp {
    /// Updates alpha at the end of a window of data.
    fn smooth(&mut self) {
        let shift = u32::from(self.keys.dctcp_shift_g);
        // If the share of alpha is less than one unit, alpha falls to zero.
        let fall = if self.alpha >> shift == 0 { self.alpha } else { self.alpha >> shift };
        let share = (self.marked << (ONE_BITS - shift)) / self.delivered.max(1);
        let rise = u32::try_from(share).unwrap_or(ONE);
        self.alpha = (self.alpha - fall + rise).min(ONE);
        (self.delivered, self.marked) = (0, 0);
    }

    /// Returns `amount` bytes reduced by the share alpha / 2, in whole segments.
    fn less(&self, amount: f64, mss: f64) -> f64 {
        let taken = (amount / mss).floor() * f64::from(self.alpha) / f64::from(2 * ONE);
        amount - taken.floor() * mss
    }
}

impl Controller for Dctcp {
    type Keys = DctcpKeys;

    const ECN: NeedsEcn = NeedsEcn::Any;
    const MARKS_ARE_LOSSES: bool = false;

    fn new(keys: &DctcpKeys, start: Start) -> Self {
        Dctcp {
            reno: Reno::new(&RenoKeys { increase: Increase::WholeSegments }, start),
            keys: *keys,
            alpha: u32::from(keys.dctcp_alpha_on_init).min(ONE),
            until: Seq::ZERO,
            delivered: 0,
            marked: 0,
        }
    }

    fn on_open(&mut self) {
        self.reno.on_open();
        self.alpha = u32::from(self.keys.dctcp_alpha_on_init).min(ONE);
        (self.delivered, self.marked) = (0, 0);
    }

    fn observe(&mut self, ack: &AckEvent) {
        self.delivered += u64::from(ack.delivered);
        self.marked += u64::from(ack.marked);
        if ack.una >= self.until {
            self.smooth();
            self.until = ack.max;
        }
    }

    fn on_ack(&mut self, window: &mut Window, mss: f64, ack: &AckEvent) {
        self.reno.on_ack(window, mss, ack);
    }

    fn on_loss(&mut self, window: &Window, mss: f64, amount: f64) -> Option<f64> {
        let half = self.reno.on_loss(window, mss, amount);
        match self.keys.dctcp_loss {
            DctcpLoss::Halve => half,
            DctcpLoss::Alpha => Some(self.less(amount, mss)),
        }
    }

    fn on_mark(&mut self, window: &Window, mss: f64, amount: f64) -> Option<f64> {
        let _half = self.reno.on_loss(window, mss, amount);
        Some(self.less(amount, mss))
    }

    fn on_timeout(&mut self, window: &mut Window, mss: f64) {
        self.reno.on_timeout(window, mss);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{AckCounting, SlowStartKind};
    use crate::congestion::SlowStart;
    use optcp_units::Duration;

    const MSS: f64 = 1000.0;

    fn dctcp(keys: DctcpKeys) -> Dctcp {
        let slow_start = SlowStart::new(SlowStartKind::Standard, AckCounting::Segments, false);
        Dctcp::new(&keys, Start { slow_start, clock_phase: Duration::ZERO })
    }

    /// Processes a window of data with `marked` of `delivered` segments marked.
    fn window_of(dctcp: &mut Dctcp, delivered: u32, marked: u32) -> u32 {
        let una = dctcp.until + 1;
        dctcp.observe(&AckEvent { delivered, marked, una, max: una, ..AckEvent::default() });
        dctcp.alpha
    }

    fn after_mark(dctcp: &mut Dctcp, segments: f64) -> f64 {
        let window = Window { cwnd: segments * MSS, ssthresh: f64::INFINITY };
        dctcp.on_mark(&window, MSS, window.cwnd).unwrap() / MSS
    }

    /// RFC 8257 section 3.3 with g = 1/16 in 1024ths, computed by hand. 1024 - 64 = 960; 960 - 60 =
    /// 900; 900 - 56 + 64 / 2 = 876. Then 876 - 54 + 64 = 886; 886 - 55 = 831.
    #[test]
    fn alpha_follows_the_share_of_marked_segments() {
        let mut dctcp = dctcp(DctcpKeys::default());
        let windows = [(10, 0), (10, 0), (10, 5), (10, 10), (10, 0)];
        let alphas = windows.map(|(delivered, marked)| window_of(&mut dctcp, delivered, marked));
        assert_eq!(alphas, [960, 900, 876, 886, 831]);
    }

    /// Below 16/1024 the share of 1/16 is less than 1/1024: Linux forgets it; without marks nothing is left in the end.
    #[test]
    fn a_small_alpha_is_forgotten() {
        let keys = DctcpKeys { dctcp_alpha_on_init: 17, ..DctcpKeys::default() };
        let mut dctcp = dctcp(keys);
        assert_eq!([0; 3].map(|marked| window_of(&mut dctcp, 10, marked)), [16, 15, 0]);
    }

    /// If all segments are marked, alpha converges to 1; for a tenth, to about a tenth, with rounding of
    /// 102/1024.
    #[test]
    fn a_steady_share_is_alpha() {
        for (marked, least, most) in [(100, 1024, 1024), (10, 96, 111)] {
            let mut dctcp = dctcp(DctcpKeys::default());
            (0..200).for_each(|_| {
                window_of(&mut dctcp, 100, marked);
            });
            assert!((least..=most).contains(&dctcp.alpha), "{marked}: {}", dctcp.alpha);
        }
    }

    /// cwnd (1 - alpha / 2), in whole segments. From 40 segments, alpha = 1 leaves 20, and 1/2
    /// leaves 30. 1/8 leaves 38, because the reduction of 2.5 is rounded down.
    #[test]
    fn a_mark_takes_half_of_alpha() {
        for (alpha, want) in [(1024, 20.0), (512, 30.0), (128, 38.0), (0, 40.0)] {
            let keys = DctcpKeys { dctcp_alpha_on_init: alpha, ..DctcpKeys::default() };
            let got = after_mark(&mut dctcp(keys), 40.0);
            assert_eq!(got.to_bits(), f64::to_bits(want), "{alpha}");
        }
    }

    /// RFC 8257 section 3.5, and Linux before 5.1.
    #[test]
    fn loss_reduces_by_half_or_like_a_mark() {
        for (dctcp_loss, want) in [(DctcpLoss::Halve, 20.0), (DctcpLoss::Alpha, 35.0)] {
            let keys = DctcpKeys { dctcp_alpha_on_init: 256, dctcp_loss, ..DctcpKeys::default() };
            let window = Window { cwnd: 40.0 * MSS, ssthresh: f64::INFINITY };
            let got = dctcp(keys).on_loss(&window, MSS, window.cwnd).unwrap() / MSS;
            assert_eq!(got.to_bits(), f64::to_bits(want));
        }
    }
}
