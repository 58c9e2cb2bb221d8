//! `[[traffic]]`: sources of datagrams. Also the size distributions of packets and flows.

use std::borrow::Cow;
use std::fmt;

use optcp_traffic::{PacketRate, ProcessKind, SizesKind};
use optcp_units::{Codepoint, Decimal, Dimension, Quantity, QuantityError, Rate};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, SeqAccess, Visitor};

use super::values::{Written, WrittenVisitor, written, written_schema};
use super::{Chosen, Count, Delay, ListOr, Metric, PairsTable, Size, Span};

/// Size distribution, drawn per packet or flow.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SizesTable {
    /// Distribution.
    pub kind: SizesKind,
    /// For `exponential` and `pareto`: mean.
    pub mean: Option<Size>,
    /// For `pareto`: tail index.
    pub shape: Option<Real>,
    /// For `exponential` packet sizes: minimum. Default: 28 B, the headers of UDP and IP.
    pub smallest: Option<Size>,
    /// Maximum. Required for `pareto` and `web-like`. Default for packets: 1500 B; for a measured workload
    /// and `points`: the last size.
    pub largest: Option<Size>,
    /// For `points`: sizes, each with the percentage of flows of at most this size, up to 100. Sizes between
    /// two points are uniformly distributed.
    pub points: Option<Vec<SizePoint>>,
}

/// Size, with the percentage of flows of at most this size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SizePoint {
    pub size: Size,
    pub percent: Real,
}

/// Expected form of a [`SizePoint`].
const SIZE_POINT: &str = "a size and a percentage such as `[\"10 kB\", 15]`";

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

/// Sources of datagrams (UDP) on one path, or one source per member of the groups on it.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TrafficEntry {
    /// Name of the group of sources. No group of flows may have the same name.
    pub group: String,
    /// Nodes from source to sink; a link name between two nodes selects one of several links. With `from` and
    /// `to` or `pairs`: method that computes paths independently of the routing.
    pub path: Option<ListOr<Chosen>>,
    /// With a computed `path`: metric of its length. Default: `cost`.
    pub metric: Option<Metric>,
    /// With path `shortest`: number of shortest paths per pair that carry sources. Default: 1.
    pub paths: Option<Count>,
    /// With path `valiant`: group of intermediate nodes.
    pub via: Option<String>,
    /// Instead of `path`: nodes and groups. Each pair has a source in each direction, over the link between
    /// the two nodes.
    pub between: Option<Vec<String>>,
    /// Source node or group of sources. Without `path`, packets follow the routing.
    pub from: Option<String>,
    /// With `from`: sink node or group of sinks.
    pub to: Option<String>,
    /// Instead of `from` and `to`: pairs of nodes.
    pub pairs: Option<PairsTable>,
    /// Instead of `from`, `to`, `start` and `until`: CSV or Parquet file, relative to the scenario, with one source per
    /// row. Its columns are `time`, `from`, `to`, `bytes` and `protocol`, which is `udp`. A source ends after its bytes.
    pub list: Option<String>,
    /// Arrival process of packets.
    pub process: ProcessKind,
    /// Mean rate per source.
    pub rate: Pace,
    /// Packet size on the wire, including headers.
    pub size: Option<Size>,
    /// Instead of `size`: distribution of packet sizes.
    pub sizes: Option<SizesTable>,
    /// ECN codepoint of packets. Default: `not-ect`.
    pub ecn: Option<CodepointKind>,
    /// Traffic class, from 0 to 7, for the queues `priority` and `drr`, and for bursts with `classes`. Default: 0.
    pub class: Option<Count>,
    /// Start time, drawn per source. Default: `0 s`.
    pub start: Option<Delay>,
    /// End of sending. Default: the end of the run.
    pub until: Option<Span>,
    /// For the self-similar processes: Hurst parameter, above 0.5 and below 1.
    pub hurst: Option<Real>,
    /// For `on-off` and `fractal-renewal`: number of superposed processes per source.
    pub superposed: Option<Count>,
    /// For `on-off`: mean duration of the on state.
    pub on: Option<Span>,
    /// For `on-off`: mean duration of the off state.
    pub off: Option<Span>,
    /// For `fractal-renewal`, instead of `superposed`: fractal onset time, the time scale above which traffic
    /// is self-similar.
    pub onset: Option<Span>,
    /// For `fractional-noise`: slot length.
    pub slot: Option<Span>,
    /// For `fractional-noise`: ratio of variance to mean of the packets per slot. Default: 1.
    pub dispersion: Option<Real>,
}

optcp_units::registry! {
    /// ECN codepoint in the packets of a source.
    pub enum CodepointKind ("codepoints") {
        "not-ect" => NotEct: "not ECN-capable: queues drop the packets", "RFC 3168 section 5";
        "ect0" => Ect0: "ECN-capable: queues may mark instead of drop", "RFC 3168 section 5";
        "ect1" => Ect1: "ECN-capable, L4S: queues may mark early and often", "RFC 9331 section 4.1";
    }
}

impl CodepointKind {
    /// Returns the codepoint.
    pub(crate) const fn codepoint(self) -> Codepoint {
        match self {
            CodepointKind::NotEct => Codepoint::NotEct,
            CodepointKind::Ect0 => Codepoint::Ect0,
            CodepointKind::Ect1 => Codepoint::Ect1,
        }
    }

    /// Returns the kind for a codepoint that sources may use.
    pub(crate) fn of(codepoint: Codepoint) -> Self {
        let same = |kind: &&CodepointKind| kind.codepoint() == codepoint;
        CodepointKind::ALL.iter().find(same).copied().unwrap_or(CodepointKind::NotEct)
    }
}

written!(Pace, FlowPace, Real);

/// Mean packet rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    /// Packets per time.
    Packets(PacketRate),
    /// Bits per second.
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

/// Mean arrival rate of flows.
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

/// Converts an amount per second to a packet rate, in units of 10^-6 per second.
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

/// Number without a unit. Its range is checked where it is used.
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
