//! Checks that must hold for every scenario.

use std::collections::BTreeSet;

use optcp_des::Streams;
use optcp_runs::{Cancel, Data, Engine, Run, RunOptions, Series, Table, run_branches};
use optcp_scenario::{
    Diagnostic, FlowList, Graph, GraphFibre, GraphFibres, GraphLink, Library, LinkRisks,
    LinkValues, Matrix, Reference, ReferenceResolver, Rows, Scenario, Values,
};
use toml::Value;

use crate::{slow, stated};

/// The network that every name stands for.
pub(crate) const TOWNS: [&str; 4] = ["Hamburg", "Kiel", "Muenchen", "Bonn"];
pub(crate) const ROADS: [[usize; 2]; 5] = [[0, 1], [0, 2], [1, 2], [0, 3], [2, 3]];

/// Names that generated scenarios do not use.
pub(crate) const PACKETS: &str = "zz-packets";
pub(crate) const SENDERS: &str = "zz-senders";
pub(crate) const BURSTS: &str = "zz-bursts";
pub(crate) const ENDS: &str = "zz-ends";

/// No run of such a scenario takes as long, also on a machine with much other work.
const LONGEST: std::time::Duration = std::time::Duration::from_secs(600);

/// Branches of a sweep that are looked at.
const MOST_CELLS: usize = 3;

/// Something that does not hold.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    /// What: the same for the same fault.
    pub(crate) what: String,
    /// The figures.
    pub(crate) detail: String,
}

pub(crate) fn failure<T>(what: &str, detail: impl Into<String>) -> Result<T, Failure> {
    Err(Failure { what: what.to_owned(), detail: detail.into() })
}

struct Atlas;

impl ReferenceResolver for Atlas {
    fn graph(&self, _: Reference<'_>) -> Result<Graph, String> {
        let link = |ends| GraphLink { ends, name: None, length_mm: Some(100_000_000) };
        let links = ROADS.into_iter().map(link).collect();
        let demands = (1..TOWNS.len()).flat_map(|to| [(0, to, 1000), (to, 0, to as u64)]).collect();
        // All but the last one on a square of about 55 km, the first in its corner.
        let place = |town: usize| {
            let town = i64::try_from(town).expect("few towns");
            [town % 2 * 500_000, town / 2 * 500_000]
        };
        let places = (0..TOWNS.len()).map(|town| (town + 1 < TOWNS.len()).then(|| place(town)));
        let (nodes, places) = (TOWNS.map(str::to_owned).to_vec(), places.collect());
        Ok(Graph { nodes, places, links, demands, ..Graph::default() })
    }

    /// Returns values that differ by link and direction; the first link has none.
    fn link_values(&self, _: Reference<'_>, key: &str, _: &str) -> Result<LinkValues, String> {
        let value = |link: usize, direction: usize| match key {
            "rate" => format!("{} kbps", 400 + 40 * link + 20 * direction),
            "delay" => format!("{} us", 300 + 100 * link + 50 * direction),
            "cost" => format!("{}", 1 + link + direction),
            _ => format!("0.0{link}"),
        };
        let optional = |link, way| (link > 0 || key == "cost").then(|| value(link, way));
        Ok((0..ROADS.len()).map(|link| [optional(link, 0), optional(link, 1)]).collect())
    }

    fn link_risks(&self, _: Reference<'_>) -> Result<LinkRisks, String> {
        Ok(vec![("zz-duct".to_owned(), vec![0, 1]), ("zz-bridge".to_owned(), vec![3])])
    }

    /// Returns a fibre per link, and a longer detour in a duct with the first one.
    fn fibres(&self, _: Reference<'_>) -> Result<GraphFibres, String> {
        let name = |town: usize| TOWNS[town].to_owned();
        let fibre = |(at, ends): (usize, [usize; 2])| GraphFibre {
            ends: ends.map(name),
            name: Some(format!("fibre{at}")),
            length_mm: Some(100_000_000),
            duct: (at == 0).then(|| "duct".to_owned()),
            ..GraphFibre::default()
        };
        let mut fibres: Vec<GraphFibre> = ROADS.into_iter().enumerate().map(fibre).collect();
        let detour = [name(ROADS[0][0]), name(ROADS[0][1])];
        let duct = Some("duct".to_owned());
        let (name, delay_ps) = (Some("detour".to_owned()), Some(700_000_000));
        fibres.push(GraphFibre { ends: detour, name, delay_ps, duct, ..GraphFibre::default() });
        Ok((fibres, (0..ROADS.len()).map(|link| (link > 0).then(Vec::new)).collect()))
    }

    fn matrix(&self, _: &str) -> Result<Matrix, String> {
        let [from, to] = [0, 1].map(|town| TOWNS[town].to_owned());
        let rows = vec![(1, from.clone(), to.clone(), 10), (2, to, from, 1)];
        Ok(Matrix { heading: None, rows })
    }

    /// Returns the values that the file name lists: `1|2|2`.
    fn values(&self, file: &str) -> Result<Values, String> {
        Ok((1..).zip(file.split('|').map(str::to_owned)).collect())
    }

    /// Returns the flows that the file name lists: `0;A;B;1000;tcp|...` with start in picoseconds and size.
    fn flows(&self, file: &str) -> Result<FlowList, String> {
        let mut list = FlowList::default();
        for (line, row) in (2..).zip(file.split('|')) {
            let [start, from, to, size, protocol] = row.split(';').collect::<Vec<_>>()[..] else {
                return Err(format!("row `{row}`"));
            };
            let mut index = |name: &str| {
                list.names.push(name.to_owned());
                u32::try_from(list.names.len() - 1).expect("few rows")
            };
            let (from, to) = (index(from), index(to));
            list.from.push(from);
            list.to.push(to);
            list.lines.push(line);
            list.starts_ps.push(start.parse().expect("a number"));
            list.bytes.push(size.parse().expect("a number"));
            list.udp.push(protocol == "udp");
        }
        Ok(list)
    }

    /// Returns the rows that the file name lists: `at=1 ms;link=A-B|at=...`.
    fn table(&self, file: &str) -> Result<Rows, String> {
        let field = |field: &str| {
            field.split_once('=').map(|(key, value)| (key.to_owned(), value.to_owned()))
        };
        let row = |row: &str| row.split(';').filter_map(field).collect();
        Ok((2..).zip(file.split('|').map(row)).collect())
    }
}

pub(crate) fn library() -> Library {
    Library::new(Atlas)
}

pub(crate) fn read(text: &str, set: &[(String, String)]) -> Result<Scenario, Diagnostic> {
    Scenario::parse_with(text, "w.toml", set, &library())
}

/// Statistics of a checked scenario.
#[derive(Clone, Debug, Default)]
pub(crate) struct Worth {
    pub(crate) packets: u64,
    /// Whether a run of it had windows at its end, 0 or 1.
    pub(crate) windows: u64,
    /// The kinds of observations that were derived again, and the reasons of drops that were seen.
    pub(crate) seen: BTreeSet<String>,
}

/// Checks the scenario that `text` describes, which must be valid. An endless run is a failure,
/// too, because all these scenarios are small.
pub(crate) fn check(text: &str, seed: u64) -> Result<Worth, Failure> {
    let cancel = Cancel::default();
    let (ended, end) = std::sync::mpsc::channel::<()>();
    std::thread::scope(|scope| {
        let cancel = &cancel;
        scope.spawn(move || {
            if end.recv_timeout(LONGEST) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                cancel.cancel();
            }
        });
        let held = holds(text, seed, cancel);
        drop(ended);
        held
    })
}

fn holds(text: &str, seed: u64, cancel: &Cancel) -> Result<Worth, Failure> {
    let plain = read(text, &[])
        .map_err(|refusal| Failure { what: "refused".to_owned(), detail: refusal.to_string() })?;
    said(&plain)?;
    stated::planned(&text.parse().expect("it has been read"), plain.plan())?;
    let watched = watched(text, &plain)?;
    let cells = cells(&watched);
    let branches: Vec<&Scenario> = cells.iter().collect();
    let forked = runs(&branches, seed, Engine::Fast, true, true, cancel)?;

    // Every second scenario has all departures as events, the others have the departures of some
    // ports.
    let some = Streams::new(seed).stream("stepped").next_u64();
    let stepped = Engine::Stepped(if seed.is_multiple_of(2) { u64::MAX } else { some });

    // Two threads at once.
    let (other, reference) = std::thread::scope(|scope| {
        let other = scope.spawn(|| {
            let one = |&cell: &&Scenario| runs(&[cell], seed, Engine::Fast, false, true, cancel);
            crate::caught(|| {
                let apart = branches.iter().map(one).collect::<Result<Vec<_>, _>>()?;
                Ok((apart, runs(&branches, seed, stepped, true, true, cancel)?))
            })
        });
        let reference = runs(&branches, seed, Engine::Reference, true, true, cancel);
        (other.join(), reference)
    });
    let (apart, stepped) = other.unwrap_or_else(|panic| std::panic::resume_unwind(panic))??;
    for ((forked, apart), reference) in forked.iter().zip(apart.iter().flatten()).zip(reference?) {
        same("forked and not", forked, apart)?;
        same("engines", forked, &reference)?;
    }
    for (forked, stepped) in forked.iter().zip(&stepped) {
        same("lanes", forked, stepped)?;
    }
    let windowed = in_windows(&branches, seed, cancel)?;
    for (forked, windowed) in forked.iter().zip(&windowed) {
        same("windows", forked, windowed)?;
    }
    let undigested = runs(&branches[..1], seed, Engine::Fast, false, false, cancel)?;
    same_but_digest("with and without digest", &forked[0], &undigested[0])?;
    unwatched(text, seed, &forked[0], cancel)?;

    let had_windows = windowed.iter().any(|run| run.waiting.contains("logical processes"));
    let mut worth = Worth { windows: u64::from(had_windows), ..Worth::default() };
    for (cell, run) in cells.iter().zip(&forked) {
        worth.packets += count(run, "packet_hops");
        conserved(run)?;
        exported(run)?;
        slow::derived_again(cell, run, &mut worth.seen)?;
    }
    Ok(worth)
}

/// Queries everything about a scenario, twice, and compares the answers.
fn said(scenario: &Scenario) -> Result<(), Failure> {
    let _ = (scenario.summary(), scenario.spare(), scenario.backups());
    let again = match Scenario::parse_with(&scenario.to_toml(), "w.toml", &[], &library()) {
        Ok(again) => again,
        Err(problem) => return failure("written as a file", problem.to_string()),
    };
    if again.sha256() != scenario.sha256() {
        return failure("written as a file", scenario.to_toml());
    }
    if again.coverage() != scenario.coverage() {
        let (first, then) = (scenario.coverage(), again.coverage());
        return failure("coverage", format!("{first:?}, then {then:?}"));
    }
    Ok(())
}

/// Returns the same scenario with all observations.
fn watched(text: &str, plain: &Scenario) -> Result<Scenario, Failure> {
    let plan = plain.plan();
    let bursts = |link: usize| plan.bursts.iter().any(|bursts| bursts.link == link);
    // Circuits have no names that a scenario may use.
    let links = plan.links.iter().enumerate().filter(|(number, link)| {
        link.wavelengths.is_none() && (link.over.is_empty() || bursts(*number))
    });
    let links: Vec<Value> = links.map(|(_, link)| Value::String(link.name.clone())).collect();
    let mut more = format!("{text}\n[[observe]]\nname = \"{PACKETS}\"\nkind = \"packets\"\n");
    if !links.is_empty() {
        more += &format!("links = {}\n", Value::Array(links));
    }
    more += &format!("[[observe]]\nname = \"{SENDERS}\"\nkind = \"tcp\"\n");
    if plan.flows.iter().any(|flow| flow.tcp.is_some()) {
        more += &format!("[[observe]]\nname = \"{ENDS}\"\nkind = \"completions\"\n");
    }
    if !plan.bursts.is_empty() {
        more += &format!("[[observe]]\nname = \"{BURSTS}\"\nkind = \"bursts\"\n");
    }
    read(&more, &[]).map_err(|refusal| Failure {
        what: "what is possible unwatched is refused watched".to_owned(),
        detail: refusal.render(false),
    })
}

/// Returns the valid parameter combinations of the sweep, or the scenario itself without a sweep.
fn cells(scenario: &Scenario) -> Vec<Scenario> {
    let axes = scenario.axes().first();
    let of = |(key, values): &(String, Vec<String>)| {
        let cell = |value: &String| scenario.with_overrides(&[(key.clone(), value.clone())]).ok();
        values.iter().filter_map(cell).take(MOST_CELLS).collect::<Vec<_>>()
    };
    let cells = axes.map(of).unwrap_or_default();
    if cells.is_empty() { vec![scenario.clone()] } else { cells }
}

fn runs(
    branches: &[&Scenario],
    seed: u64,
    engine: Engine,
    fork: bool,
    digest: bool,
    cancel: &Cancel,
) -> Result<Vec<Run>, Failure> {
    let options = RunOptions { fork, digest, engine, ..RunOptions::default() };
    ended(branches, seed, options, cancel)
}

fn ended(
    branches: &[&Scenario],
    seed: u64,
    options: RunOptions,
    cancel: &Cancel,
) -> Result<Vec<Run>, Failure> {
    run_branches(branches, seed, options, cancel)
        .or_else(|_| failure("does not end", format!("in {LONGEST:?}")))
}

/// In windows wherever there can be any, on one thread or two.
fn in_windows(branches: &[&Scenario], seed: u64, cancel: &Cancel) -> Result<Vec<Run>, Failure> {
    let drawn = Streams::new(seed).stream("windows").next_u64();
    // Shorter windows only take longer in scenarios with long stalls.
    let length = Some(29 + u32::try_from(drawn % 4).unwrap_or(0));
    let threads = if drawn & 4 == 0 { 1 } else { 2 };
    let engine = Engine::Windows { length, stepped: 0 };
    let options = RunOptions { engine, threads, digest: true, ..RunOptions::default() };
    ended(branches, seed, options, cancel)
}

/// With its own observations alone, without an observer, and with nothing but counts, the run is the same.
fn unwatched(text: &str, seed: u64, full: &Run, cancel: &Cancel) -> Result<(), Failure> {
    let mut world: toml::Table = text.parse().expect("it has been read");
    if full.forked_at.is_some() || world.contains_key("sweep") {
        return Ok(());
    }
    let observed = world.remove("observe");
    let counted = observed.and_then(|observed| {
        let mut list = observed.as_array()?.clone();
        list.retain(|one| matches!(one["kind"].as_str(), Some("ports" | "fibres")));
        (!list.is_empty()).then_some(list)
    });
    // As written, no observation lists all packets, so each must request the data that it needs.
    let mut texts = vec![text.to_owned(), crate::parts::written(&world)];
    texts.extend(counted.map(|list| {
        world.insert("observe".to_owned(), Value::Array(list));
        crate::parts::written(&world)
    }));
    for text in texts {
        let scenario = read(&text, &[]).map_err(|refusal| Failure {
            what: "what is possible watched is refused unwatched".to_owned(),
            detail: refusal.render(false),
        })?;
        let bare = &runs(&[&scenario], seed, Engine::Fast, true, false, cancel)?[0];
        let found = bare
            .series
            .iter()
            .find(|one| full.series.iter().find(|other| other.name == one.name) != Some(*one));
        if let Some(series) = found {
            return failure("counted alone", format!("{} differs", series.name));
        }
        same_counts("watched and not", full, bare)?;
        if full.ends != bare.ends {
            return failure("watched and not", "ends");
        }
    }
    Ok(())
}

fn same(what: &str, a: &Run, b: &Run) -> Result<(), Failure> {
    same_but_digest(what, a, b)?;
    if a.records_sha256 != b.records_sha256 {
        return failure(what, "records_sha256");
    }
    Ok(())
}

fn same_but_digest(what: &str, a: &Run, b: &Run) -> Result<(), Failure> {
    same_counts(what, a, b)?;
    for (x, y) in a.series.iter().zip(&b.series) {
        if x == y {
            continue;
        }
        let odd = x.columns.iter().zip(&y.columns).find(|(x, y)| x != y);
        let lengths = odd.map(|(x, y)| (x.name, x.values.len(), y.values.len()));
        return failure(what, format!("series of kind {}: {lengths:?}", x.kind));
    }
    let parts = [
        ("drops", a.drops == b.drops),
        ("switches", a.switches == b.switches),
        ("buffers", a.resequencing == b.resequencing),
        ("routing", a.routing == b.routing),
        ("arrived", a.arrived == b.arrived),
        ("cuts", a.path_outages == b.path_outages),
        ("ends", a.ends == b.ends),
        ("number of series", a.series.len() == b.series.len()),
        ("metrics_sha256", a.metrics_sha256 == b.metrics_sha256),
        ("scenario_sha256", a.scenario_sha256 == b.scenario_sha256),
    ];
    match parts.iter().find(|(_, equal)| !equal) {
        Some((part, _)) => failure(what, *part),
        None => Ok(()),
    }
}

fn same_counts(what: &str, a: &Run, b: &Run) -> Result<(), Failure> {
    // Events are the engine's affair.
    let of = |run: &Run| {
        let mut counts = run.counts.clone();
        counts.retain(|(name, _)| *name != "events");
        counts.extend(&run.drops);
        counts
    };
    match of(a) == of(b) {
        true => Ok(()),
        false => failure(what, format!("{:?} and {:?}", of(a), of(b))),
    }
}

pub(crate) fn count(run: &Run, name: &str) -> u64 {
    run.counts.iter().find(|(known, _)| *known == name).map_or(0, |&(_, count)| count)
}

/// No packet comes from nowhere or goes there.
fn conserved(run: &Run) -> Result<(), Failure> {
    let made = count(run, "sent") + count(run, "copied");
    let traffic = count(run, "delivered") + count(run, "dropped");
    let kept = traffic + count(run, "copies_discarded") + count(run, "in_flight");
    let reasons: u64 = run.drops.iter().map(|(_, count)| count).sum();
    // Copies are no traffic: each packet is delivered or dropped once.
    let once = traffic <= count(run, "sent") + count(run, "duplicated");
    match made == kept && once && reasons == count(run, "dropped") {
        true => Ok(()),
        false => failure("conservation", format!("{:?} {:?}", run.counts, run.drops)),
    }
}

/// Tables can be written and read back.
fn exported(run: &Run) -> Result<(), Failure> {
    for series in &run.series {
        let table = Table::of(series);
        ends_of_intervals(series, &table)?;
        let read = table.to_parquet().and_then(Table::from_parquet);
        match read {
            Ok(read) if read == table => {}
            Ok(_) => return failure("parquet", format!("{} comes back changed", series.kind)),
            Err(error) => return failure("parquet", format!("{}: {error}", series.kind)),
        }
    }
    Ok(())
}

/// Checks that rows of intervals end at the interval ends, in order, and the last one at the end of
/// the run.
fn ends_of_intervals(series: &Series, table: &Table) -> Result<(), Failure> {
    let Some(interval) = series.interval else { return Ok(()) };
    let Some((_, Data::I64(times))) = table.columns.first() else {
        return failure("times of intervals", series.kind);
    };
    let (first, stop) =
        (series.after.as_ps().saturating_add(interval.as_ps()), series.stop.as_ps());
    let mut before = stop;
    for at in times.iter().map(|at| at.cast_unsigned()) {
        let expected = if before == stop { first } else { before.saturating_add(interval.as_ps()) };
        if at != expected.min(stop) {
            return failure("times of intervals", format!("{}: {at} after {before}", series.kind));
        }
        before = at;
    }
    Ok(())
}
