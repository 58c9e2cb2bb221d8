//! Receiver's reaction to out-of-order segments after path changes, computed by hand.

use std::collections::VecDeque;
use std::sync::Arc;

use optcp_tcp::config::{DuplicateAckKind, RecoveryKind};
use optcp_tcp::profile::Profile;
use optcp_tcp::{Ack, Config, Receiver, Sender, Seq};
use optcp_units::{Duration, Marking, Time};

/// Remaining time to live over the longer path, and over the shorter path.
const LONG: u8 = 60;
const SHORT: u8 = 61;

fn ms(m: u64) -> Time {
    Time::from_ps(m * 1_000_000_000)
}

fn config(duplicate_acks: DuplicateAckKind) -> Config {
    Config { duplicate_acks, handshake: true, ..Profile::Rfc.config() }
}

/// A receiver that answers a SYN at 0 ms. Data arrive on the longer path from 30 ms on, segments 1
/// to 9. The measured RTT is 30 ms.
fn receiver(config: &Config) -> Receiver {
    let mut receiver = Receiver::new(config, Duration::ZERO);
    assert_eq!(arrive(&mut receiver, 0, 0, LONG), Some(1));
    for seq in 1..10 {
        assert_eq!(arrive(&mut receiver, 30, seq, LONG), Some(seq + 1));
    }
    receiver
}

fn arrive(receiver: &mut Receiver, at_ms: u64, seq: u32, ttl: u8) -> Option<u32> {
    receive(receiver, at_ms, seq, 0, ttl).map(|ack| ack.seq.number())
}

/// The whole ACK that a segment with a timestamp brings.
fn receive(receiver: &mut Receiver, at_ms: u64, seq: u32, stamp: u32, ttl: u8) -> Option<Ack> {
    receiver.handle_segment(ms(at_ms), Seq::new(seq), stamp, ttl, Marking::NONE).ack
}

/// Returns the ranges that an ACK reports above the gap.
fn blocks(ack: &Ack) -> Vec<(u32, u32)> {
    let blocks = ack.sack.iter().flat_map(|sack| sack.as_slice());
    blocks.map(|(start, end)| (start.number(), end.number())).collect()
}

/// The ACKs that a timer sends.
fn expire(receiver: &mut Receiver, at_ms: u64) -> Vec<u32> {
    let mut acks = Vec::new();
    while receiver.deadline().is_some_and(|due| due <= ms(at_ms)) {
        acks.push(receiver.handle_timer(ms(at_ms)).seq.number());
    }
    acks
}

/// The ACKs of segments 10, 11, ... of the paper's Fig. 6, whose packet 0 is segment 10; "old" packets are
/// on the longer path.
fn figure6(kind: DuplicateAckKind, arrivals: &[(u32, u8)]) -> Vec<Option<u32>> {
    let mut receiver = receiver(&config(kind));
    arrivals.iter().map(|&(packet, ttl)| arrive(&mut receiver, 40, 10 + packet, ttl)).collect()
}

const SUPPRESSING: [DuplicateAckKind; 2] = [DuplicateAckKind::Das, DuplicateAckKind::DasBounded];

/// The paper's pseudocode, line by line, with its flag. The two missing branches follow its text: a
/// duplicate ACK as usual.
#[derive(Clone, Copy)]
struct Pseudocode {
    suppress: bool,
    last_in_order_ttl: u8,
}

impl Pseudocode {
    /// Whether an ACK is sent for the packet.
    fn packet(&mut self, out_of_order: bool, current_ttl: u8) -> bool {
        let mut ack = true;
        if out_of_order {
            if current_ttl > self.last_in_order_ttl && !self.suppress {
                ack = false;
                self.suppress = true;
            } else if current_ttl > self.last_in_order_ttl && self.suppress {
                ack = false;
            } else if current_ttl == self.last_in_order_ttl && self.suppress {
                self.suppress = false;
            }
        } else {
            self.suppress = false;
            self.last_in_order_ttl = current_ttl;
        }
        ack
    }
}

/// Tests every sequence of six packets, each in order or above the gap, with one of three times to
/// live.
#[test]
fn das_matches_the_pseudocode_of_the_paper() {
    const LENGTH: u32 = 6;
    for number in 0..6_u32.pow(LENGTH) {
        let mut receiver = receiver(&config(DuplicateAckKind::Das));
        let mut paper = Pseudocode { suppress: false, last_in_order_ttl: LONG };
        // A gap that no packet of the sequence fills.
        arrive(&mut receiver, 40, 100, LONG - 1);
        for place in 0..LENGTH {
            let digit = number / 6_u32.pow(place) % 6;
            let ttl = [LONG - 1, LONG, SHORT][digit as usize % 3];
            let out_of_order = digit < 3;
            let seq = if out_of_order { 101 + place } else { receiver.next().number() };
            let ack = arrive(&mut receiver, 40, seq, ttl);
            assert_eq!(ack.is_some(), paper.packet(out_of_order, ttl), "sequence {number}");
        }
    }
}

/// Fig. 6(a): packets 5 to 7 overtake 2 to 4.
#[test]
fn overtaking_alone_triggers_no_duplicate_ack() {
    let arrivals = [
        (0, LONG),
        (1, LONG),
        (5, SHORT),
        (6, SHORT),
        (7, SHORT),
        (2, LONG),
        (3, LONG),
        (4, LONG),
        (8, SHORT),
    ];
    let in_order = [Some(11), Some(12), None, None, None, Some(13), Some(14), Some(18), Some(19)];
    for kind in SUPPRESSING {
        assert_eq!(figure6(kind, &arrivals), in_order);
    }
    let plain = figure6(DuplicateAckKind::Every, &arrivals);
    assert_eq!(plain[2..5], [Some(12); 3], "a false fast retransmit");
}

/// Fig. 6(b): packet 1 is lost on the longer path. The three packets after it on that path each
/// trigger a duplicate ACK. Packets on the shorter path trigger none.
#[test]
fn loss_on_longer_path_is_reported() {
    let arrivals = [
        (0, LONG),
        (5, SHORT),
        (6, SHORT),
        (7, SHORT),
        (2, LONG),
        (3, LONG),
        (4, LONG),
        (8, SHORT),
        (1, SHORT),
    ];
    let expected = [Some(11), None, None, None, Some(11), Some(11), Some(11), None, Some(19)];
    for kind in SUPPRESSING {
        assert_eq!(figure6(kind, &arrivals), expected);
    }
}

/// Fig. 6(c): packet 5, the first on the shorter path, is lost. The paper expects duplicate ACKs
/// after packet 4 has arrived; its rule sends no ACK. The bounded receiver sends three one RTT
/// after packet 4, and then one per segment.
#[test]
fn loss_on_shorter_path_is_reported_by_bounded_das_only() {
    for kind in SUPPRESSING {
        let mut receiver = receiver(&config(kind));
        for (packet, ttl, ack) in [
            (0, LONG, Some(11)),
            (6, SHORT, None),
            (7, SHORT, None),
            (1, LONG, Some(12)),
            (2, LONG, Some(13)),
            (3, LONG, Some(14)),
            (4, LONG, Some(15)),
        ] {
            assert_eq!(arrive(&mut receiver, 40, 10 + packet, ttl), ack);
        }
        for packet in 8..20 {
            assert_eq!(arrive(&mut receiver, 42 + u64::from(packet) - 8, 10 + packet, SHORT), None);
        }
        if kind == DuplicateAckKind::Das {
            assert_eq!(receiver.deadline(), None);
            assert_eq!(arrive(&mut receiver, 5_000, 31, SHORT), None);
            continue;
        }
        assert_eq!(receiver.deadline(), Some(ms(70)));
        assert!(expire(&mut receiver, 69).is_empty());
        assert_eq!(expire(&mut receiver, 70), [15; 3]);
        assert_eq!(receiver.deadline(), None);
        assert_eq!(arrive(&mut receiver, 73, 31, SHORT), Some(15));
        // The retransmission comes the shorter way: all is as it was before the switches.
        assert_eq!(arrive(&mut receiver, 90, 15, SHORT), Some(30));
        assert_eq!(arrive(&mut receiver, 91, 33, SHORT), Some(30));
    }
}

/// One duplicate ACK per out-of-order segment. A gap below a single segment is no loss for a plain
/// receiver's sender either.
#[test]
fn released_duplicate_acks_do_not_exceed_withheld_ones() {
    for held in 1..=5 {
        let mut receiver = receiver(&config(DuplicateAckKind::DasBounded));
        for packet in 0..held {
            assert_eq!(arrive(&mut receiver, 40, 11 + packet, SHORT), None);
        }
        assert_eq!(expire(&mut receiver, 70).len(), held.min(3) as usize);
    }
}

/// With SACK they report what has come.
#[test]
fn released_acks_carry_sack_ranges() {
    let config = Config { recovery: RecoveryKind::Sack, ..config(DuplicateAckKind::DasBounded) };
    let mut receiver = receiver(&config);
    for seq in [13, 14, 15] {
        assert_eq!(arrive(&mut receiver, 40, seq, SHORT), None);
    }
    // Those of segments in order are silent about it until the time is over, which begins anew.
    let in_order = receive(&mut receiver, 45, 10, 0, LONG).expect("an ACK");
    assert_eq!(in_order, Ack::cumulative(Seq::new(11)));
    assert_eq!(receiver.deadline(), Some(ms(75)));
    assert_eq!(blocks(&receiver.handle_timer(ms(75))), [(13, 16)]);
    // A duplicate ACK for a segment of the longer path tells everything at once.
    let mut receiver = self::receiver(&config);
    assert_eq!(arrive(&mut receiver, 40, 15, SHORT), None);
    let usual = receive(&mut receiver, 41, 12, 0, LONG).expect("an ACK");
    assert_eq!(blocks(&usual), [(12, 13), (15, 16)]);
}

/// The paper's receiver still reports by SACK the segments whose duplicate ACKs it suppresses. This
/// triggers the recovery that it should prevent: RFC 6675 considers three segments in a block lost.
/// Overtaking as in Fig. 6(a), with one more segment.
#[test]
fn sack_undoes_the_papers_rule() {
    for (kind, reported) in [(DuplicateAckKind::Das, true), (DuplicateAckKind::DasBounded, false)] {
        let mut receiver = receiver(&Config { recovery: RecoveryKind::Sack, ..config(kind) });
        for seq in [15, 16, 17] {
            assert_eq!(arrive(&mut receiver, 40, seq, SHORT), None);
        }
        let ack = receive(&mut receiver, 41, 10, 0, LONG).expect("it is in order");
        assert_eq!(blocks(&ack) == [(15, 18)], reported);
    }
}

/// Segment 9 was sent at 5 ms and arrived at 30 ms. Segment 11 was sent at 20 ms and arrived at 40
/// ms. 25 ms against 20 ms: the path of segment 9 was 5 ms longer. Twice that plus a tick of 1 ms
/// is 11 ms.
#[test]
fn timestamps_measure_the_path_delay_difference() {
    let config = Config { timestamps: true, ..config(DuplicateAckKind::DasBounded) };
    let mut receiver = Receiver::new(&config, Duration::ZERO);
    for seq in 0..10 {
        receive(&mut receiver, 30, seq, 5, LONG);
    }
    assert_eq!(receive(&mut receiver, 40, 11, 20, SHORT), None);
    assert_eq!(receiver.deadline(), Some(ms(51)));
    // One that was sent before the last in order, which then was a retransmission: a tick.
    receive(&mut receiver, 45, 10, 40, LONG);
    assert_eq!(receive(&mut receiver, 46, 13, 39, SHORT), None);
    assert_eq!(receiver.deadline(), Some(ms(47)));
}

/// Slow start from one segment with an RTT of 30 ms and no SYN: segments 0 | 1, 2 | 3 to 6 | 7 to
/// 14. After the ACK for segment 0, a sender may send up to segment 11, ten more than twice one
/// less one. Segment 12 therefore gives the measurement: three RTTs. Until then nothing is
/// suppressed.
#[test]
fn without_timestamps_a_window_measures_the_round_trip() {
    let config = Config { handshake: false, ..config(DuplicateAckKind::DasBounded) };
    let mut receiver = Receiver::new(&config, Duration::ZERO);
    for (round, segments) in [(0, 0..1), (1, 1..3), (2, 3..7), (3, 7..12)] {
        for seq in segments {
            assert_eq!(arrive(&mut receiver, 30 * round, seq, LONG), Some(seq + 1));
        }
    }
    assert_eq!(arrive(&mut receiver.clone(), 90, 13, SHORT), Some(12));
    for seq in 12..15 {
        assert_eq!(arrive(&mut receiver, 90, seq, LONG), Some(seq + 1));
    }
    assert_eq!(arrive(&mut receiver, 100, 16, SHORT), None);
    assert_eq!(receiver.deadline(), Some(ms(100 + 90)));
}

/// Runs a transfer of `segments` whose segment 40, the first on the shorter path, is lost once.
/// Returns the numbers of RTOs and fast retransmits. The RTT is 100 ms and the window ten segments.
fn lose_the_first_on_the_shorter_path(config: Config, segments: u32) -> (u64, u64) {
    const FIRST_ON_SHORTER: Seq = Seq::new(40);
    let config = Config { window_limit: 10, initial_window: 10, ..config };
    let config = Arc::new(config);
    let mut sender = Sender::new(Arc::clone(&config), Some(segments), Duration::ZERO);
    let mut receiver = Receiver::new(&config, Duration::ZERO);
    let (mut now, mut underway, mut lost) = (Time::ZERO, VecDeque::new(), false);
    let mut recoveries = 0;
    sender.start();
    while !sender.finished() {
        while let Some(sent) = sender.poll_transmit(now) {
            if sent.seq == FIRST_ON_SHORTER && !lost {
                lost = true;
                continue;
            }
            underway.push_back((now + Duration::from_ms(50), sent.seq, sent.stamp, None));
        }
        let arrival = underway.front().map(|&(at, ..)| at);
        let due = [sender.deadline(), receiver.deadline(), arrival].into_iter().flatten().min();
        now = due.expect("a timer runs");
        let answers = now + Duration::from_ms(50);
        if sender.deadline() == Some(now) {
            sender.handle_timer(now);
        } else if receiver.deadline() == Some(now) {
            underway.push_back((answers, Seq::ZERO, 0, Some(receiver.handle_timer(now))));
        } else if let Some((_, seq, stamp, ack)) = underway.pop_front() {
            let ttl = if seq < FIRST_ON_SHORTER { LONG } else { SHORT };
            let recovering = sender.in_recovery();
            match ack {
                Some(ack) => sender.handle_ack(now, &ack),
                None => underway.extend(
                    receiver
                        .handle_segment(now, seq, stamp, ttl, Marking::NONE)
                        .ack
                        .map(|ack| (answers, Seq::ZERO, 0, Some(ack))),
                ),
            }
            recoveries += u64::from(sender.in_recovery() && !recovering);
        }
    }
    (sender.counts().timeouts, recoveries)
}

/// The defect of the rule and its repair, for all methods of measurement and every sender. The loss
/// may be far from the transfer's end, or have exactly the three later segments that a fast
/// retransmit needs. With two later segments, plain receivers also wait for the RTO.
#[test]
fn das_suppresses_until_a_timeout_and_the_bounded_receiver_does_not() {
    use DuplicateAckKind::{Das, DasBounded, Every};
    for recovery in [RecoveryKind::Reno, RecoveryKind::NewReno, RecoveryKind::Sack] {
        for (timestamps, handshake) in [(false, false), (false, true), (true, false)] {
            let run = |kind, segments| {
                let base = Config { timestamps, handshake, recovery, ..config(kind) };
                let data = segments - u32::from(handshake);
                lose_the_first_on_the_shorter_path(base, data)
            };
            for segments in [44, 200] {
                assert_eq!(run(Every, segments), (0, 1), "{recovery:?}");
                assert_eq!(run(Das, segments), (1, 0), "{recovery:?}");
                assert_eq!(run(DasBounded, segments), (0, 1), "{recovery:?}");
            }
        }
    }
    let two_behind = |kind| lose_the_first_on_the_shorter_path(config(kind), 42);
    assert_eq!(two_behind(Every), (1, 0));
    assert_eq!(two_behind(DasBounded), (1, 0));
}
