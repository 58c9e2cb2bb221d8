//! Applications, and the TCP connections that they use.

use std::collections::BTreeMap;

use optcp_routing::Routes;
use optcp_tcp::Config;
use optcp_traffic::{Application, ApplicationKind, PageObject, Parties, Role, Volume};
use optcp_units::nearest::suggestion;
use optcp_units::{Bytes, Duration};

use crate::library::Library;
use crate::plan::{ApplicationPlan, Carries, FlowPlan};
use crate::problem::Problems;
use crate::schema::{ApplicationEntry, File, ListOr};
use crate::tree::place;

use super::amounts::warn_of_rounding;
use super::arrivals::size_distribution;
use super::bounds::{MOST, check_name};
use super::draft::Draft;
use super::network::{Network, checked};
use super::pairs::members;
use super::queue_room::check_queues;
use super::starts::start;
use super::ways::{self, Way};
use super::{queues, tcp};

/// Maximum number of messages of an application in a run.
const MOST_MESSAGES: u64 = 4_000_000;
/// Maximum number of connections of a page, as of browsers.
const USUAL_CONNECTIONS: u32 = 6;
const USUAL_CHUNK: Duration = Duration::from_secs(4);
const USUAL_BUFFER: Duration = Duration::from_secs(30);

/// Expands the applications. Their flows follow the flows of `[[flows]]`.
pub(super) fn applications(
    file: &File,
    library: &Library,
    plan: &mut Draft,
    network: &mut Network,
    shortest: Option<&Routes>,
    problems: &mut Problems<'_>,
) {
    for (i, entry) in file.applications.iter().enumerate() {
        let before = problems.found.len();
        let groups = groups(i, entry, plan, problems);
        check_keys(i, entry, problems);
        let place = place!["applications", i, "start"];
        let start = start(entry.start.as_ref(), "starts", plan.stop, place, problems);
        let parties = parties(i, entry, network, problems);
        let tcp = tcp::find(("applications", i), entry.tcp.as_deref(), plan, problems);
        let (Some(parties), Some(tcp)) = (parties, tcp) else { continue };
        let config = plan.tcp[tcp].1.clone();
        let Some(application) = application(i, entry, parties, &config, problems) else { continue };
        if problems.found.len() > before {
            continue;
        }
        let connections = application.connections();
        let messages = application.messages();
        if messages > MOST_MESSAGES || connections.len().saturating_add(plan.flows.len()) > MOST {
            problems
                .at(
                    place!["applications", i],
                    format!("{messages} messages over {} connections", connections.len()),
                )
                .label(format!("at most {MOST_MESSAGES} messages, and {MOST} flows in all"));
            continue;
        }
        let ends: Vec<[usize; 2]> =
            connections.iter().map(|one| one.ends.map(|host| host as usize)).collect();
        let path = entry.path.map(ListOr::Found);
        let way = Way {
            at: ("applications", i),
            group: &entry.group,
            path: &path,
            metric: entry.metric,
            paths: None,
            via: None,
            between: &None,
            from: &None,
            to: &None,
            pairs: &None,
            given: Some(&ends),
            per_source: 1,
        };
        let Some(found) = ways::ways(&way, plan, network, shortest, library, problems) else {
            continue;
        };
        let mut numbers: BTreeMap<[usize; 2], usize> = BTreeMap::new();
        for (number, (connection, route)) in (0..).zip(connections.iter().zip(found.routes)) {
            let hops = if found.routed { network.all_hops() } else { network.every_port(&route) };
            check_queues(&entry.group, &config, &hops, network, problems);
            let group = groups[usize::from(connection.role == Role::Requests)];
            let same = numbers.entry(ends[number as usize]).or_default();
            let pair = network.pair_name(&route.nodes);
            let name = format!("{}/{pair}/{same}", plan.groups[group]);
            *same += 1;
            plan.flows.push(FlowPlan {
                name,
                group,
                entry: i,
                lsp: None,
                path: route.nodes,
                hops: route.hops,
                bundles: route.bundles,
                routed: found.routed,
                start: start.clone(),
                size: None,
                datagram_bytes: None,
                writes: Vec::new(),
                tcp: Some(tcp),
                carries: Carries::Flow,
                application: Some((plan.applications.len(), number)),
            });
        }
        plan.applications.push(ApplicationPlan { group: groups[0], start, application });
    }
}

/// Creates the groups of data and of requests.
fn groups(
    i: usize,
    entry: &ApplicationEntry,
    plan: &mut Draft,
    problems: &mut Problems<'_>,
) -> [usize; 2] {
    let place = place!["applications", i, "group"];
    check_name(&entry.group, place, problems);
    let class = queues::class(entry.class, place!["applications", i, "class"], problems);
    let names = [entry.group.clone(), format!("{}-requests", entry.group)];
    let used = if entry.kind.has_servers() { 2 } else { 1 };
    let first = plan.groups.len();
    for name in names.into_iter().take(used) {
        if plan.groups.contains(&name) {
            problems
                .at(place, format!("group of flows `{name}` exists already"))
                .label("an application needs groups of its own");
        }
        plan.groups.push(name);
        plan.classes.push(class);
    }
    [first, first + used - 1]
}

/// Reports keys that another kind needs, and missing ones.
fn check_keys(i: usize, entry: &ApplicationEntry, problems: &mut Problems<'_>) {
    let kind = entry.kind;
    let servers = kind.has_servers();
    let (page, video) = (kind == ApplicationKind::Page, kind == ApplicationKind::Video);
    let sized = !page && !video;
    // Key, presence, whether the kind has it, and whether it needs it.
    for (key, given, has, needs) in [
        ("from", entry.from.is_some(), servers, true),
        ("to", entry.to.is_some(), servers, true),
        ("among", entry.among.is_some(), !servers, true),
        ("size", entry.size.is_some(), sized, entry.sizes.is_none()),
        ("sizes", entry.sizes.is_some(), sized, false),
        ("request", entry.request.is_some(), servers, false),
        ("service", entry.service.is_some(), servers, false),
        ("objects", entry.objects.is_some(), page, true),
        ("connections", entry.connections.is_some(), page, false),
        ("rate", entry.rate.is_some(), video, true),
        ("chunk", entry.chunk.is_some(), video, false),
        ("buffer", entry.buffer.is_some(), video, false),
        ("startup", entry.startup.is_some(), video, false),
    ] {
        if given && !has {
            let message = format!("application `{}` has no `{key}`", kind.name());
            problems.at(place!["applications", i, key], message);
        }
        if !given && has && needs {
            let message = format!("application `{}` needs `{key}`", kind.name());
            problems.at(place!["applications", i], message);
        }
    }
    if entry.size.is_some() && entry.sizes.is_some() {
        let place = place!["applications", i, "size"];
        problems.at(place, "both `size` and `sizes`").label("omit one of them");
    }
}

/// Returns the hosts; `None` if a problem was reported.
fn parties(
    i: usize,
    entry: &ApplicationEntry,
    network: &mut Network,
    problems: &mut Problems<'_>,
) -> Option<Parties> {
    let mut hosts = |key: &'static str, name: Option<&String>| {
        let members = members(name?, place!["applications", i, key], network, problems)?;
        let number = |node: usize| u32::try_from(node).unwrap_or(u32::MAX);
        Some(members.into_iter().map(number).collect::<Vec<u32>>())
    };
    if entry.kind.has_servers() {
        let clients = hosts("from", entry.from.as_ref());
        let (clients, servers) = (clients?, hosts("to", entry.to.as_ref())?);
        if let [alone] = clients[..]
            && servers == [alone]
        {
            let place = place!["applications", i, "to"];
            problems.at(place, "client and server are the same node");
            return None;
        }
        return Some(Parties::Between(clients, servers));
    }
    let members = hosts("among", entry.among.as_ref())?;
    if members.len() < 2 {
        let place = place!["applications", i, "among"];
        problems.at(place, "a collective of one host").label("needs a group of two or more");
        return None;
    }
    Some(Parties::Among(members))
}

/// Returns the application; `None` if a problem was reported.
fn application(
    i: usize,
    entry: &ApplicationEntry,
    parties: Parties,
    config: &Config,
    problems: &mut Problems<'_>,
) -> Option<Application> {
    let at = |key: &'static str| place!["applications", i, key].to_vec();
    let before = problems.found.len();
    let mss = config.mss.count().max(1);
    let think = checked(entry.think.as_ref(), false, &at("think"), problems);
    let service = checked(entry.service.as_ref(), false, &at("service"), problems);
    let rounds = entry.rounds.map_or(1, |count| count.0);
    if rounds == 0 {
        problems.at(&at("rounds"), "application without rounds").label("must be above zero");
    }
    let request = entry.request.map_or(mss, |size| size.0.count());
    let mut positive = |key: &'static str, value: u64| {
        if value == 0 {
            problems.at(&at(key), format!("`{key}` is zero")).label("must be above zero");
        }
    };
    positive("request", request);
    let [chunk, buffer] = [(entry.chunk, USUAL_CHUNK), (entry.buffer, USUAL_BUFFER)]
        .map(|(given, usual)| given.map_or(usual, |span| span.0));
    positive("chunk", chunk.as_ps());
    let size = match (entry.size, &entry.sizes, entry.rate) {
        (Some(size), _, _) => {
            let bytes = size.0.count();
            positive("size", bytes);
            let segments = bytes.div_ceil(mss);
            warn_of_rounding(&at("size"), bytes, [segments, mss], problems);
            Volume::Fixed(bytes)
        }
        (None, Some(sizes), _) => size_distribution(&at("sizes"), sizes, problems)?,
        (None, None, Some(rate)) => {
            let bits = u128::from(rate.0.bps()) * u128::from(chunk.as_ps()) / 1_000_000_000_000;
            let bytes = u64::try_from(bits.div_ceil(8)).unwrap_or(u64::MAX);
            positive("rate", bytes);
            Volume::Fixed(bytes)
        }
        (None, None, None) => Volume::Fixed(1),
    };
    let objects = objects(i, entry, mss, problems);
    let most = u32::try_from(objects.len()).unwrap_or(u32::MAX);
    let connections = entry.connections.map_or(USUAL_CONNECTIONS.min(most), |count| count.0);
    if entry.kind == ApplicationKind::Page && (connections == 0 || connections > most) {
        problems
            .at(&at("connections"), format!("{connections} connections for {most} objects"))
            .label("at least one, and at most one per object");
    }
    let startup = entry.startup.map_or(chunk, |span| span.0);
    let chunks = |span: Duration| {
        let chunks = span.as_ps() / chunk.as_ps().max(1);
        u32::try_from(chunks).unwrap_or(u32::MAX).max(1)
    };
    let buffer_chunks = [chunks(buffer), chunks(startup)];
    if entry.kind == ApplicationKind::Video && (buffer < chunk || startup > buffer) {
        let key = if entry.startup.is_some() { "startup" } else { "buffer" };
        problems
            .at(&at(key), format!("buffer of {buffer}, playback from {startup}, chunks of {chunk}"))
            .label("needs chunk <= startup <= buffer");
    }
    let most_data = u64::from(u32::MAX).saturating_mul(mss);
    let all = Bytes::new(largest(&size, &objects).saturating_mul(u64::from(rounds)));
    if all.count() > most_data {
        let message = format!("up to {all} over one connection");
        problems.at(&at("rounds"), message).label(format!("at most {}", Bytes::new(most_data)));
    }
    (problems.found.len() == before).then_some(Application {
        kind: entry.kind,
        parties,
        rounds,
        request,
        size,
        think,
        service,
        objects,
        connections,
        chunk,
        buffer: buffer_chunks,
    })
}

/// Returns an estimate of the data of a round, in bytes.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
fn largest(size: &Volume, objects: &[PageObject]) -> u64 {
    let objects: f64 = objects.iter().map(|object| object.size.mean()).sum();
    (2.0 * (size.mean() + objects)) as u64
}

/// Returns the objects of a page.
fn objects(
    i: usize,
    entry: &ApplicationEntry,
    mss: u64,
    problems: &mut Problems<'_>,
) -> Vec<PageObject> {
    let mut named: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let mut objects = Vec::new();
    for (j, object) in entry.objects.iter().flatten().enumerate() {
        let mut needs = Vec::new();
        for (k, name) in object.after.iter().enumerate() {
            match named.get(name.as_str()) {
                Some(numbers) => needs.extend(numbers),
                None => {
                    let help = suggestion(name, "earlier objects", named.keys().copied());
                    let place = place!["applications", i, "objects", j, "after", k];
                    problems.at(place, format!("no earlier object `{name}`")).help(help);
                }
            }
        }
        let bytes = object.size.0.count();
        let place = place!["applications", i, "objects", j, "size"];
        if bytes == 0 {
            problems.at(place, "object without data").label("must be above zero");
        }
        warn_of_rounding(place, bytes, [bytes.div_ceil(mss), mss], problems);
        let count = object.count.map_or(1, |count| count.0);
        if count == 0 || count as usize + objects.len() > MOST {
            problems
                .at(place!["applications", i, "objects", j], format!("{count} objects"))
                .label(format!("at least one, and at most {MOST}"));
            continue;
        }
        let first = objects.len();
        let one = PageObject { size: Volume::Fixed(bytes), needs };
        objects.extend(std::iter::repeat_n(one, count as usize));
        if let Some(name) = &object.name
            && named.insert(name, (first..objects.len()).collect()).is_some()
        {
            let place = place!["applications", i, "objects", j, "name"];
            problems.at(place, format!("object `{name}` exists already"));
        }
    }
    objects
}
