//! Single packets compared with hand calculation: transmission, propagation, queues, failures, ties.

use crate::common::{ENGINES, Log, WorldBuilder, ms};
use optcp_engine::observe::Record;
use optcp_engine::{Blueprint, Simulation};
use optcp_net::{Action, Control, DropReason, FlowId, Hop, INITIAL_TTL, QueueLimit};
use optcp_tcp::{Config, Profile};
use optcp_units::{Bytes, Duration, Marking, Time};

const PLENTY: QueueLimit = QueueLimit::Unlimited;

/// Returns a configuration with 1000-byte segments, 100-byte ACKs and this window.
fn config(window: u32) -> Config {
    Config {
        mss: Bytes::new(1000),
        header: Bytes::ZERO,
        ack_size: Bytes::new(100),
        initial_window: window,
        ..Profile::Rfc.config()
    }
}

fn run(blueprint: &Blueprint) -> Vec<(Time, Record)> {
    let [plain, fast, stepped] = ENGINES.map(|engine| {
        let mut simulation = Simulation::new(blueprint, engine, Log::default());
        simulation.run();
        simulation.audit().expect("packets are conserved");
        simulation.observer().clone().in_order()
    });
    assert_eq!(plain, fast, "the engines do not agree");
    assert_eq!(plain, stepped, "stepped ports do not agree");
    plain
}

fn drops(log: &[(Time, Record)]) -> Vec<(Time, u32, DropReason)> {
    let drop = |&(at, record): &(Time, Record)| match record {
        Record::Dropped { packet, reason, .. } => Some((at, packet.seq, reason)),
        _ => None,
    };
    log.iter().filter_map(drop).collect()
}

#[test]
fn segment_takes_transmission_and_propagation_on_every_link() {
    let mut world = WorldBuilder::default();
    // At 8 Mb/s a byte takes 1 us, at 1 Mb/s 8 us.
    let near = world.port(8, Duration::from_ms(3), PLENTY);
    let far = world.port(1, Duration::from_ms(5), PLENTY);
    let back = world.port(8, Duration::from_ms(7), PLENTY);
    world.flow(&config(1), Some(1), ms(10), 0, (&[near, far], &[back]));
    let log = run(&world.build(ms(1000)));
    let at = |wanted: Record| log.iter().find(|(_, r)| *r == wanted).map(|(at, _)| at.as_ps());
    // 10 ms + 1 ms + 3 ms + 8 ms + 5 ms = 27 ms; the ACK takes another 0.1 ms + 7 ms.
    assert_eq!(at(Record::Progress { flow: FlowId::new(0), bytes: 1000 }), Some(27_000_000_000));
    assert_eq!(
        at(Record::Acknowledged {
            flow: FlowId::new(0),
            seq: 1,
            size: 100,
            sack: None,
            marking: Marking::NONE
        }),
        Some(34_100_000_000)
    );
}

#[test]
fn later_writes_are_sent_at_their_time() {
    let mut world = WorldBuilder::default();
    let out = world.port(8, Duration::from_ms(3), PLENTY);
    let back = world.port(8, Duration::from_ms(7), PLENTY);
    world.flow(&config(4), Some(5), ms(10), 0, (&[out], &[back]));
    world.flows[0].writes = vec![(ms(50), 2), (ms(51), 1)];
    let blueprint = world.build(ms(1000));
    let log = run(&blueprint);
    let arrived = log.iter().filter(|(_, record)| matches!(record, Record::Progress { .. }));
    let instants: Vec<u64> = arrived.map(|(at, _)| at.as_ps() / 1_000_000_000).collect();
    // Two segments from 10 ms, two from 50 ms and one after them: each takes 1 ms, plus 3 ms propagation.
    assert_eq!(instants, [14, 15, 54, 55, 56]);
    let ended = |until| {
        let mut simulation = Simulation::new(&blueprint, ENGINES[0], ());
        simulation.run_before(until);
        simulation.senders().all(|sender| sender.finished())
    };
    // The last ACK arrives 0.1 and 7 ms later. In the pause all written data are acknowledged, but not all data are
    // written.
    assert_eq!([ms(40), ms(63), ms(64)].map(ended), [false, false, true]);
}

#[test]
fn packet_in_transmission_counts_towards_limit() {
    let mut world = WorldBuilder::default();
    let out = world.port(8, Duration::from_ms(1), QueueLimit::Packets(4));
    let back = world.port(8, Duration::from_ms(1), PLENTY);
    world.flow(&config(7), Some(7), Time::ZERO, 0, (&[out], &[back]));
    let log = run(&world.build(Time::from_ps(1)));
    let expected: Vec<_> = (4..7).map(|seq| (Time::ZERO, seq, DropReason::QueueFull)).collect();
    assert_eq!(drops(&log), expected);
}

#[test]
fn queue_in_bytes_holds_whole_packets_only() {
    let mut world = WorldBuilder::default();
    let out = world.port(8, Duration::from_ms(1), QueueLimit::Bytes(2999));
    let back = world.port(8, Duration::from_ms(1), PLENTY);
    world.flow(&config(3), Some(3), Time::ZERO, 0, (&[out], &[back]));
    let log = run(&world.build(Time::from_ps(1)));
    assert_eq!(drops(&log), [(Time::ZERO, 2, DropReason::QueueFull)]);
}

/// A packet that arrives at the end of a transmission finds the place free.
#[test]
fn place_is_free_when_transmission_ends() {
    let mut world = WorldBuilder::default();
    // The first link delivers a segment per millisecond from 1 ms; the second one takes exactly 1 ms.
    let first = world.port(8, Duration::ZERO, PLENTY);
    let second = world.port(8, Duration::from_ms(1), QueueLimit::Packets(1));
    let back = world.port(8, Duration::from_ms(1), PLENTY);
    world.flow(&config(5), Some(5), Time::ZERO, 0, (&[first, second], &[back]));
    assert_eq!(drops(&run(&world.build(ms(100)))), []);
}

/// An RTO that is due when its ACK arrives fires, because timers precede arrivals.
#[test]
fn timer_due_with_its_ack_fires_first() {
    let timeouts = |rto: Duration, engine| {
        let mut world = WorldBuilder::default();
        let first = world.port(8, Duration::ZERO, PLENTY);
        let out = world.port(8, Duration::from_ms(48), PLENTY);
        let back = world.port(8, Duration::from_us(49_900), PLENTY);
        let config = Config { initial_rto: rto, min_rto: rto, ..config(1) };
        world.flow(&config, Some(1), Time::ZERO, 0, (&[first, out], &[back]));
        // A later flow makes segments wait for their event, but not ACKs.
        let [late, home] = [(); 2].map(|()| world.port(8, Duration::from_ms(1), PLENTY));
        world.flow(&config, Some(1), ms(2000), 1, (&[late, out], &[home]));
        let mut simulation = Simulation::new(&world.build(ms(1000)), engine, ());
        simulation.run();
        simulation.senders().map(|sender| sender.counts().timeouts).sum::<u64>()
    };
    for engine in ENGINES {
        // Forward: 1 + 1 + 48 ms; back: 0.1 + 49.9 ms. The sum is exactly 100 ms.
        assert_eq!(timeouts(Duration::from_ms(100), engine), 1, "{engine:?}");
        assert_eq!(
            timeouts(Duration::from_ms(100) + Duration::from_ps(1), engine),
            0,
            "{engine:?}"
        );
    }
}

#[test]
fn failure_drops_packets_until_switchover() {
    let mut world = WorldBuilder::default();
    let enter = world.port(8, Duration::ZERO, PLENTY);
    let working = world.port(4, Duration::from_ms(10), PLENTY);
    let detour = world.port(8, Duration::from_ms(10), PLENTY);
    let back = world.port(8, Duration::from_ms(10), PLENTY);
    world.flow(&config(10), None, Time::ZERO, 0, (&[enter, working], &[back]));
    let switched = world.paths.entry(0, &[working]);
    let hop = {
        let onto = world.paths.entry(0, &[]);
        world.paths.detour(&[detour], onto)
    };
    assert!(matches!(hop, Hop::Forward { port, .. } if port == detour));
    // Segment n reaches the working port at n + 1 ms, which needs 2 ms for each. At 6.5 ms segments
    // 0 and 1 are in flight, 2 is in transmission, and 3 to 5 are queued. Segments 6 and 7 reach
    // the failed link. After the switchover at 8.5 ms, 8 and 9 take the backup.
    let fail_at = Time::from_ps(6_500_000_000);
    let switch_at = Time::from_ps(8_500_000_000);
    world.controls = vec![
        Control { at: fail_at, action: Action::PortDown(working) },
        Control { at: switch_at, action: Action::SetHop(switched, hop) },
    ];
    let log = run(&world.build(ms(40)));
    let expected = [
        (fail_at, 0, DropReason::LostInFlight),
        (fail_at, 1, DropReason::LostInFlight),
        (fail_at, 2, DropReason::QueueFlushed),
        (fail_at, 3, DropReason::QueueFlushed),
        (fail_at, 4, DropReason::QueueFlushed),
        (fail_at, 5, DropReason::QueueFlushed),
        (ms(7), 6, DropReason::LinkDown),
        (ms(8), 7, DropReason::LinkDown),
    ];
    assert_eq!(drops(&log), expected);
    let acks = log.iter().filter(|(_, r)| matches!(r, Record::Acknowledged { .. })).count();
    assert_eq!(acks, 2, "segments 8 and 9 arrived over the detour");
}

/// A link that is repaired at the time of its failure loses only the packets in the port and on the link.
#[test]
fn failure_without_duration_drops_packets_on_link() {
    let mut world = WorldBuilder::default();
    let enter = world.port(8, Duration::ZERO, PLENTY);
    let working = world.port(4, Duration::from_ms(10), PLENTY);
    let back = world.port(8, Duration::from_ms(10), PLENTY);
    world.flow(&config(10), None, Time::ZERO, 0, (&[enter, working], &[back]));
    // As above: segments 0 to 5 are in the port or on the link at 6.5 ms; 6 to 9 arrive later.
    let at = Time::from_ps(6_500_000_000);
    world.controls = vec![
        Control { at, action: Action::PortDown(working) },
        Control { at, action: Action::PortUp(working) },
    ];
    let log = run(&world.build(ms(40)));
    assert_eq!(drops(&log).iter().map(|drop| drop.1).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
    let acked = |wanted: &(Time, Record)| matches!(wanted.1, Record::Acknowledged { .. });
    // Segment 6 arrives at 7 ms and needs 2 ms and 10 ms; its ACK needs 0.1 ms and 10 ms.
    let first = log.iter().find(|record| acked(record)).map(|(at, _)| at.as_ps());
    assert_eq!(first, Some(29_100_000_000));
}

/// After a failure and repair within one transmission, the next packet is sent in full: the end of the aborted
/// transmission is ignored.
#[test]
fn aborted_transmission_does_not_end_the_next_one() {
    let mut world = WorldBuilder::default();
    let enter = world.port(8, Duration::ZERO, PLENTY);
    let slow = world.port(1, Duration::from_ms(10), PLENTY);
    let back = world.port(8, Duration::from_ms(1), PLENTY);
    world.flow(&config(2), Some(2), Time::ZERO, 0, (&[enter, slow], &[back]));
    // Segment 0 would be sent from 1 to 9 ms. Segment 1 arrives at 2 ms and needs 8 ms, plus 10 ms.
    let at = Time::from_ps(1_500_000_000);
    world.controls = vec![
        Control { at, action: Action::PortDown(slow) },
        Control { at, action: Action::PortUp(slow) },
    ];
    let log = run(&world.build(ms(40)));
    assert_eq!(drops(&log), [(at, 0, DropReason::QueueFlushed)]);
    let arrivals = log.iter().filter_map(|&(at, record)| match record {
        Record::Arrived { seq, .. } => Some((at, seq)),
        _ => None,
    });
    assert_eq!(arrivals.collect::<Vec<_>>(), [(ms(20), 1)]);
}

/// After a delay reduction, later packets overtake; packets that arrive at the same time keep their order of
/// transmission.
#[test]
fn packets_overtake_after_delay_reduction() {
    let mut world = WorldBuilder::default();
    let out = world.port(8, Duration::from_ms(20), PLENTY);
    let back = world.port(8, Duration::from_ms(1), PLENTY);
    world.flow(&config(4), Some(4), Time::ZERO, 0, (&[out], &[back]));
    // Transmissions start at 0, 1, 2, 3 ms and take 1 ms; the delay at the start applies. From 1.5 ms it is 19 ms:
    // arrivals at 21, 22, 22, 23 ms. A second change at 2.5 ms to 1 ms lets segment 3 arrive at 5 ms, before all
    // others.
    let change =
        |at, delay| Control { at: Time::from_ps(at), action: Action::SetDelay(out, delay) };
    world.controls = vec![
        change(1_500_000_000, Duration::from_ms(19)),
        change(2_500_000_000, Duration::from_ms(1)),
    ];
    let log = run(&world.build(ms(100)));
    let progress: Vec<_> = log
        .iter()
        .filter_map(|(at, r)| match r {
            Record::Progress { bytes, .. } => Some((at.as_ps() / 1_000_000_000, *bytes)),
            _ => None,
        })
        .collect();
    assert_eq!(progress, [(21, 1000), (22, 1000), (22, 2000)]);
}

/// Hosts do not decrement the time to live; each router between them does.
#[test]
fn every_router_decrements_ttl() {
    let mut world = WorldBuilder::default();
    let links = [(); 3].map(|()| world.port(8, Duration::from_ms(1), PLENTY));
    let back = world.port(8, Duration::from_ms(1), PLENTY);
    world.flow(&config(1), Some(1), Time::ZERO, 0, (&links, &[back]));
    let log = run(&world.build(ms(40)));
    let entered = log.iter().filter_map(|(_, record)| match record {
        Record::Accepted { packet, .. } if !packet.is_ack() => Some(packet.ttl()),
        _ => None,
    });
    assert_eq!(entered.collect::<Vec<_>>(), [INITIAL_TTL, INITIAL_TTL - 1, INITIAL_TTL - 2]);
}

/// Packets in a loop of two routers are dropped when the time to live expires.
#[test]
fn looping_packet_is_dropped() {
    let mut world = WorldBuilder::default();
    let [out, there, back] = [(); 3].map(|()| world.port(8, Duration::from_ms(1), PLENTY));
    let acks = world.port(8, Duration::from_ms(1), PLENTY);
    world.flow(&config(1), Some(1), Time::ZERO, 0, (&[out, there, back], &[acks]));
    let at_first = world.paths.entry(0, &[there, back]);
    let at_last = world.paths.entry(0, &[back]);
    let Hop::Forward { port, .. } = world.paths.hop(at_last) else {
        panic!("the hop leads through a port")
    };
    let loops = Action::SetHop(at_last, Hop::Forward { port, next: at_first });
    world.controls = vec![Control { at: Time::ZERO, action: loops }];
    let log = run(&world.build(ms(900)));
    // Before the first retransmission after 1 s: the first router forwards the packet with 63 left, each further one
    // decrements, and the 64th discards it.
    assert_eq!(drops(&log).iter().map(|drop| drop.2).collect::<Vec<_>>(), [DropReason::TtlExpired]);
    let hops = log.iter().filter(|(_, record)| matches!(record, Record::Accepted { .. })).count();
    assert_eq!(hops, usize::from(INITIAL_TTL));
}
