//! Link costs and `[routing]`.

use optcp_routing::{Converge, Mechanism, Protect, Routes, TunnelTtl};
use optcp_units::Duration;

use crate::plan::{DirectedLink, RoutingPlan, Spread};
use crate::problem::Problems;
use crate::routed::topology;
use crate::schema::{Cost, File, RoutingTable, Span};
use crate::tree::{Step, place};

use super::draft::Draft;
use super::network::{Network, checked};

/// Maximum number of routers: every router has a route to every other.
const MOST_ROUTERS: usize = 2000;

/// Delay that corresponds to a cost of 1.
const DELAY_UNIT: Duration = Duration::from_us(1);

/// Sets the link costs and reads the table; returns the shortest paths.
pub(super) fn routing(
    file: &File,
    plan: &mut Draft,
    network: &mut Network,
    problems: &mut Problems<'_>,
) -> Option<Routes> {
    costs(file, network, problems);
    let table = file.routing.as_ref()?;
    check_keys(table, problems);
    let update = checked(table.update.as_ref(), false, place!["routing", "update"], problems);
    let span = |span: Option<Span>| span.map_or(Duration::ZERO, |span| span.0);
    let detection = span(table.detection);
    plan.routing = Some(RoutingPlan {
        mechanism: table.repair.unwrap_or(Mechanism::None),
        protect: table.protect.unwrap_or(Protect::Link),
        detection,
        detection_up: table.detection_up.map_or(detection, |up| up.0),
        hold_down: span(table.hold_down),
        converge: table.converge.unwrap_or(Converge::Own),
        flooding: span(table.flooding),
        spf: span(table.spf),
        update,
        hold: span(table.hold),
        ttl: table.ttl.unwrap_or(TunnelTtl::Uniform),
        ecmp: table.ecmp,
        ecmp_seed: table.ecmp_seed.map(|seed| seed.0),
    });
    let routers = network.nodes.len();
    if routers > MOST_ROUTERS {
        let message = format!("too many nodes for routing: {routers}");
        problems.at(place!["routing"], message).label(format!("at most {MOST_ROUTERS}"));
        return None;
    }
    if network.incomplete {
        return None;
    }
    bundles(table, network, problems);
    mechanism(table, network, problems);
    Some(Routes::new(&topology(routers, &network.links, &network.bundles)))
}

/// Sets the cost of each link.
fn costs(file: &File, network: &mut Network, problems: &mut Problems<'_>) {
    if let Some(table) = &file.topology {
        let place = place!["topology", "cost"];
        let written = table.cost.as_ref().map(|cost| cost.0.all().copied());
        'links: for link in 0..network.links.len() {
            if network.links[link].entry.is_some() {
                continue;
            }
            let of_file = network.of_file.costs.get(link);
            for direction in [0, 1] {
                let own = of_file.and_then(|both| both[direction]).map(Cost::Fixed);
                let given = written.and_then(|all| all.or(own));
                let delay = &network.links[link].directions[direction].delay;
                let Some(cost) = cost(file, (given, place), delay, problems) else { break 'links };
                network.links[link].costs[direction] = cost;
            }
        }
    }
    for (i, entry) in file.links.iter().enumerate() {
        let both = (entry.cost, place!["links", i, "cost"]);
        let own = (entry.reverse.cost, place!["links", i, "reverse", "cost"]);
        let back = if own.0.is_some() { own } else { both };
        'entry: for link in network.links.iter_mut().filter(|link| link.entry == Some(i)) {
            for (direction, written) in [both, back].into_iter().enumerate() {
                let delay = &link.directions[direction].delay;
                let Some(cost) = cost(file, written, delay, problems) else { break 'entry };
                link.costs[direction] = cost;
            }
        }
    }
}

/// Returns the cost of a link direction; `None` if it is invalid.
fn cost(
    file: &File,
    (cost, place): (Option<Cost>, &[Step<'_>]),
    delay: &Spread,
    problems: &mut Problems<'_>,
) -> Option<u32> {
    let Some(cost) = cost else { return Some(1) };
    if file.routing.is_none() && !file.finds_paths() {
        problems
            .at(place, "`cost` is not used here")
            .label("needs [routing], or computed paths or backups");
        return None;
    }
    match (cost, delay) {
        (Cost::Fixed(0), _) => {
            problems.at(place, "cost is zero").label("must be above zero");
            None
        }
        (Cost::Fixed(cost), _) => Some(cost),
        (Cost::Delay, delay) => {
            let cost = delay_cost(delay);
            if cost.is_none() {
                problems
                    .at(place, "cost `delay` with a distributed delay")
                    .label("needs one fixed `delay`");
            }
            cost
        }
    }
}

/// Returns the cost of a delay; `None` if the delay is drawn.
pub(super) fn delay_cost(delay: &Spread) -> Option<u32> {
    let Spread::Fixed(delay) = delay else { return None };
    let units = delay.as_ps().div_ceil(DELAY_UNIT.as_ps()).max(1);
    Some(u32::try_from(units).unwrap_or(u32::MAX))
}

/// Reports bundles that routers cannot treat as one link.
fn bundles(table: &RoutingTable, network: &Network, problems: &mut Problems<'_>) {
    for (i, bundle) in network.bundles.iter().enumerate() {
        for way in [0, 1] {
            let cost = |(link, direction): DirectedLink| network.links[link].costs[direction];
            let mut ports = bundle.ports(way);
            let first = ports.next().map(cost);
            if let Some(other) = ports.find(|&port| Some(cost(port)) != first) {
                let [one, other] =
                    [bundle.leader(), other.0].map(|link| network.links[link].name.as_str());
                let message = format!("`{one}` and `{other}` have different costs");
                problems
                    .at(place!["bundles", i, "links"], message)
                    .label("routers treat a bundle as one link with one cost per direction");
                break;
            }
        }
        if table.ecmp.is_some() && bundle.selection.numbers_destinations() {
            let message = format!("flows have different next hops after bundle `{}`", bundle.name);
            problems.at(place!["routing", "ecmp"], message).label(
                "the bundle selects links by next node, which must be unique per destination",
            );
            break;
        }
        if table.ttl == Some(TunnelTtl::Pipe) {
            problems
                .at(place!["routing", "ttl"], "`pipe` tunnels in a network with bundles")
                .label("use `uniform` with bundles");
            break;
        }
    }
}

/// Reports settings that the fast-reroute mechanism excludes.
fn mechanism(table: &RoutingTable, network: &Network, problems: &mut Problems<'_>) {
    let Some(mechanism @ (Mechanism::Mrc | Mechanism::Fifr)) = table.repair else { return };
    let (name, fifr) = (mechanism.name(), mechanism == Mechanism::Fifr);
    let protected = match table.protect {
        Some(Protect::Risk) => Some(Protect::Risk),
        Some(Protect::Node) if fifr => Some(Protect::Node),
        _ => None,
    };
    if let Some(protect) = protected {
        let message = format!("`{name}` does not protect against `{}`", protect.name());
        let label = if fifr { "must be `link`" } else { "must be `link` or `node`" };
        problems.at(place!["routing", "protect"], message).label(label);
    }
    if !fifr {
        return;
    }
    if table.ecmp.is_some() {
        problems
            .at(place!["routing", "ecmp"], "`fifr` with several next hops")
            .label("routers infer failures from one next hop per destination");
    }
    let uneven = network.links.iter().find(|link| link.costs[0] != link.costs[1]);
    if let Some(uneven) = uneven {
        let message = format!("`{}` has different costs per direction", uneven.name);
        problems
            .at(place!["routing", "repair"], message)
            .label("`fifr` needs equal costs in both directions");
    }
}

/// Reports keys without effect.
fn check_keys(table: &RoutingTable, problems: &mut Problems<'_>) {
    if table.ecmp_seed.is_some() && table.ecmp.is_none() {
        problems
            .at(place!["routing", "ecmp_seed"], "`ecmp_seed` is not used here")
            .label("needs `ecmp`");
    }
    if table.repair.unwrap_or(Mechanism::None) != Mechanism::None {
        return;
    }
    for (given, key) in [(table.protect.is_some(), "protect"), (table.ttl.is_some(), "ttl")] {
        if given {
            let message = format!("`{key}` is not used here");
            let label = "repair `none` has no backups";
            problems.at(place!["routing", key], message).label(label);
        }
    }
}

impl Network {
    /// Returns every port: routing may use any of them.
    pub(super) fn all_hops(&self) -> Vec<DirectedLink> {
        (0..self.links.len()).flat_map(|link| [(link, 0), (link, 1)]).collect()
    }
}
