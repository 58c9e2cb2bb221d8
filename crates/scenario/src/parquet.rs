//! Series as Parquet files.

use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

use crate::series::{Column, Series, Values};

/// The series as the bytes of a Parquet file.
///
/// Series with an interval become one line for each row and interval, with the end of the interval
/// (`time_ps`) and the name of the row; indices become the names that they stand for. Units are in
/// the names of the columns, and the kind and the interval in the file's metadata.
///
/// # Errors
/// What the Parquet library reports.
pub fn to_parquet(series: &Series) -> Result<Vec<u8>> {
    let columns = columns(series);
    let fields = columns.iter().map(|(name, data)| data.field(name)).collect::<Result<_>>()?;
    let schema = Arc::new(Type::group_type_builder(&series.name).with_fields(fields).build()?);
    let interval = series.interval.map(|t| t.as_ps().to_string());
    let metadata = vec![
        KeyValue::new("optcp.kind".to_owned(), Some(series.kind.to_owned())),
        KeyValue::new("optcp.interval_ps".to_owned(), interval),
    ];
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by("optcp".to_owned())
        .set_key_value_metadata(Some(metadata))
        .build();
    let mut file = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties))?;
    let mut group = file.next_row_group()?;
    for (_, data) in &columns {
        let mut writer = group
            .next_column()?
            .ok_or_else(|| ParquetError::General("the schema has too few columns".to_owned()))?;
        data.write(writer.untyped())?;
        writer.close()?;
    }
    group.close()?;
    file.into_inner()
}

/// A column as Parquet knows it.
enum Data {
    /// Unsigned numbers, kept as their bits.
    U64(Vec<i64>),
    U32(Vec<i32>),
    Bool(Vec<bool>),
    F64(Vec<f64>),
    Text(Vec<ByteArray>),
}

impl Data {
    fn field(&self, name: &str) -> Result<Arc<Type>> {
        let unsigned = |bit_width| Some(LogicalType::integer(bit_width, false));
        let (physical, logical) = match self {
            Data::U64(_) => (Physical::INT64, unsigned(64)),
            Data::U32(_) => (Physical::INT32, unsigned(32)),
            Data::Bool(_) => (Physical::BOOLEAN, None),
            Data::F64(_) => (Physical::DOUBLE, None),
            Data::Text(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        };
        let builder = Type::primitive_type_builder(name, physical)
            .with_repetition(Repetition::REQUIRED)
            .with_logical_type(logical);
        Ok(Arc::new(builder.build()?))
    }

    fn write(&self, writer: &mut ColumnWriter<'_>) -> Result<()> {
        match (self, writer) {
            (Data::U64(values), ColumnWriter::Int64ColumnWriter(w)) => {
                w.write_batch(values, None, None)?;
            }
            (Data::U32(values), ColumnWriter::Int32ColumnWriter(w)) => {
                w.write_batch(values, None, None)?;
            }
            (Data::Bool(values), ColumnWriter::BoolColumnWriter(w)) => {
                w.write_batch(values, None, None)?;
            }
            (Data::F64(values), ColumnWriter::DoubleColumnWriter(w)) => {
                w.write_batch(values, None, None)?;
            }
            (Data::Text(values), ColumnWriter::ByteArrayColumnWriter(w)) => {
                w.write_batch(values, None, None)?;
            }
            _ => return Err(ParquetError::General("a column of another type".to_owned())),
        }
        Ok(())
    }
}

fn columns(series: &Series) -> Vec<(String, Data)> {
    let mut columns = Vec::new();
    if let (Some(interval), Some((kind_of_row, names))) = (series.interval, series.names.first()) {
        let length = series.columns.first().map_or(0, |column| column.values.len());
        let intervals = length.checked_div(names.len()).unwrap_or(0);
        let ends = (0..names.len())
            .flat_map(|_| (1..=intervals as u64).map(|i| (i * interval.as_ps()).cast_signed()));
        columns.push(("time_ps".to_owned(), Data::U64(ends.collect())));
        let texts: Vec<ByteArray> = names.iter().map(|name| name.as_str().into()).collect();
        let repeated = texts.iter().flat_map(|text| std::iter::repeat_n(text.clone(), intervals));
        let row = kind_of_row.trim_end_matches('s').to_owned();
        columns.push((row, Data::Text(repeated.collect())));
    }
    columns.extend(series.columns.iter().map(|c| (c.name.to_owned(), data(series, c))));
    columns
}

fn data(series: &Series, column: &Column) -> Data {
    let names = column.index_into.and_then(|list| {
        series.names.iter().find(|(name, _)| *name == list).map(|(_, names)| names)
    });
    if let Some(names) = names {
        let texts: Vec<ByteArray> = names.iter().map(|name| name.as_str().into()).collect();
        // An index beyond the list stands for none.
        let text = |index: usize| texts.get(index).cloned().unwrap_or_else(|| "".into());
        return Data::Text(match &column.values {
            Values::U32(values) => values.iter().map(|&i| text(i as usize)).collect(),
            Values::U8(values) => values.iter().map(|&i| text(usize::from(i))).collect(),
            Values::U64(_) | Values::Bool(_) | Values::F64(_) => Vec::new(),
        });
    }
    match &column.values {
        Values::U64(values) => Data::U64(values.iter().map(|v| v.cast_signed()).collect()),
        Values::U32(values) => Data::U32(values.iter().map(|v| v.cast_signed()).collect()),
        Values::U8(values) => Data::U32(values.iter().map(|&v| i32::from(v)).collect()),
        Values::Bool(values) => Data::Bool(values.clone()),
        Values::F64(values) => Data::F64(values.clone()),
    }
}
