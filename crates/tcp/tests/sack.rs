//! SACK recovery and related mechanisms, segment by segment, computed by hand from the RFCs.

use std::sync::Arc;

use optcp_tcp::config::{
    AfterTimeout, Config, CongestionKind, LossDetectionKind, RateReduction, RecoveryKind,
};
use optcp_tcp::{Ack, Profile, SackBlocks, Sender, Seq};
use optcp_units::{Bytes, Duration, Time};

fn ms(milliseconds: u64) -> Time {
    Time::from_ps(milliseconds * 1_000_000_000)
}

/// SACK as in RFC 6675, ten segments of 1000 bytes at first.
fn plain() -> Config {
    Config {
        mss: Bytes::new(1000),
        initial_window: 10,
        recovery: RecoveryKind::Sack,
        ..Profile::Rfc.config()
    }
}

/// A sender whose segments are collected after every event.
struct Host(Sender);

impl Host {
    fn start(config: Config, segments: Option<u32>) -> (Self, Vec<u32>) {
        let mut host = Host(Sender::new(Arc::new(config), segments, Duration::ZERO));
        host.0.start();
        let sent = host.send(ms(0));
        (host, sent)
    }

    fn send(&mut self, now: Time) -> Vec<u32> {
        std::iter::from_fn(|| self.0.poll_transmit(now)).map(|sent| sent.seq.number()).collect()
    }

    fn ack(&mut self, at_ms: u64, seq: u32, blocks: &[(u32, u32)]) -> Vec<u32> {
        self.ack_echo(at_ms, seq, blocks, 0)
    }

    fn ack_echo(&mut self, at_ms: u64, seq: u32, blocks: &[(u32, u32)], echo: u32) -> Vec<u32> {
        let mut sack = SackBlocks::new();
        blocks.iter().for_each(|&(start, end)| sack.push((Seq::new(start), Seq::new(end))));
        let sack = (!blocks.is_empty()).then_some(sack);
        self.0.handle_ack(ms(at_ms), &Ack { echo, sack, ..Ack::cumulative(Seq::new(seq)) });
        self.send(ms(at_ms))
    }

    /// Fires the next timer. Returns its time in ms and the segments sent.
    fn expire(&mut self) -> (u64, Vec<u32>) {
        let due = self.0.deadline().expect("a timer runs");
        self.0.handle_timer(due);
        (due.as_ps() / 1_000_000_000, self.send(due))
    }

    /// cwnd and ssthresh in segments.
    fn window(&self) -> (f64, f64) {
        let window = self.0.window();
        (window.cwnd / 1000.0, window.ssthresh / 1000.0)
    }
}

fn same(got: (f64, f64), want: (f64, f64)) -> bool {
    (got.0 - want.0).abs() < 1e-9 && (got.1 - want.1).abs() < 1e-9
}

/// RFC 6675 section 5: segments 0 to 2 of 10 are lost. Limited transmit sends 10 and 11; the third
/// SACK finds all three lost; ssthresh is half of the 10 that count. `pipe` is 12 - 3 sacked - 3 lost +
/// 1 resent = 7, so two more must arrive before each further segment goes out.
#[test]
fn burst_of_losses_is_repaired_as_pipe_allows() {
    let (mut host, sent) = Host::start(plain(), None);
    assert_eq!(sent, (0..10).collect::<Vec<_>>());
    assert_eq!(host.ack(100, 0, &[(3, 4)]), [10]);
    assert_eq!(host.ack(101, 0, &[(3, 5)]), [11]);
    assert_eq!(host.ack(102, 0, &[(3, 6)]), [0]);
    assert!(host.0.in_recovery());
    assert!(same(host.window(), (5.0, 5.0)), "{:?}", host.window());
    assert_eq!(host.ack(103, 0, &[(3, 7)]), [0; 0]);
    assert_eq!(host.ack(104, 0, &[(3, 8)]), [0; 0]);
    assert_eq!(host.ack(105, 0, &[(3, 9)]), [1]);
    assert_eq!(host.ack(106, 0, &[(3, 10)]), [2]);
    assert_eq!(host.ack(200, 0, &[(3, 11)]), [12]);
    assert_eq!(host.ack(201, 0, &[(3, 12)]), [13]);
    // The retransmissions arrive: a segment leaves for each, and 12 ends the recovery.
    assert_eq!(host.ack(202, 1, &[(3, 12)]), [14]);
    assert_eq!(host.ack(205, 2, &[(3, 12)]), [15]);
    assert_eq!(host.ack(206, 12, &[]), [16]);
    assert!(!host.0.in_recovery());
    assert_eq!(host.0.counts().timeouts, 0);
}

/// RFC 6675 `NextSeg` rules 3 and 4: with no new data, first what may not be lost, then once the last.
#[test]
fn without_new_data_the_tail_is_retransmitted() {
    let config = Config { limited_transmit: false, ..plain() };
    let (mut host, _) = Host::start(config.clone(), Some(10));
    // Lost: 0, and 9. Segments 5 and 7 are late.
    assert_eq!(host.ack(100, 0, &[(1, 2)]), [0; 0]);
    assert_eq!(host.ack(101, 0, &[(1, 3)]), [0; 0]);
    assert_eq!(host.ack(102, 0, &[(1, 4)]), [0]);
    assert_eq!(host.ack(103, 0, &[(1, 5)]), [0; 0]);
    // pipe: 10 - 5 sacked - 1 lost + 1 resent = 5; then 4, which lets 5 go: rule 3, it lies below 6.
    assert_eq!(host.ack(104, 0, &[(6, 7), (1, 5)]), [0; 0]);
    assert_eq!(host.ack(105, 0, &[(8, 9), (6, 7), (1, 5)]), [5]);
    // Three above 5 would be needed to call it lost: 6 and 8 are two. Then rule 3 for 7, rule 4 for 9.
    assert_eq!(host.ack(200, 1, &[(8, 9), (6, 7), (2, 5)]), [7]);
    assert_eq!(host.ack(201, 6, &[(8, 9), (6, 7)]), [9]);
    assert_eq!(host.ack(202, 7, &[(8, 9)]), [0; 0]);

    let neither = Config { speculative_retransmit: false, rescue_retransmit: false, ..config };
    let (mut host, _) = Host::start(neither, Some(10));
    host.ack(102, 0, &[(1, 4)]);
    assert_eq!(host.ack(105, 0, &[(8, 9), (6, 7), (1, 5)]), [0; 0]);
}

/// RFC 8985 section 6.2: a segment sent after the retransmission has arrived, so that is lost too.
/// Without RACK only the retransmission timer would tell.
#[test]
fn rack_finds_a_lost_retransmission() {
    let rack = Config { loss_detection: LossDetectionKind::Rack, ..plain() };
    let (mut host, _) = Host::start(rack, None);
    assert_eq!(host.ack(100, 0, &[(1, 4)]), [0]);
    assert_eq!(host.ack(101, 0, &[(1, 6)]), [0; 0]);
    assert_eq!(host.ack(102, 0, &[(1, 8)]), [10, 11]);
    assert_eq!(host.ack(202, 0, &[(10, 12), (1, 8)])[0], 0);

    let (mut host, _) = Host::start(plain(), None);
    assert_eq!(host.ack(100, 0, &[(1, 4)]), [0]);
    host.ack(102, 0, &[(1, 8)]);
    assert!(!host.ack(202, 0, &[(10, 12), (1, 8)]).contains(&0));
}

/// RFC 8985 section 6.2 step 4: after reordering was detected, a quarter of the minimum RTT must
/// pass. The segment may arrive during this time.
#[test]
fn rack_waits_for_reordered_segments() {
    let rack = Config { loss_detection: LossDetectionKind::Rack, ..plain() };
    let (mut host, _) = Host::start(rack, None);
    // Segment 0 arrives after 1 without a retransmission: reordering.
    host.ack(100, 0, &[(1, 2)]);
    assert_eq!(host.ack(101, 2, &[]), [11, 12]);
    // 3 to 5 come before 2: three duplicates, but only 25 ms later is 2 held to be lost.
    host.ack(102, 2, &[(3, 6)]);
    assert!(!host.0.in_recovery());
    let (at, sent) = host.expire();
    // Sent at 0, round trip 102 ms of segment 5, least round trip 100 ms (segment 1): 127 ms.
    assert_eq!((at, sent[0]), (127, 2));
    assert!(host.0.in_recovery());
}

/// RFC 8985 section 7: two round trips of silence send the last segment again; its SACK shows that the
/// one before is lost.
#[test]
fn a_probe_repairs_the_tail_without_a_timeout() {
    let config = Config {
        initial_window: 3,
        tail_loss_probe: true,
        loss_detection: LossDetectionKind::Rack,
        ..plain()
    };
    let (mut host, sent) = Host::start(config, Some(3));
    assert_eq!(sent, [0, 1, 2]);
    assert_eq!(host.ack(100, 1, &[]), [0; 0]);
    assert_eq!(host.expire(), (300, vec![2]));
    assert_eq!(host.ack(400, 1, &[(2, 3)]), [1]);
    assert_eq!(host.ack(500, 3, &[]), [0; 0]);
    assert_eq!(host.0.counts().timeouts, 0);
    assert!(host.0.finished());
}

/// RFC 8985 section 7.3: a new segment is a better probe than an old one.
#[test]
fn a_probe_is_new_data_if_there_is_some() {
    let config = Config { initial_window: 3, tail_loss_probe: true, ..plain() };
    let (mut host, _) = Host::start(config, None);
    assert_eq!(host.ack(100, 1, &[]), [3, 4]);
    assert_eq!(host.expire(), (300, vec![5]));
}

/// RFC 8985 section 7.4: an ACK beyond the probe without a report that it came twice: it repaired a
/// loss, so the window is halved. With the report nothing was lost.
#[test]
fn loss_repaired_by_probe_halves_the_window() {
    let config = Config { initial_window: 4, window_limit: 4, tail_loss_probe: true, ..plain() };
    for lost in [true, false] {
        let (mut host, _) = Host::start(config.clone(), None);
        assert_eq!(host.ack(100, 4, &[]), [4, 5, 6, 7]);
        assert_eq!(host.expire(), (300, vec![7]));
        let report: &[(u32, u32)] = if lost { &[] } else { &[(7, 8)] };
        assert_eq!(host.ack(400, 8, report), [8, 9, 10, 11]);
        host.ack(500, 9, &[]);
        assert_eq!(host.window().1.is_finite(), lost);
    }
}

/// RFC 5682 section 3.1: ACKs that were late, not lost. Two new segments instead of retransmissions,
/// then the window as before.
#[test]
fn spurious_rto_is_undone() {
    let config = Config { initial_window: 4, frto: true, ..plain() };
    let (mut host, _) = Host::start(config, None);
    assert_eq!(host.expire(), (1000, vec![0]));
    assert!(same(host.window(), (1.0, 2.0)));
    assert_eq!(host.ack(1010, 1, &[]), [4, 5]);
    // Segment 1 was never retransmitted: the originals arrive.
    host.ack(1011, 2, &[]);
    let (cwnd, ssthresh) = host.window();
    assert!(cwnd >= 4.0 && ssthresh.is_infinite(), "{cwnd} {ssthresh}");
    assert_eq!(host.0.counts().retransmissions, 1);
}

/// RFC 5682 section 3.2, as in Linux (`icsk_retransmits`): the second RTO of the same segment tries F-RTO again. Its ACK
/// also covers segment 1, which was sent once.
#[test]
fn repeated_spurious_rto_is_undone() {
    let config = Config { initial_window: 4, frto: true, ..plain() };
    let (mut host, _) = Host::start(config, None);
    assert_eq!(host.expire(), (1000, vec![0]));
    assert_eq!(host.expire(), (3000, vec![0]));
    host.ack(3010, 2, &[]);
    let (cwnd, ssthresh) = host.window();
    assert!(cwnd >= 4.0 && ssthresh.is_infinite(), "{cwnd} {ssthresh}");
    assert_eq!(host.0.counts().retransmissions, 2);
}

/// RFC 5682 section 3.1 step 3a: only the new segments arrive, so the rest is lost indeed.
#[test]
fn genuine_rto_is_not_undone() {
    let config = Config { initial_window: 4, frto: true, ..plain() };
    let (mut host, _) = Host::start(config, None);
    assert_eq!(host.expire(), (1000, vec![0]));
    assert_eq!(host.ack(1100, 1, &[]), [4, 5]);
    assert_eq!(host.ack(1200, 1, &[(4, 5)])[0], 1);
    assert!(same((host.window().1, 0.0), (2.0, 0.0)));
}

/// RFC 3708, with the response of Linux: every retransmission came twice, so the window comes back.
#[test]
fn duplicates_reported_for_every_retransmission_undo_the_reduction() {
    let config = Config { dsack_undo: true, ..plain() };
    let (mut host, _) = Host::start(config, None);
    // 0 and 1 are late by more than three segments.
    host.ack(100, 0, &[(2, 3)]);
    host.ack(101, 0, &[(2, 4)]);
    assert_eq!(host.ack(102, 0, &[(2, 5)])[0], 0);
    // 12 sent, 7 arrived, 2 lost, 1 retransmitted: the pipe of 4 allows the second retransmission.
    assert_eq!(host.ack(103, 0, &[(2, 9)]), [1]);
    assert!(same((host.window().1, 0.0), (5.0, 0.0)));
    // The originals, then the retransmissions as duplicates.
    host.ack(110, 9, &[]);
    host.ack(200, 9, &[(0, 1)]);
    assert!(host.window().1.is_finite(), "one of two does not undo");
    host.ack(201, 9, &[(1, 2)]);
    let (cwnd, ssthresh) = host.window();
    assert!(cwnd >= 10.0 && ssthresh.is_infinite(), "{cwnd} {ssthresh}");
}

/// RFC 3522: the ACK echoes a time before the retransmission, so it answers the original.
#[test]
fn a_timestamp_of_the_original_undoes_the_reduction() {
    let config = Config { timestamps: true, timestamp_undo: true, ..plain() };
    for (echo, undone) in [(0, true), (102, false)] {
        let (mut host, _) = Host::start(config.clone(), None);
        host.ack_echo(100, 0, &[(1, 2)], 0);
        host.ack_echo(101, 0, &[(1, 3)], 0);
        assert_eq!(host.ack_echo(102, 0, &[(1, 4)], 0), [0]);
        host.ack_echo(110, 4, &[], echo);
        assert_eq!(host.window().1.is_infinite(), undone);
        assert_eq!(host.0.in_recovery(), !undone);
    }
}

/// RFC 6937: with PRR, the first RTT of a recovery sends one segment per two arrivals. Immediate
/// halving sends none at first, then one per arrival.
#[test]
fn prr_spreads_the_reduction_over_the_round_trip() {
    let sends = |rate_reduction| {
        let config =
            Config { initial_window: 20, limited_transmit: false, rate_reduction, ..plain() };
        let (mut host, _) = Host::start(config, None);
        let count = |end| host.ack(100, 0, &[(1, end)]).len();
        (2..=20).map(count).collect::<Vec<_>>()
    };
    // 19 arrive; the third shows the loss: 16 are in flight then, ssthresh 10.
    let at_once = [0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1];
    assert_eq!(sends(RateReduction::AtOnce), at_once);
    // RFC 9937: SACK already covered 2 of the 20, so k deliveries allow ceil(10 k / 18). These are
    // 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 7, 7, 8, 8. At the 15th, 10 are in flight, and the pipe stays
    // there.
    let prr = [0, 0, 1, 1, 0, 1, 0, 1, 0, 1, 0, 1, 1, 0, 1, 0, 0, 1, 1];
    assert_eq!(sends(RateReduction::Prr), prr);
}

/// RFC 6675 section 5.1: after an RTO SACKed segments are not retransmitted. RFC 2018 section 8
/// retransmits all. RFC 6298 section 5.4 retransmits the oldest segment, and RFC 6675 then
/// considers the rest missing.
#[test]
fn rto_retransmits_missing_or_all_segments() {
    for (after_timeout, again) in [
        (AfterTimeout::Missing, [0, 3, 4]),
        (AfterTimeout::First, [0, 3, 4]),
        (AfterTimeout::GoBackN, [0, 1, 2]),
    ] {
        let config =
            Config { initial_window: 5, limited_transmit: false, after_timeout, ..plain() };
        let (mut host, sent) = Host::start(config, Some(5));
        assert_eq!(sent, [0, 1, 2, 3, 4]);
        // Two duplicates are too few for a recovery.
        host.ack(100, 0, &[(1, 2)]);
        host.ack(101, 0, &[(1, 3)]);
        let (_, first) = host.expire();
        assert_eq!(first, again[..1]);
        // Slow start: the next ACK lets two go.
        let seq = if again[1] == 1 { 1 } else { 3 };
        assert_eq!(host.ack(2000, seq, &[]), again[1..]);
    }
}

/// Without SACK: everything again (4.3BSD), or one segment for each partial ACK (RFC 6298 section 5.4).
#[test]
fn without_sack_a_timeout_goes_back_or_sends_one_segment_at_a_time() {
    for (after_timeout, again) in [
        (AfterTimeout::GoBackN, vec![1, 2]),
        (AfterTimeout::Missing, vec![1, 2]),
        (AfterTimeout::First, vec![1]),
    ] {
        let config =
            Config { initial_window: 5, recovery: RecoveryKind::NewReno, after_timeout, ..plain() };
        let (mut host, _) = Host::start(config, Some(5));
        assert_eq!(host.expire().1, [0]);
        assert_eq!(host.ack(1100, 1, &[]), again);
    }
}

/// RFC 8985 section 7.2 probes established connections only. After an unanswered SYN, only the SYN
/// is retransmitted when the RTO of RFC 6298 (2.1), 1 s, fires. The timer wheel extends its 250 ticks
/// to the next multiple of 8, 256.
#[test]
fn a_syn_without_an_answer_is_not_probed() {
    let config = Config { handshake: true, ..Profile::Linux6.config() };
    assert!(config.tail_loss_probe);
    let (mut host, sent) = Host::start(config, Some(8));
    assert_eq!(sent, [0]);
    assert_eq!(host.expire(), (1024, vec![0]));
    assert_eq!(host.0.counts().timeouts, 1);
}

/// A SYN is lost and retransmitted after 1 s. Data start with a window of one segment (RFC 5681
/// section 3.1). Slow start then proceeds as without the loss: 1, 2, 4, 8 segments per RTT. The SYN
/// was sent twice, so nothing is measured (Karn), and the RTO of the first segment is 3 s (RFC 6298
/// section 5.7).
#[test]
fn lost_syn_only_reduces_the_initial_window() {
    for congestion in [CongestionKind::Reno, CongestionKind::Cubic] {
        let config = Config { handshake: true, congestion, ..plain() };
        let (mut host, _) = Host::start(config, Some(100));
        assert_eq!(host.expire(), (1000, vec![0]));
        assert_eq!(host.ack(1100, 1, &[]), [1]);
        assert_eq!(host.0.deadline(), Some(ms(4100)));
        let (mut next, mut sent) = (2, 1);
        for round in 1..=3 {
            let acks: Vec<u32> = (next - sent..next).collect();
            sent = 0;
            for seq in acks {
                let new = host.ack(1100 + 100 * round, seq + 1, &[]);
                sent += u32::try_from(new.len()).unwrap();
            }
            next += sent;
            assert_eq!(sent, 1 << round, "round trip {round}");
        }
    }
}

/// All ten segments are late, and the RTO considers them lost. Two ACKs of first transmissions show
/// that they are not (F-RTO, RFC 5682). Segment 2 is lost: SACK covers three segments above it in
/// turn. It is retransmitted with the third, because both RFC 6675's `IsLost` and RACK without
/// reordering require it.
#[test]
fn loss_after_undone_reduction_is_detected() {
    for loss_detection in [LossDetectionKind::Duplicates, LossDetectionKind::Rack] {
        let config = Config { frto: true, loss_detection, ..plain() };
        let (mut host, sent) = Host::start(config, Some(100));
        assert_eq!(sent, (0..10).collect::<Vec<_>>());
        assert_eq!(host.expire(), (1000, vec![0]));
        assert_eq!(host.ack(1100, 1, &[]), [10, 11]);
        let before = host.ack(1101, 2, &[]);
        assert!(!before.contains(&2), "{loss_detection:?}: {before:?}");
        let mut found = Vec::new();
        for end in 4..=6 {
            found.push(host.ack(1100 + u64::from(end), 2, &[(3, end)]).contains(&2));
        }
        assert_eq!(found, [false, false, true], "{loss_detection:?}");
    }
}

/// NDP, SIGCOMM 2017: only the header of a trimmed segment tells of a loss, at once, and also of a lost retransmission.
/// Four overtaken segments declare no loss; RFC 3042 releases as many new ones as SACK reports.
#[test]
fn reported_segment_is_retransmitted_at_once_and_reordering_is_not_a_loss() {
    let config = Config { loss_detection: LossDetectionKind::Trimmed, ..plain() };
    let (mut host, _) = Host::start(config, None);
    let report = |host: &mut Host, at: u64, seq: u32, blocks: &[(u32, u32)]| {
        let mut sack = SackBlocks::of_trimmed(Seq::new(seq));
        blocks.iter().for_each(|&(start, end)| sack.push((Seq::new(start), Seq::new(end))));
        host.0.handle_ack(ms(at), &Ack { sack: Some(sack), ..Ack::cumulative(Seq::ZERO) });
        host.send(ms(at))
    };
    assert_eq!(host.ack(100, 0, &[(4, 8)]), [10, 11, 12, 13]);
    assert!(!host.0.in_recovery());
    assert_eq!(report(&mut host, 101, 0, &[(4, 8)]), [0]);
    // Half of ten segments: segments of limited transmit do not count.
    assert_eq!((host.0.in_recovery(), host.window().1), (true, 5.0));
    // The retransmission and four new segments are in flight.
    assert_eq!(host.ack(110, 0, &[(1, 10)]), [0; 0]);
    assert_eq!(report(&mut host, 201, 0, &[(1, 10)]), [0]);
    // Reports of segments that are not outstanding change nothing.
    assert_eq!(report(&mut host, 202, 99, &[(1, 10)]), [0; 0]);
    assert_eq!(host.0.counts().retransmissions, 2);
}
