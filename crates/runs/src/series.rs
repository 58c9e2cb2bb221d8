//! What a run observed, as named columns.

use optcp_engine::observe::{
    BurstRow, BurstSizes, Cause, CompletionRow, DatagramSums, DropRow, PacketEvent, PacketRow,
    Reducers, ReorderingEvent, ReorderingRow, SenderRow,
};
use optcp_net::DropReason;
use optcp_tcp::{Phase, SackBlocks};
use optcp_units::{Duration, Time};
use sha2::{Digest, Sha256};

use crate::build::{all_hops, port_id};
use crate::tallies::Tallies;
use optcp_scenario::plan::{Hop, Observation, Plan};

/// One observation's result.
///
/// Of the kinds with an interval, every column is a table of `rows` rows with as many values as there
/// are intervals, row after row, and `names[0]` names the rows. Of the others, every column holds one
/// value an event, in order of time; of `segments-per-burst`, one a port and number of segments.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The name in the scenario.
    pub name: String,
    /// The kind in the scenario.
    pub kind: &'static str,
    /// When the first interval begins.
    pub after: Duration,
    /// T, where interval i is (i T, (i + 1) T] after that; of kinds `ports` and `fibres` [i T, (i + 1) T).
    pub interval: Option<Duration>,
    /// When the run ended; it cuts the last interval.
    pub stop: Time,
    /// Lists of names, for rows and for columns of indices.
    pub names: Vec<(&'static str, Vec<String>)>,
    /// The data.
    pub columns: Vec<Column>,
}

/// One column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name, with its unit.
    pub name: &'static str,
    /// The values.
    pub values: Values,
    /// The list of [`Series::names`] that the values are indices into.
    pub index_into: Option<&'static str>,
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

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Series {
    /// Feeds the series to a digest.
    pub(crate) fn digest(&self, sha: &mut Sha256) {
        sha.update(&self.name);
        for column in &self.columns {
            sha.update(column.name);
            match &column.values {
                Values::U64(v) => v.iter().for_each(|x| sha.update(x.to_le_bytes())),
                Values::U32(v) => v.iter().for_each(|x| sha.update(x.to_le_bytes())),
                Values::U8(v) => sha.update(v),
                Values::Bool(v) => v.iter().for_each(|&x| sha.update([u8::from(x)])),
                Values::F64(v) => v.iter().for_each(|x| sha.update(x.to_bits().to_le_bytes())),
            }
        }
    }
}

pub(crate) fn column(name: &'static str, values: Values) -> Column {
    Column { name, values, index_into: None }
}

fn index(name: &'static str, values: Values, into: &'static str) -> Column {
    Column { name, values, index_into: Some(into) }
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

/// Every observation of the plan, in its order.
pub(crate) fn series(plan: &Plan, reducers: &Reducers, tallies: &Tallies) -> Vec<Series> {
    let mut counted = tallies.series(plan).into_iter();
    let (mut goodput, mut load) = (reducers.goodput.iter(), reducers.load.iter());
    let (mut queue, mut drops) = (reducers.queue.iter(), reducers.drops.iter());
    let (mut senders, mut packets) = (reducers.senders.iter(), reducers.packets.iter());
    let (mut reordering, mut bursts) = (reducers.reordering.iter(), reducers.bursts.iter());
    let mut burst_sizes = reducers.burst_sizes.iter();
    let (mut completions, mut datagrams) = (reducers.completions.iter(), reducers.datagrams.iter());
    let mut all = Vec::new();
    for observed in &plan.observe {
        let per_interval = |kind, interval: &Duration, names, columns| Series {
            name: observed.name.clone(),
            kind,
            after: Duration::ZERO,
            interval: Some(*interval),
            stop: plan.stop,
            names: vec![names],
            columns,
        };
        let per_event = |kind, names, columns| Series {
            name: observed.name.clone(),
            kind,
            after: Duration::ZERO,
            interval: None,
            stop: plan.stop,
            names,
            columns,
        };
        // The reducers were made from the same list, so each has its entry here.
        all.extend(match &observed.kind {
            Observation::Goodput { groups, interval } => goodput.next().map(|g| {
                let bytes = vec![column("bytes", Values::U64(g.sums().to_vec()))];
                per_interval("goodput", interval, ("groups", group_names(plan, groups)), bytes)
            }),
            Observation::Load { ports, interval } => load.next().map(|l| {
                let bytes = vec![column("bytes", Values::U64(l.sums().to_vec()))];
                per_interval("load", interval, ("ports", port_names(plan, ports)), bytes)
            }),
            Observation::Queue { ports, interval } => queue.next().map(|q| {
                let columns = vec![
                    column("mean_packets", Values::F64(q.means())),
                    column("max_packets", Values::U32(q.greatest().to_vec())),
                ];
                per_interval("queue", interval, ("ports", port_names(plan, ports)), columns)
            }),
            Observation::Drops { ports } => drops.next().map(|d| {
                let ports = ports.clone().unwrap_or_else(|| all_hops(plan).collect());
                let columns = drop_columns(plan, &ports, d.rows());
                let names = vec![
                    ("ports", port_names(plan, &ports)),
                    ("groups", plan.groups.clone()),
                    ("reasons", owned(&DropReason::ALL.map(DropReason::name))),
                ];
                per_event("drops", names, columns)
            }),
            Observation::Senders { .. } => senders.next().map(|s| {
                let names = vec![
                    ("flows", flow_names(plan)),
                    ("causes", owned(&Cause::NAMES)),
                    ("phases", owned(&Phase::NAMES)),
                ];
                per_event("tcp", names, sender_columns(s.rows()))
            }),
            Observation::Packets { .. } => packets.next().map(|p| {
                let all_ports: Vec<Hop> = all_hops(plan).collect();
                let names = vec![
                    ("flows", flow_names(plan)),
                    ("ports", port_names(plan, &all_ports)),
                    ("events", owned(&PacketEvent::NAMES)),
                    ("reasons", owned(&DropReason::ALL.map(DropReason::name))),
                    ("sacks", p.sacks().iter().map(blocks).collect()),
                ];
                per_event("packets", names, packet_columns(p.rows()))
            }),
            Observation::Completions { .. } => completions.next().map(|c| {
                let names = vec![("groups", plan.groups.clone()), ("flows", flow_names(plan))];
                per_event("completions", names, completion_columns(plan, c.rows()))
            }),
            Observation::Datagrams { groups, interval } => datagrams.next().map(|d| {
                let names = ("groups", group_names(plan, groups));
                per_interval("datagrams", interval, names, datagram_columns(d.sums()))
            }),
            Observation::Ports { .. } | Observation::Fibres { .. } => counted.next(),
            Observation::Bursts { ports, .. } => bursts.next().map(|b| {
                let names = vec![("ports", port_names(plan, ports))];
                per_event("bursts", names, burst_columns(plan, ports, b.rows()))
            }),
            Observation::SegmentsPerBurst { ports, .. } => burst_sizes.next().map(|b| {
                let names = vec![("ports", port_names(plan, ports))];
                per_event("segments-per-burst", names, burst_size_columns(ports, b))
            }),
            Observation::Reordering { .. } => reordering.next().map(|r| {
                let names =
                    vec![("flows", flow_names(plan)), ("events", owned(&ReorderingEvent::NAMES))];
                per_event("reordering", names, reordering_columns(r.rows()))
            }),
        });
    }
    all
}

fn group_names(plan: &Plan, groups: &[usize]) -> Vec<String> {
    groups.iter().map(|&group| plan.groups[group].clone()).collect()
}

fn flow_names(plan: &Plan) -> Vec<String> {
    plan.flows.iter().map(|flow| flow.name.clone()).collect()
}

pub(crate) fn port_names(plan: &Plan, ports: &[Hop]) -> Vec<String> {
    ports.iter().map(|&hop| plan.port_name(hop)).collect()
}

fn times<T>(rows: &[T], at: impl Fn(&T) -> Time) -> Column {
    column("time_ps", Values::U64(rows.iter().map(|row| at(row).as_ps()).collect()))
}

/// The place of each port in a list; the greatest number stands for none.
fn positions(plan: &Plan, ports: &[Hop]) -> Vec<u32> {
    let mut position = vec![u32::MAX; 2 * plan.links.len()];
    for (index, &hop) in (0..).zip(ports) {
        position[port_id(hop) as usize] = index;
    }
    position
}

fn drop_columns(plan: &Plan, ports: &[Hop], rows: &[DropRow]) -> Vec<Column> {
    let position = positions(plan, ports);
    let group = |row: &DropRow| {
        u32::try_from(plan.flows[row.packet.flow() as usize].group).unwrap_or(u32::MAX)
    };
    let port = rows.iter().map(|row| position[row.port as usize]).collect();
    vec![
        times(rows, |row| row.at),
        index("port", Values::U32(port), "ports"),
        index("group", Values::U32(rows.iter().map(group).collect()), "groups"),
        column("ack", Values::Bool(rows.iter().map(|row| row.packet.is_ack()).collect())),
        index("reason", Values::U8(rows.iter().map(|row| row.reason as u8).collect()), "reasons"),
    ]
}

fn sender_columns(rows: &[SenderRow]) -> Vec<Column> {
    let real = |name, value: fn(&SenderRow) -> f64| {
        column(name, Values::F64(rows.iter().map(value).collect()))
    };
    vec![
        times(rows, |row| row.at),
        index("flow", Values::U32(rows.iter().map(|row| row.flow).collect()), "flows"),
        index("cause", Values::U8(rows.iter().map(|row| row.cause as u8).collect()), "causes"),
        real("cwnd_bytes", |row| row.snapshot.cwnd),
        real("ssthresh_bytes", |row| row.snapshot.ssthresh),
        column(
            "flight_segments",
            Values::U32(rows.iter().map(|row| row.snapshot.flight).collect()),
        ),
        index(
            "phase",
            Values::U8(rows.iter().map(|row| row.snapshot.phase as u8).collect()),
            "phases",
        ),
        column("timeouts", Values::U64(rows.iter().map(|row| row.snapshot.timeouts).collect())),
    ]
}

fn packet_columns(rows: &[PacketRow]) -> Vec<Column> {
    let port = rows.iter().map(|row| row.port.unwrap_or(u32::MAX)).collect();
    let sack = |row: &PacketRow| row.sack.unwrap_or(u32::MAX);
    let reason = |row: &PacketRow| row.reason.map_or(u32::MAX, |reason| reason as u32);
    vec![
        times(rows, |row| row.at),
        index("event", Values::U8(rows.iter().map(|row| row.event as u8).collect()), "events"),
        index("flow", Values::U32(rows.iter().map(|row| row.flow).collect()), "flows"),
        column("ack", Values::Bool(rows.iter().map(|row| row.ack).collect())),
        column("seq", Values::U32(rows.iter().map(|row| row.seq).collect())),
        index("port", Values::U32(port), "ports"),
        column("bytes", Values::U32(rows.iter().map(|row| u32::from(row.size)).collect())),
        index("reason", Values::U32(rows.iter().map(reason).collect()), "reasons"),
        index("sack", Values::U32(rows.iter().map(sack).collect()), "sacks"),
    ]
}

/// Half-open ranges of segments, in the order in which the option has them.
fn blocks(sack: &SackBlocks) -> String {
    let texts = sack.as_slice().iter().map(|(from, to)| format!("{from}:{to}"));
    texts.collect::<Vec<_>>().join(" ")
}

fn completion_columns(plan: &Plan, rows: &[CompletionRow]) -> Vec<Column> {
    let group = |row: &CompletionRow| {
        u32::try_from(plan.flows[row.flow as usize].group).unwrap_or(u32::MAX)
    };
    vec![
        times(rows, |row| row.end),
        column("start_ps", Values::U64(rows.iter().map(|row| row.start.as_ps()).collect())),
        index("group", Values::U32(rows.iter().map(group).collect()), "groups"),
        index("flow", Values::U32(rows.iter().map(|row| row.flow).collect()), "flows"),
        column("bytes", Values::U64(rows.iter().map(|row| row.bytes).collect())),
        column("finished", Values::Bool(rows.iter().map(|row| row.finished).collect())),
    ]
}

fn burst_columns(plan: &Plan, ports: &[Hop], rows: &[BurstRow]) -> Vec<Column> {
    let position = positions(plan, ports);
    let whole = |name, value: fn(&BurstRow) -> u32| {
        column(name, Values::U32(rows.iter().map(value).collect()))
    };
    let port = rows.iter().map(|row| position[row.port as usize]).collect();
    vec![
        times(rows, |row| row.at),
        index("port", Values::U32(port), "ports"),
        whole("packets", |row| row.burst.packets),
        column("bytes", Values::U64(rows.iter().map(|row| row.burst.bytes).collect())),
        whole("segments", |row| row.segments),
        whole("acks", |row| row.acks),
        column("lost", Values::Bool(rows.iter().map(|row| row.burst.lost).collect())),
    ]
}

fn burst_size_columns(ports: &[Hop], sizes: &BurstSizes) -> Vec<Column> {
    let of_port = |(place, &hop): (u32, &Hop)| {
        let bursts = (0..).zip(sizes.bursts(port_id(hop)));
        bursts
            .filter(|&(_, &count)| count > 0)
            .map(move |(segments, &count)| (place, segments, count))
    };
    let rows: Vec<(u32, u32, u64)> = (0..).zip(ports).flat_map(of_port).collect();
    vec![
        index("port", Values::U32(rows.iter().map(|row| row.0).collect()), "ports"),
        column("segments", Values::U32(rows.iter().map(|row| row.1).collect())),
        column("bursts", Values::U64(rows.iter().map(|row| row.2).collect())),
    ]
}

fn datagram_columns(sums: &DatagramSums) -> Vec<Column> {
    let whole = |name, sums: &[u64]| column(name, Values::U64(sums.to_vec()));
    vec![
        whole("sent_packets", sums.sent.sums()),
        whole("sent_bytes", sums.sent_bytes.sums()),
        whole("arrived_packets", sums.arrived.sums()),
        whole("arrived_bytes", sums.arrived_bytes.sums()),
        whole("lost_packets", sums.lost.sums()),
        whole("delay_sum_ps", sums.delay_ps.sums()),
        whole("longest_delay_ps", &sums.longest_ps),
    ]
}

fn reordering_columns(rows: &[ReorderingRow]) -> Vec<Column> {
    let seq = rows.iter().map(|row| row.seq.unwrap_or(u32::MAX)).collect();
    vec![
        times(rows, |row| row.at),
        index("event", Values::U8(rows.iter().map(|row| row.event as u8).collect()), "events"),
        index("flow", Values::U32(rows.iter().map(|row| row.flow).collect()), "flows"),
        column("seq", Values::U32(seq)),
    ]
}
