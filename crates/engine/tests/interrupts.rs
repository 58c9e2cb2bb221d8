//! Interruption: a stopped run ends after little more work, regardless of its current task.

use crate::common::{self, ENGINES, WorldBuilder, ms};
use optcp_des::Streams;
use optcp_engine::{Blueprint, DatagramSpec, Engine, Simulation};
use optcp_net::{Action, Control, QueueLimit};
use optcp_tcp::{Config, Profile};
use optcp_traffic::{Constant, PacketRate, PacketSize, Process};
use optcp_units::{Codepoint, Duration, Time};

/// Maximum number of events between two calls of the callback.
const STRETCH: u64 = 1 << 7;

/// Refuses call number `refused`, counted from 1. Returns the work until the run ended: events, and packets sent within
/// them.
fn work_until(blueprint: &Blueprint, engine: Engine, refused: u64) -> u64 {
    let mut simulation = Simulation::new(blueprint, engine, ());
    let mut asked = 0;
    let through = simulation.run_while(&mut |_| {
        asked += 1;
        asked < refused
    });
    assert!(!through, "{engine:?}: nobody asked for the {refused}th time");
    let counts = simulation.counts();
    counts.events + counts.sent
}

/// Returns a scenario of datagrams only: nothing but timers if the sink is behind the port (2 ms; one per nanosecond).
fn datagrams(delay: Duration) -> Blueprint {
    let mut world = WorldBuilder::default();
    let port = world.port(1000, delay, QueueLimit::Packets(100));
    let rate = PacketRate::new(1, 1000).expect("a rate above zero");
    let data = world.paths.entry(0, &[port]);
    world.datagrams.push(DatagramSpec {
        process: Process::Constant(Constant::new(rate)),
        sizes: PacketSize::Fixed(1),
        stream: Streams::new(1).stream("sizes"),
        start: Time::ZERO,
        until: ms(2),
        bytes: None,
        data,
        codepoint: Codepoint::NotEct,
    });
    world.build(ms(2))
}

/// Returns flows that all send their initial window at time zero into short queues.
fn windows(flows: u32, initial_window: u32) -> Blueprint {
    let mut world = WorldBuilder::default();
    let there = world.port(1000, Duration::from_ms(10), QueueLimit::Packets(10));
    let back = world.port(1000, Duration::from_ms(10), QueueLimit::Packets(10));
    let config = Config { initial_window, ..Profile::Rfc.config() };
    for path in 0..flows {
        world.flow(&config, None, Time::ZERO, path, (&[there], &[back]));
    }
    world.build(ms(1))
}

#[test]
fn callback_is_called_during_all_kinds_of_work() {
    for engine in ENGINES {
        for delay in [Duration::ZERO, Duration::from_ms(10)] {
            let blueprint = datagrams(delay);
            for refused in [1, 3] {
                let work = work_until(&blueprint, engine, refused);
                assert!(work <= 2 * refused * STRETCH, "{engine:?}: {work}");
            }
        }
        // At most as many of the 1000 flows have started as there were events.
        let work = work_until(&windows(1000, 500), engine, 1);
        assert!(work <= STRETCH * (1 + 500), "{engine:?}: {work}");
    }
}

/// A segment leaves at 3600 s, and its ACK returns at most 204 ms later; the port fails at 7200 s. The RTO of 1 s and
/// its timer are over by 3700 s. Times of packets are known to a bucket of up to 4.3 ms, times of timers to a timer
/// advance of up to 100 ms.
#[test]
fn next_event_time_is_known_without_events() {
    let millis = Duration::from_ms;
    let mut world = WorldBuilder::default();
    let [there, back] = [(); 2].map(|()| world.port(8, millis(100), QueueLimit::Unlimited));
    let start = Time::ZERO + Duration::from_secs(3600);
    world.flow(&Profile::Rfc.config(), Some(1), start, 0, (&[there], &[back]));
    let fails = Time::ZERO + Duration::from_secs(7200);
    world.controls = vec![Control { at: fails, action: Action::PortDown(there) }];
    let blueprint = world.build(Time::ZERO + Duration::from_secs(10_000));
    for engine in [&ENGINES[..], &[common::windows(0)]].concat() {
        let mut simulation = Simulation::new(&blueprint, engine, ());
        let close = |found: Time, to: Time| found <= to && to.saturating_since(found) < millis(110);
        assert!(close(simulation.next_at(), start), "{engine:?}: {:?}", simulation.next_at());
        simulation.run_before(start + millis(50));
        let arrival = start + millis(100);
        assert!(
            simulation.next_at() <= arrival + millis(2),
            "{engine:?}: the segment is in flight"
        );
        assert!(simulation.next_at() > start, "{engine:?}");
        simulation.run_before(Time::ZERO + Duration::from_secs(3700));
        assert_eq!(simulation.counts().delivered, 2, "{engine:?}: the segment and its ACK");
        assert_eq!(simulation.next_at(), fails, "{engine:?}");
        simulation.run_before(fails + millis(1));
        assert_eq!(simulation.next_at(), Time::MAX, "{engine:?}");
    }
}
