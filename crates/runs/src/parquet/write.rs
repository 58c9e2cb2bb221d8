//! Writer of Parquet files.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use parquet::basic::{Compression, Encoding, LogicalType, Repetition, Type as Physical};
use parquet::column::writer::ColumnWriter;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnPath, Type};

use super::{Data, Table, coded};

/// A numeric column is dictionary-encoded if at most one value in this many differs from its predecessor.
const ROWS_A_CHANGE: usize = 16;

impl Table {
    /// Returns the table as the bytes of a Parquet file.
    ///
    /// # Errors
    /// Errors of the Parquet library, including columns of different lengths.
    pub fn to_parquet(&self) -> Result<Vec<u8>> {
        let fields =
            self.columns.iter().map(|(name, data)| data.field(name)).collect::<Result<_>>()?;
        let schema = Arc::new(Type::group_type_builder("optcp").with_fields(fields).build()?);
        let metadata = self.metadata.iter();
        let metadata = metadata.map(|(key, value)| KeyValue::new(key.clone(), value.clone()));
        let mut properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_statistics_enabled(EnabledStatistics::None)
            .set_offset_index_disabled(true)
            .set_created_by("optcp".to_owned())
            .set_key_value_metadata(Some(metadata.collect()));
        for (name, data) in &self.columns {
            if matches!(data, Data::I64(_) | Data::U64(_)) {
                // Differences of times and of counts need few bits and are fast to compute.
                let path = ColumnPath::from(name.clone());
                properties = properties
                    .set_column_dictionary_enabled(path.clone(), false)
                    .set_column_compression(path.clone(), Compression::UNCOMPRESSED)
                    .set_column_encoding(path, Encoding::DELTA_BINARY_PACKED);
            }
        }
        let mut file = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties.build()))?;
        let columns = file.schema_descr().columns().to_vec();
        let mut group = file.next_row_group()?;
        for ((_, data), column) in self.columns.iter().zip(columns) {
            if let Some((dictionary, distinct, codes)) = data.coded() {
                let (pages, close) = coded::pages(column, dictionary, distinct, &codes)?;
                group.append_column(&pages, close)?;
            } else {
                let mut writer = group.next_column()?.ok_or_else(too_few)?;
                data.write(writer.untyped())?;
                writer.close()?;
            }
        }
        group.close()?;
        file.into_inner()
    }
}

fn too_few() -> ParquetError {
    ParquetError::General("the schema has too few columns".to_owned())
}

impl Data {
    fn field(&self, name: &str) -> Result<Arc<Type>> {
        let (physical, logical) = match self {
            Data::I64(_) => (Physical::INT64, None),
            Data::U64(_) => (Physical::INT64, Some(LogicalType::integer(64, false))),
            Data::Bool(_) => (Physical::BOOLEAN, None),
            Data::F64(_) => (Physical::DOUBLE, None),
            Data::Text(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        };
        let builder = Type::primitive_type_builder(name, physical)
            .with_repetition(Repetition::REQUIRED)
            .with_logical_type(logical);
        Ok(Arc::new(builder.build()?))
    }

    /// Returns the dictionary in Parquet's plain form, its number of values, and the index of each
    /// row. Texts always have one, numbers only if they rarely change.
    fn coded(&self) -> Option<(Vec<u8>, usize, Cow<'_, [u32]>)> {
        match self {
            Data::Text(texts) => {
                let mut dictionary = Vec::new();
                for name in &texts.names {
                    let length = u32::try_from(name.len()).ok()?;
                    dictionary.extend(length.to_le_bytes());
                    dictionary.extend(name.as_bytes());
                }
                Some((dictionary, texts.names.len(), Cow::Borrowed(&texts.codes)))
            }
            Data::I64(values) => steady(values, i64::cast_unsigned),
            Data::U64(values) => steady(values, |value| value),
            Data::F64(values) => steady(values, f64::to_bits),
            Data::Bool(_) => None,
        }
    }

    fn write(&self, writer: &mut ColumnWriter<'_>) -> Result<usize> {
        match (self, writer) {
            (Data::I64(values), ColumnWriter::Int64ColumnWriter(w)) => {
                w.write_batch(values, None, None)
            }
            (Data::U64(values), ColumnWriter::Int64ColumnWriter(w)) => {
                // Parquet stores unsigned numbers as signed ones with the same bits.
                let bits: Vec<i64> = values.iter().map(|v| v.cast_signed()).collect();
                w.write_batch(&bits, None, None)
            }
            (Data::Bool(values), ColumnWriter::BoolColumnWriter(w)) => {
                w.write_batch(values, None, None)
            }
            (Data::F64(values), ColumnWriter::DoubleColumnWriter(w)) => {
                w.write_batch(values, None, None)
            }
            _ => Err(ParquetError::General("a column of another type".to_owned())),
        }
    }
}

/// Returns the same for 64-bit numbers; `None` if they change too often.
fn steady<T: Copy>(
    values: &[T],
    bits: impl Fn(T) -> u64,
) -> Option<(Vec<u8>, usize, Cow<'static, [u32]>)> {
    let mut known: BTreeMap<u64, u32> = BTreeMap::new();
    let mut dictionary = Vec::new();
    let mut codes = Vec::with_capacity(values.len());
    let (mut last, mut code, mut changes) = (None, 0, 0);
    for value in values.iter().map(|&value| bits(value)) {
        if last != Some(value) {
            changes += 1;
            if changes * ROWS_A_CHANGE > values.len() + ROWS_A_CHANGE {
                return None;
            }
            let next = u32::try_from(known.len()).ok()?;
            code = *known.entry(value).or_insert_with(|| {
                dictionary.extend(value.to_le_bytes());
                next
            });
            last = Some(value);
        }
        codes.push(code);
    }
    Some((dictionary, known.len(), Cow::Owned(codes)))
}
