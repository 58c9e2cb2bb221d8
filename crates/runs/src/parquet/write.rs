//! Tables to the bytes of Parquet files.

use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

use super::{Data, Table};

impl Table {
    /// The table as the bytes of a Parquet file.
    ///
    /// # Errors
    /// What the Parquet library reports, columns of unlike lengths among it.
    pub fn to_parquet(&self) -> Result<Vec<u8>> {
        let fields =
            self.columns.iter().map(|(name, data)| data.field(name)).collect::<Result<_>>()?;
        let schema = Arc::new(Type::group_type_builder("optcp").with_fields(fields).build()?);
        let metadata = self.metadata.iter();
        let metadata = metadata.map(|(key, value)| KeyValue::new(key.clone(), value.clone()));
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by("optcp".to_owned())
            .set_key_value_metadata(Some(metadata.collect()))
            .build();
        let mut file = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties))?;
        let mut group = file.next_row_group()?;
        for (_, data) in &self.columns {
            let mut writer = group.next_column()?.ok_or_else(too_few)?;
            data.write(writer.untyped())?;
            writer.close()?;
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

    fn write(&self, writer: &mut ColumnWriter<'_>) -> Result<usize> {
        match (self, writer) {
            (Data::U64(values), ColumnWriter::Int64ColumnWriter(w)) => {
                // Parquet keeps unsigned numbers as the signed ones of the same bits.
                let bits: Vec<i64> = values.iter().map(|v| v.cast_signed()).collect();
                w.write_batch(&bits, None, None)
            }
            (Data::U32(values), ColumnWriter::Int32ColumnWriter(w)) => {
                let bits: Vec<i32> = values.iter().map(|v| v.cast_signed()).collect();
                w.write_batch(&bits, None, None)
            }
            (Data::Bool(values), ColumnWriter::BoolColumnWriter(w)) => {
                w.write_batch(values, None, None)
            }
            (Data::F64(values), ColumnWriter::DoubleColumnWriter(w)) => {
                w.write_batch(values, None, None)
            }
            (Data::Text(texts), ColumnWriter::ByteArrayColumnWriter(w)) => {
                let names: Vec<ByteArray> =
                    texts.names.iter().map(|name| name.as_str().into()).collect();
                let rows: Vec<ByteArray> =
                    texts.codes.iter().map(|&code| names[code as usize].clone()).collect();
                w.write_batch(&rows, None, None)
            }
            _ => Err(ParquetError::General("a column of another type".to_owned())),
        }
    }
}
