//! Random numbers, and random choices of everything that a connection leaves open.

use optcp_tcp::config::{
    AckCounting, AckKind, AfterTimeout, Backoff, Config, CongestionKind, ControllerKeys,
    CubicVersion, DctcpLoss, DuplicateAckKind, Ecn, EctPackets, Expiry, FirstLoss, Halving,
    Increase, LossDetectionKind, Measurement, NeedsEcn, NewRenoTimer, Pacing, PartialAck,
    PathState, PragueRttScaling, RateReduction, ReceiverEcn, RecoveryExit, RecoveryKind,
    ReductionBasis, RttKind, SlowStartKind, TimeoutBasis, WindowValidation,
};
use optcp_tcp::profile::Profile;
use optcp_units::{Bytes, Duration};

/// A stream of random numbers (splitmix64): `tcp` must not depend on `des`, which has the project's.
#[derive(Clone, Debug)]
pub struct Draw(u64);

impl Draw {
    /// The stream of a seed.
    pub fn new(seed: u64) -> Self {
        Draw(seed.wrapping_mul(0x2545_f491_4f6c_dd1d))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`, which is not zero.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// True `percent` times in a hundred.
    pub fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// One of several.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        let index = self.below(from.len() as u64);
        from[usize::try_from(index).expect("below a length")]
    }

    /// A profile with every choice as it makes it, or with each choice drawn.
    pub fn config(&mut self) -> Config {
        // BBR is drawn below, with what it needs.
        let profile = match self.pick(Profile::ALL) {
            Profile::Linux6Bbr => Profile::Linux6,
            profile => profile,
        };
        let recovery = self.pick(&[
            RecoveryKind::Tahoe,
            RecoveryKind::Reno,
            RecoveryKind::NewReno,
            RecoveryKind::Sack,
            RecoveryKind::Sack,
            RecoveryKind::Sack,
            RecoveryKind::Sack1,
        ]);
        let base = Config {
            mss: Bytes::new(self.pick(&[1, 536, 1460])),
            initial_window: self.pick(&[1, 2, 4, 10, 40]),
            initial_ssthresh: self.pick(&[None, Some(1), Some(4), Some(20)]),
            window_limit: self.pick(&[1, 3, 8, 40, u32::MAX]),
            handshake: self.percent(30),
            recovery,
            limited_transmit: self.percent(50),
            ack: self.pick(AckKind::ALL),
            ..profile.config()
        };
        let config = if self.percent(40) { base } else { self.vary(base) };
        let config = self.control(config);
        let config = self.marks(config);
        let config = self.networks(config);
        if recovery == RecoveryKind::Sack && self.percent(30) {
            let congestion = self.pick(&[CongestionKind::Bbr, CongestionKind::Bbr3]);
            let path_state = PathState::One;
            return Config { congestion, pacing: Pacing::Rate, abe: false, path_state, ..config };
        }
        config
    }

    /// Perhaps a state for each network.
    fn networks(&mut self, config: Config) -> Config {
        let possible = config.recovery == RecoveryKind::Sack
            && config.ecn == Ecn::Off
            && !config.congestion.wants_rates();
        let path_state = match possible && self.percent(50) {
            true => PathState::PerNetwork,
            false => PathState::One,
        };
        Config { path_state, ..config }
    }

    /// Perhaps another control, of all that do not find a rate themselves.
    fn control(&mut self, config: Config) -> Config {
        if !self.percent(20) {
            return config;
        }
        let kinds: Vec<CongestionKind> =
            CongestionKind::ALL.iter().copied().filter(|kind| !kind.paces()).collect();
        let congestion = self.pick(&kinds);
        if config.recovery != RecoveryKind::Sack && congestion.wants_rates() {
            return config;
        }
        let timestamps = config.timestamps || congestion.wants_delays();
        Config { congestion, timestamps, ..config }
    }

    /// What is agreed upon about marks, and controls that go by them.
    fn marks(&mut self, base: Config) -> Config {
        let ecn = match base.congestion.needs_ecn() {
            NeedsEcn::Off => Ecn::Off,
            _ => self.pick(&[Ecn::Off, Ecn::Rfc3168, Ecn::Dctcp, Ecn::Accurate]),
        };
        let mut config = Config {
            ecn,
            receiver_ecn: match self.percent(70) {
                true => ReceiverEcn::AsAsked,
                false => self.pick(ReceiverEcn::ALL),
            },
            ect_packets: self.pick(EctPackets::ALL),
            accecn_option: self.percent(50),
            ..base
        };
        let dctcp = &mut config.controllers.dctcp;
        dctcp.dctcp_shift_g = self.pick(&[0, 1, 4, 10]);
        dctcp.dctcp_alpha_on_init = self.pick(&[0, 16, 1024]);
        dctcp.dctcp_loss = self.pick(DctcpLoss::ALL);
        let prague = &mut config.controllers.prague;
        prague.prague_rtt_scaling = self.pick(PragueRttScaling::ALL);
        prague.prague_rtt_target = Duration::from_ms(self.pick(&[1, 25, 300]));
        prague.prague_rtt_transition = self.pick(&[0, 3, 500]);
        config.controllers.retcp.retcp_jump = self.pick(&[1, 2, 10]);
        match ecn {
            Ecn::Off => {}
            Ecn::Accurate if self.percent(30) => {
                config.congestion = CongestionKind::Prague;
                config.pacing = Pacing::Rate;
            }
            _ if self.percent(30) => config.congestion = CongestionKind::Dctcp,
            _ => {
                let known =
                    matches!(config.congestion, CongestionKind::Reno | CongestionKind::Cubic);
                config.abe = known && self.percent(30);
            }
        }
        config
    }

    fn vary(&mut self, base: Config) -> Config {
        let initial_rto = Duration::from_ms(self.pick(&[20, 300, 1_000, 6_000]));
        let timestamps = self.percent(50);
        let dsack = self.percent(50);
        Config {
            window_scaling: self.percent(80),
            timestamps,
            timestamp_tick: Duration::from_us(self.pick(&[1, 1_000, 100_000])),
            loss_detection: self.pick(LossDetectionKind::ALL),
            rate_reduction: self.pick(RateReduction::ALL),
            speculative_retransmit: self.percent(50),
            rescue_retransmit: self.percent(50),
            tail_loss_probe: self.percent(50),
            after_timeout: self.pick(AfterTimeout::ALL),
            frto: self.percent(50),
            dsack_undo: dsack && self.percent(50),
            timestamp_undo: timestamps && self.percent(50),
            quick_acks: self.pick(&[0, 1, 16]),
            sack_blocks: self.pick(&[1, 2, 3, 4]),
            sack_header: Bytes::new(4),
            dsack,
            congestion: self.pick(&[CongestionKind::Reno, CongestionKind::Cubic]),
            controllers: self.controllers(),
            ack_counting: self.pick(AckCounting::ALL),
            slow_start: self.pick(SlowStartKind::ALL),
            window_validation: self.pick(WindowValidation::ALL),
            pacing: self.pick(&[Pacing::None, Pacing::Window]),
            pacing_burst: self.pick(&[1, 2, 5]),
            idle_restart: self.percent(50),
            careful: self.percent(50),
            careful_until_new_ack: self.percent(50),
            first_loss: self.pick(FirstLoss::ALL),
            fast_retransmit_restarts_timer: self.percent(50),
            newreno_timer: self.pick(NewRenoTimer::ALL),
            partial_ack: self.pick(PartialAck::ALL),
            recovery_exit: self.pick(RecoveryExit::ALL),
            exit_ack_grows: self.percent(50),
            recovery_burst: self.pick(&[None, Some(1), Some(2), Some(5)]),
            reduction_basis: self.pick(ReductionBasis::ALL),
            tahoe_keeps_duplicates: self.percent(50),
            timeout_basis: self.pick(TimeoutBasis::ALL),
            halving: self.pick(Halving::ALL),
            repeated_timeout_keeps_ssthresh: self.percent(50),
            duplicate_acks: self.pick(DuplicateAckKind::ALL),
            ack_delay: Duration::from_ms(self.pick(&[1, 100, 500])),
            first_ack_at_once: self.percent(50),
            delays_duplicates: self.percent(50),
            rtt: self.pick(RttKind::ALL),
            measurement: self.pick(Measurement::ALL),
            expiry: self.pick(Expiry::ALL),
            tick: Duration::from_ms(self.pick(&[1, 10, 100])),
            initial_rto,
            min_rto: Duration::from_ms(self.pick(&[0, 20, 200, 1_000])),
            backoff: self.pick(Backoff::ALL),
            max_rto: initial_rto * self.pick(&[1, 4, 60]),
            restart_after_idle: self.percent(50),
            limited_transmit_again: self.percent(50),
            syn_linear_timeouts: self.pick(&[0, 4]),
            syn_retransmissions_forgiven: self.pick(&[0, 1]),
            ..base
        }
    }

    fn controllers(&mut self) -> ControllerKeys {
        let mut keys = ControllerKeys::default();
        keys.reno.increase = self.pick(Increase::ALL);
        keys.cubic.fast_convergence = self.percent(50);
        keys.cubic.cubic_version = self.pick(CubicVersion::ALL);
        keys
    }
}
