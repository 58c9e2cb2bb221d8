//! Hurst parameter of counts.

use numpy::PyReadonlyArray1;
use optcp_traffic::hurst::{aggregated_variance, local_whittle};
use pyo3::prelude::*;
use pyo3::types::PyDict;

#[pyfunction]
pub(crate) fn hurst<'py>(
    py: Python<'py>,
    counts: PyReadonlyArray1<'_, f64>,
) -> PyResult<Option<Bound<'py, PyDict>>> {
    let counts = counts.as_array().to_vec();
    let found = py.detach(|| local_whittle(&counts).zip(aggregated_variance(&counts)));
    let Some((whittle, variance)) = found else { return Ok(None) };
    let dict = PyDict::new(py);
    dict.set_item("local_whittle", whittle.hurst)?;
    dict.set_item("standard_error", whittle.standard_error)?;
    dict.set_item("aggregated_variance", variance)?;
    Ok(Some(dict))
}
