//! `Scenario`.

use std::path::{Path, PathBuf};
use std::string::FromUtf8Error;
use std::sync::Arc;

use optcp_runs::RunOptions;
use optcp_scenario::ecmp_paths;
use optcp_scenario::external::Class;
use optcp_scenario::{
    FibreRow, FlowColumns, FlowList, Graph, GraphFibre, GraphFibres, GraphLink, Library, LinkRisks,
    LinkValues, Matrix, Reference, ReferenceResolver, Rows, Values, WarningKind,
};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::congestion;
use crate::run::{Run, named_engine, run};
use crate::{Cancel, Cancelled, ScenarioError};

/// Resolver of topologies and matrices relative to a scenario: `optcp.scenarios.topologies`, which is
/// imported on first use.
struct Beside(PathBuf);

impl Beside {
    fn ask<T>(&self, ask: impl FnOnce(Python<'_>, &Path) -> PyResult<T>) -> Result<T, String> {
        Python::attach(|py| ask(py, &self.0).map_err(|error| error.value(py).to_string()))
    }
}

impl ReferenceResolver for Beside {
    fn graph(&self, reference: Reference<'_>) -> Result<Graph, String> {
        type Links = Vec<(usize, usize, Option<String>, Option<u64>)>;
        type Demands = Vec<(usize, usize, u64)>;
        type Places = Vec<Option<[i64; 2]>>;
        type Texts = Vec<String>;
        type Found = (Texts, Links, Demands, Places, Vec<Texts>, Texts, Texts);
        let asked = kind_and_name(reference);
        self.ask(|py, scenario| {
            let topologies = py.import("optcp.scenarios.topologies")?;
            let found = topologies.call_method1("find", (asked.0, asked.1, scenario))?;
            let (nodes, links, demands, places, own_names, rates, notes): Found =
                found.extract()?;
            let link = |(a, b, name, length_mm)| GraphLink { ends: [a, b], name, length_mm };
            let links = links.into_iter().map(link).collect();
            Ok(Graph { nodes, places, links, demands, own_names, rates, notes })
        })
    }

    fn link_values(
        &self,
        reference: Reference<'_>,
        key: &str,
        column: &str,
    ) -> Result<LinkValues, String> {
        let (kind, name) = kind_and_name(reference);
        self.ask(|py, scenario| {
            let topologies = py.import("optcp.scenarios.topologies")?;
            let asked = (kind, name, scenario, key, column);
            topologies.call_method1("link_values", asked)?.extract()
        })
    }

    fn link_risks(&self, reference: Reference<'_>) -> Result<LinkRisks, String> {
        let (kind, name) = kind_and_name(reference);
        self.ask(|py, scenario| {
            let topologies = py.import("optcp.scenarios.topologies")?;
            topologies.call_method1("link_risks", (kind, name, scenario))?.extract()
        })
    }

    fn fibres(&self, reference: Reference<'_>) -> Result<GraphFibres, String> {
        let (kind, name) = kind_and_name(reference);
        self.ask(|py, scenario| {
            let topologies = py.import("optcp.scenarios.topologies")?;
            let found = topologies.call_method1("fibres", (kind, name, scenario))?;
            let (fibres, paths): (Vec<FibreRow>, _) = found.extract()?;
            Ok((fibres.into_iter().map(GraphFibre::from).collect(), paths))
        })
    }

    fn congestion(&self, name: &str) -> Result<Arc<dyn Class>, String> {
        self.ask(|py, scenario| congestion::class(py, name, scenario))
    }

    fn matrix(&self, file: &str) -> Result<Matrix, String> {
        self.ask(|py, scenario| {
            let found = py
                .import("optcp.scenarios.topologies")?
                .call_method1("matrix", (file, scenario))?;
            Ok(Matrix {
                heading: found.get_item("heading")?.extract()?,
                rows: found.get_item("rows")?.extract()?,
            })
        })
    }

    fn values(&self, file: &str) -> Result<Values, String> {
        self.ask(|py, scenario| {
            let found = py
                .import("optcp.scenarios.topologies")?
                .call_method1("values", (file, scenario))?;
            found.extract()
        })
    }

    fn flows(&self, file: &str) -> Result<FlowList, String> {
        self.ask(|py, scenario| {
            let found =
                py.import("optcp.scenarios.topologies")?.call_method1("flows", (file, scenario))?;
            let columns: FlowColumns = found.extract()?;
            Ok(FlowList::from(columns))
        })
    }

    fn table(&self, file: &str) -> Result<Rows, String> {
        self.ask(|py, scenario| {
            let found =
                py.import("optcp.scenarios.topologies")?.call_method1("table", (file, scenario))?;
            found.extract()
        })
    }
}

/// Returns "name" or "file", and the name or path.
fn kind_and_name(reference: Reference<'_>) -> (&'static str, &str) {
    match reference {
        Reference::Name(text) => ("name", text),
        Reference::File(text) => ("file", text),
    }
}

/// Returns the message for a file that is not UTF-8.
fn not_utf8(name: &str, error: &FromUtf8Error) -> String {
    match error.as_bytes() {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => {
            format!("{name}: this is UTF-16; save it as UTF-8")
        }
        _ => format!("{name}: not UTF-8 text: {}", error.utf8_error()),
    }
}

/// Parses the scenario in a text that belongs to `path`.
fn parsed(
    text: &str,
    name: &str,
    overrides: Vec<(String, String)>,
    path: PathBuf,
) -> PyResult<Scenario> {
    optcp_scenario::Scenario::parse_with(text, name, &overrides, &Library::new(Beside(path)))
        .map(Scenario)
        .map_err(|diagnostic| ScenarioError::new_err(diagnostic.render(false)))
}

/// Parsed and checked scenario.
#[pyclass(frozen, module = "optcp._core")]
pub(crate) struct Scenario(pub(crate) optcp_scenario::Scenario);

#[pymethods]
impl Scenario {
    #[staticmethod]
    #[pyo3(signature = (path, overrides = Vec::new()))]
    #[expect(clippy::disallowed_methods, reason = "this is the front end: files come in here")]
    fn load(path: PathBuf, overrides: Vec<(String, String)>) -> PyResult<Self> {
        let bytes = std::fs::read(&path).map_err(PyOSError::new_err)?;
        // A path may not be valid text; messages show the closest text.
        let name = path.to_string_lossy().into_owned();
        let text = String::from_utf8(bytes)
            .map_err(|error| ScenarioError::new_err(not_utf8(&name, &error)))?;
        parsed(&text, &name, overrides, path)
    }

    #[staticmethod]
    #[pyo3(signature = (text, name, overrides = Vec::new()))]
    fn parse(text: &str, name: &str, overrides: Vec<(String, String)>) -> PyResult<Self> {
        parsed(text, name, overrides, PathBuf::from(name))
    }

    #[pyo3(name = "override")]
    fn overridden(&self, settings: Vec<(String, String)>) -> PyResult<Self> {
        self.0
            .with_overrides(&settings)
            .map(Scenario)
            .map_err(|diagnostic| ScenarioError::new_err(diagnostic.of_program().render(false)))
    }

    fn settings(&self) -> Vec<(String, String)> {
        self.0.settings()
    }

    fn to_toml(&self) -> String {
        self.0.to_toml()
    }

    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let summary = self.0.summary();
        let dict = PyDict::new(py);
        dict.set_item("title", summary.title)?;
        dict.set_item("nodes", summary.nodes)?;
        dict.set_item("links", summary.links)?;
        dict.set_item("flows", summary.flows)?;
        dict.set_item("groups", summary.groups)?;
        dict.set_item("stop_s", summary.stop.as_secs_f64())?;
        dict.set_item("observe", summary.observe)?;
        let parameters = PyDict::new(py);
        for (name, text) in summary.parameters {
            parameters.set_item(name, text)?;
        }
        dict.set_item("parameters", parameters)?;
        Ok(dict)
    }

    fn spare<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let one = |spare: optcp_scenario::Spare| {
            let entry = PyDict::new(py);
            entry.set_item("protection", spare.protection)?;
            entry.set_item("flows", spare.flows)?;
            entry.set_item("scheme", spare.scheme)?;
            entry.set_item("rate_bps", spare.rate.bps())?;
            entry.set_item("working_links", spare.working)?;
            entry.set_item("spare_links", spare.spare)?;
            entry.set_item("capacity", spare.capacity.name())?;
            entry.set_item("working_bps", spare.working_bps)?;
            entry.set_item("spare_bps", spare.spare_bps)?;
            Ok(entry)
        };
        self.0.spare().into_iter().map(one).collect()
    }

    fn coverage<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(coverage) = self.0.coverage() else { return Ok(None) };
        let dict = PyDict::new(py);
        dict.set_item("pairs", coverage.pairs)?;
        dict.set_item("protectable", coverage.protectable)?;
        dict.set_item("protected", coverage.protected)?;
        dict.set_item("node_protected", coverage.node_protected)?;
        dict.set_item("tunnels", coverage.tunnels)?;
        dict.set_item("links", coverage.links)?;
        dict.set_item("links_protected", coverage.links_protected)?;
        Ok(Some(dict))
    }

    /// Returns one dictionary per router and destination; empty without routing.
    fn backups<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let one = |backup: optcp_scenario::Backup| {
            let entry = PyDict::new(py);
            entry.set_item("router", backup.router)?;
            entry.set_item("destination", backup.destination)?;
            entry.set_item("cost", backup.cost)?;
            entry.set_item("next", backup.next)?;
            entry.set_item("mechanism", backup.mechanism)?;
            entry.set_item("backup", backup.ports)?;
            entry.set_item("end", backup.end)?;
            entry.set_item("protects", backup.protects)?;
            Ok(entry)
        };
        self.0.backups().into_iter().map(one).collect()
    }

    /// Returns the paths of routed flows in a run, and their distribution over next hops; `None` without
    /// ECMP.
    fn hashed<'py>(&self, py: Python<'py>, seed: u64) -> PyResult<Option<Bound<'py, PyDict>>> {
        let plan = self.0.plan();
        let Some(found) = ecmp_paths::hashed(plan, seed) else { return Ok(None) };
        let ports = |way: &[_]| way.iter().map(|&hop| plan.port_name(hop)).collect::<Vec<_>>();
        let ways = PyDict::new(py);
        for (flow, [data, acks]) in plan.flows.iter().zip(&found.ways) {
            if flow.routed {
                let start = std::iter::once(flow.path[0]);
                let ends = data.iter().map(|&(link, way)| plan.links[link].ends[1 - way]);
                let nodes = start.chain(ends).map(|node| plan.nodes[node].as_str());
                let one = PyDict::new(py);
                one.set_item("path", nodes.collect::<Vec<_>>())?;
                one.set_item("ports", ports(data))?;
                one.set_item("acks", ports(acks))?;
                ways.set_item(&flow.name, one)?;
            }
        }
        let at = |at: &ecmp_paths::SpreadAt| {
            let over = at.over.iter().map(|&(hop, flows)| (plan.port_name(hop), flows));
            let [router, destination] = [at.router, at.destination].map(|node| &plan.nodes[node]);
            (router.clone(), destination.clone(), over.collect::<Vec<_>>())
        };
        let dict = PyDict::new(py);
        dict.set_item("ways", ways)?;
        dict.set_item("spread", found.spread.iter().map(at).collect::<Vec<_>>())?;
        Ok(Some(dict))
    }

    /// Returns the routes of data by flow that follows static forwarding: start time in picoseconds, and
    /// nodes. An empty route means no route.
    fn written_routes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let plan = self.0.plan();
        let found = PyDict::new(py);
        let far_end = |(link, way): (usize, usize)| plan.links[link].ends[1 - way];
        let nodes = |hops: Vec<(usize, usize)>| -> Vec<&str> {
            let start = hops.first().map(|&(link, way)| plan.links[link].ends[way]);
            let nodes = start.into_iter().chain(hops.iter().copied().map(far_end));
            nodes.map(|node| plan.nodes[node].as_str()).collect()
        };
        let Some(written) = &plan.forwarding else { return Ok(found) };
        for flow in plan.flows.iter().filter(|flow| flow.routed) {
            let (from, to) = (flow.path[0], flow.path[flow.path.len() - 1]);
            let routes = written.routes(far_end, from, to).into_iter();
            let routes: Vec<_> = routes.map(|(at, hops)| (at.as_ps(), nodes(hops))).collect();
            found.set_item(&flow.name, routes)?;
        }
        Ok(found)
    }

    fn resolved(&self) -> String {
        self.0.resolved_json()
    }

    #[getter]
    fn sha256(&self) -> &str {
        self.0.sha256()
    }

    /// Warnings: name, message and place of each.
    #[getter]
    fn warnings(&self) -> Vec<(&'static str, String, String)> {
        let found = self.0.warnings().into_iter();
        found.map(|warning| (warning.kind.name(), warning.message, warning.place)).collect()
    }

    fn silences(&self, name: &str) -> bool {
        let named = WarningKind::ALL.iter().find(|kind| kind.name() == name);
        named.is_some_and(|&kind| self.0.silences(kind))
    }

    #[getter]
    fn axes(&self) -> Vec<(String, Vec<String>)> {
        self.0.axes().to_vec()
    }

    #[pyo3(signature = (seed, *, digest = false, engine = "fast", threads = 1, cancel = None))]
    fn run(
        slf: Bound<'_, Self>,
        seed: u64,
        digest: bool,
        engine: &str,
        threads: usize,
        cancel: Option<&Cancel>,
    ) -> PyResult<Run> {
        let options = RunOptions { fork: false, digest, engine: named_engine(engine)?, threads };
        let mut runs = run(slf.py(), vec![slf.unbind()], seed, options, cancel)?;
        runs.pop().ok_or_else(|| Cancelled::new_err("the run gave no result"))
    }
}
