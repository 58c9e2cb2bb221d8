//! Pairs of nodes, and their probabilities.

use optcp_des::Stream;
use optcp_units::nearest::suggestion;

use crate::library::Library;
use crate::problem::Problems;
use crate::schema::{PairsTable, Weights};
use crate::tree::{Step, place};

use super::bounds::MOST;
use super::network::Network;
use super::ways::Ways;
use crate::warnings::WarningKind;

/// Maximum number of pairs to draw from.
const MOST_DRAWN_FROM: usize = 2_000_000;

/// Sources and destinations, with relative probabilities; no weights if all pairs are equal.
#[derive(Default)]
pub(super) struct Pairs {
    pub ends: Vec<[usize; 2]>,
    pub weights: Vec<u64>,
}

/// Returns the pairs of a table.
pub(super) fn pairs(
    table: &PairsTable,
    place: &[Step<'_>],
    network: &mut Network,
    library: &Library,
    problems: &mut Problems<'_>,
) -> Option<Pairs> {
    let at = |key: &'static str| [place, place![key]].concat();
    let (from, to) = match (&table.among, &table.from, &table.to) {
        (Some(group), None, None) => {
            let members = members(group, &at("among"), network, problems)?;
            (members.clone(), members)
        }
        (None, Some(from), Some(to)) => {
            let from = members(from, &at("from"), network, problems);
            (from?, members(to, &at("to"), network, problems)?)
        }
        _ => {
            problems
                .at(place, "pairs of nodes are not clear")
                .label("needs either `among`, or `from` and `to`");
            return None;
        }
    };
    let most = if table.count.is_some() { MOST_DRAWN_FROM } else { MOST };
    if from.len().saturating_mul(to.len()) > most {
        problems.at(place, format!("more than {most} pairs"));
        return None;
    }
    if table.count.is_none() && table.seed.is_some() {
        problems
            .at(&at("seed"), "`seed` without `count`")
            .label("without `count`, every pair is used once");
    }
    if table.count.is_some_and(|count| count.0 == 0) {
        problems.at(&at("count"), "`count` is zero").label("must be above zero");
    }
    let all: Vec<[usize; 2]> = from
        .iter()
        .flat_map(|&a| to.iter().map(move |&b| [a, b]))
        .filter(|[a, b]| a != b)
        .collect();
    let weight = weights(table, &all, place, network, library, problems)?;
    let weighted = all.into_iter().zip(weight);
    // A pair with weight zero is excluded.
    let (ends, weights): (Vec<_>, Vec<_>) = weighted.filter(|(_, weight)| *weight > 0).unzip();
    if ends.is_empty() {
        problems.at(place, "no such pair of nodes");
        return None;
    }
    let alike = weights.windows(2).all(|two| two[0] == two[1]);
    Some(Pairs { ends, weights: if alike { Vec::new() } else { weights } })
}

/// Warns of weights that no draw uses.
pub(super) fn warn_of_weights(
    (section, i): (&'static str, usize),
    table: Option<&PairsTable>,
    found: &Ways,
    problems: &mut Problems<'_>,
) {
    let Some(table) = table.filter(|_| found.drawn.is_none() && !found.weights.is_empty()) else {
        return;
    };
    let (each, remedy) = match section {
        "traffic" => ("the same sources", "`count` with a `seed`"),
        _ => ("the same number of flows", "`count`, `load` or `arrivals`"),
    };
    let key = if table.matrix.is_some() { "matrix" } else { "weights" };
    let message = format!(
        "every pair has {each}, whatever its weight: add {remedy} to use the weights of `{key}`"
    );
    problems.warn(WarningKind::WeightsUnused, place![section, i, "pairs", key], message);
}

/// Returns the members of a group, or a node.
pub(super) fn members(
    name: &str,
    place: &[Step<'_>],
    network: &mut Network,
    problems: &mut Problems<'_>,
) -> Option<Vec<usize>> {
    if let Some(members) = network.group.get(name) {
        return Some(members.clone());
    }
    if let Some(node) = network.find_node(name) {
        return Some(vec![node]);
    }
    if network.is_new_problem(name) {
        let names = network.group.keys().chain(&network.nodes).map(String::as_str);
        let help = suggestion(name, "groups and nodes", names);
        let message = format!("unknown node or group `{name}`");
        problems.at(place, message).label("not in [[nodes]]").help(help);
    }
    None
}

fn weights(
    table: &PairsTable,
    pairs: &[[usize; 2]],
    place: &[Step<'_>],
    network: &Network,
    library: &Library,
    problems: &mut Problems<'_>,
) -> Option<Vec<u64>> {
    let listed = |entries: &[(usize, usize, u64)],
                  key: &dyn Fn([usize; 2]) -> Option<[usize; 2]>| {
        let mut of = std::collections::BTreeMap::new();
        for &(a, b, weight) in entries {
            let sum: &mut u64 = of.entry([a, b]).or_default();
            *sum = sum.saturating_add(weight);
        }
        let weight = |&pair: &[usize; 2]| of.get(&key(pair)?).copied();
        pairs.iter().map(|pair| u128::from(weight(pair).unwrap_or(0))).collect()
    };
    // Traffic of hosts counts for their topology node.
    let stood_for: Vec<Option<usize>> =
        (0..network.nodes.len()).map(|node| network.stands_for(node)).collect();
    let weights: Vec<u128> = match (table.weights, &table.matrix) {
        (Some(_), Some(_)) => {
            let place = [place, place!["matrix"]].concat();
            problems.at(&place, "both `weights` and `matrix`").label("omit one of them");
            return None;
        }
        (None | Some(Weights::Uniform), None) => vec![1; pairs.len()],
        (Some(Weights::Gravity), None) => {
            let mass = |node: usize| {
                let links = network.links.iter().filter(|link| link.ends.contains(&node));
                let rate =
                    links.map(|link| link.directions[usize::from(link.ends[0] != node)].rate);
                rate.map(|rate| u128::from(rate.bps() / 1000).max(1)).sum::<u128>()
            };
            let masses: Vec<u128> = (0..network.nodes.len()).map(mass).collect();
            let weight = |&[a, b]: &[usize; 2]| {
                let [a, b] = [a, b].map(|node| stood_for[node].unwrap_or(node));
                if a == b { 0 } else { masses[a].saturating_mul(masses[b]) }
            };
            pairs.iter().map(weight).collect()
        }
        (Some(Weights::Demands), None) => {
            if network.demands.is_empty() {
                let place = [place, place!["weights"]].concat();
                problems
                    .at(&place, "no demands in the topology")
                    .label("networks such as `sndlib/...` include demands");
                return None;
            }
            let cities = |[a, b]: [usize; 2]| {
                let cities = [stood_for[a]?, stood_for[b]?];
                (cities[0] != cities[1]).then_some(cities)
            };
            listed(&network.demands, &cities)
        }
        (None, Some(file)) => {
            let place = [place, place!["matrix"]].concat();
            let matrix = match library.matrix(file) {
                Ok(matrix) => matrix,
                Err(message) => {
                    problems.at(&place, message);
                    return None;
                }
            };
            if let Some((line, [from, to, text])) = &matrix.heading
                && [from, to].iter().all(|name| network.find_node(name).is_some())
            {
                problems
                    .at(&place, format!("`{file}`, line {line}: column `weight`: `{text}`"))
                    .label("expected a number such as `3` or `0.0004`");
                return None;
            }
            let mut found = Vec::new();
            for (line, from, to, weight) in &matrix.rows {
                let [a, b] = [from, to].map(|name| network.find_node(name));
                let (Some(a), Some(b)) = (a, b) else {
                    let (column, name) = if a.is_none() { ("from", from) } else { ("to", to) };
                    let help = suggestion(name, "nodes", network.nodes.iter().map(String::as_str));
                    let message =
                        format!("`{file}`, line {line}: column `{column}`: unknown node `{name}`");
                    problems.at(&place, message).help(help);
                    return None;
                };
                found.push((a, b, *weight));
            }
            listed(&found, &Some)
        }
    };
    Some(scaled_weights(&weights))
}

/// Scales the weights so that their sum fits into 64 bits; positive weights stay positive.
fn scaled_weights(weights: &[u128]) -> Vec<u64> {
    let sum = weights.iter().fold(0_u128, |sum, &weight| sum.saturating_add(weight));
    let shift = (128 - sum.leading_zeros()).saturating_sub(62);
    let fit =
        |&weight: &u128| u64::try_from((weight >> shift).max(weight.min(1))).unwrap_or(u64::MAX);
    weights.iter().map(fit).collect()
}

/// Draws one of `count` items in proportion to its weight.
pub fn pick(count: usize, weights: &[u64], stream: &mut Stream) -> usize {
    let below = |bound: u64| usize::try_from(bound).unwrap_or(usize::MAX);
    if weights.is_empty() {
        return below(stream.below(count as u64));
    }
    let mut left = stream.below(weights.iter().sum());
    weights
        .iter()
        .position(|&weight| match left.checked_sub(weight) {
            None => true,
            Some(rest) => {
                left = rest;
                false
            }
        })
        .unwrap_or(0)
}
