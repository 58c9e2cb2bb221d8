//! Parts: tables of several runs as files, with combination and seed in each row.

use std::collections::{BTreeMap, BTreeSet};

use optcp_runs::{Data, ParquetError, Run, Series, Table, Texts};
use optcp_scenario::Scenario;
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::block::Cell;
use crate::metrics::{Scalar, scalars};

/// Tables that every study has or may have, besides its observations.
pub const TABLES: [&str; 8] =
    ["scalars", "runs", "switches", "reroutes", "arrived", "cuts", "buffers", "slowest"];

/// Columns that identify the run of a row.
const OF_RUN: [&str; 2] = ["cell", "seed"];

/// Counts of each run, in the table of runs.
const COUNTS: [&str; 10] = [
    "sent",
    "delivered",
    "dropped",
    "in_flight",
    "copied",
    "duplicated",
    "copies_discarded",
    "marked",
    "packet_hops",
    "events",
];

/// Format version of the files.
const FORMAT: u32 = 2;

/// Value of a swept parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum AxisValue {
    /// Quantity in SI units.
    Number(f64),
    /// Any other value.
    Text(String),
}

/// File of a study, by its path in the study's directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Folder and name, separated by `/`.
    pub path: String,
    /// Content.
    pub content: Vec<u8>,
}

/// Runs that have not been written.
#[derive(Default)]
pub(crate) struct Part {
    /// Combination (as an index) and seed of each run.
    runs: Vec<(usize, u64)>,
    tables: BTreeMap<String, Rows>,
    /// Packet transmissions in all runs.
    pub(crate) hops: u64,
    /// Rows in all tables.
    pub(crate) rows: usize,
}

/// Table of several runs.
#[derive(Default)]
struct Rows {
    table: Table,
    /// Number of rows of each run.
    of_run: Vec<u64>,
}

impl Part {
    pub(crate) fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Adds a run of the combination with this index.
    pub(crate) fn add(&mut self, cell: usize, scenario: &Scenario, run: &Run) {
        self.hops +=
            run.counts.iter().find(|(name, _)| *name == "packet_hops").map_or(0, |(_, n)| *n);
        let observed = run.series.iter().map(|series| series.name.as_str());
        for name in TABLES.into_iter().chain(observed) {
            self.put(name, table(run, scenario, name).unwrap_or_default());
        }
        self.runs.push((cell, run.seed));
    }

    /// Appends the rows of the next run.
    fn put(&mut self, name: &str, table: Table) {
        let rows = self.tables.entry(name.to_owned()).or_default();
        // Combinations may have different observations: earlier runs need not have the table.
        rows.of_run.resize(self.runs.len(), 0);
        let more = table.columns.first().map_or(0, |(_, data)| data.len());
        self.rows += more;
        rows.of_run.push(more as u64);
        if rows.table.columns.is_empty() {
            rows.table = table;
            return;
        }
        for ((_, all), (_, data)) in rows.table.columns.iter_mut().zip(table.columns) {
            all.append(data);
        }
    }

    /// Returns the files of the part, manifest last, and empties it.
    ///
    /// # Errors
    /// If the Parquet library reports an error.
    pub(crate) fn files(
        &mut self,
        axes: &[String],
        cells: &[Cell<'_>],
        cpu_s: f64,
    ) -> Result<Vec<File>, ParquetError> {
        let Part { runs, tables, hops, .. } = std::mem::take(self);
        let runs: Vec<(&str, u64)> =
            runs.iter().map(|&(cell, seed)| (cells[cell].id, seed)).collect();
        let name = name(&runs);
        let of_cell =
            |id: &str| cells.iter().find(|cell| cell.id == id).map_or(&[][..], |cell| cell.values);
        let mut files = Vec::new();
        let mut about = serde_json::Map::new();
        for (folder, Rows { mut table, mut of_run }) in tables {
            of_run.resize(runs.len(), 0);
            // Tables that few scenarios have are omitted if they have no rows.
            if TABLES[2..].contains(&folder.as_str()) && of_run.iter().all(|&rows| rows == 0) {
                continue;
            }
            let mut columns: Vec<(String, Data)> = Vec::new();
            for (place, axis) in axes.iter().enumerate() {
                let values = runs.iter().map(|(id, _)| of_cell(id).get(place));
                columns.push((axis.clone(), axis_column(values, &of_run)));
            }
            let ids = runs.iter().map(|(id, _)| *id);
            let [cell, seed] = OF_RUN.map(str::to_owned);
            columns.push((cell, Data::Text(text_column(ids, &of_run))));
            let seeds =
                runs.iter().zip(&of_run).flat_map(|((_, seed), &rows)| repeated(*seed, rows));
            columns.push((seed, Data::U64(seeds.collect())));
            columns.append(&mut table.columns);
            let content = Table { columns, ..table }.to_parquet()?;
            let facts = json!({ "bytes": content.len(), "rows": of_run, "sha256": hex(&content) });
            about.insert(folder.clone(), facts);
            files.push(File { path: format!("{folder}/{name}.parquet"), content });
        }
        let manifest = sealed(&format!(
            "{{\n \"format\": {FORMAT},\n \"cpu_seconds\": {cpu_s:.6},\n \"packet_hops\": {hops},\n \"runs\": {},\n \"files\": {}\n}}\n",
            json!(runs),
            json!(about),
        ));
        files.push(File { path: format!("parts/{name}.json"), content: manifest.into_bytes() });
        Ok(files)
    }
}

/// Returns the name of a part: its first and last seed, and a hash that distinguishes it from all others.
fn name(runs: &[(&str, u64)]) -> String {
    let seeds = || runs.iter().map(|(_, seed)| *seed);
    let (first, last) = (seeds().min().unwrap_or(0), seeds().max().unwrap_or(0));
    let hash = hex(json!(runs).to_string().as_bytes());
    format!("seeds-{first}-{last}-{}", &hash[..12])
}

pub(crate) fn hex(content: &[u8]) -> String {
    Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Appends the checksum of a JSON object with several lines as its last key, as `optcp.common.stored` reads
/// it.
fn sealed(text: &str) -> String {
    let body = text.strip_suffix("\n}\n").unwrap_or(text);
    format!("{body},\n \"sha256\": \"{}\"\n}}\n", hex(text.as_bytes()))
}

fn repeated<T: Copy>(value: T, rows: u64) -> impl Iterator<Item = T> {
    std::iter::repeat_n(value, usize::try_from(rows).unwrap_or(usize::MAX))
}

fn text_column<'a>(values: impl Iterator<Item = &'a str>, of_run: &[u64]) -> Texts {
    let mut texts = Texts::default();
    let mut known: BTreeMap<&str, u32> = BTreeMap::new();
    for (value, &rows) in values.zip(of_run) {
        let next = u32::try_from(known.len()).unwrap_or(u32::MAX);
        let code = *known.entry(value).or_insert_with(|| {
            texts.names.push(value.to_owned());
            next
        });
        texts.codes.extend(repeated(code, rows));
    }
    texts
}

fn axis_column<'a>(values: impl Iterator<Item = Option<&'a AxisValue>>, of_run: &[u64]) -> Data {
    let values: Vec<Option<&AxisValue>> = values.collect();
    if values.iter().all(|value| matches!(value, Some(AxisValue::Number(_)))) {
        let number = |value: &Option<&AxisValue>| match value {
            Some(AxisValue::Number(number)) => *number,
            _ => f64::NAN,
        };
        let rows = values.iter().map(number).zip(of_run);
        return Data::F64(rows.flat_map(|(value, &rows)| repeated(value, rows)).collect());
    }
    let text = |value: &Option<&'a AxisValue>| match value {
        Some(AxisValue::Text(text)) => text.as_str(),
        _ => "",
    };
    Data::Text(text_column(values.iter().map(text), of_run))
}

fn texts<'a>(values: impl Iterator<Item = &'a str>) -> Data {
    let values: Vec<&str> = values.collect();
    let ones = vec![1; values.len()];
    Data::Text(text_column(values.into_iter(), &ones))
}

/// Returns a table of a run: one of [`TABLES`], or an observation.
#[must_use]
pub fn table(run: &Run, scenario: &Scenario, name: &str) -> Option<Table> {
    if name == TABLES[0] {
        return Some(scalar_table(&scalars(run, scenario.plan())));
    }
    let observed = || run.series.iter().find(|series| series.name == name).map(Table::of);
    run_only_table(run, name).or_else(observed)
}

/// Returns a table of [`TABLES`] that does not need the scenario.
fn run_only_table(run: &Run, name: &str) -> Option<Table> {
    match name {
        "runs" => Some(run_table(run)),
        "switches" => Some(switch_table(run)),
        "reroutes" => Some(reroute_table(run)),
        "arrived" => Some(arrived_table(run)),
        "cuts" => Some(cut_table(run)),
        "buffers" => Some(buffer_table(run)),
        "slowest" => Some(slowest_table(run)),
        _ => None,
    }
}

/// Returns the columns of the tables of studies, except swept parameters.
#[must_use]
pub fn columns() -> BTreeSet<String> {
    let run = Run::default();
    let tables = TABLES.into_iter().filter_map(|name| run_only_table(&run, name));
    let all = tables.chain([scalar_table(&[])]).chain(Series::empty().map(|one| Table::of(&one)));
    let own = all.flat_map(|table| table.columns).map(|(name, _)| name);
    own.chain(OF_RUN.map(str::to_owned)).collect()
}

fn listed<const N: usize>(columns: [(&str, Data); N]) -> Table {
    let columns = columns.map(|(name, data)| (name.to_owned(), data));
    Table { metadata: Vec::new(), columns: columns.into() }
}

fn scalar_table(found: &[Scalar]) -> Table {
    listed([
        ("metric", texts(found.iter().map(|one| one.metric.name))),
        ("of", texts(found.iter().map(|one| one.of.as_str()))),
        ("unit", texts(found.iter().map(|one| one.metric.unit))),
        ("value", Data::F64(found.iter().map(|one| one.value).collect())),
        ("at_least", Data::F64(found.iter().map(|one| one.at_least).collect())),
    ])
}

/// Returns a table with one row: digests and counts of the run.
fn run_table(run: &Run) -> Table {
    let mut columns = vec![
        ("scenario_sha256", texts([run.scenario_sha256.as_str()].into_iter())),
        ("metrics_sha256", texts([run.metrics_sha256.as_str()].into_iter())),
        ("records_sha256", texts([run.records_sha256.as_deref().unwrap_or_default()].into_iter())),
    ];
    for name in COUNTS {
        let count =
            run.counts.iter().find(|(known, _)| *known == name).map_or(0, |(_, count)| *count);
        columns.push((name, Data::whole([count])));
    }
    let columns = columns.into_iter().map(|(name, data)| (name.to_owned(), data));
    Table { metadata: Vec::new(), columns: columns.collect() }
}

fn switch_table(run: &Run) -> Table {
    let all = || run.switches.iter();
    listed([
        ("time_ps", Data::whole(all().map(|one| one.at.as_ps()))),
        ("protection", Data::whole(all().map(|one| one.protection as u64))),
        ("node", texts(all().map(|one| one.node.as_str()))),
        ("packets", texts(all().map(|one| if one.acks { "acks" } else { "data" }))),
        ("to", texts(all().map(|one| if one.to_backup { "backup" } else { "working" }))),
    ])
}

fn buffer_table(run: &Run) -> Table {
    let all = || run.resequencing.iter();
    listed([
        ("protection", Data::whole(all().map(|one| one.protection as u64))),
        ("node", texts(all().map(|one| one.node.as_str()))),
        ("packets", texts(all().map(|one| if one.acks { "acks" } else { "data" }))),
        ("most_packets", Data::whole(all().map(|one| one.most.packets))),
        ("most_bytes", Data::whole(all().map(|one| one.most.bytes))),
    ])
}

fn slowest_table(run: &Run) -> Table {
    let all = || run.ends.slowest.iter();
    listed([
        ("time_ps", Data::whole(all().map(|one| one.lasted.end.as_ps()))),
        ("start_ps", Data::whole(all().map(|one| one.lasted.start.as_ps()))),
        ("flow", texts(all().map(|one| one.flow.as_str()))),
        ("group", texts(all().map(|one| one.group.as_str()))),
        ("from", texts(all().map(|one| one.from.as_str()))),
        ("to", texts(all().map(|one| one.to.as_str()))),
        ("bytes", Data::whole(all().map(|one| one.bytes))),
        ("finished", Data::Bool(all().map(|one| one.lasted.is_finished).collect())),
        ("aborted", Data::Bool(all().map(|one| one.lasted.is_aborted).collect())),
        ("retransmissions", Data::whole(all().map(|one| one.retransmissions))),
        ("rtos", Data::whole(all().map(|one| one.timeouts))),
    ])
}

fn reroute_table(run: &Run) -> Table {
    let all = || run.routing.iter().flat_map(|record| &record.steps);
    listed([
        ("time_ps", Data::whole(all().map(|one| one.at.as_ps()))),
        ("router", texts(all().map(|one| one.router.as_str()))),
        ("cause", texts(all().map(|one| one.cause))),
        ("entries", Data::whole(all().map(|one| one.entries))),
    ])
}

fn arrived_table(run: &Run) -> Table {
    let all = || {
        run.arrived.iter().flat_map(|of| of.routes.iter().map(|&route| (of.group.as_str(), route)))
    };
    listed([
        ("group", texts(all().map(|(group, _)| group))),
        ("route", Data::whole(all().map(|(_, route)| u64::from(route)))),
    ])
}

fn cut_table(run: &Run) -> Table {
    let all = || run.path_outages.iter();
    listed([
        ("flow", texts(all().map(|one| one.flow.as_str()))),
        ("group", texts(all().map(|one| one.group.as_str()))),
        ("ack", Data::Bool(all().map(|one| one.acks).collect())),
        ("from_ps", Data::whole(all().map(|one| one.from.as_ps()))),
        ("until_ps", Data::whole(all().map(|one| one.until.as_ps()))),
    ])
}
