//! Queues with several paths, and scheduled links, compared with hand calculation for every engine.

use crate::common::{ENGINES, Log, WorldBuilder};
use optcp_des::Streams;
use optcp_engine::observe::Record;
use optcp_engine::{Blueprint, DatagramSpec, Engine, QueueSpec, Simulation};
use optcp_net::schedule::{Change, Schedule, Step};
use optcp_net::{DropReason, Hop, PathId, PortId, QueueLimit};
use optcp_tcp::config::{AckKind, Ecn, PathState, RecoveryKind};
use optcp_tcp::{Config, Profile};
use optcp_traffic::{Constant, PacketRate, PacketSize, Process};
use optcp_units::{Bytes, Codepoint, Duration, Marking, Rate, Time};

/// Transmission times: 0.9 us at 80 Gb/s, 7.2 us at 10 Gb/s.
const SIZE: u16 = 9000;
const STOP: Duration = Duration::from_ms(5);

fn us(us: u64) -> Duration {
    Duration::from_us(us)
}

fn at(tenths_us: u64) -> Time {
    Time::from_ps(tenths_us * 100_000)
}

/// Adds a source of `count` packets, one per microsecond, that start with the label of a path.
fn source(world: &mut WorldBuilder, data: optcp_net::Label, count: u64) {
    let rate = PacketRate::new(1, 1_000_000).expect("a rate above zero");
    world.datagrams.push(DatagramSpec {
        process: Process::Constant(Constant::new(rate)),
        sizes: PacketSize::Fixed(SIZE),
        stream: Streams::new(1).stream("sizes"),
        start: Time::ZERO,
        until: Time::ZERO + us(count),
        bytes: None,
        data,
        codepoint: Codepoint::NotEct,
    });
}

/// Adds a queue of 1000 packets with the paths `ways`, and a source of packets into it.
fn queue(
    world: &mut WorldBuilder,
    path: PathId,
    ways: &[PortId],
    served: Option<u8>,
    count: u64,
) -> PortId {
    let port = world.port(10_000, Duration::ZERO, QueueLimit::Packets(1000));
    world.ports[port.index()].0.held = true;
    let end = world.paths.entry(path, &[]);
    let each: Vec<Vec<PortId>> = ways.iter().map(|&way| vec![way]).collect();
    let behind = world.paths.ways(&each, end);
    let next = world.paths.add(behind);
    let data = world.paths.add(Hop::Forward { port, next });
    source(world, data, count);
    world.queues.push(QueueSpec { port, ways: each, served, notify: None });
    port
}

fn once(steps: Vec<(u64, Vec<Change>)>) -> Schedule {
    let steps = steps.into_iter().map(|(after, changes)| Step { after: us(after), changes });
    Schedule { first: Time::ZERO, period: None, steps: steps.collect() }
}

fn run(blueprint: &Blueprint, engine: Engine) -> Vec<(Time, Record)> {
    let mut simulation = Simulation::new(blueprint, engine, Log::default());
    simulation.run();
    assert_eq!(simulation.audit(), Ok(()));
    simulation.observer().clone().in_order()
}

/// Returns the times at which a port finished transmissions, with the packets.
fn sent(records: &[(Time, Record)], from: PortId) -> Vec<(Time, u32)> {
    let of = |&(at, record): &(Time, Record)| match record {
        Record::Transmitted { port, packet, .. } if port == from => Some((at, packet.seq)),
        _ => None,
    };
    records.iter().filter_map(of).collect()
}

/// A day of 180 us carries 200 packets of 0.9 us, and one more that begins at its very end. The
/// others use the packet network, 7.2 us each.
#[test]
fn day_carries_one_packet_more_than_fit() {
    let mut world = WorldBuilder::default();
    let packet = world.port(10_000, us(5), QueueLimit::Packets(1));
    let circuit = world.port(80_000, us(30), QueueLimit::Packets(1));
    let voq = queue(&mut world, 0, &[packet, circuit], None, 300);
    world.schedules.push(once(vec![
        (400, vec![Change::Serve(voq, Some(1))]),
        (580, vec![Change::Serve(voq, None)]),
        (700, vec![Change::Serve(voq, Some(0))]),
    ]));
    let blueprint = world.build(Time::ZERO + STOP);
    for engine in ENGINES {
        let records = run(&blueprint, engine);
        let day: Vec<(Time, u32)> = (0..201).map(|n| (at(4009 + 9 * u64::from(n)), n)).collect();
        assert_eq!(sent(&records, circuit), day, "{engine:?}");
        let rest: Vec<(Time, u32)> =
            (201..300).map(|n| (at(7072 + 72 * u64::from(n - 201)), n)).collect();
        assert_eq!(sent(&records, packet), rest, "{engine:?}");
    }
}

/// Thirty packets are queued when the limit is reduced to sixteen: the oldest remain.
#[test]
fn reduced_queue_limit_drops_youngest_packets() {
    let mut world = WorldBuilder::default();
    let packet = world.port(10_000, us(5), QueueLimit::Packets(1));
    let voq = queue(&mut world, 0, &[packet], None, 30);
    world.schedules.push(once(vec![(
        100,
        vec![Change::Limit(voq, QueueLimit::Packets(16)), Change::Serve(voq, Some(0))],
    )]));
    let blueprint = world.build(Time::ZERO + STOP);
    for engine in ENGINES {
        let records = run(&blueprint, engine);
        let left: Vec<u32> = sent(&records, packet).into_iter().map(|(_, seq)| seq).collect();
        assert_eq!(left, (0..16).collect::<Vec<u32>>(), "{engine:?}");
        let lost = |&(_, record): &(Time, Record)| match record {
            Record::Dropped { packet, reason: DropReason::QueueShrunk, .. } => Some(packet.seq),
            _ => None,
        };
        let lost: Vec<u32> = records.iter().filter_map(lost).collect();
        assert_eq!(lost, (16..30).collect::<Vec<u32>>(), "{engine:?}");
    }
}

/// Ten packets wait in each of two queues of one transmitter.
#[test]
fn transmitter_serves_queues_round_robin() {
    let mut world = WorldBuilder::default();
    let shared = world.port(10_000, us(5), QueueLimit::Packets(1));
    let queues = [0, 1].map(|path| queue(&mut world, path, &[shared], None, 10));
    let serve = queues.iter().map(|&queue| Change::Serve(queue, Some(0))).collect();
    world.schedules.push(once(vec![(100, serve)]));
    let blueprint = world.build(Time::ZERO + STOP);
    for engine in ENGINES {
        let records = run(&blueprint, engine);
        // The first queue is connected and served before the second one.
        let order: Vec<u32> = sent(&records, shared).into_iter().map(|(_, seq)| seq).collect();
        let turns: Vec<u32> = (0..10).flat_map(|seq| [seq, seq]).collect();
        assert_eq!(order, turns, "{engine:?}");
        let ends: Vec<Time> = sent(&records, shared).into_iter().map(|(at, _)| at).collect();
        assert_eq!(ends, (1..=20).map(|n| at(1000 + 72 * n)).collect::<Vec<_>>(), "{engine:?}");
    }
}

/// Two queues of one transmitter. The second one is disconnected and reconnected during each of its first five
/// transmissions. Packets take 7.2 us, so its transmissions start at 107.2 us + n 14.4 us. The first queue, which is
/// waiting, keeps the next turn.
#[test]
fn reconnected_queue_waits_for_its_turn() {
    let mut world = WorldBuilder::default();
    let shared = world.port(10_000, us(5), QueueLimit::Packets(1));
    let queues = [0, 1].map(|path| queue(&mut world, path, &[shared], None, 10));
    let serve = queues.iter().map(|&queue| Change::Serve(queue, Some(0))).collect();
    let mut steps = vec![(100, serve)];
    steps.extend(
        [110, 124, 139, 153, 168].map(|at| {
            (at, vec![Change::Serve(queues[1], None), Change::Serve(queues[1], Some(0))])
        }),
    );
    world.schedules.push(once(steps));
    let blueprint = world.build(Time::ZERO + STOP);
    for engine in ENGINES {
        let of = |&(_, record): &(Time, Record)| match record {
            Record::Transmitted { port, packet, .. } if port == shared => {
                Some((packet.seq, packet.flow().index()))
            }
            _ => None,
        };
        let order: Vec<(u32, usize)> = run(&blueprint, engine).iter().filter_map(of).collect();
        let turns: Vec<(u32, usize)> = (0..10).flat_map(|seq| [(seq, 0), (seq, 1)]).collect();
        assert_eq!(order, turns, "{engine:?}");
    }
}

/// Ten packets at 10 Gb/s. The rate becomes 80 Gb/s at 10 us, during the second transmission (7.2
/// to 14.4 us). From 20 us the transmitter is held for 10 us.
#[test]
fn transmission_in_progress_continues_after_link_change() {
    let mut world = WorldBuilder::default();
    let link = world.port(10_000, us(5), QueueLimit::Packets(100));
    let data = world.paths.entry(0, &[link]);
    source(&mut world, data, 30);
    let fast = Rate::from_bps(80_000_000_000).expect("a rate");
    world.schedules.push(once(vec![
        (10, vec![Change::Rate(link, fast)]),
        (20, vec![Change::Open(link, false)]),
        (30, vec![Change::Open(link, true)]),
    ]));
    let blueprint = world.build(Time::ZERO + STOP);
    for engine in ENGINES {
        let ends: Vec<u64> = sent(&run(&blueprint, engine), link)
            .into_iter()
            .map(|(at, _)| at.as_ps() / 100_000)
            .collect();
        // After 14.4 us the others follow every 0.9 us: the eighth leaves at 19.8 us, the ninth at 20.7 us.
        let mut expected = vec![72, 144];
        expected.extend((1..=7).map(|n| 144 + 9 * n));
        assert_eq!(&ends[..9], &expected[..], "{engine:?}");
        assert_eq!(ends[9], 309, "{engine:?}");
        assert_eq!(ends.len(), 30, "{engine:?}");
    }
}

/// A delay is reduced by 20 us while packets are on the link: later packets overtake, or wait.
#[test]
fn packets_overtake_after_delay_reduction_unless_ordered() {
    for ordered in [false, true] {
        let mut world = WorldBuilder::default();
        let link = world.port(80_000, us(30), QueueLimit::Packets(100));
        world.ports[link.index()].0.ordered = ordered;
        let data = world.paths.entry(0, &[link]);
        source(&mut world, data, 20);
        world.schedules.push(once(vec![(10, vec![Change::Delay(link, us(10))])]));
        let blueprint = world.build(Time::ZERO + STOP);
        for engine in ENGINES {
            let arrived = |&(at, record): &(Time, Record)| match record {
                Record::DatagramArrived { seq, .. } => Some((seq, at.as_ps() / 100_000)),
                _ => None,
            };
            let arrived: Vec<(u32, u64)> =
                run(&blueprint, engine).iter().filter_map(arrived).collect();
            let of = |seq: u32| arrived.iter().find(|one| one.0 == seq).expect("it arrives").1;
            // Sent at 9.9 and 10.9 us: one with the old delay, one with the new one.
            assert_eq!(of(9), 99 + 300, "{engine:?}");
            assert_eq!(of(10), if ordered { 399 } else { 109 + 100 }, "{engine:?}");
            let in_order = arrived.is_sorted_by_key(|one| one.0);
            assert_eq!(in_order, ordered, "{engine:?}");
        }
    }
}

/// Segments of 1000 bytes, one per millisecond, over a link of 8 Mb/s. Their ACKs pass a port that
/// sets ECE from 10 ms to 20 ms. An ACK that arrives exactly at 10 ms has ECE, one at exactly 20 ms
/// has not. Datagrams on the same link never have it.
#[test]
fn port_sets_ece_during_schedule() {
    let mut world = WorldBuilder::default();
    let data = world.port(8, Duration::ZERO, QueueLimit::Unlimited);
    let acks = world.port(1_000_000, us(100), QueueLimit::Unlimited);
    let config = Config {
        mss: Bytes::new(960),
        ack_size: Bytes::new(40),
        initial_window: 40,
        ack: AckKind::EveryPacket,
        handshake: false,
        timestamps: false,
        ..Profile::Rfc.config()
    };
    assert_eq!((config.header, config.ecn), (Bytes::new(40), Ecn::Off));
    world.flow(&config, Some(30), Time::ZERO, 0, (&[data], &[acks]));
    let label = world.paths.entry(2, &[acks]);
    source(&mut world, label, 30);
    let flag = |sets| vec![Change::Ece(acks, sets)];
    world.schedules.push(once(vec![(10_000, flag(true)), (20_000, flag(false))]));
    let blueprint = world.build(Time::ZERO + Duration::from_ms(40));
    for engine in ENGINES {
        let records = run(&blueprint, engine);
        let accepted = |&(at, record): &(Time, Record)| match record {
            Record::Accepted { port, packet } if port == acks && packet.is_ack() => {
                Some((at.as_ps() / 1_000_000, packet.marking()))
            }
            _ => None,
        };
        let ece = Marking::new(Codepoint::NotEct, Marking::ECE);
        let said = |ms: u64| if (10..20).contains(&ms) { ece } else { Marking::NONE };
        let accepted: Vec<(u64, Marking)> = records.iter().filter_map(accepted).collect();
        let expected: Vec<(u64, Marking)> = (1..=30).map(|ms| (1000 * ms, said(ms))).collect();
        assert_eq!(accepted, expected, "{engine:?}");
        // The sender receives the flag of the port, and datagrams pass unchanged.
        let heard = |&(_, record): &(Time, Record)| match record {
            Record::Acknowledged { marking, .. } => Some(marking),
            Record::DatagramArrived { marking, .. } => {
                assert_eq!(marking, Marking::NONE);
                None
            }
            _ => None,
        };
        let heard: Vec<Marking> = records.iter().filter_map(heard).collect();
        assert_eq!(heard, (1..=30).map(said).collect::<Vec<_>>(), "{engine:?}");
    }
}

/// Senders are notified after 50 us of the path that serves the queue: of the last change at a
/// time, and not of disconnection. Both have a window of two segments on each network, and an RTT
/// of 561.2 us. The first sender learns of the circuit at 550 us: the first ACK releases two
/// segments there. Both senders have increased the window on the packet network to four. It is sent
/// with the next ACK, because that network is back from 950 us. The second sender starts on the
/// circuit at 600 us.
#[test]
fn senders_are_notified_after_delay() {
    let mut world = WorldBuilder::default();
    let far = world.port(10_000, us(280), QueueLimit::Unlimited);
    let ways = [(); 2].map(|()| world.port(10_000, us(5), QueueLimit::Packets(1)));
    let voq = queue(&mut world, 2, &ways, Some(0), 1);
    world.queues[0].notify = Some(us(50));
    let config = Config {
        initial_window: 2,
        handshake: false,
        recovery: RecoveryKind::Sack,
        path_state: PathState::PerNetwork,
        ..Profile::Rfc.config()
    };
    for (path, start) in [(0, 0), (1, 600)] {
        world.flow(&config, None, Time::ZERO + us(start), path, (&[far], &[far]));
    }
    world.flows.iter_mut().for_each(|flow| flow.notified_by = Some(voq));
    let serve = |way| Change::Serve(voq, way);
    world.schedules.push(once(vec![
        (400, vec![serve(None)]),
        (500, vec![serve(Some(0)), serve(Some(1))]),
        (700, vec![serve(None)]),
        (800, vec![serve(Some(1))]),
        (900, vec![serve(Some(0))]),
    ]));
    let blueprint = world.build(Time::ZERO + us(1200));
    for engine in ENGINES {
        let sent = |&(at, record): &(Time, Record)| match record {
            Record::Sent { flow, seq, .. } => Some((at.as_ps() / 1_000_000, flow.index(), seq)),
            _ => None,
        };
        let sent: Vec<_> = run(&blueprint, engine).iter().filter_map(sent).collect();
        let many = |at, flow, seqs: std::ops::Range<u32>| seqs.map(move |seq| (at, flow, seq));
        let expected = many(0, 0, 0..2).chain(many(561, 0, 2..4)).chain(many(600, 1, 0..2));
        let expected = expected.chain(many(1122, 0, 4..8)).chain(many(1161, 1, 2..4));
        assert_eq!(sent, expected.collect::<Vec<_>>(), "{engine:?}");
    }
}
