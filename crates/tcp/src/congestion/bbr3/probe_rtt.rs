//! Minimum RTT, and the state that measures it (`PROBE_RTT`).
//!
//! # Model
//! Minimum RTT of ten seconds. After five seconds without an equally small sample, half a BDP is
//! kept in flight for 200 ms and one RTT, so that queues drain.
//!
//! # References
//! draft-ietf-ccwg-bbr-06 sections 5.3.4 and 5.5.7.
//!
//! # Limitations
//! RTTs are exact, in picoseconds.

use optcp_units::{Duration, Time};

use super::state::State;
use super::{Bbr3, Gain, LEAST_WINDOW, Present};
use crate::delivery::DeliveryRate;

/// `BBR.MinRTTFilterLen`.
const WINDOW: Duration = Duration::from_secs(10);
/// `BBR.ProbeRTTInterval`.
const INTERVAL: Duration = Duration::from_secs(5);
/// `BBR.ProbeRTTDuration`.
const DURATION: Duration = Duration::from_ms(200);

/// An RTT and when it was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Measured {
    rtt: Duration,
    at: Time,
}

/// The filters of both spans (`UpdateMinRTT`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MinRtt {
    /// `BBR.min_rtt`.
    least: Option<Measured>,
    /// `BBR.probe_rtt_min_delay`.
    recent: Option<Measured>,
    /// `true`: the probe minimum had expired at the current ACK.
    expired: bool,
}

impl MinRtt {
    pub(super) fn get(&self) -> Option<Duration> {
        self.least.map(|least| least.rtt)
    }

    pub(super) fn on_measurement(&mut self, rtt: Option<Duration>, now: Time) {
        self.expired = self.recent.is_some_and(|recent| now > recent.at + INTERVAL);
        if let Some(rtt) = rtt
            && (self.expired || self.recent.is_none_or(|recent| rtt < recent.rtt))
        {
            self.recent = Some(Measured { rtt, at: now });
        }
        let Some(recent) = self.recent else { return };
        if self.least.is_none_or(|least| recent.rtt < least.rtt || now > least.at + WINDOW) {
            self.least = Some(recent);
        }
    }

    /// The queue has been empty: the next probe is another interval away.
    fn renew(&mut self, now: Time) {
        if let Some(recent) = &mut self.recent {
            recent.at = now;
        }
    }
}

impl Bbr3 {
    /// `CheckProbeRTT`; gives the window that the end of a probe restores, or nothing.
    pub(super) fn check_probe_rtt(&mut self, at: &Present<'_>, rate: &mut DeliveryRate) -> u32 {
        if self.rtt.expired && !self.state.is_probe_rtt() && !self.idle_restart {
            self.state = State::ProbeRtt { until: None, round: false };
            self.keep(at.window);
            self.cycle.stop();
            self.rounds.restart(at.delivered);
        }
        let restored = self.probe_rtt(at, rate);
        if at.ack.delivered > 0 {
            self.idle_restart = false;
        }
        restored
    }

    /// `HandleProbeRTT`.
    fn probe_rtt(&mut self, at: &Present<'_>, rate: &mut DeliveryRate) -> u32 {
        let State::ProbeRtt { until, round } = self.state else { return 0 };
        // Deliveries of half a BDP do not indicate the bandwidth.
        rate.mark_limited(at.ack.in_flight);
        let Some(until) = until else {
            if at.ack.in_flight <= self.probe_window() {
                let until = Some(at.ack.now + DURATION);
                self.state = State::ProbeRtt { until, round: false };
                self.rounds.restart(at.delivered);
            }
            return 0;
        };
        let round = round || self.rounds.starts;
        self.state = State::ProbeRtt { until: Some(until), round };
        if round { self.check_probe_rtt_done(at.ack.now, at.delivered) } else { 0 }
    }

    /// `CheckProbeRTTDone`.
    pub(super) fn check_probe_rtt_done(&mut self, now: Time, delivered: u64) -> u32 {
        match self.state {
            State::ProbeRtt { until: Some(until), .. } if now > until => {}
            _ => return 0,
        }
        self.rtt.renew(now);
        self.short.forget_bounds();
        if self.full.reached {
            self.start_down(now, delivered);
            self.start_cruise();
        } else {
            self.enter_startup();
        }
        self.prior_window
    }

    /// `ProbeRTTCwnd`.
    pub(super) fn probe_window(&self) -> u32 {
        self.product(Gain(1, 2)).max(LEAST_WINDOW)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Section 5.3.4.3: an RTT of 40 ms, then longer ones. After 5 s it no longer counts for the
    /// schedule. After 10 s it no longer counts for the BDP, which uses the minimum since then.
    #[test]
    fn minimum_rtt_holds_ten_seconds_and_is_probed_after_five() {
        let at = |ms| Time::ZERO + Duration::from_ms(ms);
        let ms = |ms| Some(Duration::from_ms(ms));
        let mut filter = MinRtt::default();
        for (now, rtt, want) in [
            (100, 40, (40, false)),
            (5_000, 50, (40, false)),
            (5_100, 50, (40, false)),
            (5_101, 55, (40, true)),
            (5_200, 45, (40, false)),
            (10_100, 60, (40, false)),
            (10_101, 60, (45, false)),
            (10_201, 70, (45, true)),
        ] {
            filter.on_measurement(ms(rtt), at(now));
            assert_eq!((filter.get(), filter.expired), (ms(want.0), want.1), "at {now} ms");
        }
    }
}
