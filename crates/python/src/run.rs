//! `Run`, and how runs are made.

use numpy::{IntoPyArray, PyArrayMethods};
use optcp_scenario::{Series, SeriesKind};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::scenario::Scenario;
use crate::{Cancel, Cancelled};

/// The result of one run.
#[pyclass(frozen, module = "optcp._core")]
pub(crate) struct Run(optcp_scenario::Run);

/// Runs branches without the GIL.
fn run(
    py: Python<'_>,
    branches: &[optcp_scenario::Scenario],
    seed: u64,
    fork: bool,
    digest: bool,
    cancel: Option<&Cancel>,
) -> PyResult<Vec<Run>> {
    let cancel = cancel.map(|cancel| cancel.0.clone()).unwrap_or_default();
    py.detach(|| optcp_scenario::run_branches(branches, seed, fork, digest, &cancel))
        .map(|runs| runs.into_iter().map(Run).collect())
        .map_err(|_| Cancelled::new_err("the run was cancelled"))
}

pub(crate) fn run_one(
    py: Python<'_>,
    scenario: &optcp_scenario::Scenario,
    seed: u64,
    digest: bool,
    cancel: Option<&Cancel>,
) -> PyResult<Run> {
    let mut runs = run(py, std::slice::from_ref(scenario), seed, false, digest, cancel)?;
    runs.pop().ok_or_else(|| Cancelled::new_err("the run gave no result"))
}

#[pyfunction]
#[pyo3(signature = (branches, seed, *, fork = true, digest = false, cancel = None))]
pub(crate) fn run_branches(
    py: Python<'_>,
    branches: Vec<PyRef<'_, Scenario>>,
    seed: u64,
    fork: bool,
    digest: bool,
    cancel: Option<&Cancel>,
) -> PyResult<Vec<Run>> {
    let scenarios: Vec<_> = branches.iter().map(|branch| branch.0.clone()).collect();
    drop(branches);
    run(py, &scenarios, seed, fork, digest, cancel)
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
        self.0.seed
    }

    #[getter]
    fn scenario_sha256(&self) -> &str {
        &self.0.scenario_sha256
    }

    #[getter]
    fn records_sha256(&self) -> Option<&str> {
        self.0.records_sha256.as_deref()
    }

    #[getter]
    fn metrics_sha256(&self) -> &str {
        &self.0.metrics_sha256
    }

    #[getter]
    fn counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        dict(py, self.0.counts.iter().copied())
    }

    #[getter]
    fn drops<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        dict(py, self.0.drops.iter().copied())
    }

    #[getter]
    fn forked_at_s(&self) -> Option<f64> {
        self.0.forked_at.map(optcp_units::Time::as_secs_f64)
    }

    #[getter]
    fn series<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        for series in &self.0.series {
            all.set_item(&series.name, columns(py, series)?)?;
        }
        Ok(all)
    }
}

fn columns<'py>(py: Python<'py>, series: &Series) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    match &series.kind {
        SeriesKind::Bytes { kind, interval, rows, intervals, bytes } => {
            dict.set_item("kind", kind)?;
            dict.set_item("interval_s", interval.as_secs_f64())?;
            dict.set_item(if *kind == "goodput" { "groups" } else { "ports" }, rows)?;
            let shape = [rows.len(), *intervals];
            dict.set_item("bytes", bytes.clone().into_pyarray(py).reshape(shape)?)?;
        }
        SeriesKind::Drops { ports, groups, reasons, drops } => {
            dict.set_item("kind", "drops")?;
            dict.set_item("ports", ports)?;
            dict.set_item("groups", groups)?;
            dict.set_item("reasons", reasons)?;
            let time: Vec<u64> = drops.iter().map(|drop| drop.at.as_ps()).collect();
            let port: Vec<u32> = drops.iter().map(|drop| drop.port).collect();
            let group: Vec<u32> = drops.iter().map(|drop| drop.group).collect();
            let ack: Vec<bool> = drops.iter().map(|drop| drop.ack).collect();
            let reason: Vec<u8> = drops.iter().map(|drop| drop.reason).collect();
            dict.set_item("time_ps", time.into_pyarray(py))?;
            dict.set_item("port", port.into_pyarray(py))?;
            dict.set_item("group", group.into_pyarray(py))?;
            dict.set_item("ack", ack.into_pyarray(py))?;
            dict.set_item("reason", reason.into_pyarray(py))?;
        }
    }
    Ok(dict)
}
