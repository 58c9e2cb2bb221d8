//! Sources of datagrams, and flows that come and go.

use std::borrow::Cow;
use std::fmt;

use optcp_traffic::{PacketRate, ProcessKind, SizesKind};
use optcp_units::{Codepoint, Decimal, Dimension, Quantity, QuantityError, Rate};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, SeqAccess, Visitor};

use super::values::{Written, WrittenVisitor, written, written_schema};
use super::{Chosen, Count, Delay, ListOr, Metric, PairsTable, Size, Span};

/// Sizes that are drawn, one for each packet or flow.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SizesTable {
    /// The distribution.
    pub kind: SizesKind,
    /// For `exponential` and `pareto`: the mean.
    pub mean: Option<Size>,
    /// For `pareto`: the index of the tail.
    pub shape: Option<Real>,
    /// For `exponential` sizes of packets: the smallest; 28 B if left out, the headers of UDP and IP.
    pub smallest: Option<Size>,
    /// The largest: **required** for `pareto` and `web-like`; of packets 1500 B if left out, of a measured workload and of
    /// `points` the last.
    pub largest: Option<Size>,
    /// For `points`: sizes, each with the per cent of flows that are not larger, up to 100; between two of them all sizes are
    /// equally likely.
    pub points: Option<Vec<SizePoint>>,
}

/// A size, and how many per cent are not larger.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SizePoint {
    pub size: Size,
    pub percent: Real,
}

/// What `SizePoint` accepts.
const SIZE_POINT: &str = "a size and a per cent such as `[\"10 kB\", 15]`";

impl<'de> Deserialize<'de> for SizePoint {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PointVisitor;

        impl<'de> Visitor<'de> for PointVisitor {
            type Value = SizePoint;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(SIZE_POINT)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut point: A) -> Result<SizePoint, A::Error> {
                match (point.next_element()?, point.next_element()?) {
                    (Some(size), Some(percent))
                        if point.next_element::<IgnoredAny>()?.is_none() =>
                    {
                        Ok(SizePoint { size, percent })
                    }
                    _ => {
                        let message = "a point has two values";
                        Err(A::Error::custom(format!("{message}\nexpected {SIZE_POINT}")))
                    }
                }
            }
        }

        deserializer.deserialize_any(PointVisitor)
    }
}

impl JsonSchema for SizePoint {
    fn schema_name() -> Cow<'static, str> {
        "SizePoint".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (size, percent) =
            (generator.subschema_for::<Size>(), generator.subschema_for::<Real>());
        json_schema!({ "description": SIZE_POINT, "type": "array", "prefixItems": [size, percent],
            "minItems": 2, "maxItems": 2 })
    }
}

/// Sources of datagrams (UDP) on one path, or one for each member of the groups on it.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TrafficEntry {
    /// The name of this group of sources; no group of flows has it.
    pub group: String,
    /// The nodes from source to sink; a link's name between two nodes chooses one of several. With `from` and `to` or
    /// `pairs`: how paths are found that do not follow the routing.
    pub path: Option<ListOr<Chosen>>,
    /// With `path` found: what makes it short; `cost` if left out.
    pub metric: Option<Metric>,
    /// With path `shortest`: how many of the shortest paths of each pair have sources; 1 if left out.
    pub paths: Option<Count>,
    /// With path `valiant`: a group of nodes.
    pub via: Option<String>,
    /// In place of `path`: nodes and groups; one from each of these nodes to each other, over the link
    /// between the two.
    pub between: Option<Vec<String>>,
    /// The source, or a group of them; packets follow the routing if there is no `path`.
    pub from: Option<String>,
    /// With `from`: the sink, or a group of them.
    pub to: Option<String>,
    /// In place of `from` and `to`: pairs of nodes.
    pub pairs: Option<PairsTable>,
    /// When packets come.
    pub process: ProcessKind,
    /// The mean rate of each source.
    pub rate: Pace,
    /// The size of packets on the wire, headers included.
    pub size: Option<Size>,
    /// In place of `size`: the distribution of sizes.
    pub sizes: Option<SizesTable>,
    /// What packets say of congestion; `not-ect` if left out.
    pub ecn: Option<CodepointKind>,
    /// Its class, from 0 to 7, for queues that tell classes apart: `priority` and `drr`; 0 if left out.
    pub class: Option<Count>,
    /// When sources start, drawn for each; 0 s if left out.
    pub start: Option<Delay>,
    /// From when on they send nothing; the stop of the run if left out.
    pub until: Option<Span>,
    /// For the self-similar processes: the Hurst parameter, above 0.5 and below 1.
    pub hurst: Option<Real>,
    /// For `on-off` and `fractal-renewal`: how many processes are superposed in a source.
    pub superposed: Option<Count>,
    /// For `on-off`: the mean time for which each is on.
    pub on: Option<Span>,
    /// For `on-off`: the mean time for which each is off.
    pub off: Option<Span>,
    /// For `fractal-renewal`, in place of `superposed`: the fractal onset time scale, from which on the
    /// traffic is self-similar.
    pub onset: Option<Span>,
    /// For `fractional-noise`: the length of a slot.
    pub slot: Option<Span>,
    /// For `fractional-noise`: variance of the packets a slot over their mean; 1 if left out.
    pub dispersion: Option<Real>,
}

optcp_units::registry! {
    /// What the packets of a source say of congestion.
    pub enum CodepointKind ("codepoints") {
        "not-ect" => NotEct: "nothing: queues drop them", "RFC 3168 section 5";
        "ect0" => Ect0: "queues may mark them in place of dropping them", "RFC 3168 section 5";
        "ect1" => Ect1: "queues may mark them early and often", "RFC 9331 section 4.1";
    }
}

impl CodepointKind {
    /// The codepoint itself.
    pub(crate) const fn codepoint(self) -> Codepoint {
        match self {
            CodepointKind::NotEct => Codepoint::NotEct,
            CodepointKind::Ect0 => Codepoint::Ect0,
            CodepointKind::Ect1 => Codepoint::Ect1,
        }
    }

    /// Its name for a codepoint that sources have.
    pub(crate) fn of(codepoint: Codepoint) -> Self {
        let same = |kind: &&CodepointKind| kind.codepoint() == codepoint;
        CodepointKind::ALL.iter().find(same).copied().unwrap_or(CodepointKind::NotEct)
    }
}

written!(Pace, FlowPace, Real);

/// A mean rate of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    /// So many packets in so much time.
    Packets(PacketRate),
    /// So many bits.
    Bits(Rate),
}

impl Written for Pace {
    const EXPECTED: &'static str = "a rate such as `900 packets/s` or `10 Mbps`";
    const EXAMPLES: &'static [&'static str] = &["900 packets/s", "10 Mbps"];
    fn from_text(text: &str) -> Result<Self, QuantityError> {
        let count = text.trim().strip_suffix("/s").map(|count| Quantity::parse(count, None));
        match count {
            Some(Ok(Quantity { amount, dimension: Some(Dimension::Count) })) => {
                a_second(amount, text).map(Pace::Packets)
            }
            _ => text.parse().map(Pace::Bits),
        }
    }
}

/// A mean rate of flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FlowPace(pub PacketRate);

impl Written for FlowPace {
    const EXPECTED: &'static str = "a rate such as `20 flows/s`";
    const EXAMPLES: &'static [&'static str] = &["20 flows/s", "0.5 flows/s"];
    fn from_text(text: &str) -> Result<Self, QuantityError> {
        let text = text.trim();
        let number = text.strip_suffix("flows/s").or_else(|| text.strip_suffix("flow/s"));
        let not_a_number = || QuantityError::NotANumber { text: text.to_owned() };
        let amount = number.and_then(|number| Decimal::parse(number.trim()));
        a_second(amount.ok_or_else(not_a_number)?, text).map(FlowPace)
    }
}

/// So many a second, to a millionth.
fn a_second(amount: Decimal, text: &str) -> Result<PacketRate, QuantityError> {
    const MILLION_SECONDS_PS: u64 = 1_000_000_000_000_000_000;
    let text = || text.trim().to_owned();
    let millionths = amount.times(Decimal::new(1_000_000)).filter(|m| m.is_whole());
    let millionths = millionths.ok_or_else(|| QuantityError::NotWhole {
        text: text(),
        base: Some("millionths a second"),
    })?;
    let millionths = millionths.to_u64().ok_or_else(|| QuantityError::TooLarge { text: text() })?;
    PacketRate::new(millionths, MILLION_SECONDS_PS)
        .ok_or_else(|| QuantityError::Zero { text: text() })
}

/// A number without a unit. Whether it is possible is checked where it is used.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Real(pub f64);

impl Written for Real {
    const EXPECTED: &'static str = "a number such as `0.7`";
    const EXAMPLES: &'static [&'static str] = &["$hurst"];
    const NUMBERS: Option<fn() -> Schema> =
        Some(|| json_schema!({ "type": "number", "minimum": 0 }));
    fn from_text(text: &str) -> Result<Self, QuantityError> {
        let quantity = Quantity::parse(text, None)?;
        if quantity.dimension.is_some() {
            return Err(QuantityError::UnwantedUnit { text: text.to_owned() });
        }
        let not_a_number = |_| QuantityError::NotANumber { text: text.to_owned() };
        text.trim().parse().map(Real).map_err(not_a_number)
    }
}
