//! Connections that give up, computed by hand from the documentation of Linux (`tcp_retries2`, `tcp_syn_retries`,
//! `TCP_USER_TIMEOUT`) and from RFC 5482.

use std::sync::Arc;

use optcp_tcp::config::{Config, Expiry};
use optcp_tcp::{Ack, Phase, Profile, Sender, Seq};
use optcp_units::{Duration, Time};

fn ms(milliseconds: u64) -> Time {
    Time::from_ps(milliseconds * 1_000_000_000)
}

/// Linux's timers without the rounding of its wheel.
fn linux() -> Config {
    Config { expiry: Expiry::Exact, timestamps: false, ..Profile::Linux6.config() }
}

/// A sender on a path on which nothing arrives any more.
struct Host(Sender);

impl Host {
    fn start(config: Config) -> Self {
        let mut host = Host(Sender::new(Arc::new(config), None, Duration::ZERO));
        host.0.start();
        host.send(ms(0));
        host
    }

    fn send(&mut self, now: Time) -> usize {
        std::iter::from_fn(|| self.0.poll_transmit(now)).count()
    }

    /// A sender whose first segment was acknowledged after 1 ms. Linux's RTO is then 201 ms: SRTT plus `TCP_RTO_MIN`.
    fn connected(config: Config) -> Self {
        let mut host = Host::start(config);
        host.ack(1, 1);
        host
    }

    fn ack(&mut self, at_ms: u64, seq: u32) -> usize {
        self.0.handle_ack(ms(at_ms), &Ack::cumulative(Seq::new(seq)));
        self.send(ms(at_ms))
    }

    /// Runs until the sender gives up. Returns the times of its RTOs; the last one closes the connection.
    fn timeouts(&mut self) -> Vec<Time> {
        let mut times = Vec::new();
        while self.0.aborted().is_none() && times.len() < 40 {
            let now = self.0.deadline().expect("data are outstanding");
            let before = self.0.counts().timeouts;
            self.0.handle_timer(now);
            self.send(now);
            if self.0.counts().timeouts > before {
                times.push(now);
            }
        }
        times
    }

    /// The same, as milliseconds since the first RTO, which is followed by the first retransmission.
    fn since_first_retransmission(&mut self) -> Vec<u64> {
        let times = self.timeouts();
        times.iter().map(|time| (*time - times[0]).as_ps() / 1_000_000_000).collect()
    }
}

/// RTOs double from 402 ms to 102.912 s and then last 120 s. The sixteenth comes 925.422 s after the first
/// retransmission, the first one after the documented 924.6 s.
#[test]
fn fifteen_retries_end_at_the_first_rto_after_924_6_seconds() {
    let mut host = Host::connected(linux());
    let times = host.since_first_retransmission();
    let doubled = (0..10).map(|k| 201 * ((2 << k) - 2));
    let expected: Vec<u64> = doubled.chain((1..=6).map(|k| 205_422 + 120_000 * k)).collect();
    assert_eq!(times, expected);
    assert_eq!(*times.last().unwrap(), 925_422);
}

/// Three retries take 0.2 + 0.4 + 0.8 + 1.6 = 3 s. RTOs follow after 0.402, 1.206, 2.814 and 6.030 s.
#[test]
fn three_retries_end_at_the_first_rto_after_three_seconds() {
    let mut host = Host::connected(Config { retries: Some(3), ..linux() });
    assert_eq!(host.since_first_retransmission(), [0, 402, 1206, 2814, 6030]);
}

/// R2 is measured in time, not in RTOs. With an RTO of 3.201 s, the first RTO after a retransmission is later than the
/// three seconds of three retries.
#[test]
fn long_rtos_leave_one_retransmission() {
    let config = Config { retries: Some(3), min_rto: Duration::from_ms(3200), ..linux() };
    assert_eq!(Host::connected(config).since_first_retransmission(), [0, 6402]);
}

/// The first RTO never closes a connection, because nothing has been retransmitted.
#[test]
fn zero_retries_allow_one_retransmission() {
    let config = Config { retries: Some(0), ..linux() };
    assert_eq!(Host::connected(config).since_first_retransmission(), [0, 402]);
}

#[test]
fn user_timeout_ends_the_connection_at_its_time_instead_of_retries() {
    let user_timeout = Duration::from_secs(5);
    for retries in [None, Some(0), Some(15)] {
        let config = Config { user_timeout, retries, ..linux() };
        assert_eq!(
            Host::connected(config).since_first_retransmission(),
            [0, 402, 1206, 2814, 5000]
        );
    }
    let long = Config { user_timeout: Duration::from_secs(1000), ..linux() };
    assert_eq!(*Host::connected(long).since_first_retransmission().last().unwrap(), 1_000_000);
}

/// Linux's documentation of `tcp_syn_retries`: six retries last 127 s, and with four linear timeouts 131 s.
#[test]
fn six_syn_retries_end_after_127_seconds_and_after_131_with_linear_timeouts() {
    for (syn_linear_timeouts, expected) in
        [(0, vec![1, 3, 7, 15, 31, 63, 127]), (4, vec![1, 2, 3, 4, 5, 7, 11, 19, 35, 67, 131])]
    {
        let config = Config { handshake: true, syn_linear_timeouts, ..linux() };
        let times = Host::start(config).timeouts();
        assert_eq!(times, expected.into_iter().map(|s| ms(1000 * s)).collect::<Vec<_>>());
    }
    let once = Config { handshake: true, syn_retries: Some(0), syn_linear_timeouts: 0, ..linux() };
    assert_eq!(Host::start(once).timeouts(), [ms(1000)]);
}

/// The SYN is retransmitted after 1, 3 and 7 s. Its user timeout of 10 s counts from the first retransmission.
#[test]
fn user_timeout_also_limits_a_syn() {
    let user_timeout = Duration::from_secs(10);
    let config = Config { handshake: true, syn_linear_timeouts: 0, user_timeout, ..linux() };
    assert_eq!(Host::start(config).timeouts(), [1, 3, 7, 11].map(|s| ms(1000 * s)));
}

#[test]
fn ack_of_new_data_restarts_the_count() {
    let config = Config { user_timeout: Duration::from_secs(5), ..linux() };
    let mut host = Host::connected(config);
    for _ in 0..4 {
        let now = host.0.deadline().expect("data are outstanding");
        host.0.handle_timer(now);
        host.send(now);
    }
    assert_eq!(host.0.counts().timeouts, 3, "a probe and three RTOs");
    host.ack(2000, 2);
    let times = host.timeouts();
    assert_eq!(*times.last().unwrap() - times[0], Duration::from_secs(5));
    assert!(times[0] > ms(2000));
}

#[test]
fn without_limits_a_sender_never_gives_up() {
    let config = Config { retries: None, syn_retries: None, handshake: true, ..linux() };
    let mut host = Host::start(config);
    assert_eq!(host.timeouts().len(), 40);
    assert_eq!(Profile::Rfc.config().retries, None);
    assert_eq!(host.0.aborted(), None);
}

#[test]
fn aborted_sender_is_inert() {
    let mut host = Host::connected(Config { retries: Some(3), ..linux() });
    let end = *host.timeouts().last().unwrap();
    assert_eq!(host.0.aborted(), Some(end));
    assert_eq!((host.0.deadline(), host.0.snapshot().phase), (None, Phase::Aborted));
    let (una, sent) = (host.0.una(), host.0.counts().sent);
    assert_eq!(host.ack(60_000, 5), 0);
    host.0.supply(10);
    assert_eq!(host.send(ms(70_000)), 0);
    assert_eq!((host.0.una(), host.0.counts().sent, host.0.finished()), (una, sent, false));
}
