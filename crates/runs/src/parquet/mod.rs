//! Tables as Parquet files, and series as tables.

mod coded;
mod read;
mod write;

use std::collections::BTreeMap;

use optcp_engine::observe::{Column, Values};

use crate::series::Series;

pub use parquet::errors::ParquetError;

/// Contents of a Parquet file, limited to the types that this crate writes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Metadata of the table, by key.
    pub metadata: Vec<(String, String)>,
    /// Columns of equal length.
    pub columns: Vec<(String, Data)>,
}

/// Values of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    /// Integers: times, bytes and counts. Signed, so that a difference of two columns may be negative.
    I64(Vec<i64>),
    /// Seeds, which use all 64 bits.
    U64(Vec<u64>),
    /// Booleans.
    Bool(Vec<bool>),
    /// Real numbers.
    F64(Vec<f64>),
    /// Texts with many repetitions.
    Text(Texts),
}

/// Texts, with each distinct one stored once. Two are equal if they list the same texts.
#[derive(Clone, Debug, Default)]
pub struct Texts {
    /// Distinct texts.
    pub names: Vec<String>,
    /// Index of each row's text.
    pub codes: Vec<u32>,
}

impl Texts {
    /// Returns the indices of some texts, and appends new ones to the distinct texts.
    pub fn places<'a>(&mut self, names: impl IntoIterator<Item = &'a str>) -> Vec<u32> {
        let mut known: Option<BTreeMap<String, u32>> = None;
        let mut place = |(at, name): (usize, &str)| {
            // Lists of one scenario are nearly always equal.
            if self.names.get(at).is_some_and(|one| one == name) {
                return u32::try_from(at).unwrap_or(u32::MAX);
            }
            let known = known.get_or_insert_with(|| self.names.iter().cloned().zip(0..).collect());
            *known.entry(name.to_owned()).or_insert_with(|| {
                self.names.push(name.to_owned());
                u32::try_from(self.names.len() - 1).unwrap_or(u32::MAX)
            })
        };
        names.into_iter().enumerate().map(&mut place).collect()
    }

    /// Iterates over the text of each row.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.codes.iter().map(|&code| self.names[code as usize].as_str())
    }
}

impl PartialEq for Texts {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

/// Converts a time, size or count for a table. No run reaches the limit: the check of scenarios rejects a
/// later `stop`.
fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

impl Data {
    /// Creates a column of times, sizes or counts.
    pub fn whole(values: impl IntoIterator<Item = u64>) -> Data {
        Data::I64(values.into_iter().map(signed).collect())
    }

    /// Returns the number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Data::I64(values) => values.len(),
            Data::U64(values) => values.len(),
            Data::Bool(values) => values.len(),
            Data::F64(values) => values.len(),
            Data::Text(texts) => texts.codes.len(),
        }
    }

    /// Returns whether the column is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends the values of another column of the same type.
    ///
    /// # Panics
    /// If the other column has another type.
    pub fn append(&mut self, other: Data) {
        match (self, other) {
            (Data::I64(all), Data::I64(more)) => all.extend(more),
            (Data::U64(all), Data::U64(more)) => all.extend(more),
            (Data::Bool(all), Data::Bool(more)) => all.extend(more),
            (Data::F64(all), Data::F64(more)) => all.extend(more),
            (Data::Text(all), Data::Text(more)) => {
                let places = all.places(more.names.iter().map(String::as_str));
                all.codes.extend(more.codes.iter().map(|&code| places[code as usize]));
            }
            (_, other) => panic!("a column cannot go on with values of another kind: {other:?}"),
        }
    }
}

impl Table {
    /// Converts the series to a table.
    ///
    /// Converts a series to a table. With an interval, it becomes one row per name and interval.
    /// The row contains the name and the end of the interval (`time_ps`; the last one ends with the
    /// run). Indices become the names that they represent; an index without a name becomes the
    /// empty text. Column names contain units; the metadata contain kind and interval.
    #[must_use]
    pub fn of(series: &Series) -> Table {
        let mut metadata = vec![("optcp.kind".to_owned(), series.kind.to_owned())];
        let mut columns = Vec::new();
        if let Some(interval) = series.interval {
            metadata.push(("optcp.interval_ps".to_owned(), interval.as_ps().to_string()));
            metadata.push(("optcp.after_ps".to_owned(), series.after.as_ps().to_string()));
        }
        if let (Some(interval), Some((kind_of_row, names))) =
            (series.interval, series.names.first())
        {
            let length = series.columns.first().map_or(0, |column| column.values.len());
            let intervals = length.checked_div(names.len()).unwrap_or(0);
            let end =
                |i: u64| (series.after.as_ps() + i * interval.as_ps()).min(series.stop.as_ps());
            let ends = names.iter().flat_map(|_| (1..=intervals as u64).map(end));
            let codes = (0..).take(names.len()).flat_map(|row| std::iter::repeat_n(row, intervals));
            let rows = Texts { names: names.clone(), codes: codes.collect() };
            columns.push(("time_ps".to_owned(), Data::whole(ends)));
            columns.push((kind_of_row.trim_end_matches('s').to_owned(), Data::Text(rows)));
        }
        columns.extend(series.columns.iter().map(|c| (c.name.to_owned(), data(series, c))));
        Table { metadata, columns }
    }
}

fn data(series: &Series, column: &Column) -> Data {
    let names = column.index_into.and_then(|list| {
        series.names.iter().find(|(name, _)| *name == list).map(|(_, names)| names)
    });
    match (&column.values, names) {
        (Values::U32(indices), Some(names)) => texts(names, indices.iter().copied()),
        (Values::U8(indices), Some(names)) => texts(names, indices.iter().map(|&i| u32::from(i))),
        (Values::U64(values), _) => Data::whole(values.iter().copied()),
        (Values::U32(values), None) => Data::whole(values.iter().map(|&v| u64::from(v))),
        (Values::U8(values), None) => Data::whole(values.iter().map(|&v| u64::from(v))),
        (Values::Bool(values), _) => Data::Bool(values.clone()),
        (Values::F64(values), _) => Data::F64(values.clone()),
    }
}

/// Maps indices to names; an index beyond the list has no name.
fn texts(names: &[String], indices: impl Iterator<Item = u32>) -> Data {
    let none = u32::try_from(names.len()).unwrap_or(u32::MAX);
    let mut names = names.to_vec();
    names.push(String::new());
    Data::Text(Texts { names, codes: indices.map(|index| index.min(none)).collect() })
}

#[cfg(test)]
mod tests {
    use optcp_units::{Duration, Time};

    use super::*;

    fn every_type() -> Table {
        let texts = Texts {
            names: vec!["A->B".to_owned(), String::new(), "grün".to_owned()],
            codes: vec![2, 0, 2, 1],
        };
        Table {
            metadata: vec![("optcp.kind".to_owned(), "drops".to_owned())],
            columns: vec![
                ("time_ps".to_owned(), Data::I64(vec![0, -1, i64::MAX, i64::MIN])),
                ("seed".to_owned(), Data::U64(vec![0, 1, u64::MAX, 5])),
                ("port".to_owned(), Data::Text(texts)),
                ("ack".to_owned(), Data::Bool(vec![true, false, false, true])),
                ("mean_packets".to_owned(), Data::F64(vec![0.1, -0.0, f64::INFINITY, 1e-300])),
            ],
        }
    }

    #[test]
    fn a_table_reads_back_as_it_was_written() {
        let table = every_type();
        assert_eq!(Table::from_parquet(table.to_parquet().unwrap()).unwrap(), table);
    }

    #[test]
    fn a_table_without_rows_keeps_its_columns() {
        let mut table = every_type();
        for (_, data) in &mut table.columns {
            *data = match data {
                Data::I64(_) => Data::I64(Vec::new()),
                Data::U64(_) => Data::U64(Vec::new()),
                Data::Bool(_) => Data::Bool(Vec::new()),
                Data::F64(_) => Data::F64(Vec::new()),
                Data::Text(_) => Data::Text(Texts::default()),
            };
        }
        assert_eq!(Table::from_parquet(table.to_parquet().unwrap()).unwrap(), table);
    }

    #[test]
    fn columns_of_different_lengths_are_rejected() {
        let mut table = every_type();
        table.columns.push(("more".to_owned(), Data::Bool(vec![true])));
        assert!(table.to_parquet().is_err());
    }

    #[test]
    fn invalid_parquet_file_is_an_error() {
        let whole = every_type().to_parquet().unwrap();
        for length in [0, 3, 4, whole.len() / 2, whole.len() - 1] {
            assert!(Table::from_parquet(whole[..length].to_vec()).is_err(), "{length}");
        }
        assert!(Table::from_parquet(b"PAR1 and something else PAR1".to_vec()).is_err());
    }

    #[test]
    fn intervals_become_rows_with_their_end_and_indices_become_names() {
        let names = |list: &[&str]| list.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        let mut series = Series {
            name: "load".to_owned(),
            kind: "load",
            after: Duration::ZERO,
            interval: Some(Duration::from_ms(10)),
            stop: Time::ZERO + Duration::from_ms(18),
            names: vec![("ports", names(&["A->B", "B->A"]))],
            columns: vec![Column {
                name: "bytes",
                values: Values::U64(vec![1, 2, 3, 4]),
                index_into: None,
                later: false,
            }],
        };
        let table = Table::of(&series);
        let ms = 1_000_000_000;
        assert_eq!(table.metadata[1], ("optcp.interval_ps".to_owned(), (10 * ms).to_string()));
        assert_eq!(table.columns[0].1, Data::whole([10 * ms, 18 * ms, 10 * ms, 18 * ms]));
        let Data::Text(ports) = &table.columns[1].1 else { panic!("{table:?}") };
        assert_eq!(ports.iter().collect::<Vec<_>>(), ["A->B", "A->B", "B->A", "B->A"]);

        series.interval = None;
        series.columns[0] = Column {
            name: "port",
            values: Values::U32(vec![1, u32::MAX, 0]),
            index_into: Some("ports"),
            later: false,
        };
        let Data::Text(ports) = &Table::of(&series).columns[0].1 else { panic!("not names") };
        assert_eq!(ports.iter().collect::<Vec<_>>(), ["B->A", "", "A->B"]);
    }
}
