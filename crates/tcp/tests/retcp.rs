//! reTCP in a sender: the flag in ACKs, losses and the SYN exchange.

use std::sync::Arc;

use optcp_tcp::config::{CongestionKind, Ecn};
use optcp_tcp::{Ack, Config, Profile, SackBlocks, Sender, Seq};
use optcp_units::{Bytes, Codepoint, Duration, Marking, Time};

const MSS: f64 = 1000.0;
const CIRCUIT: bool = true;

/// A sender with a window of `segments`, in slow start up to 20.
fn sender(segments: u32, config: Config) -> Sender {
    let config = Config {
        mss: Bytes::new(1000),
        initial_window: segments,
        initial_ssthresh: Some(20),
        congestion: CongestionKind::Retcp,
        ..config
    };
    assert_eq!(config.ecn, Ecn::Off);
    let mut sender = Sender::new(Arc::new(config), None, Duration::ZERO);
    sender.start();
    sender
}

fn at(ms: u64) -> Time {
    Time::ZERO + Duration::from_ms(ms)
}

/// Returns the segments that a sender sends now.
fn sent(sender: &mut Sender, now: Time) -> Vec<u32> {
    std::iter::from_fn(|| sender.poll_transmit(now)).map(|s| s.seq.number()).collect()
}

/// Returns an ACK that reports the segments from `sacked` on above a gap, if any.
fn ack(seq: u32, sacked: Option<(u32, u32)>, circuit: bool) -> Ack {
    let mut sack = SackBlocks::new();
    if let Some((from, to)) = sacked {
        sack.push((Seq::new(from), Seq::new(to)));
    }
    Ack {
        marking: Marking::new(Codepoint::NotEct, if circuit { Marking::ECE } else { 0 }),
        sack: sacked.map(|_| sack),
        ..Ack::cumulative(Seq::new(seq))
    }
}

/// In segments.
fn window(sender: &Sender) -> (f64, f64) {
    let window = sender.window();
    (window.cwnd / MSS, window.ssthresh / MSS)
}

/// Computed by hand: the flag does not reduce the window although RFC 3168 uses the same flag, and
/// no segment carries CWR. The ACK of segment 0 grows the window from 4 to 5 and doubles it: 3 are
/// in flight, and 7 more leave immediately. The next grows it to 11. Without the flag (11 + 1) / 2
/// = 6 are left. Nothing leaves until that many are acknowledged.
#[test]
fn ece_flag_changes_window_without_negotiation() {
    let linux = || Profile::Linux6.config();
    for config in [Profile::Rfc.config(), linux()] {
        let mut sender = sender(4, Config { handshake: false, ..config });
        assert_eq!(sent(&mut sender, at(0)), [0, 1, 2, 3]);
        sender.handle_ack(at(100), &ack(1, None, CIRCUIT));
        assert_eq!(window(&sender), (10.0, 20.0));
        let next = sender.poll_transmit(at(100)).expect("the window has room");
        assert_eq!((next.seq.number(), next.marking), (4, Marking::NONE));
        assert_eq!(sent(&mut sender, at(100)), (5..11).collect::<Vec<_>>());
        sender.handle_ack(at(101), &ack(2, None, CIRCUIT));
        assert_eq!(window(&sender), (11.0, 20.0));
        assert_eq!(sent(&mut sender, at(101)), [11, 12]);
        sender.handle_ack(at(102), &ack(3, None, !CIRCUIT));
        assert_eq!(window(&sender), (6.0, 20.0));
        assert!(sent(&mut sender, at(102)).is_empty());
        assert_eq!(sender.counts().ecn_reductions, 0);
    }
}

/// Worked by hand: of ten segments the first is lost. Duplicate ACKs, with the flag or without, grow nothing and so do not
/// double; the third begins a recovery (RFC 6675) down to 5. For 9 segments delivered in it 5 leave (9 * 5 / 10, rounded up): the
/// first again and 4 new ones. The ACK of all 14 ends it, and grows the window as in Linux: 5 delivered at a window of 5 are a
/// segment. With the flag 6 are doubled.
#[test]
fn flag_is_ignored_during_loss_recovery() {
    for (flag, after) in [(CIRCUIT, 12.0), (!CIRCUIT, 6.0)] {
        let linux = Profile::Linux6.config();
        let config = Config { handshake: false, tail_loss_probe: false, ..linux };
        let mut sender = sender(10, Config { timestamp_undo: false, ..config });
        assert_eq!(sent(&mut sender, at(0)).len(), 10);
        for to in 2..=10 {
            let now = at(100 + u64::from(to));
            sender.handle_ack(now, &ack(0, Some((1, to)), to % 2 == 0));
            sent(&mut sender, now);
            let (cwnd, ssthresh) = window(&sender);
            assert!(cwnd <= 10.0, "{to}: {cwnd}");
            let expected: f64 = if sender.in_recovery() { 5.0 } else { 20.0 };
            assert!((ssthresh - expected).abs() < f64::EPSILON, "{to}: {ssthresh}");
        }
        assert!(sender.in_recovery());
        assert_eq!(sender.max_sent(), Seq::new(14));
        sender.handle_ack(at(200), &ack(14, None, flag));
        assert!(!sender.in_recovery());
        assert_eq!(window(&sender), (after, 5.0));
    }
}

/// Flags of the SYN-ACK are ignored: the initial window is not doubled. It is not halved either by
/// the first ACK without the flag, which makes 3 of 2. The next ACK, with it, makes (3 + 1) * 2.
#[test]
fn the_syn_exchange_does_not_count() {
    let mut sender = sender(2, Config { handshake: true, ..Profile::Linux6.config() });
    assert_eq!(sent(&mut sender, at(0)), [0]);
    sender.handle_ack(at(100), &ack(1, None, CIRCUIT));
    assert_eq!(window(&sender), (2.0, 20.0));
    assert_eq!(sent(&mut sender, at(100)), [1, 2]);
    sender.handle_ack(at(200), &ack(2, None, !CIRCUIT));
    assert_eq!(window(&sender), (3.0, 20.0));
    sent(&mut sender, at(200));
    sender.handle_ack(at(201), &ack(3, None, CIRCUIT));
    assert_eq!(window(&sender), (8.0, 20.0));
}
