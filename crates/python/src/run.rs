//! `Run`, and how runs are made.

use numpy::{IntoPyArray, PyArrayMethods};
use optcp_runs::{Kernel, RunOptions, Series, Values, signed};
use pyo3::exceptions::{PyKeyError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::scenario::Scenario;
use crate::{Cancel, Cancelled};

/// The result of one run.
#[pyclass(frozen, module = "optcp._core")]
pub(crate) struct Run(optcp_runs::Run);

/// Runs branches without the GIL.
fn run(
    py: Python<'_>,
    branches: &[&optcp_scenario::Scenario],
    seed: u64,
    options: RunOptions,
    cancel: Option<&Cancel>,
) -> PyResult<Vec<Run>> {
    let cancel = cancel.map(|cancel| cancel.0.clone()).unwrap_or_default();
    py.detach(|| optcp_runs::run_branches(branches, seed, options, &cancel))
        .map(|runs| runs.into_iter().map(Run).collect())
        .map_err(|_| Cancelled::new_err("the run was cancelled"))
}

pub(crate) fn run_one(
    py: Python<'_>,
    scenario: &optcp_scenario::Scenario,
    seed: u64,
    options: RunOptions,
    cancel: Option<&Cancel>,
) -> PyResult<Run> {
    let mut runs = run(py, &[scenario], seed, options, cancel)?;
    runs.pop().ok_or_else(|| Cancelled::new_err("the run gave no result"))
}

#[pyfunction]
#[pyo3(signature = (branches, seed, *, fork = true, digest = false, kernel = "fast", cancel = None))]
pub(crate) fn run_branches(
    py: Python<'_>,
    branches: Vec<Py<Scenario>>,
    seed: u64,
    fork: bool,
    digest: bool,
    kernel: &str,
    cancel: Option<&Cancel>,
) -> PyResult<Vec<Run>> {
    let scenarios: Vec<_> = branches.iter().map(|branch| &branch.get().0).collect();
    let options = RunOptions { fork, digest, kernel: named_kernel(kernel)?, threads: 1 };
    run(py, &scenarios, seed, options, cancel)
}

/// The kernel of that name.
pub(crate) fn named_kernel(name: &str) -> PyResult<Kernel> {
    let of_name = |kernel: &Kernel| kernel.name() == name;
    // `optcp bench` compares these two.
    let compared = [Kernel::Calendar, Kernel::Windows { length: None, stepped: 0 }];
    Kernel::ALL.into_iter().chain(compared).find(of_name).ok_or_else(|| {
        let names = Kernel::ALL.map(Kernel::name).join("` or `");
        PyValueError::new_err(format!("`{name}` is no kernel: it is `{names}`"))
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
    fn waiting(&self) -> &str {
        &self.0.waiting
    }

    /// A dictionary for each switch, in order of time.
    #[getter]
    fn switches<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let one = |switch: &optcp_runs::Switched| {
            let entry = PyDict::new(py);
            entry.set_item("at_ps", switch.at.as_ps())?;
            entry.set_item("protection", switch.protection)?;
            entry.set_item("node", &switch.node)?;
            entry.set_item("packets", if switch.acks { "acks" } else { "data" })?;
            entry.set_item("to", if switch.to_backup { "backup" } else { "working" })?;
            Ok(entry)
        };
        self.0.switches.iter().map(one).collect()
    }

    /// A dictionary for each port that failed, in order of time.
    #[getter]
    fn failed<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let one = |failed: &optcp_runs::Failed| {
            let entry = PyDict::new(py);
            entry.set_item("port", &failed.port)?;
            entry.set_item("at_ps", failed.at.as_ps())?;
            entry.set_item("repair_ps", failed.repair.map(optcp_units::Time::as_ps))?;
            Ok(entry)
        };
        self.0.failed.iter().map(one).collect()
    }

    /// By group, the routes of the flows that came at random.
    #[getter]
    fn arrived<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let groups = self.0.arrived.iter().map(|of| (of.group.as_str(), of.routes.clone()));
        dict(py, groups)
    }

    /// A dictionary for each time that the way of a flow led nowhere.
    #[getter]
    fn cuts<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let one = |cut: &optcp_runs::CutOff| {
            let entry = PyDict::new(py);
            entry.set_item("flow", &cut.flow)?;
            entry.set_item("group", &cut.group)?;
            entry.set_item("ack", cut.acks)?;
            entry.set_item("from_ps", cut.from.as_ps())?;
            entry.set_item("until_ps", cut.until.as_ps())?;
            Ok(entry)
        };
        self.0.cuts.iter().map(one).collect()
    }

    /// What routing did; None without routing.
    #[getter]
    fn routing<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(record) = &self.0.routing else { return Ok(None) };
        let step = |step: &optcp_runs::Rerouted| {
            let entry = PyDict::new(py);
            entry.set_item("at_ps", step.at.as_ps())?;
            entry.set_item("router", &step.router)?;
            entry.set_item("cause", step.cause)?;
            entry.set_item("entries", step.entries)?;
            Ok(entry)
        };
        let steps: PyResult<Vec<_>> = record.steps.iter().map(step).collect();
        let all = PyDict::new(py);
        all.set_item("announcements", record.announcements)?;
        all.set_item("on_failure", record.on_failure)?;
        all.set_item("on_repair", record.on_repair)?;
        all.set_item("on_convergence", record.on_convergence)?;
        all.set_item("steps", steps?)?;
        Ok(Some(all))
    }

    #[getter]
    fn series<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        for series in &self.0.series {
            all.set_item(&series.name, columns(py, series)?)?;
        }
        Ok(all)
    }

    /// The observation `name` as the bytes of a Parquet file.
    fn to_parquet<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyBytes>> {
        let series = self
            .0
            .series
            .iter()
            .find(|series| series.name == name)
            .ok_or_else(|| PyKeyError::new_err(name.to_owned()))?;
        let bytes = py
            .detach(|| optcp_runs::Table::of(series).to_parquet())
            .map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        Ok(PyBytes::new(py, &bytes))
    }
}

fn columns<'py>(py: Python<'py>, series: &Series) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("kind", series.kind)?;
    for (name, list) in &series.names {
        dict.set_item(name, list)?;
    }
    let rows = series.interval.map(|interval| {
        dict.set_item("after_s", series.after.as_secs_f64())?;
        dict.set_item("interval_s", interval.as_secs_f64())?;
        PyResult::Ok(series.names.first().map_or(0, |(_, names)| names.len()))
    });
    let rows = rows.transpose()?;
    for column in &series.columns {
        let index = column.index_into.is_some();
        let array = match &column.values {
            Values::U32(places) if index => array(py, places.clone(), rows)?,
            Values::U8(places) if index => array(py, places.clone(), rows)?,
            Values::U64(values) => array(py, values.iter().copied().map(signed).collect(), rows)?,
            Values::U32(values) => array(py, whole(values), rows)?,
            Values::U8(values) => array(py, whole(values), rows)?,
            Values::Bool(values) => array(py, values.clone(), rows)?,
            Values::F64(values) => array(py, values.clone(), rows)?,
        };
        dict.set_item(column.name, array)?;
    }
    Ok(dict)
}

fn whole<T: Copy + Into<i64>>(values: &[T]) -> Vec<i64> {
    values.iter().map(|&value| value.into()).collect()
}

/// A NumPy array, of two dimensions if there are rows.
fn array<T: numpy::Element>(
    py: Python<'_>,
    values: Vec<T>,
    rows: Option<usize>,
) -> PyResult<Bound<'_, PyAny>> {
    let length = values.len();
    let flat = values.into_pyarray(py);
    match rows {
        Some(rows) => {
            let length = length.checked_div(rows).unwrap_or(0);
            Ok(flat.reshape([rows, length])?.into_any())
        }
        None => Ok(flat.into_any()),
    }
}
