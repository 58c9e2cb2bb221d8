//! Token buckets of links.

use optcp_net::{BucketAction, BucketKind, BucketPlace};
use optcp_tcp::Config;
use optcp_traffic::PacketSize;
use optcp_units::{Bytes, Rate};

use crate::plan::{BucketEffect, BucketPlan};
use crate::problem::Problems;
use crate::schema::{BucketEntry, File};
use crate::tree::place;

use super::draft::Draft;
use super::network::Network;

/// Adds the token buckets of ports.
pub(super) fn buckets(
    file: &File,
    plan: &mut Draft,
    network: &mut Network,
    problems: &mut Problems<'_>,
) {
    let largest = largest_packet(plan);
    for (i, entry) in file.buckets.iter().enumerate() {
        let hops = network
            .referred(&entry.link, place!["buckets", i, "link"], problems)
            .unwrap_or_default();
        check_keys(i, entry, problems);
        check_bursts(i, entry, largest, problems);
        let peak = peak(i, entry, problems);
        let at = entry.at.unwrap_or(BucketPlace::Ingress);
        let or = |given: Option<BucketAction>, default| given.unwrap_or(default);
        let effect = match entry.kind {
            BucketKind::Policer => {
                let exceeding = or(entry.exceeding, BucketAction::Drop);
                BucketEffect::Policer { at, exceeding }
            }
            BucketKind::Trtcm => BucketEffect::Trtcm {
                at,
                aware: entry.colour_aware == Some(true),
                actions: [
                    or(entry.green, BucketAction::Pass),
                    or(entry.yellow, BucketAction::Pass),
                    or(entry.red, BucketAction::Drop),
                ],
            },
            BucketKind::Shaper => BucketEffect::Shaper,
        };
        let behind = entry.kind == BucketKind::Shaper || at == BucketPlace::Egress;
        for hop in hops {
            let link = &network.links[hop.0];
            let label = match &link.voq {
                Some(_) if behind => {
                    "use the links of its paths: a virtual output queue has no transmitter"
                }
                None if link.wavelengths.is_some() || network.is_burst_route(hop.0) => {
                    "needs a link that carries single packets"
                }
                _ => {
                    let bucket = (entry.rate.0, entry.burst.0);
                    plan.buckets.push(BucketPlan { hop, bucket, peak, effect });
                    continue;
                }
            };
            let message = format!("`{}` has no {}", link.name, entry.kind.name());
            problems.at(place!["buckets", i, "link"], message).label(label);
            break;
        }
    }
}

/// Returns the size of the largest packet of all flows and sources.
fn largest_packet(plan: &Draft) -> Bytes {
    let segment = |config: &Config| config.mss + config.header + config.timestamp_size();
    let segments = plan.tcp.iter().map(|(_, config)| segment(config).max(config.ack_size));
    let datagrams = plan.traffic.iter().map(|traffic| match traffic.sizes {
        PacketSize::Fixed(size) => Bytes::new(size.into()),
        PacketSize::Exponential(sizes) => Bytes::new(sizes.parameters()[2].into()),
    });
    segments.chain(datagrams).fold(Bytes::ZERO, Bytes::max)
}

/// Reports keys that do not belong to the kind.
fn check_keys(i: usize, entry: &BucketEntry, problems: &mut Problems<'_>) {
    let meters = &[BucketKind::Policer, BucketKind::Trtcm];
    let marker = &[BucketKind::Trtcm];
    let keys: [(&str, bool, &[BucketKind]); 6] = [
        ("at", entry.at.is_some(), meters),
        ("exceeding", entry.exceeding.is_some(), &[BucketKind::Policer]),
        ("colour_aware", entry.colour_aware.is_some(), marker),
        ("green", entry.green.is_some(), marker),
        ("yellow", entry.yellow.is_some(), marker),
        ("red", entry.red.is_some(), marker),
    ];
    for (key, given, kinds) in keys {
        if given && !kinds.contains(&entry.kind) {
            let named: Vec<&str> = kinds.iter().map(|kind| kind.name()).collect();
            problems
                .at(
                    place!["buckets", i, key],
                    format!("kind `{}` has no `{key}`", entry.kind.name()),
                )
                .help(format!("expected kind = \"{}\"", named.join("\" or \"")));
        }
    }
}

/// Reports bursts that never let a packet pass.
fn check_bursts(i: usize, entry: &BucketEntry, largest: Bytes, problems: &mut Problems<'_>) {
    let bursts = [("burst", Some(entry.burst)), ("peak_burst", entry.peak_burst)];
    for (key, burst) in bursts {
        if let Some(burst) = burst.map(|burst| burst.0).filter(|&burst| burst < largest) {
            problems
                .at(
                    place!["buckets", i, key],
                    format!("packets of {largest} need more than {burst}"),
                )
                .label(format!("at least one packet of {largest}"));
        }
    }
}

/// Returns the peak rate and burst.
fn peak(i: usize, entry: &BucketEntry, problems: &mut Problems<'_>) -> Option<(Rate, Bytes)> {
    match (entry.peak, entry.peak_burst) {
        (Some(peak), Some(burst)) => {
            if peak.0 < entry.rate.0 {
                problems
                    .at(
                        place!["buckets", i, "peak"],
                        format!("`peak` below `rate`, {}", entry.rate.0),
                    )
                    .label("must be at least `rate`");
            }
            return Some((peak.0, burst.0));
        }
        (None, None) if entry.kind != BucketKind::Trtcm => {}
        (peak, _) => {
            let missing = if peak.is_none() { "peak" } else { "peak_burst" };
            problems
                .at(place!["buckets", i], format!("`{missing}` is missing"))
                .help("for example: peak = \"20 Mbps\" and peak_burst = \"3 kB\"".to_owned());
        }
    }
    None
}
