//! `[topology]`: a published network, or one from a file.

use std::borrow::Cow;

use optcp_units::QuantityError;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer};

use super::QueueEntry;
use super::traffic::Real;
use super::values::{
    Cost, Count, Delay, Span, Speed, Written, WrittenVisitor, written, written_schema,
};

/// Link values of the topology file: values with a known unit, or an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    /// Values that the format defines.
    File,
    /// Attribute with an optional unit, as written after `attribute:`.
    Attribute(String),
}

impl Column {
    /// Prefix of an attribute.
    const ATTRIBUTE: &'static str = "attribute:";

    /// Returns the column that a text names, if any.
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        match text.strip_prefix(Self::ATTRIBUTE) {
            Some(name) => Some(Column::Attribute(name.trim().to_owned())),
            None => (text == "file").then_some(Column::File),
        }
    }

    /// Returns the text that names this column.
    pub(crate) fn text(&self) -> String {
        match self {
            Column::File => "file".to_owned(),
            Column::Attribute(name) => format!("{}{name}", Self::ATTRIBUTE),
        }
    }
}

/// One value for every link, or values of the topology file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum PerLink<T> {
    /// Value of every link.
    All(T),
    /// Values of the file.
    Column(Column),
}

impl<T> PerLink<T> {
    /// Returns the value if it is the same for every link.
    pub(crate) fn all(&self) -> Option<&T> {
        match self {
            PerLink::All(value) => Some(value),
            PerLink::Column(_) => None,
        }
    }

    /// Returns the column of the file.
    pub(crate) fn column(&self) -> Option<&Column> {
        match self {
            PerLink::All(_) => None,
            PerLink::Column(column) => Some(column),
        }
    }
}

/// Implements [`Written`] for values of links.
macro_rules! per_link {
    ($($Type:ident: $Inner:ty, $expected:literal, $examples:expr;)*) => {$(
        impl Written for $Type {
            const EXPECTED: &'static str = $expected;
            const EXAMPLES: &'static [&'static str] = $examples;
            const NUMBERS: Option<fn() -> Schema> = <$Inner>::NUMBERS;
            fn from_text(text: &str) -> Result<Self, QuantityError> {
                match Column::parse(text) {
                    Some(column) => Ok($Type(PerLink::Column(column))),
                    None => <$Inner>::from_text(text).map(|value| $Type(PerLink::All(value))),
                }
            }
        }
    )*};
}

/// Rate of each link.
#[derive(Clone, Debug)]
pub(crate) struct LinkRate(pub PerLink<Speed>);

/// Propagation delay of each link.
#[derive(Clone, Debug)]
pub(crate) struct LinkDelay(pub PerLink<Delay>);

/// Cost of each link.
#[derive(Clone, Debug)]
pub(crate) struct LinkCost(pub PerLink<Cost>);

per_link! {
    LinkRate: Speed, "a rate such as `10 Mbps`, `file`, or `attribute:NAME Gbps`",
        &["10 Mbps", "file", "attribute:LinkSpeedRaw", "attribute:capacity Gbps"];
    LinkDelay: Delay, "a duration such as `5 ms`, a distribution, or `file`",
        &["5 ms", "uniform(10 ms, 100 ms)", "file", "attribute:latency ms"];
    LinkCost: Cost, "a cost such as `10`, `delay`, `file`, or `attribute:NAME`",
        &["delay", "file", "attribute:metric"];
}

written!(LinkRate, LinkDelay, LinkCost);

/// Keyword for values of the topology file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum FromFile {
    /// Values of the file.
    File,
}

/// Nodes and links of a published network or of a file, in addition to `[[nodes]]` and `[[links]]`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TopologyTable {
    /// Name in TopoHub, such as `sndlib/abilene`.
    pub name: Option<String>,
    /// Instead of `name`: file of a network, relative to the scenario.
    pub file: Option<String>,
    /// Name of a group of all its nodes. Default: no group.
    pub group: Option<String>,
    /// Rate of each link direction: one rate, `file`, or `attribute:NAME` with an optional unit.
    pub rate: LinkRate,
    /// With `rate` from the file: rate of links without a rate in the file. Default: they are refused.
    pub default_rate: Option<Speed>,
    /// With `rate` from the file: factor of all these rates. Default: 1.
    pub rate_scale: Option<Real>,
    /// Queue of each link direction.
    pub queue: QueueEntry,
    /// Propagation delay per kilometre. Default: `5 us`.
    pub delay_per_km: Option<Span>,
    /// Propagation delay, instead of lengths: one delay, `file`, or `attribute:NAME` with an optional unit. A
    /// distribution is drawn once per link.
    pub delay: Option<LinkDelay>,
    /// Number of wavelengths per direction. Every link becomes a fibre of a burst-switched core.
    pub wavelengths: Option<Count>,
    /// With `[routing]`: cost of every link, `file`, or `attribute:NAME`. Default: 1.
    pub cost: Option<LinkCost>,
    /// `file`: random losses of data with the loss ratio of each link in the file. Default: no losses.
    pub loss: Option<FromFile>,
    /// `file`: the shared risks of the file, as `[[risks]]`. Default: none.
    pub risks: Option<FromFile>,
    /// `file`: the fibres of the file as `[optical]`, with the paths of links over them. Default: no fibres.
    pub fibres: Option<FromFile>,
    /// Capacity per link direction that backups may reserve, in addition to `rate`. Default: unlimited.
    pub spare: Option<Speed>,
}
