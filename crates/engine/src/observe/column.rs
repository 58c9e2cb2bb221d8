//! What was observed, as columns.

use optcp_units::Time;

/// One column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name, with its unit.
    pub name: &'static str,
    /// The values.
    pub values: Values,
    /// The list of names that the values are indices into.
    pub index_into: Option<&'static str>,
    /// Whether it is left out of digests as long as all its values are zero: what came later leaves older results
    /// as they were.
    pub later: bool,
}

impl Column {
    /// The same, of which digests say nothing as long as all its values are zero.
    pub(super) fn later(self) -> Self {
        Column { later: true, ..self }
    }
}

/// The values of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Whole numbers.
    U64(Vec<u64>),
    /// Whole numbers; the greatest stands for none in a column of indices.
    U32(Vec<u32>),
    /// Small numbers.
    U8(Vec<u8>),
    /// Yes or no.
    Bool(Vec<bool>),
    /// Real numbers.
    F64(Vec<f64>),
}

impl Values {
    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Values::U64(v) => v.len(),
            Values::U32(v) => v.len(),
            Values::U8(v) => v.len(),
            Values::Bool(v) => v.len(),
            Values::F64(v) => v.len(),
        }
    }

    /// Whether all are zero.
    #[must_use]
    pub fn are_zero(&self) -> bool {
        match self {
            Values::U64(v) => v.iter().all(|&value| value == 0),
            Values::U32(v) => v.iter().all(|&value| value == 0),
            Values::U8(v) => v.iter().all(|&value| value == 0),
            Values::Bool(v) => v.iter().all(|&value| !value),
            Values::F64(v) => v.iter().all(|&value| value == 0.0),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// What an observation says when the run has ended.
///
/// Of the kinds with an interval, every column is a table of rows with as many values as there are
/// intervals, row after row, and the first list names the rows. Of the others, every column holds one
/// value an event, in order of time; of `segments-per-burst`, one a port and number of segments.
#[derive(Clone, Debug, PartialEq)]
pub struct Findings {
    /// Lists of names, for rows and for columns of indices.
    pub names: Vec<(&'static str, Names)>,
    /// The data.
    pub columns: Vec<Column>,
}

/// The names in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Names {
    /// Of the groups that were chosen.
    ChosenGroups,
    /// Of all groups.
    Groups,
    /// Of all flows.
    Flows,
    /// Of the ports or fibres that were chosen.
    ChosenPorts,
    /// Of all ports.
    Ports,
    /// These.
    These(Vec<String>),
}

impl Names {
    pub(super) fn these(names: &[&str]) -> Names {
        Names::These(names.iter().map(|&name| name.to_owned()).collect())
    }
}

/// A column of values.
pub(super) fn column(name: &'static str, values: Values) -> Column {
    Column { name, values, index_into: None, later: false }
}

/// A column of indices into a list of names.
pub(super) fn index(name: &'static str, values: Values, into: &'static str) -> Column {
    Column { name, values, index_into: Some(into), later: false }
}

/// The instants of rows.
pub(super) fn times<T>(rows: &[T], at: impl Fn(&T) -> Time) -> Column {
    column("time_ps", Values::U64(rows.iter().map(|row| at(row).as_ps()).collect()))
}

/// Values of rows.
pub(super) fn u64s<T>(rows: &[T], value: impl Fn(&T) -> u64) -> Values {
    Values::U64(rows.iter().map(value).collect())
}

/// The same.
pub(super) fn u32s<T>(rows: &[T], value: impl Fn(&T) -> u32) -> Values {
    Values::U32(rows.iter().map(value).collect())
}

/// The same.
pub(super) fn u8s<T>(rows: &[T], value: impl Fn(&T) -> u8) -> Values {
    Values::U8(rows.iter().map(value).collect())
}

/// The same.
pub(super) fn bools<T>(rows: &[T], value: impl Fn(&T) -> bool) -> Values {
    Values::Bool(rows.iter().map(value).collect())
}

/// The same.
pub(super) fn f64s<T>(rows: &[T], value: impl Fn(&T) -> f64) -> Values {
    Values::F64(rows.iter().map(value).collect())
}
