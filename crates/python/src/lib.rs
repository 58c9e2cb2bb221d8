//! Python module `optcp._core`: a thin wrapper of the scenario crate without additional logic.
//!
//! `python/optcp/_core.pyi` documents every item.

// The attribute macros of the binding expand to code that trips these.
#![allow(missing_docs, reason = "documented in _core.pyi")]

mod arrow;
mod capture;
mod congestion;
mod dumbbell;
#[cfg(target_os = "linux")]
mod emulate;
mod graph;
mod hurst;
mod live;
mod run;
mod scenario;
mod study;
mod table;

use optcp_harness::conformance::run_text;
use optcp_harness::packetdrill::{Verdict, run_script};
use optcp_scenario::{catalogue as all_policies, json_schema, profiles as all_profiles};
use optcp_units::{Duration, Quantity};
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

create_exception!(
    optcp._core,
    ScenarioError,
    PyValueError,
    "A scenario file or an override is wrong."
);
create_exception!(optcp._core, Cancelled, PyException, "A run was interrupted through Cancel.");

/// Cancellation flag and progress shared by several runs.
#[pyclass(frozen, module = "optcp._core")]
#[derive(Default)]
struct Cancel(optcp_runs::Cancel);

#[pymethods]
impl Cancel {
    #[new]
    fn new() -> Self {
        Cancel::default()
    }

    fn cancel(&self) {
        self.0.cancel();
    }

    #[getter]
    fn is_set(&self) -> bool {
        self.0.is_set()
    }

    #[getter]
    fn simulated_s(&self) -> f64 {
        self.0.simulated().as_secs_f64()
    }
}

#[pyfunction]
fn schema() -> String {
    json_schema()
}

#[pyfunction]
fn catalogue(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    all_policies()
        .into_iter()
        .map(|entry| {
            let dict = PyDict::new(py);
            dict.set_item("family", entry.family)?;
            dict.set_item("name", entry.name)?;
            dict.set_item("summary", entry.summary)?;
            dict.set_item("source", entry.source)?;
            Ok(dict)
        })
        .collect()
}

#[pyfunction]
fn profiles(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    all_profiles()
        .into_iter()
        .map(|profile| {
            let choices: Vec<_> = profile
                .choices
                .into_iter()
                .map(|choice| (choice.key, choice.value, choice.why))
                .collect();
            let dict = PyDict::new(py);
            dict.set_item("name", profile.name)?;
            dict.set_item("summary", profile.summary)?;
            dict.set_item("source", profile.source)?;
            dict.set_item("choices", choices)?;
            Ok(dict)
        })
        .collect()
}

#[pyfunction]
fn conformance(py: Python<'_>, text: &str) -> PyResult<(String, Vec<String>)> {
    let (results, refused) =
        py.detach(|| run_text(text)).map_err(|error| ScenarioError::new_err(error.to_string()))?;
    Ok((results, refused.iter().map(ToString::to_string).collect()))
}

#[pyfunction]
#[pyo3(signature = (text, tolerance_us=None))]
fn packetdrill<'py>(
    py: Python<'py>,
    text: &str,
    tolerance_us: Option<u64>,
) -> PyResult<Bound<'py, PyDict>> {
    let outcome = py.detach(|| run_script(text, tolerance_us.map(Duration::from_us)));
    let dict = PyDict::new(py);
    match outcome {
        Verdict::Passed => dict.set_item("result", "ok")?,
        Verdict::Failed(mismatch) => {
            dict.set_item("result", "failed")?;
            dict.set_item("line", mismatch.line)?;
            dict.set_item("at_s", mismatch.at.as_secs_f64())?;
            dict.set_item("expected", mismatch.expected)?;
            dict.set_item("happened", mismatch.happened)?;
        }
        Verdict::Refused(refusal) => {
            dict.set_item("result", "refused")?;
            dict.set_item("line", refusal.line)?;
            dict.set_item("reason", refusal.reason)?;
        }
    }
    Ok(dict)
}

#[pyfunction]
fn quantity(text: &str) -> Option<(f64, &'static str)> {
    Quantity::parse(text, None).ok().map(Quantity::in_si)
}

#[pyfunction]
fn version() -> String {
    match env!("OPTCP_COMMIT") {
        "" => env!("CARGO_PKG_VERSION").to_owned(),
        commit => format!("{}+{commit}", env!("CARGO_PKG_VERSION")),
    }
}

#[pymodule(gil_used = false)]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("ScenarioError", module.py().get_type::<ScenarioError>())?;
    module.add("Cancelled", module.py().get_type::<Cancelled>())?;
    module.add_class::<Cancel>()?;
    module.add_class::<scenario::Scenario>()?;
    module.add_class::<run::Run>()?;
    module.add_class::<congestion::CongestionControl>()?;
    module.add_class::<congestion::Ack>()?;
    module.add_class::<congestion::Delivery>()?;
    module.add_class::<live::LiveRun>()?;
    module.add_class::<live::FlowState>()?;
    module.add_class::<dumbbell::Dumbbell>()?;
    #[cfg(target_os = "linux")]
    module.add_class::<emulate::Emulation>()?;
    module.add_class::<graph::Graph>()?;
    module.add_function(wrap_pyfunction!(run::run_branches, module)?)?;
    module.add_function(wrap_pyfunction!(study::run_block, module)?)?;
    module.add_function(wrap_pyfunction!(study::store_run, module)?)?;
    module.add_function(wrap_pyfunction!(study::read_tables, module)?)?;
    module.add_function(wrap_pyfunction!(study::check_files, module)?)?;
    module.add_function(wrap_pyfunction!(study::metrics, module)?)?;
    module.add_function(wrap_pyfunction!(study::columns, module)?)?;
    module.add_function(wrap_pyfunction!(study::product_limit, module)?)?;
    module.add_function(wrap_pyfunction!(arrow::arrow_stream, module)?)?;
    module.add_function(wrap_pyfunction!(table::write_parquet, module)?)?;
    module.add_function(wrap_pyfunction!(capture::write_pcapng, module)?)?;
    module.add_function(wrap_pyfunction!(hurst::hurst, module)?)?;
    module.add_function(wrap_pyfunction!(graph::great_circle_km, module)?)?;
    module.add_function(wrap_pyfunction!(quantity, module)?)?;
    module.add_function(wrap_pyfunction!(schema, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue, module)?)?;
    module.add_function(wrap_pyfunction!(profiles, module)?)?;
    module.add_function(wrap_pyfunction!(conformance, module)?)?;
    module.add_function(wrap_pyfunction!(packetdrill, module)?)?;
    module.add_function(wrap_pyfunction!(version, module)?)?;
    Ok(())
}
