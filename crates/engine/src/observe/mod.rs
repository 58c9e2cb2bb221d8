//! Observations: metrics from records and counters of a run.
//!
//! To add a kind, write its file, and add its module and its registration here.

mod at_ports;
mod burst_classes;
mod bursts;
mod column;
mod completions;
mod datagrams;
mod digest;
mod drops;
mod fibres;
mod goodput;
mod intervals;
mod received_segments;
#[macro_use]
mod kinds;
mod listed;
mod load;
mod marks;
mod observed;
mod observer;
mod operations;
mod outages;
mod packets;
mod ports;
mod quantiles;
mod queue;
mod readings;
mod record;
mod reordering;
mod segments_per_burst;
mod senders;
mod sojourn;
mod transit;

use optcp_des::Key;
use optcp_net::PortId;
use optcp_units::Time;

use digest::Digest;
use observed::Observed;

pub use column::{Column, Findings, Names, Values};
pub use digest::hex;
pub use observed::{Groups, Keys, Links, Watched};
pub use observer::{Counters, Observer};
pub use record::{Cause, Record, RecordKind};

kinds! { $
    "goodput" => Goodput(goodput::Goodput) : "newly acknowledged in-order bytes at the receivers, by group and interval", "gmpls paper, equations 4 and 5";
    "load" => Load(load::Load) : "bytes whose transmission ended, by port and interval", "OpTCP";
    "drops" => Drops(drops::Drops) : "every dropped packet with its reason", "OpTCP";
    "marks" => Marks(marks::Marks) : "every packet that a queue marked", "RFC 3168 section 5";
    "sojourn" => Sojourn(sojourn::Sojourn) : "queueing delay of packets: mean and quantiles, by port and interval", "RFC 8289 section 3.1";
    "transit" => Transit(transit::Transit) : "delay of packets through a virtual output queue and the path behind it: mean and quantiles, by port and interval", "NSDI 2020, rdcn";
    "queue" => Queue(queue::Queue) : "time-weighted mean and maximum queue length, by port and interval", "OpTCP";
    "tcp" => Tcp(senders::Senders) : "cwnd, ssthresh, flight and phase of each sender whenever they change", "RFC 5681 section 2";
    "packets" => Packets(packets::Packets) : "packets sent, arrived, acknowledged and dropped, one by one", "OpTCP";
    "completions" => Completions(completions::Completions) : "start, end and bytes of every flow of finite size", "OpTCP";
    "operations" => Operations(operations::Operations) : "start, end and bytes of every operation of an application", "OpTCP";
    "datagrams" => Datagrams(datagrams::Datagrams) : "datagrams sent, arrived and lost, and their delays, by group and interval", "OpTCP";
    "ports" => Ports(ports::Ports) : "packets accepted, dropped and queued, by port and interval, without a record per packet", "OpTCP";
    "bursts" => Bursts(bursts::Bursts) : "bursts that left an assembler, one by one, with their segments of chosen flows", "obs paper, section IV.B";
    "burst-classes" => BurstClasses(burst_classes::BurstClasses) : "bursts and their losses by port and traffic class", "OpTCP";
    "segments-per-burst" => SegmentsPerBurst(segments_per_burst::SegmentsPerBurst) : "number of bursts by port and by segments of chosen flows in the burst", "obs paper, section IV.B";
    "fibres" => Fibres(fibres::Fibres) : "wavelength requests, blocked bursts and reserved time, by fibre and interval", "OpTCP";
    "reordering" => Reordering(reordering::Reordering) : "segments that were overtaken or retransmitted, recoveries and timeouts, one by one", "RFC 4737 section 3.3";
    "outages" => Outages(outages::Outages) : "longest time without new data of every flow, and its losses, after a given time", "OpTCP";
}

/// Observations of a run, and the digest of its records.
#[derive(Clone, Debug, Default)]
pub struct Observations {
    digest: Option<Digest>,
    all: Vec<Observation>,
    /// Indices of the observations that take each kind of record, so that unused records cost nothing.
    takers: [Vec<usize>; RecordKind::COUNT],
    /// Whether an observation takes transmissions or queue lengths, by port.
    watched: Vec<bool>,
    /// Records of a worker thread, to be passed to the main observations.
    notes: Option<Vec<(Key, Record)>>,
}

impl Observations {
    /// Appends an observation.
    pub fn add(&mut self, kind: ObserveKind, watched: &Watched<'_>) {
        for &record in kind.takes() {
            self.takers[record as usize].push(self.all.len());
            if matches!(record, RecordKind::Transmitted | RecordKind::QueueLength) {
                self.watched.resize(watched.blueprint.ports.len(), false);
                watched.ports.iter().for_each(|&port| self.watched[port.index()] = true);
            }
        }
        self.all.push(Observation::new(kind, watched));
    }

    /// Adds the digest for `ports` ports and `flows` flows, including sources of datagrams.
    pub fn add_digest(&mut self, ports: usize, flows: usize) {
        self.digest = Some(Digest::new(ports, flows));
    }

    /// Returns the digest of all records if it was requested.
    #[must_use]
    pub fn sha256(&self) -> Option<String> {
        self.digest.as_ref().map(Digest::sha256)
    }

    /// Returns the results in the order in which the observations were added.
    pub fn findings(&self) -> impl Iterator<Item = Findings> {
        self.all.iter().map(|observation| each!(observation, observation => observation.findings()))
    }

    /// Returns, for each observation, the last time of new in-order data by chosen group; empty for kinds that do not
    /// track it.
    pub fn last_progress(&self) -> impl Iterator<Item = &[Time]> {
        self.all
            .iter()
            .map(|observation| each!(observation, observation => observation.last_progress()))
    }

    /// Returns whether any observation or the digest needs records.
    #[must_use]
    pub fn take_records(&self) -> bool {
        self.digest.is_some() || self.takers.iter().any(|takers| !takers.is_empty())
    }

    // A separate function, so that records without a taker are never constructed.
    #[inline(never)]
    fn hand_out(&mut self, event: Key, record: Record) {
        if let Some(notes) = &mut self.notes {
            return notes.push((event, record));
        }
        for &place in &self.takers[record.kind() as usize] {
            each!(&mut self.all[place], observation => observation.record(event, &record));
        }
    }
}

impl Observer for Observations {
    #[inline]
    fn record(&mut self, event: Key, record: Record) {
        if let Some(digest) = &mut self.digest {
            digest.record(event.time(), record);
        }
        if !self.takers[record.kind() as usize].is_empty() {
            self.hand_out(event, record);
        }
    }

    fn wants_updates(&self) -> bool {
        !self.takers[RecordKind::Updated as usize].is_empty()
    }

    fn watches(&self, port: PortId) -> bool {
        self.watched.get(port.index()) == Some(&true)
    }

    fn next_reading(&self) -> Option<Time> {
        self.all
            .iter()
            .filter_map(|observation| each!(observation, observation => observation.next_reading()))
            .min()
    }

    fn read(&mut self, now: Time, counters: &dyn Counters) {
        let due = |observation: &&mut Observation| {
            each!(&**observation, observation => observation.next_reading())
                .is_some_and(|at| at <= now)
        };
        self.all
            .iter_mut()
            .filter(due)
            .for_each(|observation| each!(observation, observation => observation.read(counters)));
    }

    fn helper(&self) -> Self {
        // Each record that any observation takes is noted once.
        let noted = |takers: &Vec<usize>| match self.digest.is_some() || !takers.is_empty() {
            true => vec![0],
            false => Vec::new(),
        };
        Observations {
            digest: None,
            all: Vec::new(),
            takers: std::array::from_fn(|kind| noted(&self.takers[kind])),
            watched: self.watched.clone(),
            notes: Some(Vec::new()),
        }
    }

    fn absorb(&mut self, helper: &mut Self) {
        let noted = helper.notes.as_mut().map(|notes| notes.drain(..));
        for (event, record) in noted.into_iter().flatten() {
            self.record(event, record);
        }
    }

    fn finish(&mut self, at: Time) {
        self.all
            .iter_mut()
            .for_each(|observation| each!(observation, observation => observation.finish(at)));
    }
}

/// Observations that [take no records](Observations::take_records). No records are constructed for them.
#[derive(Clone, Debug, Default)]
pub struct Quiet(pub Observations);

impl Observer for Quiet {
    const TAKES_RECORDS: bool = false;

    #[inline(always)]
    fn record(&mut self, _: Key, _: Record) {}

    fn next_reading(&self) -> Option<Time> {
        self.0.next_reading()
    }

    fn read(&mut self, now: Time, counters: &dyn Counters) {
        self.0.read(now, counters);
    }

    fn helper(&self) -> Self {
        Quiet::default()
    }

    fn absorb(&mut self, _: &mut Self) {}

    fn finish(&mut self, at: Time) {
        self.0.finish(at);
    }
}

impl AsRef<Observations> for Observations {
    fn as_ref(&self) -> &Observations {
        self
    }
}

impl AsRef<Observations> for Quiet {
    fn as_ref(&self) -> &Observations {
        &self.0
    }
}
