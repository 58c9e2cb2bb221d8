//! ECN: packet markings, the receiver's feedback, and the sender's reaction.

use std::sync::Arc;

use optcp_tcp::config::{
    AckKind, CongestionKind, Ecn, EctPackets, Halving, RateReduction, ReceiverEcn, RecoveryKind,
};
use optcp_tcp::{
    Ack, Config, CongestionState, EcnCounters, Profile, Receiver, SackBlocks, Sender, Seq,
};
use optcp_units::{Bytes, Codepoint, Duration, Marking, Time};

const MSS: f64 = 1000.0;
const ECT0: Marking = Marking::new(Codepoint::Ect0, 0);
const CE: Marking = Marking::new(Codepoint::Ce, 0);
const NOT_ECT: Marking = Marking::NONE;

fn rfc(ecn: Ecn) -> Config {
    Config { mss: Bytes::new(1000), initial_window: 10, ecn, ..Profile::Rfc.config() }
}

fn at(ms: u64) -> Time {
    Time::ZERO + Duration::from_ms(ms)
}

fn sender(config: Config) -> Sender {
    let mut sender = Sender::new(Arc::new(config), None, Duration::ZERO);
    sender.start();
    sender
}

/// Returns numbers and markings of the segments that a sender sends now.
fn sent(sender: &mut Sender, now: Time) -> Vec<(u32, Marking)> {
    std::iter::from_fn(|| sender.poll_transmit(now)).map(|s| (s.seq.number(), s.marking)).collect()
}

fn ack(seq: u32, flags: u8) -> Ack {
    let marking = Marking::new(Codepoint::NotEct, flags);
    Ack { marking, ..Ack::cumulative(Seq::new(seq)) }
}

fn window(sender: &Sender) -> (f64, f64) {
    let window = sender.window();
    (window.cwnd / MSS, window.ssthresh / MSS)
}

/// RFC 3168 section 6.1.2, computed by hand: ten segments are sent, and the ACK of the first three
/// echoes a mark. FlightSize is 7, and half of it 3.5. The ACKs up to segment 10 cause no further
/// reduction, and do not grow the window while they echo. The first new segment carries CWR. After
/// the ACK of all data sent until then, a mark counts again.
#[test]
fn a_mark_halves_the_window_once_in_a_window_of_data() {
    let mut sender = sender(rfc(Ecn::Rfc3168));
    let first = sent(&mut sender, at(0));
    assert_eq!(first, (0..10).map(|seq| (seq, ECT0)).collect::<Vec<_>>());
    sender.handle_ack(at(100), &ack(3, Marking::ECE));
    assert_eq!(window(&sender), (3.5, 3.5));
    assert_eq!(sender.info().state, CongestionState::Cwr);
    assert_eq!(sent(&mut sender, at(100)), []);
    sender.handle_ack(at(101), &ack(7, Marking::ECE));
    assert_eq!(window(&sender), (3.5, 3.5));
    assert_eq!(sent(&mut sender, at(101)), []);
    sender.handle_ack(at(102), &ack(9, Marking::ECE));
    let cwr = Marking::new(Codepoint::Ect0, Marking::CWR);
    assert_eq!(sent(&mut sender, at(102)), [(10, cwr), (11, ECT0)]);
    // The ACK of all that was sent then still cannot know of CWR.
    sender.handle_ack(at(103), &ack(10, Marking::ECE));
    assert_eq!(window(&sender), (3.5, 3.5));
    sent(&mut sender, at(103));
    sender.handle_ack(at(200), &ack(11, Marking::ECE));
    assert_eq!(window(&sender), (2.0, 2.0));
    let counts = sender.counts();
    assert_eq!((counts.ecn_reductions, counts.delivered_ce), (2, 11));
}

/// RFC 3168 section 6.1.3, worked by hand: ECE from the mark on until CWR; a segment that has both begins anew.
#[test]
fn the_receiver_echoes_a_mark_until_the_window_is_reduced() {
    let mut receiver = Receiver::new(&rfc(Ecn::Rfc3168), Duration::ZERO);
    let cwr = Marking::new(Codepoint::Ect0, Marking::CWR);
    let both = Marking::new(Codepoint::Ce, Marking::CWR);
    let came = [ECT0, CE, ECT0, ECT0, cwr, ECT0, both, ECT0];
    let echoes = (0..).zip(came).map(|(seq, marking)| {
        let ack = receiver.handle_segment(at(0), Seq::new(seq), 0, 64, marking).ack.unwrap();
        assert_eq!(ack.marking.codepoint(), Codepoint::NotEct);
        ack.marking.has(Marking::ECE)
    });
    assert_eq!(echoes.collect::<Vec<_>>(), [false, true, true, true, false, false, true, true]);
}

/// RFC 8257 section 3.2, figure 1, with an ACK for every second segment. The ACK of 0 is delayed,
/// and 1 is acknowledged with it. The ACK of 2 is delayed, and sent ahead of 3, which is marked. 4
/// is delayed, and 5 acknowledged with it. 6 is not marked and acknowledged immediately.
#[test]
fn dctcp_receiver_acknowledges_immediately_when_marks_change() {
    let config = Config { ack: AckKind::Delayed, ..rfc(Ecn::Dctcp) };
    let mut receiver = Receiver::new(&config, Duration::ZERO);
    let mut acks = Vec::new();
    for (seq, marking) in (0..).zip([ECT0, ECT0, ECT0, CE, CE, CE, ECT0, ECT0]) {
        let arrival = receiver.handle_segment(at(0), Seq::new(seq), 0, 64, marking);
        let both = receiver.take_earlier().into_iter().chain(arrival.ack);
        acks.extend(both.map(|ack| (ack.seq.number(), ack.marking.has(Marking::ECE))));
    }
    assert_eq!(acks, [(2, false), (3, false), (4, true), (6, true), (7, false)]);
    assert!(receiver.deadline().is_some());
}

/// RFC 3168 section 6.1.5: retransmissions are not ECN-capable. Section 6.1.2: a loss after a mark
/// in one window of data causes no further reduction. DCTCP halves the window in this case (RFC
/// 8257 section 3.4): FlightSize is 9.
#[test]
fn loss_after_a_mark_causes_no_second_reduction() {
    for (congestion, want) in [(CongestionKind::Reno, 4.5), (CongestionKind::Dctcp, 4.5)] {
        let config = Config { congestion, limited_transmit: false, ..rfc(Ecn::Rfc3168) };
        let mut sender = sender(config);
        sent(&mut sender, at(0));
        sender.handle_ack(at(100), &ack(1, Marking::ECE));
        // Alpha was 1, and is 15/16 and 1/16 again by the first ACK: half of nine, in whole segments.
        let marked = if congestion == CongestionKind::Dctcp { 5.0 } else { 4.5 };
        assert_eq!(window(&sender), (marked, marked), "{congestion:?}");
        for _ in 0..3 {
            sender.handle_ack(at(101), &ack(1, 0));
        }
        assert!(sender.in_recovery());
        assert_eq!(window(&sender), (want, want), "{congestion:?}");
        assert_eq!(sent(&mut sender, at(101))[0], (1, NOT_ECT));
    }
}

/// RFC 3168 section 6.1.2: a mark after the loss in one window of data does not count. The first
/// new segment carries CWR for the loss too.
#[test]
fn mark_after_a_loss_causes_no_second_reduction() {
    let mut sender = sender(Config { limited_transmit: false, ..rfc(Ecn::Rfc3168) });
    sent(&mut sender, at(0));
    for _ in 0..3 {
        sender.handle_ack(at(100), &ack(0, 0));
    }
    assert_eq!(window(&sender), (5.0, 5.0));
    assert_eq!(sent(&mut sender, at(100)), [(0, NOT_ECT)]);
    sender.handle_ack(at(200), &ack(10, Marking::ECE));
    assert_eq!((window(&sender).1, sender.counts().ecn_reductions), (5.0, 0));
    let new = sent(&mut sender, at(200));
    assert_eq!(new[0], (10, Marking::new(Codepoint::Ect0, Marking::CWR)));
    assert!(new[1..].iter().all(|&(_, marking)| marking == ECT0));
}

/// Linux: a mark of a window of 10 sets ssthresh to 5 (Reno). RFC 9937 by hand, with two segments
/// delivered per ACK. With 8 in flight, 2 * 5/10 = 1 is sent. With 7 and 6 left in flight, one
/// each. At 5, which is ssthresh, none; at 3, two. The window equals ssthresh after more than these
/// ten are acknowledged.
#[test]
fn linux_spreads_the_reduction_over_a_round_trip() {
    let config = Config {
        mss: Bytes::new(1000),
        ecn: Ecn::Rfc3168,
        congestion: CongestionKind::Reno,
        timestamps: false,
        ..Profile::Linux6.config()
    };
    assert_eq!(config.rate_reduction, RateReduction::Prr);
    let mut sender = sender(config);
    assert_eq!(sent(&mut sender, at(0)).len(), 10);
    let mut counts = Vec::new();
    for acked in [2, 4, 6, 8, 10] {
        sender.handle_ack(at(100), &ack(acked, Marking::ECE));
        assert_eq!(sender.info().ssthresh, Some(5));
        counts.push(sent(&mut sender, at(100)).len());
        assert_eq!(sender.info().state, CongestionState::Cwr);
    }
    assert_eq!(counts, [1, 1, 1, 0, 2]);
    sender.handle_ack(at(200), &ack(11, 0));
    assert_eq!((sender.info().state, sender.info().cwnd), (CongestionState::Open, 5));
}

/// RFC 8511 section 3.1: 0.8 of the window for Reno, 0.85 for CUBIC; a loss takes what it takes.
#[test]
fn abe_takes_less_for_a_mark_than_for_a_loss() {
    for (congestion, marked) in [(CongestionKind::Reno, 8.0), (CongestionKind::Cubic, 8.5)] {
        let config = Config { congestion, abe: true, initial_window: 11, ..rfc(Ecn::Rfc3168) };
        let mut sender = sender(config);
        sent(&mut sender, at(0));
        sender.handle_ack(at(100), &ack(1, Marking::ECE));
        assert_eq!(window(&sender), (marked, marked), "{congestion:?}");
    }
}

/// Linux: DSACK shows that all retransmissions were spurious, but a mark had requested the
/// reduction too.
#[test]
fn reduction_requested_by_mark_is_not_undone() {
    for (flags, want) in [(0, 10.0), (Marking::ECE, 5.0)] {
        let config = Config {
            recovery: RecoveryKind::Sack,
            dsack_undo: true,
            halving: Halving::Whole,
            ..rfc(Ecn::Rfc3168)
        };
        let mut sender = sender(config);
        sent(&mut sender, at(0));
        let blocks = |ranges: &[(u32, u32)]| {
            let mut blocks = SackBlocks::new();
            ranges.iter().for_each(|&(from, to)| blocks.push((Seq::new(from), Seq::new(to))));
            Some(blocks)
        };
        sender.handle_ack(at(100), &Ack { sack: blocks(&[(1, 4)]), ..ack(0, flags) });
        assert!(sender.in_recovery());
        assert_eq!(sent(&mut sender, at(100))[0].0, 0);
        sender.handle_ack(at(101), &ack(10, 0));
        sender.handle_ack(at(102), &Ack { sack: blocks(&[(0, 1)]), ..ack(10, 0) });
        assert_eq!(window(&sender).1.min(10.0).to_bits(), f64::to_bits(want), "{flags}");
    }
}

/// RFC 3168 section 6.1.1 and RFC 9768 table 2: the flags of an exchange, and the flags of the
/// first data.
#[test]
fn syn_exchange_negotiates_ecn() {
    let all = [
        (Ecn::Rfc3168, ReceiverEcn::AsAsked, 0b011, 0b001, (Codepoint::Ect0, 0)),
        (Ecn::Rfc3168, ReceiverEcn::Off, 0b011, 0b000, (Codepoint::NotEct, 0)),
        (Ecn::Off, ReceiverEcn::Accurate, 0b000, 0b000, (Codepoint::NotEct, 0)),
        (Ecn::Accurate, ReceiverEcn::AsAsked, 0b111, 0b010, (Codepoint::Ect0, 0b010)),
        (Ecn::Accurate, ReceiverEcn::Rfc3168, 0b111, 0b001, (Codepoint::Ect0, 0)),
        (Ecn::Accurate, ReceiverEcn::Off, 0b111, 0b000, (Codepoint::NotEct, 0)),
    ];
    for (asked, receiver_ecn, syn, syn_ack, (codepoint, flags)) in all {
        let config = Config { handshake: true, receiver_ecn, ..rfc(asked) };
        let mut receiver = Receiver::new(&config, Duration::ZERO);
        let mut sender = sender(config);
        let asks = Marking::new(Codepoint::NotEct, syn);
        assert_eq!(sent(&mut sender, at(0)), [(0, asks)], "{asked:?}");
        let answer = receiver.handle_segment(at(50), Seq::ZERO, 0, 64, asks).ack.unwrap();
        assert_eq!(answer.marking, Marking::new(Codepoint::NotEct, syn_ack), "{receiver_ecn:?}");
        sender.handle_ack(at(100), &answer);
        let data = sent(&mut sender, at(100));
        assert_eq!(data[0], (1, Marking::new(codepoint, flags)), "{asked:?} {receiver_ecn:?}");
    }
}

/// RFC 9768 section 3.2.2: counting begins at 5, also in what a sender of data says; each segment's mark is in its ACK.
#[test]
fn an_accurate_receiver_counts_marks() {
    let config = rfc(Ecn::Accurate);
    let mut receiver = Receiver::new(&config, Duration::ZERO);
    let mut sender = sender(config);
    let first = sent(&mut sender, at(0));
    assert!(first.iter().all(|&(_, marking)| marking == Marking::new(Codepoint::Ect0, 5)));
    let mut seen = Vec::new();
    for (seq, marking) in (0..).zip([ECT0, CE, CE, ECT0, CE, CE]) {
        let ack = receiver.handle_segment(at(50), Seq::new(seq), 0, 64, marking).ack.unwrap();
        let counters = ack.counters.and_then(EcnCounters::bytes).unwrap();
        seen.push((ack.marking.flags(), counters.ect0, counters.ce));
        sender.handle_ack(at(100), &ack);
    }
    let want = [
        (5, 1001, 0),
        (6, 1001, 1000),
        (7, 1001, 2000),
        (7, 2001, 2000),
        (0, 2001, 3000),
        (1, 2001, 4000),
    ];
    assert_eq!(seen, want);
    assert_eq!((sender.counts().delivered_ce, sender.counts().ecn_reductions), (4, 1));
}

/// RFC 9768 section 3.2.2.5.1: a mark behind none, and each second mark, are acknowledged at once; nothing else is.
#[test]
fn accurate_receiver_reports_marks_immediately() {
    let config = Config { ack: AckKind::Delayed, ..rfc(Ecn::Accurate) };
    let mut receiver = Receiver::new(&config, Duration::ZERO);
    let came = [ECT0, CE, CE, ECT0, ECT0, CE, CE, CE];
    let acks = (0..).zip(came).filter_map(|(seq, marking)| {
        receiver.handle_segment(at(0), Seq::new(seq), 0, 64, marking).ack
    });
    let acks: Vec<_> = acks.map(|ack| (ack.seq.number(), ack.marking.flags())).collect();
    // 1 completes a pair; 2 waits for 3; 5 follows 4 and forms a pair with it; 6 waits for 7.
    assert_eq!(acks, [(2, 6), (4, 7), (6, 0), (8, 2)]);
}

/// RFC 9768 section 3.2.3: 11 bytes for three counters, aligned to 12.
#[test]
fn the_accecn_option_adds_to_the_size_of_an_ack() {
    for (accecn_option, want) in [(true, 52), (false, 40)] {
        let config = Config { accecn_option, ..rfc(Ecn::Accurate) };
        let mut receiver = Receiver::new(&config, Duration::ZERO);
        let ack = receiver.handle_segment(at(0), Seq::ZERO, 0, 64, CE).ack.unwrap();
        assert_eq!(config.ack_wire_size(&ack), Bytes::new(want));
    }
}

/// RFC 8311 section 4.3, as Linux with DCTCP.
#[test]
fn all_packets_may_be_ecn_capable() {
    let config = Config { ect_packets: EctPackets::All, handshake: true, ..rfc(Ecn::Rfc3168) };
    let mut receiver = Receiver::new(&config, Duration::ZERO);
    let mut sender = sender(config);
    let syn = sent(&mut sender, at(0))[0].1;
    assert_eq!(syn, Marking::new(Codepoint::Ect0, Marking::CWR | Marking::ECE));
    let answer = receiver.handle_segment(at(50), Seq::ZERO, 0, 64, syn).ack.unwrap();
    assert_eq!(answer.marking, Marking::new(Codepoint::Ect0, Marking::ECE));
    sender.handle_ack(at(100), &answer);
    sent(&mut sender, at(100));
    let expiry = sender.deadline().unwrap();
    sender.handle_timer(expiry);
    assert_eq!(sent(&mut sender, expiry)[0], (1, ECT0));
}
