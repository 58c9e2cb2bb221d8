//! `Run`, and the execution of runs.

use optcp_runs::{Engine, RunOptions};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::congestion::caught;
use crate::scenario::Scenario;
use crate::table::dictionaries;
use crate::{Cancel, Cancelled};

/// Result of one run.
#[pyclass(frozen, module = "optcp._core")]
pub(crate) struct Run {
    pub(crate) run: optcp_runs::Run,
    pub(crate) scenario: Py<Scenario>,
}

/// Runs branches without the GIL.
pub(crate) fn run(
    py: Python<'_>,
    branches: Vec<Py<Scenario>>,
    seed: u64,
    options: RunOptions,
    cancel: Option<&Cancel>,
) -> PyResult<Vec<Run>> {
    let cancel = cancel.map(|cancel| cancel.0.clone()).unwrap_or_default();
    let scenarios: Vec<_> = branches.iter().map(|branch| &branch.get().0).collect();
    let runs = py
        .detach(|| caught(|| optcp_runs::run_branches(&scenarios, seed, options, &cancel)))?
        .map_err(|_| Cancelled::new_err("the run was cancelled"))?;
    Ok(runs.into_iter().zip(branches).map(|(run, scenario)| Run { run, scenario }).collect())
}

#[pyfunction]
#[pyo3(signature = (branches, seed, *, fork = true, digest = false, engine = "fast", cancel = None))]
pub(crate) fn run_branches(
    py: Python<'_>,
    branches: Vec<Py<Scenario>>,
    seed: u64,
    fork: bool,
    digest: bool,
    engine: &str,
    cancel: Option<&Cancel>,
) -> PyResult<Vec<Run>> {
    let options = RunOptions { fork, digest, engine: named_engine(engine)?, threads: 1 };
    run(py, branches, seed, options, cancel)
}

/// Returns the engine with this name.
pub(crate) fn named_engine(name: &str) -> PyResult<Engine> {
    let of_name = |engine: &Engine| engine.name() == name;
    // `optcp bench` compares these two engines.
    let compared = [Engine::Calendar, Engine::Windows { length: None, stepped: 0 }];
    Engine::ALL.into_iter().chain(compared).find(of_name).ok_or_else(|| {
        let names = Engine::ALL.map(Engine::name).join("` or `");
        PyValueError::new_err(format!("unknown engine `{name}`: expected `{names}`"))
    })
}

fn dict<'py, K, V>(
    py: Python<'py>,
    items: impl IntoIterator<Item = (K, V)>,
) -> PyResult<Bound<'py, PyDict>>
where
    K: IntoPyObject<'py>,
    V: IntoPyObject<'py>,
{
    let dict = PyDict::new(py);
    for (key, value) in items {
        dict.set_item(key, value)?;
    }
    Ok(dict)
}

#[pymethods]
impl Run {
    #[getter]
    fn seed(&self) -> u64 {
        self.run.seed
    }

    #[getter]
    fn scenario_sha256(&self) -> &str {
        &self.run.scenario_sha256
    }

    #[getter]
    fn records_sha256(&self) -> Option<&str> {
        self.run.records_sha256.as_deref()
    }

    #[getter]
    fn metrics_sha256(&self) -> &str {
        &self.run.metrics_sha256
    }

    #[getter]
    fn counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        dict(py, self.run.counts.iter().copied())
    }

    #[getter]
    fn forked_at_s(&self) -> Option<f64> {
        self.run.forked_at.map(optcp_units::Time::as_secs_f64)
    }

    #[getter]
    fn waiting(&self) -> &str {
        &self.run.waiting
    }

    /// Returns one dictionary per failed port, in order of time.
    #[getter]
    fn failed<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let one = |failed: &optcp_runs::Failed| {
            let entry = PyDict::new(py);
            entry.set_item("port", &failed.port)?;
            entry.set_item("at_ps", failed.at.as_ps())?;
            entry.set_item("repair_ps", failed.repair.map(optcp_units::Time::as_ps))?;
            Ok(entry)
        };
        self.run.failed.iter().map(one).collect()
    }

    /// Returns metadata and columns of the table with this name.
    fn table<'py>(
        &self,
        py: Python<'py>,
        name: &str,
    ) -> PyResult<(Bound<'py, PyDict>, Bound<'py, PyDict>)> {
        let scenario = &self.scenario.get().0;
        let table = py.detach(|| optcp_store::table(&self.run, scenario, name));
        dictionaries(py, table.ok_or_else(|| PyKeyError::new_err(name.to_owned()))?)
    }
}
