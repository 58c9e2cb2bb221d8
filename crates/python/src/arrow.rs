//! Columns as an Arrow stream, which other libraries import without a copy.

use std::sync::Arc;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int64Array, RecordBatch,
    RecordBatchIterator, StringArray, UInt32Array, UInt64Array,
};
use optcp_runs::{Data, Texts};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};

use crate::table::column;

#[pyfunction]
pub(crate) fn arrow_stream<'py>(
    py: Python<'py>,
    columns: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyCapsule>> {
    let mut arrays = Vec::new();
    for (name, values) in columns {
        let name: String = name.extract()?;
        let array = array(column(&name, &values)?)?;
        arrays.push((name, array, false));
    }
    let batch = RecordBatch::try_from_iter_with_nullable(arrays).map_err(value_error)?;
    let schema = batch.schema();
    let stream = FFI_ArrowArrayStream::new(Box::new(RecordBatchIterator::new([Ok(batch)], schema)));
    PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
}

fn array(data: Data) -> PyResult<ArrayRef> {
    Ok(match data {
        Data::I64(values) => Arc::new(Int64Array::from(values)),
        Data::U64(values) => Arc::new(UInt64Array::from(values)),
        Data::Bool(values) => Arc::new(BooleanArray::from(values)),
        Data::F64(values) => Arc::new(Float64Array::from(values)),
        Data::Text(Texts { names, codes }) => {
            let names = Arc::new(StringArray::from(names));
            Arc::new(
                DictionaryArray::try_new(UInt32Array::from(codes), names).map_err(value_error)?,
            )
        }
    })
}

fn value_error(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}
