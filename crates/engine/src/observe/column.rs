//! Results of observations as columns.

use optcp_units::Time;

/// Column of an observation.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Name with unit.
    pub name: &'static str,
    /// Values.
    pub values: Values,
    /// List of names to which the values are indices.
    pub index_into: Option<&'static str>,
    /// Whether digests omit the column while all values are zero. This keeps older digests valid when a column is
    /// added.
    pub later: bool,
}

impl Column {
    /// Marks the column as omitted from digests while all its values are zero.
    pub(super) fn later(self) -> Self {
        Column { later: true, ..self }
    }
}

/// Values of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// 64-bit integers.
    U64(Vec<u64>),
    /// 32-bit integers; the maximum stands for "none" in a column of indices.
    U32(Vec<u32>),
    /// 8-bit integers.
    U8(Vec<u8>),
    /// Booleans.
    Bool(Vec<bool>),
    /// Floating-point numbers.
    F64(Vec<f64>),
}

impl Values {
    /// Returns the number of values.
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

    /// Returns whether all values are zero.
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

    /// Returns whether there are no values.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Result of an observation at the end of a run.
///
/// For kinds with an interval, each column is a table: one value per row and interval, row by row. The first list names
/// the rows. For other kinds, a column has one value per event in order of time; for `segments-per-burst`, one per port
/// and number of segments.
#[derive(Clone, Debug, PartialEq)]
pub struct Findings {
    /// Lists of names for rows and for columns of indices.
    pub names: Vec<(&'static str, Names)>,
    /// Columns.
    pub columns: Vec<Column>,
}

/// Names in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Names {
    /// Chosen groups.
    ChosenGroups,
    /// All groups.
    Groups,
    /// All flows.
    Flows,
    /// Chosen link directions: ports or fibres.
    ChosenLinks,
    /// All ports.
    Ports,
    /// Given names.
    These(Vec<String>),
}

impl Names {
    pub(super) fn these(names: &[&str]) -> Names {
        Names::These(names.iter().map(|&name| name.to_owned()).collect())
    }
}

/// Creates a column of values.
pub(super) fn column(name: &'static str, values: Values) -> Column {
    Column { name, values, index_into: None, later: false }
}

/// Creates a column of indices into a list of names.
pub(super) fn index(name: &'static str, values: Values, into: &'static str) -> Column {
    Column { name, values, index_into: Some(into), later: false }
}

/// Creates the time column of rows.
pub(super) fn times<T>(rows: &[T], at: impl Fn(&T) -> Time) -> Column {
    column("time_ps", Values::U64(rows.iter().map(|row| at(row).as_ps()).collect()))
}

/// Collects 64-bit values of rows.
pub(super) fn u64s<T>(rows: &[T], value: impl Fn(&T) -> u64) -> Values {
    Values::U64(rows.iter().map(value).collect())
}

/// Collects 32-bit values of rows.
pub(super) fn u32s<T>(rows: &[T], value: impl Fn(&T) -> u32) -> Values {
    Values::U32(rows.iter().map(value).collect())
}

/// Collects 8-bit values of rows.
pub(super) fn u8s<T>(rows: &[T], value: impl Fn(&T) -> u8) -> Values {
    Values::U8(rows.iter().map(value).collect())
}

/// Collects Boolean values of rows.
pub(super) fn bools<T>(rows: &[T], value: impl Fn(&T) -> bool) -> Values {
    Values::Bool(rows.iter().map(value).collect())
}

/// Collects floating-point values of rows.
pub(super) fn f64s<T>(rows: &[T], value: impl Fn(&T) -> f64) -> Values {
    Values::F64(rows.iter().map(value).collect())
}
