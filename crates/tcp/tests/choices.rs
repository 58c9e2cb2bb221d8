//! Effects of individual parameters on window and timer of a sender, computed by hand.

use std::sync::Arc;

use optcp_tcp::config::{
    Config, CongestionKind, Ecn, EctPackets, Expiry, Halving, Measurement, Pacing, RecoveryExit,
    RecoveryKind, RttKind, SlowStartKind, TimeoutBasis,
};
use optcp_tcp::{Ack, Profile, SackBlocks, Sender, Seq};
use optcp_units::{Bytes, Duration, Time};

/// `rfc` with segments of 1000 bytes, without limited transmit.
fn plain() -> Config {
    Config { mss: Bytes::new(1000), limited_transmit: false, ..Profile::Rfc.config() }
}

fn us(microseconds: u64) -> Time {
    Time::from_ps(microseconds * 1_000_000)
}

/// A sender whose segments are collected after every event.
struct Trial(Sender);

impl Trial {
    fn start(config: Config, segments: Option<u32>) -> Self {
        let mut trial = Trial(Sender::new(Arc::new(config), segments, Duration::ZERO));
        trial.0.start();
        trial.sent(us(0));
        trial
    }

    fn sent(&mut self, now: Time) -> Vec<u32> {
        std::iter::from_fn(|| self.0.poll_transmit(now)).map(|sent| sent.seq.number()).collect()
    }

    fn ack(&mut self, now: Time, ack: u32) -> Vec<u32> {
        self.0.handle_ack(now, &Ack::cumulative(Seq::new(ack)));
        self.sent(now)
    }

    fn expire(&mut self, now: Time) -> Vec<u32> {
        self.0.handle_timer(now);
        self.sent(now)
    }

    /// An ACK with one SACK block.
    fn sack(&mut self, now: Time, ack: u32, block: (u32, u32), echo: u32) -> Vec<u32> {
        let mut sack = SackBlocks::new();
        sack.push((Seq::new(block.0), Seq::new(block.1)));
        self.0.handle_ack(now, &Ack { echo, sack: Some(sack), ..Ack::cumulative(Seq::new(ack)) });
        self.sent(now)
    }

    fn cwnd(&self) -> f64 {
        self.0.snapshot().cwnd
    }

    fn ssthresh(&self) -> f64 {
        self.0.snapshot().ssthresh
    }
}

fn same(got: f64, want: u32) {
    assert_eq!(got.to_bits(), f64::from(want).to_bits(), "{got}, expected {want}");
}

/// A transfer of 20 segments, all sent at once. The third duplicate ACK halves the window to 10 000
/// bytes, and twelve inflate it to 22 000. A partial ACK for 15 removes these twelve and three
/// more, less one for its retransmission. This leaves 7000 bytes of window, 1000 of inflation and
/// five segments in flight.
#[test]
fn rto_during_recovery_halves_its_basis() {
    for (basis, window_limit, at_once, after_partial_ack) in [
        (TimeoutBasis::FlightSize, u32::MAX, 10_000, 2_500),
        (TimeoutBasis::Window, u32::MAX, 5_000, 3_500),
        (TimeoutBasis::KeepRecovery, u32::MAX, 10_000, 10_000),
        (TimeoutBasis::WindowKeepRecovery, u32::MAX, 10_000, 10_000),
        (TimeoutBasis::HalveAgain, u32::MAX, 5_000, 5_000),
        (TimeoutBasis::InflatedWindow, u32::MAX, 11_000, 4_000),
        (TimeoutBasis::InflatedWindow, 20, 10_000, 4_000),
    ] {
        for (partial, want) in [(false, at_once), (true, after_partial_ack)] {
            let mut trial = Trial::start(
                Config { initial_window: 20, timeout_basis: basis, window_limit, ..plain() },
                Some(20),
            );
            for _ in 0..12 {
                trial.ack(us(100_000), 0);
            }
            same(trial.ssthresh(), 10_000);
            same(trial.cwnd(), 22_000);
            if partial {
                trial.ack(us(200_000), 15);
                same(trial.cwnd(), 8_000);
            }
            trial.expire(us(5_000_000));
            same(trial.ssthresh(), want);
            same(trial.cwnd(), 1_000);
        }
    }
}

#[test]
fn without_a_recovery_halving_again_is_flight_size() {
    let config = Config { initial_window: 20, timeout_basis: TimeoutBasis::HalveAgain, ..plain() };
    let mut trial = Trial::start(config, None);
    trial.expire(us(1_000_000));
    same(trial.ssthresh(), 10_000);
}

/// Ten segments in flight of a window of twenty.
#[test]
fn rto_halves_the_window_or_the_flight() {
    for (timeout_basis, want) in
        [(TimeoutBasis::KeepRecovery, 5_000), (TimeoutBasis::WindowKeepRecovery, 10_000)]
    {
        let config = Config { initial_window: 20, timeout_basis, ..plain() };
        let mut trial = Trial::start(config, Some(10));
        trial.expire(us(1_000_000));
        same(trial.ssthresh(), want);
    }
}

/// Four segments sent at once, with RTTs of 100 and 120 ms, and a SACK of the second in between.
/// Linux's estimator has SRTT 100 ms and four deviations of 200 ms. After an error of 20 ms, SRTT
/// is 102.5 ms, and the maximum deviation is still 200 ms. If one segment is timed, there is no
/// sample after 100 ms, and 120 ms is the first measurement: 360 ms.
#[test]
fn every_ack_may_measure_segments_sent_once() {
    for (measurement, deadline_us) in
        [(Measurement::Unambiguous, 480_000), (Measurement::EveryAck, 422_500)]
    {
        let config = Config {
            initial_window: 4,
            recovery: RecoveryKind::Sack,
            rtt: RttKind::Linux,
            min_rto: Duration::ZERO,
            measurement,
            ..plain()
        };
        let mut trial = Trial::start(config, None);
        trial.sack(us(100_000), 0, (1, 2), 0);
        trial.ack(us(120_000), 2);
        assert_eq!(trial.0.deadline(), Some(us(deadline_us)), "{measurement:?}");
    }
}

/// Linux's profile starts with ten segments of 1460 - 12 bytes. ACKs grow the window by the
/// acknowledged amount. The RTO of a path of 50 ms is 250 ms, 63 ticks from tick 12. The timer wheel
/// fires at the next multiple of 8 after tick 75, at 320 ms. A loss leaves 7/10 of a window of 20, and
/// RACK detects it without a third duplicate ACK.
#[test]
fn linux_profile_follows_its_defaults() {
    // A probe would precede the RTO.
    let config = Config { tail_loss_probe: false, ..Profile::Linux6.config() };
    let mut trial = Trial::start(config, None);
    assert_eq!(trial.0.snapshot().flight, 10);
    assert_eq!(trial.ack(us(50_000), 4).len(), 8);
    assert_eq!(trial.0.deadline(), Some(us(320_000)));
    trial.ack(us(50_000), 10);
    same(trial.cwnd(), 20 * 1448);
    assert_eq!(trial.sack(us(100_000), 10, (11, 18), 50).first(), Some(&10));
    same(trial.ssthresh(), 14 * 1448);
}

/// 5 segments of 1001 bytes: half of 5005.
#[test]
fn half_a_window_may_be_cut_to_whole_bytes() {
    for (halving, want) in [(Halving::Exact, 2502.5), (Halving::WholeBytes, 2502.0)] {
        let mss = Bytes::new(1001);
        let mut trial = Trial::start(Config { mss, initial_window: 5, halving, ..plain() }, None);
        for _ in 0..3 {
            trial.ack(us(100_000), 0);
        }
        assert_eq!(trial.0.window().cwnd.to_bits(), f64::to_bits(want));
        assert_eq!(trial.ssthresh().to_bits(), f64::to_bits(want));
    }
}

#[test]
fn recovery_ending_without_flight_leaves_one_or_two_segments() {
    for (exit, want) in [(RecoveryExit::FlightSize, 2_000), (RecoveryExit::Rfc3782, 1_000)] {
        let config = Config { initial_window: 20, recovery_exit: exit, ..plain() };
        let mut trial = Trial::start(config, Some(20));
        for _ in 0..3 {
            trial.ack(us(100_000), 0);
        }
        trial.ack(us(200_000), 20);
        same(trial.cwnd(), want);
    }
}

#[test]
fn a_new_ack_after_a_timeout_may_end_the_careful_check() {
    for (until_new_ack, repaired) in [(false, None), (true, Some(1))] {
        let config = Config { initial_window: 10, careful_until_new_ack: until_new_ack, ..plain() };
        let mut trial = Trial::start(config, None);
        assert_eq!(trial.expire(us(1_000_000)), [0]);
        // Before the first new ACK neither starts a fast retransmit.
        for _ in 0..3 {
            assert!(trial.ack(us(1_100_000), 0).is_empty());
        }
        assert_eq!(trial.ack(us(1_200_000), 1), [1, 2]);
        trial.ack(us(1_300_000), 1);
        trial.ack(us(1_300_000), 1);
        assert_eq!(trial.ack(us(1_300_000), 1).first().copied(), repaired);
    }
}

/// The estimator of INET for RTTs of 100 and 110 ms. First SRTT is 12.5 ms and RTTVAR 668.75 ms.
/// With an error of 97.5 ms, SRTT is 24.6875 ms and RTTVAR 597.34375 ms. The RTOs are 2687.5 and
/// 2414.0625 ms.
#[test]
fn fast_retransmit_may_keep_the_measurement() {
    for (measurement, deadline_ns) in
        [(Measurement::Unambiguous, 2_897_500_000), (Measurement::UntilTimeout, 2_624_062_500)]
    {
        let mut trial = Trial::start(
            Config {
                initial_window: 10,
                rtt: RttKind::Inet,
                initial_rto: Duration::from_secs(3),
                measurement,
                ..plain()
            },
            None,
        );
        assert_eq!(trial.ack(us(100_000), 1), [10, 11]);
        for _ in 0..3 {
            trial.ack(us(110_000), 1);
        }
        // Partial, and covers segment 10, which was sent at 100 ms.
        trial.ack(us(210_000), 11);
        assert_eq!(trial.0.deadline(), Some(Time::from_ps(deadline_ns * 1000)));
    }
}

/// After the expiry at 3 s the timeout is 6 s, until a measurement brings it back to 2687.5 ms.
#[test]
fn retransmissions_after_rto_may_be_measured() {
    for (measurement, deadline_us) in
        [(Measurement::Unambiguous, 9_200_000), (Measurement::UntilTimeout, 5_887_500)]
    {
        let mut trial = Trial::start(
            Config {
                initial_window: 4,
                rtt: RttKind::Inet,
                initial_rto: Duration::from_secs(3),
                measurement,
                ..plain()
            },
            None,
        );
        assert_eq!(trial.0.deadline(), Some(us(3_000_000)));
        assert_eq!(trial.expire(us(3_000_000)), [0]);
        // Neither estimator measures the segment that the RTO retransmitted.
        assert_eq!(trial.ack(us(3_100_000), 1), [1, 2]);
        assert_eq!(trial.0.deadline(), Some(us(9_100_000)));
        trial.ack(us(3_200_000), 2);
        assert_eq!(trial.0.deadline(), Some(us(deadline_us)));
    }
}

/// A timer of 3 s on a clock that ticks every 500 ms. The clock value at time zero is 200 ms, so it
/// ticks at 0.3 s, 0.8 s, ...
#[test]
fn a_timer_may_expire_on_ticks_only() {
    let config = Config {
        expiry: Expiry::OnTick,
        tick: Duration::from_ms(500),
        initial_rto: Duration::from_secs(3),
        ..plain()
    };
    for (phase_ms, start_us, deadline_us) in
        [(0, 0, 3_000_000), (0, 1, 3_500_000), (200, 1, 3_300_000), (200, 300_001, 3_800_000)]
    {
        let phase = Duration::from_ms(phase_ms);
        let mut sender = Sender::new(Arc::new(config.clone()), None, phase);
        sender.start();
        sender.poll_transmit(us(start_us));
        assert_eq!(sender.deadline(), Some(us(deadline_us)));
    }
}

/// Eight segments in flight, in a recovery with 4000 bytes of window and 3000 of inflation. The
/// partial ACK leaves both unchanged (one acknowledged, one retransmitted), unless nothing was sent
/// for an RTO.
#[test]
fn a_recovery_that_stalls_may_count_as_idle() {
    for (idle_restart, at_us, want) in
        [(false, 5_000_000, 7_000), (true, 210_000, 7_000), (true, 5_000_000, 2_000)]
    {
        let mut trial = Trial::start(Config { initial_window: 2, idle_restart, ..plain() }, None);
        for ack in 1..=6 {
            trial.ack(us(100_000), ack);
        }
        same(trial.cwnd(), 8_000);
        for _ in 0..3 {
            trial.ack(us(110_000), 6);
        }
        same(trial.cwnd(), 7_000);
        assert_eq!(trial.ack(us(at_us), 7), [7]);
        same(trial.cwnd(), want);
    }
}

/// Options that Linux uses with some congestion controls only: HyStart with CUBIC (`tcp_cubic.c`),
/// and pacing with rate-based controls. Controls that need marks request ECN
/// (`TCP_CONG_NEEDS_ECN`).
#[test]
fn linux_has_hystart_with_cubic_alone() {
    for &kind in CongestionKind::ALL {
        for profile in [Profile::Linux6, Profile::Linux6Bbr] {
            let config = profile.config_with(kind);
            assert_eq!(config.congestion, kind);
            let hystart = config.slow_start == SlowStartKind::HyStart;
            assert_eq!(hystart, kind == CongestionKind::Cubic, "{}", kind.name());
            let paced = ["bbr", "bbr3", "prague", "python-paced"].contains(&kind.name());
            assert_eq!(config.pacing == Pacing::Rate, paced, "{}", kind.name());
            let want = match kind.name() {
                "dctcp" | "nscc" => (Ecn::Dctcp, EctPackets::All),
                "prague" => (Ecn::Accurate, EctPackets::All),
                _ => (Ecn::Off, EctPackets::Data),
            };
            assert_eq!((config.ecn, config.ect_packets), want, "{}", kind.name());
        }
    }
    let [cubic, bbr] = [CongestionKind::Cubic, CongestionKind::Bbr];
    assert_eq!(Profile::Linux6.config_with(cubic), Profile::Linux6.config());
    assert_eq!(Profile::Linux6.config_with(bbr), Profile::Linux6Bbr.config());
    assert_eq!(Profile::Linux6Bbr.config_with(cubic), Profile::Linux6.config());
}

/// The other profiles set no options for individual congestion controls.
#[test]
fn other_profiles_take_a_congestion_control_as_it_is() {
    for &profile in Profile::ALL {
        if !matches!(profile, Profile::Linux6 | Profile::Linux6Bbr) {
            let want = Config { congestion: CongestionKind::HTcp, ..profile.config() };
            assert_eq!(profile.config_with(CongestionKind::HTcp), want);
        }
    }
}
