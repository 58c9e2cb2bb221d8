//! Share of BBR on a link with Reno flows, compared with a published model and its claims.
//!
//! Ware, Mukerjee, Seshan, Sherry: Modeling BBR's Interactions with Loss-Based Congestion Control, IMC 2019. Next to
//! flows that fill every queue, BBR is limited by its window: twice the product of its share and the minimum RTT. BBR
//! measures this RTT while only the others fill the queue. With p their share, X the queue in bandwidth-delay products,
//! q in packets: p = 1/2 - 1/(2X) - 4/q, or zero if this is negative. BBR sends nothing while it probes for the minimum
//! RTT, q/c + 0.2 s + l in every 10 s.

use crate::common::{WorldBuilder, ms};
use optcp_engine::{Engine, Simulation};
use optcp_net::QueueLimit;
use optcp_tcp::config::{CongestionKind, LossDetectionKind, Pacing, RateReduction, RecoveryKind};
use optcp_tcp::{Config, Profile, Seq};
use optcp_units::Duration;

const MBPS: u64 = 10;
/// Minimum RTT in milliseconds; with segments of 1500 B the product is 33 1/3 of them.
const ROUND_TRIP: u64 = 40;
/// Queue limits in tenths of the bandwidth-delay product.
const QUEUES: [u32; 5] = [5, 10, 20, 40, 80];

fn reno() -> Config {
    Config {
        recovery: RecoveryKind::Sack,
        loss_detection: LossDetectionKind::Rack,
        rate_reduction: RateReduction::Prr,
        initial_window: 10,
        ..Profile::Rfc.config()
    }
}

fn bbr() -> Config {
    Config { congestion: CongestionKind::Bbr, pacing: Pacing::Rate, ..reno() }
}

/// Returns the share of one BBR flow next to `others` Reno flows from 60 s to 460 s, and the link utilisation.
fn share(queue: u32, others: u32, bbr_is_first: bool) -> (f64, f64) {
    let one_way = Duration::from_ms(ROUND_TRIP / 2);
    let mut world = WorldBuilder::default();
    let out = world.port(MBPS, one_way, QueueLimit::Packets(queue));
    let back = world.port(MBPS, one_way, QueueLimit::Unlimited);
    let (ours, theirs) = if bbr_is_first { (0, 2_000) } else { (2_000, 0) };
    world.flow(&bbr(), None, ms(ours), 0, (&[out], &[back]));
    for other in 1..=others {
        let start = theirs + 13 * u64::from(other);
        world.flow(&reno(), None, ms(start), other, (&[out], &[back]));
    }
    let mut simulation = Simulation::new(&world.build(ms(460_000)), Engine::Fast, ());
    simulation.run_before(ms(60_000));
    let before: Vec<Seq> = simulation.senders().map(|sender| sender.una()).collect();
    simulation.run();
    let after = simulation.senders().zip(before);
    let acked: Vec<f64> = after.map(|(sender, before)| f64::from(sender.una() - before)).collect();
    let all: f64 = acked.iter().sum();
    (acked[0] / all, all * 1500.0 * 8.0 / (400.0 * 1e6 * MBPS as f64))
}

/// Returns the number of packets in `tenths` of a bandwidth-delay product.
fn packets(tenths: u32) -> u32 {
    tenths * 100 / 30
}

fn model(tenths: u32) -> f64 {
    let (x, round_trip) = (f64::from(tenths) / 10.0, ROUND_TRIP as f64 / 1e3);
    let others = 0.5 - 0.5 / x - 4.0 / f64::from(packets(tenths));
    let probing = (x * round_trip + 0.2 + round_trip) / 10.0;
    (1.0 - others.max(0.0)) * (1.0 - probing)
}

/// The model assumes competing flows that always fill the queue. Reno does so only at overflow and
/// then keeps half of its window. BBR therefore often measures a shorter minimum RTT and keeps less
/// in flight. The model is therefore an upper bound of the share.
#[test]
fn share_follows_queue_length_like_the_model() {
    let mut shares = Vec::new();
    for tenths in QUEUES {
        for bbr_is_first in [true, false] {
            let (share, busy) = share(packets(tenths), 1, bbr_is_first);
            let most = model(tenths);
            println!("queue {tenths}/10: {share:.3} of {busy:.3}, at most {most:.3}");
            assert!(share < most, "{tenths}/10: {share}, model {most}");
            assert!(busy > 0.97, "{tenths}/10: {busy}");
            shares.push(share);
        }
    }
    // BBR gets nearly everything with a short queue, and a similar share with all long ones.
    assert!(shares[..4].iter().all(|&share| share > 0.8), "{shares:?}");
    assert!(shares[4] < shares[3] && shares[6] < shares[5], "{shares:?}");
    assert!(shares[6..].iter().all(|&share| (0.40..0.55).contains(&share)), "{shares:?}");
}

/// With a long queue BBR's share does not depend on the number of other flows, as the paper finds.
/// It exceeds a fifth next to four flows.
#[test]
fn share_is_independent_of_number_of_flows() {
    for bbr_is_first in [true, false] {
        let (share, _) = share(packets(80), 4, bbr_is_first);
        println!("beside four: {share:.3}");
        assert!((0.40..0.55).contains(&share), "{share}");
    }
}
