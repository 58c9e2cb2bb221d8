//! Studies: runs in blocks, and reading of their tables.

use std::collections::BTreeSet;
use std::path::PathBuf;

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use optcp_runs::RunOptions;
use optcp_store::{AxisValue, Block, Cell, Failure, METRICS, Observation};
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::congestion::caught;
use crate::run::{Run, named_engine};
use crate::scenario::Scenario;
use crate::table::dictionaries;
use crate::{Cancel, Cancelled};

/// Value of a swept parameter in Python.
#[derive(FromPyObject)]
pub(crate) enum Value {
    Number(f64),
    Text(String),
}

#[pyfunction]
#[pyo3(signature = (axes, cells, todo, root, *, fork = true, digest = false, engine = "fast", threads = 1, cancel = None))]
#[expect(clippy::too_many_arguments, reason = "keywords in Python")]
pub(crate) fn run_block<'py>(
    py: Python<'py>,
    axes: Vec<String>,
    cells: Vec<(String, Vec<Value>, Py<Scenario>)>,
    todo: Vec<(u64, Vec<usize>)>,
    root: Option<PathBuf>,
    fork: bool,
    digest: bool,
    engine: &str,
    threads: usize,
    cancel: Option<&Cancel>,
) -> PyResult<Vec<(String, Bound<'py, PyBytes>)>> {
    if todo.iter().flat_map(|(_, cells)| cells).any(|&cell| cell >= cells.len()) {
        return Err(PyValueError::new_err("no such cell"));
    }
    let options = RunOptions { fork, digest, engine: named_engine(engine)?, threads };
    let cancel = cancel.map(|cancel| cancel.0.clone()).unwrap_or_default();
    let values: Vec<Vec<AxisValue>> =
        cells.iter().map(|(_, values, _)| values.iter().map(axis_value).collect()).collect();
    let cells: Vec<Cell<'_>> = cells
        .iter()
        .zip(&values)
        .map(|((id, _, scenario), values)| Cell { id, values, scenario: &scenario.get().0 })
        .collect();
    let block = Block { axes: &axes, cells: &cells, todo: &todo };
    let mut files = Vec::new();
    let mut write = |more: Vec<optcp_store::File>| match &root {
        Some(root) => {
            optcp_store::write(root, &more).map(|()| files.extend(more.into_iter().next_back()))
        }
        None => {
            files.extend(more);
            Ok(())
        }
    };
    let run = || optcp_store::run_block(block, options, &cancel, &mut write);
    py.detach(|| caught(run))?.map_err(|failure| match failure {
        Failure::Cancelled => Cancelled::new_err("the runs were cancelled"),
        Failure::Table(error) => PyRuntimeError::new_err(error.to_string()),
        Failure::Files(error) => PyOSError::new_err(error.to_string()),
    })?;
    Ok(files.into_iter().map(|file| (file.path, PyBytes::new(py, &file.content))).collect())
}

/// Writes the files of one finished run, and returns the path of the manifest.
#[pyfunction]
pub(crate) fn store_run(
    py: Python<'_>,
    axes: Vec<String>,
    cell: (String, Vec<Value>, Py<Scenario>),
    run: &Run,
    root: PathBuf,
) -> PyResult<String> {
    let (id, values, scenario) = cell;
    let values: Vec<AxisValue> = values.iter().map(axis_value).collect();
    let cell = Cell { id: &id, values: &values, scenario: &scenario.get().0 };
    let files = py.detach(|| optcp_store::files_of(&axes, cell, &run.run, 0.0));
    let files = files.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    optcp_store::write(&root, &files).map_err(|error| PyOSError::new_err(error.to_string()))?;
    Ok(files.into_iter().next_back().map(|file| file.path).unwrap_or_default())
}

fn axis_value(value: &Value) -> AxisValue {
    match value {
        Value::Number(number) => AxisValue::Number(*number),
        Value::Text(text) => AxisValue::Text(text.clone()),
    }
}

#[pyfunction]
#[pyo3(signature = (files, columns = None))]
pub(crate) fn read_tables<'py>(
    py: Python<'py>,
    files: Vec<(PathBuf, String)>,
    columns: Option<Vec<String>>,
) -> PyResult<(Bound<'py, PyDict>, Bound<'py, PyDict>)> {
    let table = py
        .detach(|| optcp_store::read(&files, columns.as_deref()))
        .map_err(|error| PyValueError::new_err(error.to_string()))?;
    dictionaries(py, table)
}

#[pyfunction]
pub(crate) fn check_files(
    py: Python<'_>,
    files: Vec<(PathBuf, String)>,
) -> Option<(usize, String)> {
    py.detach(|| optcp_store::check(&files))
}

#[pyfunction]
pub(crate) fn product_limit<'py>(
    py: Python<'py>,
    seconds: PyReadonlyArray1<'_, f64>,
    ended: PyReadonlyArray1<'_, bool>,
) -> Bound<'py, PyArray1<f64>> {
    let pairs = seconds.as_array().into_iter().copied().zip(ended.as_array().into_iter().copied());
    let observations: Vec<Observation> =
        pairs.map(|(seconds, ended)| Observation { seconds, ended }).collect();
    optcp_store::product_limit(&observations).into_pyarray(py)
}

#[pyfunction]
pub(crate) fn metrics(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let one = |metric: &optcp_store::Metric| {
        let entry = PyDict::new(py);
        entry.set_item("name", metric.name)?;
        entry.set_item("unit", metric.unit)?;
        entry.set_item("of", metric.of)?;
        entry.set_item("bounds", metric.bounds.ends())?;
        entry.set_item("summary", metric.summary)?;
        entry.set_item("absent", metric.absent)?;
        entry.set_item("unfinished", metric.unfinished)?;
        entry.set_item("measured", metric.measured)?;
        Ok(entry)
    };
    METRICS.iter().map(one).collect()
}

#[pyfunction]
pub(crate) fn columns() -> BTreeSet<String> {
    optcp_store::columns()
}
