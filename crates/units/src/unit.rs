//! Table of unit names for parsing, messages, `optcp list` and the documentation.

use std::fmt;

/// Dimension of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dimension {
    /// Duration; the base unit is the picosecond.
    Time,
    /// Transmission rate; the base unit is the bit per second.
    Rate,
    /// Amount of data; the base unit is the byte.
    Data,
    /// Number of packets or segments.
    Count,
}

impl Dimension {
    /// All dimensions.
    pub const ALL: [Dimension; 4] =
        [Dimension::Time, Dimension::Rate, Dimension::Data, Dimension::Count];

    /// Returns the name of a quantity of this dimension, with its article.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Dimension::Time => "a duration",
            Dimension::Rate => "a rate",
            Dimension::Data => "a data size",
            Dimension::Count => "a count",
        }
    }

    /// Returns an example of a quantity.
    #[must_use]
    pub const fn example(self) -> &'static str {
        match self {
            Dimension::Time => "5 ms",
            Dimension::Rate => "10 Mbps",
            Dimension::Data => "1500 B",
            Dimension::Count => "50 packets",
        }
    }

    /// Returns the base unit, which limits the resolution.
    #[must_use]
    pub const fn base(self) -> &'static str {
        match self {
            Dimension::Time => "ps",
            Dimension::Rate => "bps",
            Dimension::Data => "B",
            Dimension::Count => "packets",
        }
    }

    /// Returns the units of this dimension, smallest first.
    pub fn units(self) -> impl Iterator<Item = &'static Unit> {
        UNITS.iter().filter(move |unit| unit.dimension == self)
    }
}

impl fmt::Display for Dimension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} such as `{}`", self.name(), self.example())
    }
}

/// Unit of a quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Name in messages.
    pub name: &'static str,
    /// Alternative spellings.
    pub aliases: &'static [&'static str],
    /// Dimension.
    pub dimension: Dimension,
    /// Size in base units.
    pub factor: u64,
    /// One-line description for `optcp list`.
    pub summary: &'static str,
}

/// All units.
pub const UNITS: &[Unit] = &[
    unit("ps", &[], Dimension::Time, 1, "picosecond"),
    unit("ns", &[], Dimension::Time, 1_000, "nanosecond"),
    unit("us", &["\u{b5}s", "\u{3bc}s"], Dimension::Time, 1_000_000, "microsecond"),
    unit("ms", &[], Dimension::Time, 1_000_000_000, "millisecond"),
    unit("s", &[], Dimension::Time, 1_000_000_000_000, "second"),
    unit("min", &[], Dimension::Time, 60_000_000_000_000, "minute"),
    unit("h", &[], Dimension::Time, 3_600_000_000_000_000, "hour"),
    unit("bps", &["bit/s"], Dimension::Rate, 1, "bit a second"),
    unit("kbps", &["kbit", "kbit/s"], Dimension::Rate, 1_000, "10^3 bits a second"),
    unit("Mbps", &["Mbit", "Mbit/s"], Dimension::Rate, 1_000_000, "10^6 bits a second"),
    unit("Gbps", &["Gbit", "Gbit/s"], Dimension::Rate, 1_000_000_000, "10^9 bits a second"),
    unit("Tbps", &["Tbit", "Tbit/s"], Dimension::Rate, 1_000_000_000_000, "10^12 bits a second"),
    unit("B", &["byte", "bytes"], Dimension::Data, 1, "byte"),
    unit("kB", &[], Dimension::Data, 1_000, "10^3 bytes"),
    unit("KiB", &[], Dimension::Data, 1 << 10, "2^10 bytes"),
    unit("MB", &[], Dimension::Data, 1_000_000, "10^6 bytes"),
    unit("MiB", &[], Dimension::Data, 1 << 20, "2^20 bytes"),
    unit("GB", &[], Dimension::Data, 1_000_000_000, "10^9 bytes"),
    unit("GiB", &[], Dimension::Data, 1 << 30, "2^30 bytes"),
    unit("TB", &[], Dimension::Data, 1_000_000_000_000, "10^12 bytes"),
    unit("TiB", &[], Dimension::Data, 1 << 40, "2^40 bytes"),
    unit("packets", &["packet"], Dimension::Count, 1, "packet, of any size"),
    unit("segments", &["segment"], Dimension::Count, 1, "full TCP segment"),
];

const fn unit(
    name: &'static str,
    aliases: &'static [&'static str],
    dimension: Dimension,
    factor: u64,
    summary: &'static str,
) -> Unit {
    Unit { name, aliases, dimension, factor, summary }
}

impl Unit {
    /// Returns the unit with this name or alias.
    #[must_use]
    pub fn find(name: &str) -> Option<&'static Unit> {
        UNITS.iter().find(|unit| unit.spellings().any(|spelling| spelling == name))
    }

    pub(crate) fn spellings(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.name).chain(self.aliases.iter().copied())
    }
}
