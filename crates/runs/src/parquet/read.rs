//! Reader of Parquet files.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

use bytes::Bytes;
use parquet::basic::{LogicalType, Repetition, Type};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::ColumnDescriptor;

use super::{Data, Table, Texts, coded};

impl Table {
    /// Reads the table in the bytes of a Parquet file of the type that [`Table::to_parquet`]
    /// writes. It has flat columns without nulls, of integers, 64-bit real numbers, booleans and
    /// texts.
    ///
    /// # Errors
    /// If the bytes are not a Parquet file, or contain anything else.
    pub fn from_parquet(bytes: Vec<u8>) -> Result<Table> {
        Table::some_from_parquet(bytes, None)
    }

    /// Reads only some columns; missing ones are ignored.
    ///
    /// # Errors
    /// As for [`Table::from_parquet`].
    pub fn some_from_parquet(bytes: Vec<u8>, columns: Option<&[String]>) -> Result<Table> {
        quietly(|| Table::read(bytes, columns)).unwrap_or_else(|| {
            Err(ParquetError::General("it is damaged where the library does not look".to_owned()))
        })
    }

    fn read(bytes: Vec<u8>, columns: Option<&[String]>) -> Result<Table> {
        let file = SerializedFileReader::new(Bytes::from(bytes))?;
        let about = file.metadata().file_metadata();
        let metadata = about.key_value_metadata().into_iter().flatten();
        let metadata =
            metadata.map(|pair| (pair.key.clone(), pair.value.clone().unwrap_or_default()));
        let mut table = Table { metadata: metadata.collect(), columns: Vec::new() };
        for (index, column) in about.schema_descr().columns().iter().enumerate() {
            if columns.is_some_and(|wanted| !wanted.iter().any(|name| name == column.name())) {
                continue;
            }
            let simple = column.self_type().get_basic_info().repetition() == Repetition::REQUIRED
                && column.path().parts().len() == 1;
            if !simple {
                return Err(other(column.name()));
            }
            let mut data = None;
            for group in 0..file.num_row_groups() {
                let group = file.get_row_group(group)?;
                let rows = usize::try_from(group.metadata().num_rows())
                    .map_err(|_| other(column.name()))?;
                if column.physical_type() == Type::BYTE_ARRAY {
                    let Data::Text(all) = data.get_or_insert(Data::Text(Texts::default())) else {
                        return Err(other(column.name()));
                    };
                    coded::append(all, group.get_column_page_reader(index)?.as_mut(), rows)?;
                } else {
                    let reader = group.get_column_reader(index)?;
                    append(&mut data, reader, rows, unsigned(column), column.name())?;
                }
            }
            table.columns.extend(data.map(|data| (column.name().to_owned(), data)));
        }
        Ok(table)
    }
}

/// Returns the result of `read`, or `None` if it panics: the library panics for some damaged files. The panic
/// message is suppressed.
fn quietly<T>(read: impl FnOnce() -> T) -> Option<T> {
    thread_local! {
        static QUIET: Cell<bool> = const { Cell::new(false) };
    }
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let report = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !QUIET.get() {
                report(info);
            }
        }));
    });
    QUIET.set(true);
    let result = panic::catch_unwind(AssertUnwindSafe(read));
    QUIET.set(false);
    result.ok()
}

fn other(column: &str) -> ParquetError {
    ParquetError::General(format!("column `{column}` is of a type that is not read here"))
}

/// Reads all values of a column chunk.
fn values<T: DataType>(mut reader: ColumnReaderImpl<T>, rows: usize) -> Result<Vec<T::T>> {
    let mut values = Vec::new();
    while values.len() < rows {
        let (_, read, _) = reader.read_records(rows - values.len(), None, None, &mut values)?;
        if read == 0 {
            return Err(ParquetError::EOF("a column ends too early".to_owned()));
        }
    }
    Ok(values)
}

/// Returns whether a column has unsigned integers.
fn unsigned(column: &ColumnDescriptor) -> bool {
    column.logical_type_ref() == Some(&LogicalType::integer(64, false))
}

fn append(
    data: &mut Option<Data>,
    reader: ColumnReader,
    rows: usize,
    unsigned: bool,
    name: &str,
) -> Result<()> {
    match reader {
        ColumnReader::Int64ColumnReader(reader) if unsigned => {
            let Data::U64(all) = data.get_or_insert(Data::U64(Vec::new())) else {
                return Err(other(name));
            };
            all.extend(values(reader, rows)?.into_iter().map(i64::cast_unsigned));
        }
        ColumnReader::Int64ColumnReader(reader) => {
            let Data::I64(all) = data.get_or_insert(Data::I64(Vec::new())) else {
                return Err(other(name));
            };
            all.extend(values(reader, rows)?);
        }
        ColumnReader::BoolColumnReader(reader) => {
            let Data::Bool(all) = data.get_or_insert(Data::Bool(Vec::new())) else {
                return Err(other(name));
            };
            all.extend(values(reader, rows)?);
        }
        ColumnReader::DoubleColumnReader(reader) => {
            let Data::F64(all) = data.get_or_insert(Data::F64(Vec::new())) else {
                return Err(other(name));
            };
            all.extend(values(reader, rows)?);
        }
        _ => return Err(other(name)),
    }
    Ok(())
}
