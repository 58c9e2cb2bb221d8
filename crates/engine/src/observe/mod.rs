//! Observation: models hand out records and count, observations make metrics of both.
//!
//! To add a kind: write its file, and two lines here, the module and the registration.

mod at_ports;
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
    "sojourn" => Sojourn(sojourn::Sojourn) : "how long packets waited in queues: mean and quantiles, by port and interval", "RFC 8289 section 3.1";
    "transit" => Transit(transit::Transit) : "how long packets took through a virtual output queue and the way behind it: mean and quantiles, by port and interval", "NSDI 2020, rdcn";
    "queue" => Queue(queue::Queue) : "time-weighted mean and greatest queue, by port and interval", "OpTCP";
    "tcp" => Tcp(senders::Senders) : "cwnd, ssthresh, flight and phase of each sender whenever one changes", "RFC 5681 section 2";
    "packets" => Packets(packets::Packets) : "packets sent, arrived, acknowledged and dropped, one by one", "OpTCP";
    "completions" => Completions(completions::Completions) : "start, end and bytes of every flow that is to end", "OpTCP";
    "datagrams" => Datagrams(datagrams::Datagrams) : "datagrams sent, arrived and lost, and their delays, by group and interval", "OpTCP";
    "ports" => Ports(ports::Ports) : "what ports took, dropped and held, by port and interval, without a record of every packet", "OpTCP";
    "bursts" => Bursts(bursts::Bursts) : "bursts that left an assembler, one by one, and how many segments of chosen flows are in each", "obs paper, section IV.B";
    "segments-per-burst" => SegmentsPerBurst(segments_per_burst::SegmentsPerBurst) : "how many bursts carried so many segments of chosen flows, by port", "obs paper, section IV.B";
    "fibres" => Fibres(fibres::Fibres) : "bursts that asked for a wavelength, those that got none, and the time reserved, by fibre and interval", "OpTCP";
    "reordering" => Reordering(reordering::Reordering) : "segments that were overtaken or sent again, recoveries and timeouts, one by one", "RFC 4737 section 3.3";
    "outages" => Outages(outages::Outages) : "the longest time without new data of every flow, and what it lost, from an instant on", "OpTCP";
}

/// The observations of a run, and the digest of its records.
#[derive(Clone, Debug, Default)]
pub struct Observations {
    digest: Option<Digest>,
    all: Vec<Observation>,
    /// By kind of record, the places of those that take it: a record costs nothing to the others.
    takers: [Vec<usize>; RecordKind::COUNT],
    /// By port, whether somebody takes what it transmits, or the length of its queue.
    watched: Vec<bool>,
    /// Of a helper: what has happened, for another one's observations.
    notes: Option<Vec<(Key, Record)>>,
}

impl Observations {
    /// Adds an observation, behind those that are there.
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

    /// Adds the digest, for so many ports and flows, sources of datagrams included.
    pub fn add_digest(&mut self, ports: usize, flows: usize) {
        self.digest = Some(Digest::new(ports, flows));
    }

    /// The digest of all records, if it was asked for.
    #[must_use]
    pub fn sha256(&self) -> Option<String> {
        self.digest.as_ref().map(Digest::sha256)
    }

    /// What has been found, in the order in which the observations were added.
    pub fn findings(&self) -> impl Iterator<Item = Findings> {
        self.all.iter().map(|one| each!(one, one => one.findings()))
    }

    /// Of each of them, when the flows of each chosen group last had new data in order; empty where that is
    /// not seen.
    pub fn last_progress(&self) -> impl Iterator<Item = &[Time]> {
        self.all.iter().map(|one| each!(one, one => one.last_progress()))
    }

    /// Whether anything is made of records.
    #[must_use]
    pub fn take_records(&self) -> bool {
        self.digest.is_some() || self.takers.iter().any(|takers| !takers.is_empty())
    }

    // Behind a call, so that a record that nobody takes is never put together.
    #[inline(never)]
    fn hand_out(&mut self, event: Key, record: Record) {
        if let Some(notes) = &mut self.notes {
            return notes.push((event, record));
        }
        for &place in &self.takers[record.kind() as usize] {
            each!(&mut self.all[place], one => one.record(event, &record));
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
        self.all.iter().filter_map(|one| each!(one, one => one.next_reading())).min()
    }

    fn read(&mut self, now: Time, counters: &dyn Counters) {
        let due = |one: &&mut Observation| {
            each!(&**one, one => one.next_reading()).is_some_and(|at| at <= now)
        };
        self.all.iter_mut().filter(due).for_each(|one| each!(one, one => one.read(counters)));
    }

    fn helper(&self) -> Self {
        // Whatever somebody takes is noted, once.
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
        self.all.iter_mut().for_each(|one| each!(one, one => one.finish(at)));
    }
}

/// Observations that [take no records](Observations::take_records): none is built for them.
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
