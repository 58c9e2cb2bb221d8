//! Packets from outside the simulation.

use crate::common::{ENGINES, WorldBuilder, everything, ms};
use optcp_engine::observe::{ObserveKind, Quiet};
use optcp_engine::{External, ExternalSpec, Simulation};
use optcp_net::{FlowId, QueueLimit};
use optcp_units::{Codepoint, Marking, Time};

fn packet(bytes: &[u8]) -> External {
    External { bytes: bytes.into(), marking: Marking::new(Codepoint::NotEct, 0), flow_label: 0 }
}

fn us(us: u64) -> Time {
    Time::from_ps(us * 1_000_000)
}

/// 1,250 bytes at 10 Mb/s take 1 ms, and the delay is 5 ms. Packets that are given at 1 ms, 1.5 ms and 10 ms arrive at 7,
/// 8 and 16 ms, with their bytes. A queue of two packets takes two of three that come at once.
#[test]
fn packets_arrive_with_their_bytes_after_queueing_and_delay() {
    for engine in ENGINES {
        let mut world = WorldBuilder::default();
        let port = world.port(10, ms(5) - Time::ZERO, QueueLimit::Packets(2));
        let label = world.paths.entry(0, &[port]);
        let mut blueprint = world.build(ms(100));
        blueprint.externals.push(ExternalSpec { label, data_of: None });
        let observed = Quiet(everything(&blueprint, &[ObserveKind::Queue]));
        let mut simulation = Simulation::new(&blueprint, engine, observed);
        let source = FlowId::at(blueprint.flows.len());
        let mut arrived = Vec::new();
        for (at, content) in [(1000, 1), (1500, 2), (10_000, 3)] {
            simulation.run_before(us(at));
            simulation.inject(source, us(at), packet(&[content; 1250]));
        }
        for content in [4, 5, 6] {
            simulation.run_before(us(20_000));
            simulation.inject(source, us(20_000), packet(&[content; 1250]));
        }
        // A time that has passed is now.
        simulation.run_before(us(60_000));
        assert_eq!(simulation.inject(source, us(1), packet(&[7; 125])), us(60_000));
        simulation.run();
        for delivery in simulation.take_deliveries() {
            assert_eq!(delivery.source, source);
            arrived.push((delivery.at, delivery.bytes[0], delivery.bytes.len()));
        }
        arrived.sort_unstable();
        let expected = [
            (us(7000), 1, 1250),
            (us(8000), 2, 1250),
            (us(16_000), 3, 1250),
            (us(26_000), 4, 1250),
            (us(27_000), 5, 1250),
            (us(65_100), 7, 125),
        ];
        assert_eq!(arrived, expected, "{engine:?}");
        assert_eq!(simulation.counts().dropped_in_all(), 1);
        assert!(simulation.take_deliveries().is_empty());
        assert_eq!(simulation.audit(), Ok(()));
    }
}
