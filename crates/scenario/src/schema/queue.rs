//! Queues: how much they hold, and the disciplines that rule them.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use optcp_net::{QueueKind, Setting};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};

use super::traffic::Real;
use super::values::{Count, Queue, Size, Span, WrittenVisitor};

/// A queue under a discipline, or drop-tail with a limit alone.
#[derive(Clone, Debug)]
pub(crate) struct QueueEntry {
    /// What it holds.
    pub limit: Queue,
    /// The discipline, if one is named.
    pub table: Option<Box<QueueTable>>,
}

/// Declares what may be said of disciplines: of each key its type here and in `net`.
macro_rules! queue_table {
    ($( $(#[$doc:meta])* $name:ident: $Type:ident => $setting:expr; )+) => {
        /// A queue under a discipline.
        #[derive(Clone, Debug, serde::Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub(crate) struct QueueTable {
            /// The discipline.
            pub kind: QueueKind,
            /// What the queue holds at most; the packet in transmission counts.
            pub limit: Queue,
            $( $(#[$doc])* $name: Option<$Type>, )+
        }

        impl QueueTable {
            /// What is said of the discipline, by key.
            pub(crate) fn settings(&self) -> impl Iterator<Item = (&'static str, Setting)> {
                let said = [$( (stringify!($name), self.$name.map($setting)), )+];
                said.into_iter().filter_map(|(name, setting)| Some((name, setting?)))
            }
        }
    };
}

queue_table! {
    /// For `red`: up to this average length nothing is dropped.
    min: Queue => |length| Setting::Length(length.0.into());
    /// For `red`: from this average length on all packets are dropped, unless it is gentle; three times `min` if left
    /// out.
    max: Queue => |length| Setting::Length(length.0.into());
    /// For `red`: how likely a packet is dropped just below `max`.
    max_probability: Real => |number| Setting::Number(number.0);
    /// For `red`: how much the average learns of one packet.
    weight: Real => |number| Setting::Number(number.0);
    /// For `red`: whether the probability grows to one between `max` and twice `max`.
    gentle: bool => Setting::Flag;
    /// For `red`: whether drops keep a distance from each other.
    wait: bool => Setting::Flag;
    /// For `red`: whether `max_probability` adapts.
    adaptive: bool => Setting::Flag;
    /// For `codel` and `fq-codel`: for how long packets must have waited longer than `target` before any is dropped. For
    /// `red`: how often the probability adapts.
    interval: Span => |span| Setting::Time(span.0);
    /// For `red`: the size of packets by which idle time and bytes are counted. For `pie`: with two of them in the queue
    /// nothing is dropped.
    mean_packet: Size => |size| Setting::Size(size.0);
    /// For all that drop early: whether packets that take marks are marked where they would be dropped.
    ecn: bool => Setting::Flag;
    /// For `codel`, `fq-codel`, `pie` and `dualpi2`: how long packets may wait, or are to.
    target: Span => |span| Setting::Time(span.0);
    /// For `codel`, `fq-codel` and `dualpi2`: the largest packet.
    mtu: Size => |size| Setting::Size(size.0);
    /// For `codel` and `fq-codel`: packets that take marks are marked if they have waited longer than this.
    ce_threshold: Span => |span| Setting::Time(span.0);
    /// For `fq-codel` and `drr`: what a flow may send a turn.
    quantum: Size => |size| Setting::Size(size.0);
    /// For `fq-codel`: how many queues there are.
    flows: Count => |count| Setting::Count(count.0);
    /// For `pie` and `dualpi2`: the distance of updates.
    update: Span => |span| Setting::Time(span.0);
    /// For `pie` and `dualpi2`: the gain for being off the target, in 1/s.
    alpha: Real => |number| Setting::Number(number.0);
    /// For `pie` and `dualpi2`: the gain for the growth of the delay, in 1/s.
    beta: Real => |number| Setting::Number(number.0);
    /// For `pie`: for how long after an idle time nothing is dropped.
    max_burst: Span => |span| Setting::Time(span.0);
    /// For `pie`: whether drops are kept apart.
    derandomize: bool => Setting::Flag;
    /// For `pie`: up to which probability packets are marked.
    ecn_most: Real => |number| Setting::Number(number.0);
    /// For `dualpi2`: how many times likelier a mark in the L queue is than the base probability.
    coupling: Real => |number| Setting::Number(number.0);
    /// For `dualpi2`: from which wait on packets of the L queue are marked.
    min_delay: Span => |span| Setting::Time(span.0);
    /// For `dualpi2`: how much later all are.
    range: Span => |span| Setting::Time(span.0);
    /// For `dualpi2`: with fewer packets left in the L queue its ramp marks none.
    min_packets: Count => |count| Setting::Count(count.0);
    /// For `dualpi2`: the share of the C queue where both have packets.
    classic_share: Real => |number| Setting::Number(number.0);
    /// For `step`: packets that find more than this are marked.
    threshold: Queue => |length| Setting::Length(length.0.into());
    /// For `step`: whether packets that take no marks are dropped there.
    drops_others: bool => Setting::Flag;
}

impl<'de> Deserialize<'de> for QueueEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EntryVisitor;

        impl<'de> Visitor<'de> for EntryVisitor {
            type Value = QueueEntry;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(
                    "a queue such as `50 packets`, `12.5 MB`, `unlimited` or `{ kind = \"codel\", limit = \"1000 packets\" }`",
                )
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<QueueEntry, E> {
                let limit = WrittenVisitor::<Queue>(PhantomData).visit_str(text)?;
                Ok(QueueEntry { limit, table: None })
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<QueueEntry, E> {
                self.visit_str(&number.to_string())
            }

            fn visit_f64<E: Error>(self, number: f64) -> Result<QueueEntry, E> {
                self.visit_str(&number.to_string())
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<QueueEntry, A::Error> {
                let table = QueueTable::deserialize(MapAccessDeserializer::new(map))?;
                Ok(QueueEntry { limit: table.limit, table: Some(Box::new(table)) })
            }
        }

        deserializer.deserialize_any(EntryVisitor)
    }
}

impl JsonSchema for QueueEntry {
    fn schema_name() -> Cow<'static, str> {
        "QueueEntry".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let limit = generator.subschema_for::<Queue>();
        let table = generator.subschema_for::<QueueTable>();
        json_schema!({ "anyOf": [limit, table] })
    }
}
