//! Nodes and links of `[topology]`.

use optcp_units::Duration;

use crate::library::{GraphLink, Library, Reference};
use crate::plan::Spread;
use crate::problem::Problems;
use crate::schema::{Delay, File, LinksEntry, Reverse, Span, Speed, TopologyTable};
use crate::tree::{Step, place};

use super::link_values::{Columns, Source};
use super::network::{Network, check_spread};
use super::queues;

/// Delay of light in fibre per km, rounded as planners do.
const PER_KM: Duration = Duration::from_us(5);

const MM_A_KM: u128 = 1_000_000;

/// Adds the nodes and links of the topology to the network.
pub(super) fn topology(
    file: &File,
    library: &Library,
    network: &mut Network,
    problems: &mut Problems<'_>,
) {
    let Some(table) = &file.topology else { return };
    let Some(reference) = reference(table) else {
        problems
            .at(place!["topology"], "name of the network is not clear")
            .label("needs either `name` or `file`");
        network.incomplete = true;
        return;
    };
    let place = match reference {
        Reference::Name(_) => place!["topology", "name"],
        Reference::File(_) => place!["topology", "file"],
    };
    let delay = table.delay.as_ref().and_then(|delay| delay.0.all());
    if delay.is_some() && table.delay_per_km.is_some() {
        problems
            .at(place!["topology", "delay_per_km"], "`delay_per_km` is not used here")
            .label("`delay` replaces the lengths");
    }
    queues::check(&table.queue, file.stop.0, place!["topology", "queue"], problems);
    if let Some(delay) = delay {
        check_spread(&delay.0, false, place!["topology", "delay"], problems);
    }
    let graph = match library.graph(reference) {
        Ok(graph) => graph,
        Err(message) => {
            problems.at(place, message);
            network.incomplete = true;
            return;
        }
    };
    for name in &graph.nodes {
        network.add_node(name.clone(), place, problems);
    }
    if network.nodes.len() != graph.nodes.len() {
        network.incomplete = true;
        return;
    }
    network.of_topology = graph.nodes.len();
    (network.demands, network.places) = (graph.demands, graph.places);
    network.topology_notes = graph.notes;
    if table.rate.0.all().is_some() {
        network.rates_not_read = graph.rates;
    }
    for (node, names) in graph.own_names.into_iter().enumerate() {
        let known = names.into_iter().filter(|name| !name.is_empty());
        network.own_name.extend(known.map(|name| (name, node)));
    }
    if let Some(group) = &table.group {
        network.add_group(group, 0, place!["topology", "group"], problems);
    }
    let name = |link: &GraphLink| {
        let [a, b] = link.ends.map(|node| &graph.nodes[node]);
        link.name.clone().unwrap_or_else(|| format!("{a}-{b}"))
    };
    let links: Vec<String> = graph.links.iter().map(name).collect();
    let source = Source { library, reference, links: &links };
    let Some(columns) = Columns::read(table, &source, problems) else {
        network.incomplete = true;
        return;
    };
    for (at, link) in graph.links.iter().enumerate() {
        let Some(entry) = entry(table, link, (&columns, at), place, &graph.nodes, problems) else {
            network.incomplete = true;
            return;
        };
        if !network.add_link(None, &entry, link.ends, place, problems) {
            network.incomplete = true;
            return;
        }
    }
    network.of_file = columns;
}

/// Returns the network that `[topology]` names; `None` if it names none or two.
pub(super) fn reference(table: &TopologyTable) -> Option<Reference<'_>> {
    match (&table.name, &table.file) {
        (Some(name), None) => Some(Reference::Name(name)),
        (None, Some(path)) => Some(Reference::File(path)),
        _ => None,
    }
}

/// Returns the propagation delay of a length in millimetres.
pub(super) fn travel(mm: u64, per_km: Option<Span>) -> Duration {
    let per_km = per_km.map_or(PER_KM, |span| span.0);
    let ps = (u128::from(mm) * u128::from(per_km.as_ps()) + MM_A_KM / 2) / MM_A_KM;
    Duration::from_ps(u64::try_from(ps).unwrap_or(u64::MAX))
}

/// Returns the `[[links]]` entry that corresponds to a link.
fn entry(
    table: &TopologyTable,
    link: &GraphLink,
    (columns, at): (&Columns, usize),
    place: &[Step<'_>],
    names: &[String],
    problems: &mut Problems<'_>,
) -> Option<LinksEntry> {
    let of_file = columns.delays.get(at).cloned().unwrap_or_default().map(|delay| delay.map(Delay));
    let (rate, rate_back) = match (table.rate.0.all(), columns.rates.get(at)) {
        (None, Some(&[Some(there), Some(back)])) => (Speed(there), Some(Speed(back))),
        (rate, _) => (*rate?, None),
    };
    let [there, back] = of_file;
    let given = there.or_else(|| table.delay.as_ref().and_then(|delay| delay.0.all().cloned()));
    let delay = match (given, link.length_mm) {
        (Some(delay), _) => delay,
        (None, Some(mm)) => {
            let delay = travel(mm, table.delay_per_km);
            if delay > Duration::LONGEST {
                let [a, b] = link.ends.map(|node| &names[node]);
                let message =
                    format!("the link between `{a}` and `{b}` would have a delay of {delay}");
                problems.at(place, message).label(format!("at most {}", Duration::LONGEST));
                return None;
            }
            Delay(Spread::Fixed(delay))
        }
        (None, None) => {
            let [a, b] = link.ends.map(|node| &names[node]);
            problems
                .at(place, format!("unknown length of the link between `{a}` and `{b}`"))
                .help("set one `delay` for all links".to_owned());
            return None;
        }
    };
    // One propagation delay for both directions, unless the file has two.
    let delay_back = back.filter(|back| back.0 != delay.0);
    Some(LinksEntry {
        members: None,
        count: None,
        chain: None,
        chains: None,
        mesh: None,
        name: link.name.clone(),
        rate,
        delay: Some(delay),
        over: None,
        jitter: None,
        overtaking: None,
        queue: table.queue.clone(),
        wavelengths: table.wavelengths,
        spare: table.spare,
        cost: None,
        reverse: Reverse { rate: rate_back, delay: delay_back, ..Reverse::default() },
    })
}
