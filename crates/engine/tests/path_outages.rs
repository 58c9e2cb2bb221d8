//! Path outages of small networks, compared with hand calculation.

use crate::common::{WorldBuilder, ms};
use optcp_engine::{Blueprint, path_outages};
use optcp_net::{
    Action, BundleHop, Control, Hashing, Hop, INITIAL_TTL, Label, Multipath, PortId, QueueLimit,
};
use optcp_optical::bundle::{Bundle, Selection};
use optcp_tcp::Profile;
use optcp_units::{Duration, Time};

fn port(world: &mut WorldBuilder) -> PortId {
    world.port(8, Duration::from_ms(1), QueueLimit::Unlimited)
}

fn flow(world: &mut WorldBuilder, path: u32, there: &[PortId], back: &[PortId]) {
    world.flow(&Profile::Rfc.config(), None, Time::ZERO, path, (there, back));
}

/// Returns each outage until 100 ms as flow, direction (`true` for ACKs), start and end in milliseconds.
fn found(blueprint: &Blueprint) -> Vec<(u32, bool, u64, u64)> {
    let ms = |at: Time| at.as_ps() / 1_000_000_000;
    let one =
        |cut: optcp_engine::PathOutage| (cut.flow.number(), cut.acks, ms(cut.from), ms(cut.until));
    path_outages(blueprint, self::ms(100)).into_iter().map(one).collect()
}

fn controls(list: &[(u64, Action)]) -> Vec<Control> {
    list.iter().map(|&(at, action)| Control { at: ms(at), action }).collect()
}

/// The port fails at 10 ms, is repaired at 20 ms and fails immediately again. Actions at the same time count together.
/// Two flows share the data path; one has the return path.
#[test]
fn flows_on_one_path_have_equal_outages() {
    let mut world = WorldBuilder::default();
    let [out, back, other] = [(); 3].map(|()| port(&mut world));
    flow(&mut world, 0, &[out], &[back]);
    flow(&mut world, 0, &[out], &[other]);
    let (down, up) = (Action::PortDown(out), Action::PortUp(out));
    let closed = Action::PortClosed(back);
    world.controls =
        controls(&[(10, down), (20, up), (20, down), (30, up), (40, down), (40, up), (90, closed)]);
    let expected = [(0, false, 10, 30), (0, true, 90, 100), (1, false, 10, 30)];
    let mut blueprint = world.build(ms(100));
    assert_eq!(found(&blueprint), expected);
    blueprint.controls.clear();
    assert_eq!(found(&blueprint), []);
}

/// Paths with as many routers as the time to live permits and with one more, and a loop of two routers from 30 ms.
#[test]
fn path_length_is_limited_by_ttl() {
    for (ports, cut) in [(INITIAL_TTL, false), (INITIAL_TTL + 1, true)] {
        let mut world = WorldBuilder::default();
        let there: Vec<PortId> = (0..ports).map(|_| port(&mut world)).collect();
        let back = port(&mut world);
        flow(&mut world, 0, &there, &[back]);
        world.controls = controls(&[(50, Action::PortUp(there[0]))]);
        let expected: &[_] = if cut { &[(0, false, 0, 100)] } else { &[] };
        assert_eq!(found(&world.build(ms(100))), expected, "{ports} ports");
    }
    let mut world = WorldBuilder::default();
    let [out, there, back, acks] = [(); 4].map(|()| port(&mut world));
    flow(&mut world, 0, &[out, there, back], &[acks]);
    let at_first = world.paths.entry(0, &[there, back]);
    let at_last = world.paths.entry(0, &[back]);
    let loops = Action::SetHop(at_last, Hop::Forward { port: back, next: at_first });
    world.controls = controls(&[(30, loops)]);
    assert_eq!(found(&world.build(ms(100))), [(0, false, 30, 100)]);
}

/// One of two links fails at 10 ms and is excluded at 12 ms; the other one fails from 20 to 30 ms. One working link is
/// enough, except with selection by destination: the first subnetwork uses the first link while it is in service.
#[test]
fn bundle_needs_one_working_link() {
    for (selection, expected) in [
        (Selection::RoundRobin, vec![(0, false, 20, 30)]),
        (Selection::Destination, vec![(0, false, 10, 12), (0, false, 20, 30)]),
    ] {
        let mut world = WorldBuilder::default();
        let [first, second, back] = [(); 3].map(|()| port(&mut world));
        flow(&mut world, 0, &[first], &[back]);
        world.bundles.push(Bundle::new(vec![first, second], selection));
        let next = world.paths.entry(0, &[]);
        let bundle_hop = world.paths.entrance(BundleHop { bundle: 0, destination: 0, next });
        world.flows[0].data = world.paths.add(bundle_hop);
        world.controls = controls(&[
            (10, Action::PortDown(first)),
            (12, Action::TakeOut(0, first)),
            (20, Action::PortDown(second)),
            (30, Action::PortUp(second)),
        ]);
        assert_eq!(found(&world.build(ms(100))), expected, "{selection:?}");
    }
}

/// Two flows use one port each of an ECMP router; a failure interrupts the flow that uses the failed port.
#[test]
fn ecmp_flow_fails_with_its_own_port() {
    let mut world = WorldBuilder::default();
    let [first, second, back] = [(); 3].map(|()| port(&mut world));
    flow(&mut world, 0, &[first], &[back]);
    flow(&mut world, 0, &[first], &[back]);
    let ways: [Label; 2] = [first, second].map(|port| {
        let next = world.paths.entry(0, &[]);
        world.paths.add(Hop::Forward { port, next })
    });
    let hashing = Hashing::ModuloN;
    let keys = [0, 1].map(|place| {
        let mut keys = 0..;
        keys.find(|&key| hashing.place(7, key, [0, 1].into_iter()) == place).expect("one of many")
    });
    let next_hops = vec![(0, ways[0]), (1, ways[1])];
    let spread = world.paths.multipath(Multipath { hashing, seed: 7, next_hops });
    let entry = world.paths.add(spread);
    world.flows.iter_mut().for_each(|flow| flow.data = entry);
    world.paths.set_keys(keys.to_vec());
    world.controls = controls(&[(10, Action::PortDown(second)), (25, Action::PortUp(second))]);
    assert_eq!(found(&world.build(ms(100))), [(1, false, 10, 25)]);
}
