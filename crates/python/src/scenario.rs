//! `Scenario`.

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::run::{Run, run_one};
use crate::{Cancel, ScenarioError};

/// One parsed and checked world.
#[pyclass(frozen, module = "optcp._core")]
pub(crate) struct Scenario(pub(crate) optcp_scenario::Scenario);

#[pymethods]
impl Scenario {
    #[staticmethod]
    #[pyo3(signature = (path, overrides = Vec::new()))]
    #[expect(clippy::disallowed_methods, reason = "this is the front end: files come in here")]
    fn load(path: &str, overrides: Vec<(String, String)>) -> PyResult<Self> {
        let bytes = std::fs::read(path).map_err(PyOSError::new_err)?;
        let text = String::from_utf8(bytes)
            .map_err(|error| ScenarioError::new_err(format!("{path}: not UTF-8 text: {error}")))?;
        Self::parse(&text, path, overrides)
    }

    #[staticmethod]
    #[pyo3(signature = (text, name, overrides = Vec::new()))]
    fn parse(text: &str, name: &str, overrides: Vec<(String, String)>) -> PyResult<Self> {
        optcp_scenario::Scenario::parse(text, name, &overrides)
            .map(Scenario)
            .map_err(|diagnostic| ScenarioError::new_err(diagnostic.render(false)))
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

    fn resolved(&self) -> String {
        self.0.resolved_json()
    }

    #[getter]
    fn sha256(&self) -> &str {
        self.0.sha256()
    }

    #[getter]
    fn axes(&self) -> Vec<(String, Vec<String>)> {
        self.0.axes().to_vec()
    }

    #[pyo3(signature = (seed, *, digest = false, cancel = None))]
    fn run(
        &self,
        py: Python<'_>,
        seed: u64,
        digest: bool,
        cancel: Option<&Cancel>,
    ) -> PyResult<Run> {
        run_one(py, &self.0, seed, digest, cancel)
    }
}
