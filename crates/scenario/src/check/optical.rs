//! Fibres of `[optical]`, and the lightpaths of links over them.

use std::collections::{BTreeMap, BTreeSet};

use optcp_optical::lightpath::{Fibre, Lightpath, OpticalLayer, Recovery, RecoveryTiming};
use optcp_units::Duration;
use optcp_units::nearest::suggestion;

use crate::library::{GraphFibre, GraphFibres, Library};
use crate::plan::{ChangePlan, OpticalPlan, RiskPlan, Spread};
use crate::problem::Problems;
use crate::schema::{File, FoundLightpath, ListOr, OpticalTable, Span};
use crate::tree::{Step, place};

use super::bounds::check_name;
use super::draft::Draft;
use super::network::Network;
use super::topology::{reference, travel};

/// Maximum number of fibres.
const MOST_FIBRES: usize = 20_000;

/// Adds fibres, sets the delays of the links over them, and adds a shared risk per fibre and duct.
pub(super) fn optical(
    file: &File,
    library: &Library,
    plan: &mut Draft,
    network: &mut Network,
    problems: &mut Problems<'_>,
) {
    let table = file.optical.clone().unwrap_or_default();
    let (of_file, paths) = of_topology(file, library, problems).unwrap_or_default();
    let mut fibres = Fibres::default();
    let per_km = table.delay_per_km;
    for (i, entry) in table.fibres.iter().enumerate() {
        let place = place!["optical", "fibres", i];
        if entry.km.is_some() == entry.delay.is_some() {
            problems
                .at(place, "length of the fibre is not clear")
                .label("needs either `km` or `delay`");
            continue;
        }
        if entry.wavelengths.is_some_and(|count| count.0 == 0) {
            problems.at(place!["optical", "fibres", i, "wavelengths"], "fibre without wavelengths");
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
        let length_mm = entry.km.map(|km| (km.0 * 1e6).round() as u64);
        let fibre = GraphFibre {
            ends: entry.ends.clone(),
            name: entry.name.clone(),
            delay_ps: entry.delay.map(|delay| delay.0.as_ps()),
            length_mm,
            duct: entry.duct.clone(),
            wavelengths: entry.wavelengths.map(|count| count.0),
        };
        fibres.add(fibre, per_km, place, problems);
    }
    for fibre in of_file {
        fibres.add(fibre, per_km, place!["topology", "fibres"], problems);
    }
    let recovery = table.recovery.unwrap_or(Recovery::None);
    unused_keys(file.optical.as_ref(), recovery, fibres.found.is_empty(), problems);
    let span = |span: Option<Span>| span.map_or(Duration::ZERO, |span| span.0);
    let mut layer = OpticalLayer {
        nodes: fibres.nodes.len(),
        fibres: std::mem::take(&mut fibres.found),
        ducts: fibres.ducts.values().cloned().collect(),
        lightpaths: Vec::new(),
        recovery,
        timing: RecoveryTiming {
            detection: span(table.detection),
            computation: span(table.computation),
            set_up: span(table.set_up),
            signal_processing: table.signal_processing.map(|processing| processing.0),
            wait_to_restore: table.wait_to_restore.map(|wait| wait.0),
        },
    };
    let mut links = Vec::new();
    for link in 0..network.links.len() {
        let entry = network.links[link].entry;
        let (over, place) = match entry {
            Some(i) => (file.links[i].over.clone(), place!["links", i, "over"].to_vec()),
            None => (of_link(&paths, link), place!["topology", "fibres"].to_vec()),
        };
        let Some(over) = over else { continue };
        let Some((ends, working)) = fibres.path(&over, link, &layer, network, &place, problems)
        else {
            continue;
        };
        let delay = Spread::Fixed(layer.delay(&working).min(Duration::LONGEST));
        network.links[link].directions.iter_mut().for_each(|port| port.delay = delay.clone());
        network.links[link].shared_delay = true;
        let backup = match recovery {
            Recovery::Protection => layer.backup(ends, &working),
            Recovery::None | Recovery::Restoration => Vec::new(),
        };
        layer.lightpaths.push(Lightpath { ends, working, backup });
        links.push(link);
    }
    if layer.fibres.is_empty() {
        return;
    }
    check_wavelengths(&layer, &fibres, problems);
    for name in fibres.names.iter().filter(|name| fibres.ducts.contains_key(*name)) {
        let place = &fibres.places[fibres.ducts[name][0]];
        problems.at(place, format!("duct `{name}` has the name of a fibre"));
    }
    let over = |these: &[usize]| -> Vec<usize> {
        let uses = |one: &Lightpath| one.working.iter().any(|fibre| these.contains(fibre));
        let found = links.iter().zip(&layer.lightpaths).filter(|(_, one)| uses(one));
        found.map(|(&link, _)| link).collect()
    };
    let single = fibres.names.iter().enumerate().map(|(at, name)| (name, vec![at]));
    let ducts = fibres.ducts.iter().map(|(name, members)| (name, members.clone()));
    plan.risks.extend(single.chain(ducts).map(|(name, these)| RiskPlan {
        name: name.clone(),
        links: over(&these),
        fibres: these,
    }));
    plan.optical = Some(OpticalPlan { layer, names: fibres.names, links, failures: Vec::new() });
}

/// Returns the fibres of the topology file, and the path of each link over them.
fn of_topology(file: &File, library: &Library, problems: &mut Problems<'_>) -> Option<GraphFibres> {
    let table = file.topology.as_ref()?;
    table.fibres?;
    match library.fibres(reference(table)?) {
        Ok((fibres, paths)) if !fibres.is_empty() => Some((fibres, paths)),
        Ok(_) => {
            problems.at(place!["topology", "fibres"], "the file has no fibres");
            None
        }
        Err(message) => {
            problems.at(place!["topology", "fibres"], message);
            None
        }
    }
}

/// Returns the path of a topology link; an empty one is found.
fn of_link(paths: &[Option<Vec<String>>], link: usize) -> Option<ListOr<FoundLightpath>> {
    let path = paths.get(link)?.clone()?;
    Some(if path.is_empty() { ListOr::Found(FoundLightpath::Shortest) } else { ListOr::List(path) })
}

/// Reports keys of `[optical]` that have no effect.
fn unused_keys(
    table: Option<&OpticalTable>,
    recovery: Recovery,
    no_fibres: bool,
    problems: &mut Problems<'_>,
) {
    let Some(table) = table else { return };
    if no_fibres {
        problems.at(place!["optical"], "`[optical]` without fibres").label("needs `fibres`");
        return;
    }
    let given = [
        ("detection", table.detection.is_some()),
        ("computation", table.computation.is_some()),
        ("set_up", table.set_up.is_some()),
        ("signal_processing", table.signal_processing.is_some()),
        ("wait_to_restore", table.wait_to_restore.is_some()),
    ];
    for (key, _) in given.into_iter().filter(|&(_, given)| given && recovery == Recovery::None) {
        problems
            .at(place!["optical", key], format!("`{key}` is not used here"))
            .label("needs `recovery = \"restoration\"` or `\"protection\"`");
    }
}

fn check_wavelengths(layer: &OpticalLayer, fibres: &Fibres, problems: &mut Problems<'_>) {
    for (at, fibre) in layer.fibres.iter().enumerate() {
        let carried = layer.lightpaths.iter().filter(|one| one.working.contains(&at)).count();
        if fibre.wavelengths.is_some_and(|most| carried > most as usize) {
            let most = fibre.wavelengths.unwrap_or(0);
            let name = &fibres.names[at];
            let message =
                format!("fibre `{name}` carries {carried} lightpaths; its limit is {most}");
            problems.at(&fibres.places[at], message);
        }
    }
}

/// Fibres by name.
#[derive(Default)]
struct Fibres {
    found: Vec<Fibre>,
    names: Vec<String>,
    /// Places in the file, for messages.
    places: Vec<Vec<Step<'static>>>,
    /// Optical nodes by name.
    nodes: BTreeMap<String, usize>,
    /// Fibres of each duct.
    ducts: BTreeMap<String, Vec<usize>>,
}

impl Fibres {
    fn node(&mut self, name: &str) -> usize {
        let next = self.nodes.len();
        *self.nodes.entry(name.to_owned()).or_insert(next)
    }

    fn add(
        &mut self,
        fibre: GraphFibre,
        per_km: Option<Span>,
        place: &[Step<'static>],
        problems: &mut Problems<'_>,
    ) {
        let GraphFibre { ends: [a, b], name, delay_ps, length_mm, duct, wavelengths } = fibre;
        let name = name.unwrap_or_else(|| format!("{a}-{b}"));
        for name in [Some(&a), Some(&b), Some(&name), duct.as_ref()].into_iter().flatten() {
            check_name(name, place, problems);
        }
        if a == b {
            problems.at(place, format!("a fibre from `{a}` to itself"));
            return;
        }
        if self.names.contains(&name) {
            problems
                .at(place, format!("fibre `{name}` exists already"))
                .help("give each parallel fibre a `name`".to_owned());
            return;
        }
        if self.names.len() == MOST_FIBRES {
            problems.at(place, format!("more than {MOST_FIBRES} fibres"));
            return;
        }
        let delay = delay_ps.map(Duration::from_ps).or(length_mm.map(|mm| travel(mm, per_km)));
        let Some(delay) = delay.filter(|delay| *delay <= Duration::LONGEST) else {
            problems
                .at(place, format!("the length of fibre `{name}` is unknown or too large"))
                .label(format!("a delay of at most {}", Duration::LONGEST));
            return;
        };
        let ends = [self.node(&a), self.node(&b)];
        if let Some(duct) = duct {
            self.ducts.entry(duct).or_default().push(self.names.len());
        }
        self.found.push(Fibre { ends, delay, wavelengths });
        self.names.push(name);
        self.places.push(place.to_vec());
    }

    /// Returns the optical nodes at the ends of a link, and the fibres of its path.
    fn path(
        &self,
        over: &ListOr<FoundLightpath>,
        link: usize,
        layer: &OpticalLayer,
        network: &Network,
        place: &[Step<'_>],
        problems: &mut Problems<'_>,
    ) -> Option<([usize; 2], Vec<usize>)> {
        let link = &network.links[link];
        match over {
            ListOr::Found(FoundLightpath::Shortest) => {
                let mut ends = [0; 2];
                for (end, node) in ends.iter_mut().zip(link.ends) {
                    *end = self.known(&network.nodes[node], place, problems)?;
                }
                let found = layer.shortest(ends, &BTreeSet::new());
                if found.is_none() {
                    let message =
                        format!("no fibres lead from one end of link `{}` to the other", link.name);
                    problems.at(place, message);
                }
                Some((ends, found?))
            }
            ListOr::List(items) => {
                let found = self.listed(items, layer, place, problems)?;
                let named = link.ends.map(|node| self.nodes.get(&network.nodes[node]).copied());
                if let [Some(a), Some(b)] = named
                    && found.0 != [a, b]
                    && found.0 != [b, a]
                {
                    let message = format!(
                        "the path does not lead from one end of link `{}` to the other",
                        link.name
                    );
                    problems.at(place, message);
                }
                Some(found)
            }
        }
    }

    fn known(&self, name: &str, place: &[Step<'_>], problems: &mut Problems<'_>) -> Option<usize> {
        let found = self.nodes.get(name).copied();
        if found.is_none() {
            let help = suggestion(name, "optical nodes", self.nodes.keys().map(String::as_str));
            problems.at(place, format!("`{name}` is not an optical node")).help(help);
        }
        found
    }

    /// Returns a path that lists nodes, and fibres between two of them.
    fn listed(
        &self,
        items: &[String],
        layer: &OpticalLayer,
        place: &[Step<'_>],
        problems: &mut Problems<'_>,
    ) -> Option<([usize; 2], Vec<usize>)> {
        let mut nodes: Vec<usize> = Vec::new();
        let mut path = Vec::new();
        let mut named: Option<usize> = None;
        for item in items {
            if let (Some(at), false) =
                (self.names.iter().position(|name| name == item), nodes.is_empty())
            {
                named = Some(at);
                continue;
            }
            let node = self.known(item, place, problems)?;
            if let Some(&last) = nodes.last() {
                let ends = [last, node];
                let joins = |&at: &usize| {
                    let fibre = layer.fibres[at].ends;
                    fibre == ends || fibre == [node, last]
                };
                let between: Vec<usize> = match named {
                    Some(at) => [at].into_iter().filter(joins).collect(),
                    None => (0..layer.fibres.len()).filter(joins).collect(),
                };
                let [only] = between[..] else {
                    let before = self.nodes.iter().find(|&(_, &at)| at == last);
                    let before = before.map_or("", |(name, _)| name);
                    let (message, label) = match between.len() {
                        0 => (
                            format!("no such fibre between `{before}` and `{item}`"),
                            "not in `fibres`",
                        ),
                        _ => (
                            format!("several fibres between `{before}` and `{item}`"),
                            "write the name of one between the two nodes",
                        ),
                    };
                    problems.at(place, message).label(label);
                    return None;
                };
                path.push(only);
                named = None;
            }
            nodes.push(node);
        }
        let distinct: BTreeSet<usize> = nodes.iter().copied().collect();
        let (Some(&first), Some(&last)) = (nodes.first(), nodes.last()) else {
            problems.at(place, "path without nodes").label("lists optical nodes");
            return None;
        };
        if path.is_empty() || named.is_some() || distinct.len() < nodes.len() {
            problems
                .at(place, "not a path over fibres")
                .label("lists two or more optical nodes, each once, from one end to the other");
            return None;
        }
        Some(([first, last], path))
    }
}

/// Reports scheduled delays of links whose lightpaths change their paths.
pub(super) fn scheduled(plan: &Draft, network: &Network, problems: &mut Problems<'_>) {
    let Some(optical) = plan.optical.as_ref().filter(|one| one.layer.recovery != Recovery::None)
    else {
        return;
    };
    for (i, schedule) in plan.schedules.iter().enumerate() {
        for (hop, change) in schedule.steps.iter().flat_map(|step| &step.changes) {
            let moves = matches!(change, ChangePlan::Delay(_) | ChangePlan::Drift(_));
            if moves && optical.links.contains(&hop.0) {
                let name = &network.links[hop.0].name;
                problems
                    .at(place!["schedules", i], format!("scheduled delay of link `{name}`"))
                    .label("`recovery` of `[optical]` changes this delay");
                return;
            }
        }
    }
}
