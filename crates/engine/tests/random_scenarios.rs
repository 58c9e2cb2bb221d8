//! Random scenarios: packets are conserved at all times, and a forked run equals a direct one.

use std::num::NonZeroU32;

use crate::common::{Log, WorldBuilder, everything};
use optcp_des::Streams;
use optcp_engine::observe::{Observations, Record};
use optcp_engine::{Blueprint, Counts, DatagramSpec, Engine, Simulation};
use optcp_net::{
    Action, Control, IndependentLoss, Loss, Lossy, PeriodicLoss, PortId, QueueLimit, Side,
};
use optcp_tcp::Profile;
use optcp_tcp::config::{AckKind, Config, RecoveryKind};
use optcp_traffic::{ExponentialSize, PacketRate, PacketSize, Poisson, Process};
use optcp_units::{Codepoint, Duration, Time};
use proptest::prelude::*;

/// Ingredients of a random scenario.
#[derive(Clone, Debug)]
struct Recipe {
    links: Vec<(u64, u64, u32)>,
    losses: Vec<(usize, u8, u32)>,
    flows: Vec<(u8, u8, u32, u64)>,
    actions: Vec<(u8, usize, u64)>,
    bridged: bool,
}

fn recipe() -> impl Strategy<Value = Recipe> {
    let link = (1..20_u64, 0..30_u64, 1..12_u32);
    let loss = (0..8_usize, 0..6_u8, 1..200_u32);
    let flow = (0..3_u8, 0..4_u8, 1..400_u32, 0..500_u64);
    let action = (0..8_u8, 0..64_usize, 0..3000_u64);
    (
        prop::collection::vec(link, 4),
        prop::collection::vec(loss, 0..4),
        prop::collection::vec(flow, 1..12),
        prop::collection::vec(action, 0..12),
        prop::bool::weighted(0.2),
    )
        .prop_map(|(links, losses, flows, actions, bridged)| Recipe {
            links,
            losses,
            flows,
            actions,
            bridged,
        })
}

const STOP: Duration = Duration::from_secs(4);

/// Returns flows over the chain of links 0 - 1 - 2, where link 3 is parallel to link 1.
fn world(recipe: &Recipe) -> Blueprint {
    let mut world = WorldBuilder::default();
    let mut there: Vec<PortId> = Vec::new();
    let mut back: Vec<PortId> = Vec::new();
    for &(mbps, delay, queue) in &recipe.links {
        let limit = match queue {
            1 => QueueLimit::Unlimited,
            even if even % 2 == 0 => QueueLimit::Packets(even),
            odd => QueueLimit::Bytes(u64::from(odd) * 1500),
        };
        there.push(world.port(mbps, Duration::from_ms(delay), limit));
        back.push(world.port(mbps, Duration::from_ms(delay), limit));
    }
    for &(port, kind, n) in &recipe.losses {
        let lossy = [Lossy::Data, Lossy::Acks, Lossy::Both][kind as usize % 3];
        let loss = if kind < 3 {
            let period = NonZeroU32::new(n).expect("counted from 1");
            Loss::Periodic(PeriodicLoss::new(lossy, period))
        } else {
            let stream = Streams::new(u64::from(n)).stream("loss");
            Loss::Independent(IndependentLoss::new(lossy, 1.0 / f64::from(n), stream))
        };
        world.ports[port].1.push(loss);
    }
    let spans: [&[usize]; 3] = [&[0, 1, 2], &[1, 2], &[0, 1]];
    for &(span, kind, segments, start) in &recipe.flows {
        let route: Vec<PortId> = spans[span as usize].iter().map(|&link| there[link]).collect();
        let reverse: Vec<PortId> =
            spans[span as usize].iter().rev().map(|&link| back[link]).collect();
        if segments % 5 == 4 {
            let rate = PacketRate::new(u64::from(segments), 1_000_000_000_000).expect("above zero");
            let streams = Streams::new(u64::from(segments));
            let data = world.paths.entry(2 * u32::from(span), &route);
            world.datagrams.push(DatagramSpec {
                process: Process::Poisson(Poisson::new(rate, streams.stream("arrivals"))),
                sizes: PacketSize::Exponential(
                    ExponentialSize::new(500, 40, 1500).expect("a possible mean"),
                ),
                stream: streams.stream("sizes"),
                start: Time::ZERO + Duration::from_ms(start),
                until: Time::ZERO + STOP,
                bytes: None,
                data,
                codepoint: Codepoint::NotEct,
            });
            continue;
        }
        // ACKs with SACK are stored outside the packet: bridges and selectors must copy and remove them, too.
        let config = if segments % 4 == 3 {
            Config { window_limit: 40, ..Profile::Linux6.config() }
        } else {
            let base = if kind % 2 == 0 { Profile::Rfc } else { Profile::Ns2Of2001 }.config();
            Config {
                recovery: [RecoveryKind::NewReno, RecoveryKind::Reno, RecoveryKind::Tahoe]
                    [segments as usize % 3],
                ack: if kind > 1 { AckKind::Delayed } else { AckKind::EveryPacket },
                window_limit: 40,
                ..base
            }
        };
        let start = Time::ZERO + Duration::from_ms(start);
        world.flow(&config, Some(segments), start, u32::from(span), (&route, &reverse));
    }
    let working = world.paths.entry(0, &[there[1], there[2]]);
    // The node behind both paths accepts packets of one of them; one path or both are used.
    let behind = world.paths.entry(0, &[there[2]]);
    let (selector, onto) = world.paths.select(working, behind, there[3]);
    let detour = world.paths.detour(&[there[3]], onto);
    let direct = world.paths.hop(working);
    if recipe.bridged {
        world.paths.bridge(working, [direct, detour]);
    }
    for &(what, which, at) in &recipe.actions {
        let port = if which % 2 == 0 { there[which / 2 % 4] } else { back[which / 2 % 4] };
        let action = match what {
            0 => Action::PortDown(port),
            1 => Action::PortUp(port),
            2 => Action::SetHop(working, detour),
            3 => Action::SetHop(working, direct),
            4 => Action::Expect(selector, [Side::Working, Side::Backup][which % 2]),
            5 => Action::Select(selector, [Side::Working, Side::Backup][which % 2]),
            _ => Action::SetDelay(port, Duration::from_ms(which as u64)),
        };
        world.controls.push(Control { at: Time::ZERO + Duration::from_ms(at), action });
    }
    world.build(Time::ZERO + STOP)
}

fn observed(blueprint: &Blueprint, engine: Engine) -> Simulation<Observations> {
    Simulation::new(blueprint, engine, everything(blueprint, &[]))
}

fn outcome(simulation: &Simulation<Observations>) -> (Option<String>, Counts) {
    // The number of events differs between engines.
    (simulation.observer().sha256(), Counts { events: 0, ..simulation.counts() })
}

/// Returns the reference and the engines compared with it; `stepped` are ports whose departures are events.
fn engines(stepped: u64) -> [Engine; 3] {
    [Engine::Reference, Engine::Fast, Engine::Stepped(stepped)]
}

/// Returns every record in order.
fn log(blueprint: &Blueprint, engine: Engine) -> Vec<(Time, Record)> {
    let mut simulation = Simulation::new(blueprint, engine, Log::default());
    simulation.run();
    simulation.observer().clone().in_order()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn packets_are_conserved_at_all_times(recipe in recipe(), stepped: u64) {
        let blueprint = world(&recipe);
        let mut expected = None;
        for engine in engines(stepped) {
            let mut simulation = observed(&blueprint, engine);
            for tenth in 1..40 {
                simulation.run_before(Time::ZERO + Duration::from_ms(100 * tenth));
                assert_eq!(simulation.audit(), Ok(()));
            }
            simulation.run();
            assert_eq!(simulation.audit(), Ok(()));
            let end = outcome(&simulation);
            prop_assert_eq!(expected.get_or_insert_with(|| end.clone()), &end, "{:?}", engine);
        }
    }

    /// All engines produce the same records.
    #[test]
    fn engines_agree(recipe in recipe(), stepped: u64) {
        let blueprint = world(&recipe);
        let [plain, others @ ..] = engines(stepped).map(|engine| log(&blueprint, engine));
        for fast in others {
            if let Some(at) = plain.iter().zip(&fast).position(|(a, b)| a != b) {
                let lines = |log: &[(Time, Record)]| -> String {
                    log.iter().skip(at.saturating_sub(8)).take(12).map(|row| format!("{row:?}\n")).collect()
                };
                prop_assert!(false, "record {at} differs:\n{}\n{}", lines(&plain), lines(&fast));
            }
            prop_assert_eq!(plain.len(), fast.len());
        }
    }

    /// A clone of an interrupted run produces the same results.
    #[test]
    fn clone_continues_like_the_run(
        recipe in recipe(),
        cut_ms in 0..4000_u64,
        stepped: u64,
    ) {
        let blueprint = world(&recipe);
        for engine in engines(stepped) {
            let mut whole = observed(&blueprint, engine);
            whole.run();
            let mut first = observed(&blueprint, engine);
            first.run_before(Time::ZERO + Duration::from_ms(cut_ms));
            let mut copy = first.clone();
            drop(first);
            copy.run();
            prop_assert_eq!(outcome(&copy), outcome(&whole), "{:?}", engine);
        }
    }

    /// A branch that shares the past of another scenario ends like a direct run.
    #[test]
    fn branch_ends_like_a_direct_run(
        recipe in recipe(),
        shift in 0..500_u64,
        slower in 0..3_u64,
        stepped: u64,
    ) {
        let trunk = world(&recipe);
        let mut other = trunk.clone();
        // The detour may differ, because the past is shared until it is used.
        other.ports[6].0.delay += Duration::from_ms(10 * slower);
        if let Some(last) = other.controls.last_mut() {
            last.at = last.at + Duration::from_ms(shift);
        }
        let shared = trunk.shared_until(&other);
        for engine in engines(stepped) {
            let mut simulation = observed(&trunk, engine);
            simulation.run_before(shared);
            simulation.continue_as(&other);
            simulation.run();
            let mut alone = observed(&other, engine);
            alone.run();
            prop_assert_eq!(outcome(&simulation), outcome(&alone), "{:?}", engine);
        }
    }
}
