//! Random numbers, and random values of all parameters of a connection.

use std::fmt::{Debug, Write};

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

/// A hash (FNV-1a) of the text written to it.
struct Name(u64);

impl Write for Name {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        self.0 = text.bytes().fold(self.0, step);
        Ok(())
    }
}

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

    /// A member of a registry: that with the lowest score, which knows nothing of the others. A new one changes only the
    /// connections that take it, wherever it stands.
    fn member<T: Copy + Debug>(&mut self, registry: &[T]) -> T {
        let question = self.next();
        let score = |member: &&T| {
            let mut name = Name(question);
            write!(name, "{member:?}").expect("a name takes everything");
            Draw(name.0).next()
        };
        *registry.iter().min_by_key(score).expect("a registry has members")
    }

    /// The choices about one question, for which the others give one number: how many there are moves nothing else.
    fn about(&mut self) -> Draw {
        Draw(self.next())
    }

    /// A profile with every choice as it makes it, or with each choice drawn.
    pub fn config(&mut self) -> Config {
        // BBR is drawn below, with what it needs.
        let profile = match self.member(Profile::ALL) {
            Profile::Linux6Bbr => Profile::Linux6,
            // QUIC has other rules: see `quic`.
            Profile::Quic => Profile::Rfc,
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
            ack: self.member(AckKind::ALL),
            ..profile.config()
        };
        let config = if self.percent(40) { base } else { self.vary(base) };
        let config = self.about().control(config);
        let config = self.about().marks(config);
        let config = self.about().networks(config);
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
        let congestion = self.member(&kinds);
        if config.recovery != RecoveryKind::Sack && congestion.wants_rates() {
            return config;
        }
        let timestamps = config.timestamps || congestion.wants_delays();
        Config { congestion, timestamps, ..config }
    }

    /// Draws the ECN options, and the controls that react to marks.
    fn marks(&mut self, base: Config) -> Config {
        let possible = self.pick(&[Ecn::Off, Ecn::Rfc3168, Ecn::Dctcp, Ecn::Accurate]);
        let ecn = match base.congestion.needs_ecn() {
            NeedsEcn::Off => Ecn::Off,
            _ => possible,
        };
        let mut config = Config {
            ecn,
            receiver_ecn: match self.percent(70) {
                true => ReceiverEcn::AsAsked,
                false => self.member(ReceiverEcn::ALL),
            },
            ect_packets: self.member(EctPackets::ALL),
            accecn_option: self.percent(50),
            ..base
        };
        let dctcp = &mut config.controllers.dctcp;
        dctcp.dctcp_shift_g = self.pick(&[0, 1, 4, 10]);
        dctcp.dctcp_alpha_on_init = self.pick(&[0, 16, 1024]);
        dctcp.dctcp_loss = self.member(DctcpLoss::ALL);
        let prague = &mut config.controllers.prague;
        prague.prague_rtt_scaling = self.member(PragueRttScaling::ALL);
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
            loss_detection: self.member(LossDetectionKind::ALL),
            rate_reduction: self.member(RateReduction::ALL),
            speculative_retransmit: self.percent(50),
            rescue_retransmit: self.percent(50),
            tail_loss_probe: self.percent(50),
            after_timeout: self.member(AfterTimeout::ALL),
            frto: self.percent(50),
            dsack_undo: dsack && self.percent(50),
            timestamp_undo: timestamps && self.percent(50),
            quick_acks: self.pick(&[0, 1, 16]),
            sack_blocks: self.pick(&[1, 2, 3, 4]),
            sack_header: Bytes::new(4),
            dsack,
            congestion: self.pick(&[CongestionKind::Reno, CongestionKind::Cubic]),
            controllers: self.controllers(),
            ack_counting: self.member(AckCounting::ALL),
            slow_start: self.member(SlowStartKind::ALL),
            window_validation: self.member(WindowValidation::ALL),
            pacing: self.pick(&[Pacing::None, Pacing::Window]),
            pacing_burst: self.pick(&[1, 2, 5]),
            idle_restart: self.percent(50),
            careful: self.percent(50),
            careful_until_new_ack: self.percent(50),
            first_loss: self.member(FirstLoss::ALL),
            fast_retransmit_restarts_timer: self.percent(50),
            newreno_timer: self.member(NewRenoTimer::ALL),
            partial_ack: self.member(PartialAck::ALL),
            recovery_exit: self.member(RecoveryExit::ALL),
            exit_ack_grows: self.percent(50),
            recovery_burst: self.pick(&[None, Some(1), Some(2), Some(5)]),
            reduction_basis: self.member(ReductionBasis::ALL),
            tahoe_keeps_duplicates: self.percent(50),
            timeout_basis: self.member(TimeoutBasis::ALL),
            halving: self.member(Halving::ALL),
            repeated_timeout_keeps_ssthresh: self.percent(50),
            duplicate_acks: self.member(DuplicateAckKind::ALL),
            ack_delay: Duration::from_ms(self.pick(&[1, 100, 500])),
            first_ack_at_once: self.percent(50),
            delays_duplicates: self.percent(50),
            rtt: self.member(RttKind::ALL),
            measurement: self.member(Measurement::ALL),
            expiry: self.member(Expiry::ALL),
            tick: Duration::from_ms(self.pick(&[1, 10, 100])),
            initial_rto,
            min_rto: Duration::from_ms(self.pick(&[0, 20, 200, 1_000])),
            backoff: self.member(Backoff::ALL),
            max_rto: initial_rto * self.pick(&[1, 4, 60]),
            restart_after_idle: self.percent(50),
            limited_transmit_again: self.percent(50),
            syn_linear_timeouts: self.pick(&[0, 4]),
            // These networks deliver all data.
            retries: None,
            syn_retries: None,
            user_timeout: Duration::ZERO,
            syn_retransmissions_forgiven: self.pick(&[0, 1]),
            ..base
        }
    }

    fn controllers(&mut self) -> ControllerKeys {
        let mut keys = ControllerKeys::default();
        keys.reno.increase = self.member(Increase::ALL);
        keys.cubic.fast_convergence = self.percent(50);
        keys.cubic.cubic_version = self.member(CubicVersion::ALL);
        keys
    }
}
