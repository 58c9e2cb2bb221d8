//! Static forwarding: `[forwarding]`.

use std::collections::HashMap;

use optcp_units::Time;

use crate::library::Library;
use crate::plan::{DirectedLink, ForwardingPlan, ForwardingStep};
use crate::problem::Problems;
use crate::schema::{File, ForwardingEntry, ForwardingTable};
use crate::tree::{Step, place};

use super::draft::Draft;
use super::network::Network;
use super::traced::rows;

/// Name for no route.
const NONE: &str = "none";
/// Separator between the nodes of a path.
const THEN: char = '>';
/// Maximum number of entries, a limit of the memory use.
const MOST_ENTRIES: usize = 5_000_000;

/// Reads the table.
pub(super) fn forwarding(
    file: &File,
    library: &Library,
    plan: &mut Draft,
    network: &mut Network,
    problems: &mut Problems<'_>,
) {
    let Some(table) = &file.forwarding else { return };
    let before = problems.found.len();
    plan.forwarding = Some(read(file, table, library, network, problems));
    // The paths of flows cannot be checked then.
    network.incomplete |= problems.found.len() > before;
}

fn read(
    file: &File,
    table: &ForwardingTable,
    library: &Library,
    network: &mut Network,
    problems: &mut Problems<'_>,
) -> ForwardingPlan {
    let with = [
        ("[routing]", file.routing.is_some()),
        ("[[voqs]]", !file.voqs.is_empty()),
        ("[core]", file.core.is_some()),
    ];
    for (other, _) in with.into_iter().filter(|(_, given)| *given) {
        problems
            .at(place!["forwarding"], format!("`[forwarding]` in a scenario with {other}"))
            .label("needs plain links between nodes");
    }
    let before = problems.found.len();
    let mut reader = Reader { plan: ForwardingPlan::default(), known: HashMap::new() };
    match (&table.entries[..], &table.file) {
        ([], None) => {
            problems.at(place!["forwarding"], "no entries").label("needs `entries` or `file`");
        }
        (entries, None) => {
            for (i, entry) in entries.iter().enumerate() {
                reader.entry(entry, place!["forwarding", "entries", i], network, problems);
            }
        }
        ([], Some(name)) => {
            let place = place!["forwarding", "file"];
            let Some(entries) = rows::<ForwardingEntry>(name, "entry", place, library, problems)
            else {
                return reader.plan;
            };
            for (line, entry) in entries {
                reader.entry(&entry, place, network, problems);
                for problem in &mut problems.found[before..] {
                    problem.message = format!("`{name}`, line {line}: {}", problem.message);
                }
                if problems.found.len() > before {
                    // Later lines probably contain the same mistake.
                    return reader.plan;
                }
            }
        }
        _ => {
            problems
                .at(place!["forwarding"], "two sources of entries")
                .label("needs either `entries` or `file`");
        }
    }
    let mut found = reader.plan;
    if found.entries.len() > MOST_ENTRIES {
        let message = format!("{} entries", found.entries.len());
        problems.at(place!["forwarding"], message).label(format!("at most {MOST_ENTRIES}"));
    }
    found.entries.sort_by_key(|entry| entry.at);
    found
}

/// Reader of entries.
struct Reader {
    plan: ForwardingPlan,
    /// Known paths, by first node and text.
    known: HashMap<(usize, String), Option<usize>>,
}

impl Reader {
    fn entry(
        &mut self,
        entry: &ForwardingEntry,
        place: &[Step<'_>],
        network: &mut Network,
        problems: &mut Problems<'_>,
    ) {
        let at = |key: &'static str| [place, &[Step::from(key)]].concat();
        let names = [&*entry.node, &*entry.to];
        let ends = network.ends(names, [&at("node"), &at("to")], problems);
        for [node, to] in ends.unwrap_or_default() {
            if node == to {
                let message = format!("`{}` is the destination itself", network.name(node));
                problems.at(&at("to"), message).label("packets for it end there");
                return;
            }
            let key = (node, entry.next.clone());
            let way = match self.known.get(&key) {
                Some(&way) => way,
                None => {
                    let found = self.way(node, &entry.next, &at("next"), network, problems);
                    let Some(way) = found else { return };
                    self.known.insert(key, way);
                    way
                }
            };
            let at = entry.at.map_or(Time::ZERO, |at| Time::ZERO + at.0);
            self.plan.entries.push(ForwardingStep { at, node, to, way });
        }
    }

    /// Returns the path of an entry; `None` if a problem was reported.
    fn way(
        &mut self,
        node: usize,
        next: &str,
        place: &[Step<'_>],
        network: &mut Network,
        problems: &mut Problems<'_>,
    ) -> Option<Option<usize>> {
        if next == NONE {
            return Some(None);
        }
        let next = next.split(THEN).map(|name| name.trim().to_owned());
        let names: Vec<String> =
            std::iter::once(network.name(node).to_owned()).chain(next).collect();
        let routes = network.routes(&names, place, problems)?;
        let [route] = &routes[..] else {
            problems.at(place, "several paths").label("needs a sequence of nodes");
            return None;
        };
        let special = |&&(link, _): &&DirectedLink| {
            let link = &network.links[link];
            link.wavelengths.is_some() || !link.over.is_empty()
        };
        if !route.bundles.is_empty() || route.hops.iter().any(|hop| special(&hop)) {
            problems.at(place, "not a path of links").label("only links are allowed");
            return None;
        }
        self.plan.ways.push(route.hops.clone());
        Some(Some(self.plan.ways.len() - 1))
    }
}
