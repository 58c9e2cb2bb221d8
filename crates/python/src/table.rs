//! Parquet files as dictionaries of columns.

use numpy::{IntoPyArray, PyArray1, PyArrayMethods};
use optcp_runs::{Data, ParquetError, Table, Texts};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

fn value_error(error: &ParquetError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// Returns metadata and columns of a table.
pub(crate) fn dictionaries(
    py: Python<'_>,
    table: Table,
) -> PyResult<(Bound<'_, PyDict>, Bound<'_, PyDict>)> {
    let (metadata, columns) = (PyDict::new(py), PyDict::new(py));
    for (key, value) in table.metadata {
        metadata.set_item(key, value)?;
    }
    for (name, data) in table.columns {
        match data {
            Data::I64(values) => columns.set_item(name, values.into_pyarray(py))?,
            Data::U64(values) => columns.set_item(name, values.into_pyarray(py))?,
            Data::Bool(values) => columns.set_item(name, values.into_pyarray(py))?,
            Data::F64(values) => columns.set_item(name, values.into_pyarray(py))?,
            Data::Text(Texts { names, codes }) => {
                columns.set_item(name, (codes.into_pyarray(py), names))?;
            }
        }
    }
    Ok((metadata, columns))
}

#[pyfunction]
pub(crate) fn write_parquet<'py>(
    py: Python<'py>,
    columns: &Bound<'py, PyDict>,
    metadata: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyBytes>> {
    let mut table = Table::default();
    for (key, value) in metadata {
        table.metadata.push((key.extract()?, value.extract()?));
    }
    for (name, values) in columns {
        let name: String = name.extract()?;
        let data = column(&name, &values)?;
        table.columns.push((name, data));
    }
    let bytes = py.detach(|| table.to_parquet()).map_err(|error| value_error(&error))?;
    Ok(PyBytes::new(py, &bytes))
}

/// Converts a column of numbers, booleans, texts, or texts as (codes, distinct texts).
pub(crate) fn column(name: &str, values: &Bound<'_, PyAny>) -> PyResult<Data> {
    if let Ok(array) = values.cast::<PyArray1<f64>>() {
        Ok(Data::F64(array.to_vec()?))
    } else if let Ok(array) = values.cast::<PyArray1<i64>>() {
        Ok(Data::I64(array.to_vec()?))
    } else if let Ok(array) = values.cast::<PyArray1<u64>>() {
        Ok(Data::U64(array.to_vec()?))
    } else if let Ok(array) = values.cast::<PyArray1<bool>>() {
        Ok(Data::Bool(array.to_vec()?))
    } else if let Ok(names) = values.extract::<Vec<String>>() {
        let codes = (0..).take(names.len()).collect();
        Ok(Data::Text(Texts { names, codes }))
    } else if let Ok((codes, names)) = values.extract::<(Bound<'_, PyArray1<u32>>, Vec<String>)>() {
        let codes = codes.to_vec()?;
        match codes.iter().find(|&&code| code as usize >= names.len()) {
            Some(code) => {
                Err(PyValueError::new_err(format!("column `{name}`: there is no text {code}")))
            }
            None => Ok(Data::Text(Texts { names, codes })),
        }
    } else {
        let message = format!("column `{name}`: expected numbers, truth values or texts");
        Err(PyTypeError::new_err(message))
    }
}
