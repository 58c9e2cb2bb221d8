//! Packet losses of links.

use std::num::NonZeroU32;

use optcp_net::{LossKind, Lossy, Spoils};

use crate::plan::{Carries, DirectedLink, FlowPlan, Loses, LossPlan};
use crate::problem::Problems;
use crate::schema::{File, LossesEntry, Probability};
use crate::tree::place;
use optcp_units::nearest::suggestion;

use super::draft::Draft;
use super::network::Network;

/// Adds the losses of ports.
pub(super) fn losses(
    file: &File,
    plan: &mut Draft,
    network: &mut Network,
    problems: &mut Problems<'_>,
) {
    for (link, both) in network.of_file.losses.iter().enumerate() {
        for (direction, loss) in both.iter().enumerate() {
            if let Some(probability) = loss.filter(|&loss| loss > 0.0) {
                let loses = Loses::Independent { lossy: Lossy::Data, probability };
                plan.losses.push(LossPlan { hop: (link, direction), loses });
            }
        }
    }
    for (i, entry) in file.losses.iter().enumerate() {
        let hops = network
            .referred(&entry.link, place!["losses", i, "link"], problems)
            .unwrap_or_default();
        let Some(kind) = kind(i, entry, problems) else { continue };
        let loses = match kind {
            LossKind::Scripted => {
                let losses = scripted(i, entry, &hops, plan, network, problems);
                plan.losses.extend(losses);
                continue;
            }
            LossKind::Independent => probability(i, kind, entry, problems)
                .map(|probability| Loses::Independent { lossy: lossy(entry), probability }),
            LossKind::Periodic => period(i, entry, problems)
                .map(|period| Loses::Periodic { lossy: lossy(entry), period }),
            LossKind::GilbertElliott => gilbert_elliott(i, entry, problems),
            LossKind::Corruption => corruption(i, entry, problems),
            LossKind::Duplication => probability(i, kind, entry, problems)
                .map(|probability| Loses::Duplication { lossy: lossy(entry), probability }),
        };
        if kind == LossKind::Corruption
            && let Some(hop) = hops.iter().find(|hop| network.links[hop.0].voq.is_some())
        {
            let name = &network.links[hop.0].name;
            problems
                .at(place!["losses", i, "link"], format!("`{name}` has no line with losses"))
                .label("use the links of its paths");
        }
        check_traffic(i, lossy(entry), &hops, plan, network, problems);
        if let Some(loses) = loses {
            let everywhere = hops.iter().map(|&hop| LossPlan { hop, loses: loses.clone() });
            plan.losses.extend(everywhere);
        }
    }
}

/// Returns the kind of an entry whose keys match it; `None` if it is not clear.
fn kind(i: usize, entry: &LossesEntry, problems: &mut Problems<'_>) -> Option<LossKind> {
    let burst = &[LossKind::GilbertElliott];
    let with_probability =
        &[LossKind::Independent, LossKind::Periodic, LossKind::Corruption, LossKind::Duplication];
    let keys: [(&str, bool, &[LossKind]); 11] = [
        ("flows", entry.flows.is_some(), &[LossKind::Scripted]),
        ("segments", entry.segments.is_some(), &[LossKind::Scripted]),
        ("transmission", entry.transmission.is_some(), &[LossKind::Scripted]),
        ("probability", entry.probability.is_some(), with_probability),
        ("bit_error_rate", entry.bit_error_rate.is_some(), &[LossKind::Corruption]),
        ("period", entry.period.is_some(), &[LossKind::Periodic]),
        ("good_to_bad", entry.good_to_bad.is_some(), burst),
        ("bad_to_good", entry.bad_to_good.is_some(), burst),
        ("loss_in_good", entry.loss_in_good.is_some(), burst),
        ("loss_in_bad", entry.loss_in_bad.is_some(), burst),
        (
            "packets",
            entry.packets.is_some(),
            &[
                LossKind::Independent,
                LossKind::Periodic,
                LossKind::GilbertElliott,
                LossKind::Corruption,
                LossKind::Duplication,
            ],
        ),
    ];
    let kind = entry.kind.unwrap_or(LossKind::Scripted);
    for (key, given, kinds) in keys {
        if !given || kinds.contains(&kind) {
            continue;
        }
        let place = place!["losses", i, key];
        if entry.kind.is_none() {
            let named: Vec<&str> = kinds.iter().map(|kind| kind.name()).collect();
            problems
                .at(place, format!("`{key}` needs `kind`"))
                .help(format!("expected kind = \"{}\"", named.join("\" or \"")));
            return None;
        }
        problems.at(place, format!("kind `{}` has no `{key}`", kind.name()));
    }
    Some(kind)
}

/// Reports a missing key.
fn missing(i: usize, (kind, key): (LossKind, &str), example: &str, problems: &mut Problems<'_>) {
    problems
        .at(place!["losses", i], format!("kind `{}` needs `{key}`", kind.name()))
        .help(format!("for example: {example}"));
}

fn scripted(
    i: usize,
    entry: &LossesEntry,
    hops: &[DirectedLink],
    plan: &Draft,
    network: &Network,
    problems: &mut Problems<'_>,
) -> Vec<LossPlan> {
    let segments = entry.segments.clone().unwrap_or_default();
    match &entry.segments {
        None => missing(i, (LossKind::Scripted, "segments"), "segments = [20]", problems),
        Some(segments) if segments.is_empty() => {
            problems
                .at(place!["losses", i, "segments"], "list without segments")
                .label("name at least one");
        }
        Some(_) => {}
    }
    let transmission = entry.transmission.unwrap_or(1);
    if transmission == 0 {
        problems
            .at(place!["losses", i, "transmission"], "transmissions are counted from 1")
            .label("must be above zero");
    }
    let Some(wanted) = &entry.flows else {
        missing(i, (LossKind::Scripted, "flows"), "flows = \"main\"", problems);
        return Vec::new();
    };
    let Some(group) = plan.groups.iter().position(|group| group == wanted) else {
        let groups = plan.groups.iter().map(String::as_str);
        let help = suggestion(wanted, "groups of flows", groups);
        let message = format!("unknown group of flows `{wanted}`");
        problems.at(place!["losses", i, "flows"], message).help(help);
        return Vec::new();
    };
    let mut losses = Vec::new();
    for &hop in hops {
        let in_group = |flow: &FlowPlan| flow.group == group;
        if let Some(other) = plan.flows.iter().find(|f| in_group(f) && f.carries != Carries::Flow) {
            let what = match other.carries {
                Carries::Datagrams(_) => "datagrams",
                _ => "flows with random arrivals",
            };
            problems
                .at(place!["losses", i, "flows"], format!("`{wanted}` is {what}"))
                .label("`scripted` losses need flows that are known before the run");
            return Vec::new();
        }
        let passes =
            |&flow: &usize| in_group(&plan.flows[flow]) && network.may_pass(&plan.flows[flow], hop);
        let flows: Vec<usize> = (0..plan.flows.len()).filter(passes).collect();
        if flows.is_empty() && plan.flows.iter().any(|flow| flow.group == group) {
            let name = &network.links[hop.0].name;
            let message = format!("no data of `{wanted}` traverses `{name}` in this direction");
            problems.at(place!["losses", i, "link"], message).label("not on their path");
        }
        let loses = Loses::Scripted { flows, segments: segments.clone(), transmission };
        losses.push(LossPlan { hop, loses });
    }
    losses
}

fn lossy(entry: &LossesEntry) -> Lossy {
    entry.packets.unwrap_or(Lossy::Data)
}

/// Returns the probability if it is present and valid.
fn probability(
    i: usize,
    kind: LossKind,
    entry: &LossesEntry,
    problems: &mut Problems<'_>,
) -> Option<f64> {
    let Some(probability) = entry.probability else {
        missing(i, (kind, "probability"), "probability = 0.001", problems);
        return None;
    };
    valid_probability(i, "probability", probability, problems)
}

/// Returns a valid probability.
fn valid_probability(
    i: usize,
    key: &str,
    probability: Probability,
    problems: &mut Problems<'_>,
) -> Option<f64> {
    if probability.0 > 1.0 {
        let message = format!("probability `{}` is above 1", probability.0);
        problems.at(place!["losses", i, key], message).label("must be from 0 to 1");
        return None;
    }
    Some(probability.0)
}

/// Returns the corruption of an entry.
fn corruption(i: usize, entry: &LossesEntry, problems: &mut Problems<'_>) -> Option<Loses> {
    let spoils = match (entry.probability, entry.bit_error_rate) {
        (None, None) => {
            let example = "bit_error_rate = 1e-9, or probability = 0.001";
            missing(i, (LossKind::Corruption, "bit_error_rate"), example, problems);
            return None;
        }
        (Some(_), Some(_)) => {
            let message = "both `bit_error_rate` and `probability`";
            problems.at(place!["losses", i, "probability"], message).label("omit one of them");
            return None;
        }
        (Some(probability), None) => {
            Spoils::Packets(valid_probability(i, "probability", probability, problems)?)
        }
        (None, Some(rate)) => Spoils::Bits(valid_probability(i, "bit_error_rate", rate, problems)?),
    };
    Some(Loses::Corruption { lossy: lossy(entry), spoils })
}

/// Returns the Gilbert-Elliott model of an entry.
fn gilbert_elliott(i: usize, entry: &LossesEntry, problems: &mut Problems<'_>) -> Option<Loses> {
    let (Some(worsens), Some(mends)) = (entry.good_to_bad, entry.bad_to_good) else {
        let missed = if entry.good_to_bad.is_none() { "good_to_bad" } else { "bad_to_good" };
        let example = "good_to_bad = 0.001 and bad_to_good = 0.25, for bursts of four packets";
        missing(i, (LossKind::GilbertElliott, missed), example, problems);
        return None;
    };
    let mut each = |key, given: Option<Probability>, default| {
        given.map_or(Some(default), |given| valid_probability(i, key, given, problems))
    };
    let turns = [each("good_to_bad", Some(worsens), 0.0), each("bad_to_good", Some(mends), 0.0)];
    let loses = [
        each("loss_in_good", entry.loss_in_good, 0.0),
        each("loss_in_bad", entry.loss_in_bad, 1.0),
    ];
    let [Some(worsens), Some(mends)] = turns else { return None };
    let [Some(good), Some(bad)] = loses else { return None };
    if worsens + mends == 0.0 {
        problems
            .at(place!["losses", i, "good_to_bad"], "the state never changes")
            .label("`good_to_bad` or `bad_to_good` must be above zero");
        return None;
    }
    let (turns, loses) = ([worsens, mends], [good, bad]);
    Some(Loses::GilbertElliott { lossy: lossy(entry), turns, loses })
}

/// Returns the period: n as written, or the integer nearest to 1/p.
fn period(i: usize, entry: &LossesEntry, problems: &mut Problems<'_>) -> Option<NonZeroU32> {
    match (entry.period, entry.probability) {
        (None, None) => {
            let example = "period = 1000, or probability = 0.001";
            missing(i, (LossKind::Periodic, "period"), example, problems);
            None
        }
        (Some(_), Some(_)) => {
            let message = "both `period` and `probability`";
            problems.at(place!["losses", i, "probability"], message).label("omit one of them");
            None
        }
        (Some(period), None) => {
            let period = NonZeroU32::new(period.0);
            if period.is_none() {
                problems
                    .at(place!["losses", i, "period"], "period is zero")
                    .label("must be above zero");
            }
            period
        }
        (None, Some(_)) => {
            let probability = probability(i, LossKind::Periodic, entry, problems)?;
            let nearest = (1.0 / probability).round();
            #[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
            let period = (nearest <= f64::from(u32::MAX)).then_some(nearest as u32);
            let period = period.and_then(NonZeroU32::new);
            if period.is_none() {
                let message = format!("`{probability}` is not 1 divided by a period");
                let label = "must be above 1 in 4294967296";
                problems.at(place!["losses", i, "probability"], message).label(label);
            }
            period
        }
    }
}

/// Reports losses of packets that do not use the link.
fn check_traffic(
    i: usize,
    lossy: Lossy,
    hops: &[DirectedLink],
    plan: &Draft,
    network: &Network,
    problems: &mut Problems<'_>,
) {
    for &(link, direction) in hops {
        let data = plan.flows.iter().any(|flow| network.may_pass(flow, (link, direction)));
        let mut answers = plan.flows.iter().filter(|flow| flow.tcp.is_some());
        let acks = answers.any(|flow| network.may_pass(flow, (link, 1 - direction)));
        let (fits, what) = match lossy {
            Lossy::Data => (data, "data"),
            Lossy::Acks => (acks, "ACKs"),
            Lossy::Both => (data || acks, "packets"),
        };
        if !fits && !plan.flows.is_empty() {
            let name = &network.links[link].name;
            let message = format!("no {what} of any flow traverses `{name}` in this direction");
            problems.at(place!["losses", i, "link"], message).label("not on a path of theirs");
        }
    }
}
