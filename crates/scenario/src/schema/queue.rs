//! Queues: limits, and queue disciplines with their parameters.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use optcp_net::{QueueKind, Setting};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};

use super::traffic::Real;
use super::values::{Buffer, Count, Queue, Size, Span, WrittenVisitor};

/// Queue with a discipline, or a drop-tail queue given only by its limit.
#[derive(Clone, Debug)]
pub(crate) struct QueueEntry {
    /// Queue limit.
    pub limit: Buffer,
    /// Discipline and parameters; `None` for drop-tail.
    pub table: Option<Box<QueueTable>>,
}

/// Declares the parameters of queue disciplines, each with its type here and in `net`.
macro_rules! queue_table {
    ($( $(#[$doc:meta])* $name:ident: $Type:ident => $setting:expr; )+) => {
        /// Queue with a discipline.
        #[derive(Clone, Debug, serde::Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub(crate) struct QueueTable {
            /// Queue discipline.
            pub kind: QueueKind,
            /// Queue limit. The packet in transmission counts.
            pub limit: Buffer,
            $( $(#[$doc])* $name: Option<$Type>, )+
        }

        impl QueueTable {
            /// Returns the parameters that are present, by key.
            pub(crate) fn settings(&self) -> impl Iterator<Item = (&'static str, Setting)> {
                let said = [$( (stringify!($name), self.$name.map($setting)), )+];
                said.into_iter().filter_map(|(name, setting)| Some((name, setting?)))
            }
        }
    };
}

queue_table! {
    /// For `red`: average queue length up to which no packet is dropped.
    min: Queue => |length| Setting::Length(length.0.into());
    /// For `red`: average queue length from which all packets are dropped, unless `gentle`. Default: three
    /// times `min`.
    max: Queue => |length| Setting::Length(length.0.into());
    /// For `red`: drop probability just below `max`.
    max_probability: Real => |number| Setting::Number(number.0);
    /// For `red`: weight of one packet in the average queue length.
    weight: Real => |number| Setting::Number(number.0);
    /// For `red`. `true`: the drop probability rises to 1 between `max` and twice `max`.
    gentle: bool => Setting::Flag;
    /// For `red`. `true`: drops are spaced evenly.
    wait: bool => Setting::Flag;
    /// For `red`. `true`: `max_probability` adapts.
    adaptive: bool => Setting::Flag;
    /// For `codel` and `fq-codel`: time for which sojourn times must exceed `target` before the first drop.
    /// For `red`: time between two adaptations of the probability.
    interval: Span => |span| Setting::Time(span.0);
    /// For `red`: packet size used for idle time and byte counts. For `pie`: no packet is dropped while at
    /// most two of this size are queued.
    mean_packet: Size => |size| Setting::Size(size.0);
    /// For disciplines that drop early. `true`: ECN-capable packets are marked instead of dropped.
    ecn: bool => Setting::Flag;
    /// For `red` with `ecn`. `true`: ECN-capable packets are dropped, not marked, while the average queue length is
    /// above `max`. Linux: `false`.
    hard_drop: bool => Setting::Flag;
    /// For `codel`, `fq-codel`, `pie` and `dualpi2`: target queueing delay.
    target: Span => |span| Setting::Time(span.0);
    /// For `codel`, `fq-codel` and `dualpi2`: maximum packet size.
    mtu: Size => |size| Setting::Size(size.0);
    /// For `codel` and `fq-codel`: sojourn time above which ECN-capable packets are marked.
    ce_threshold: Span => |span| Setting::Time(span.0);
    /// For `fq-codel` and `drr`: bytes that a flow may send per round.
    quantum: Size => |size| Setting::Size(size.0);
    /// For `fq-codel`: number of queues.
    flows: Count => |count| Setting::Count(count.0);
    /// For `pie` and `dualpi2`: time between two updates of the probability.
    update: Span => |span| Setting::Time(span.0);
    /// For `pie` and `dualpi2`: gain for the deviation from `target`, in 1/s.
    alpha: Real => |number| Setting::Number(number.0);
    /// For `pie` and `dualpi2`: gain for the growth of the delay, in 1/s.
    beta: Real => |number| Setting::Number(number.0);
    /// For `pie`: time after an idle period without drops.
    max_burst: Span => |span| Setting::Time(span.0);
    /// For `pie`. `true`: drops are spaced.
    derandomize: bool => Setting::Flag;
    /// For `pie`: maximum probability at which packets are marked instead of dropped.
    ecn_most: Real => |number| Setting::Number(number.0);
    /// For `dualpi2`: ratio of the marking probability in the L queue to the base probability.
    coupling: Real => |number| Setting::Number(number.0);
    /// For `dualpi2`: queueing delay above which packets of the L queue are marked.
    min_delay: Span => |span| Setting::Time(span.0);
    /// For `dualpi2`: additional delay at which all packets of the L queue are marked.
    range: Span => |span| Setting::Time(span.0);
    /// For `dualpi2`: minimum number of packets left in the L queue for marking by delay.
    min_packets: Count => |count| Setting::Count(count.0);
    /// For `dualpi2`: share of the C queue when both queues have packets.
    classic_share: Real => |number| Setting::Number(number.0);
    /// For `step`: queue length above which arriving packets are marked. For `trim`: capacity for packets other than ACKs
    /// and headers.
    threshold: Queue => |length| Setting::Length(length.0.into());
    /// For `trim`: number of packets other than ACKs and headers above which these packets are marked. Default:
    /// `unlimited`.
    mark_threshold: Queue => |length| Setting::Length(length.0.into());
    /// For `step`. `true`: packets that are not ECN-capable are dropped instead.
    drops_others: bool => Setting::Flag;
}

impl<'de> Deserialize<'de> for QueueEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EntryVisitor;

        impl<'de> Visitor<'de> for EntryVisitor {
            type Value = QueueEntry;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(
                    "a queue such as `50 packets`, `12.5 MB`, `5 ms`, `1 BDP`, `unlimited` or `{ kind = \"codel\", limit = \"1000 packets\" }`",
                )
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<QueueEntry, E> {
                let limit = WrittenVisitor::<Buffer>(PhantomData).visit_str(text)?;
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
        let limit = generator.subschema_for::<Buffer>();
        let table = generator.subschema_for::<QueueTable>();
        json_schema!({ "anyOf": [limit, table] })
    }
}
