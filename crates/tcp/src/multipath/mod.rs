//! Connection over several subflows (Multipath TCP): data sequence numbers, scheduling, reinjection and reassembly.
//!
//! # Model
//! Each subflow is a TCP connection with separate segment numbers, congestion control and loss recovery. Each of its
//! segments carries one segment of the connection's data. The sender holds all data that the data ACK does not cover. The
//! receive window of the connection starts at the data ACK. Data pass to the receiver's application in order of data
//! numbers, after they have arrived in order on their subflow.
//!
//! An RTO makes the data of its subflow eligible for reinjection: the next subflow with an open window sends them before
//! new data. The subflow itself retransmits them too, because its segment numbers must have no gap. With opportunistic
//! retransmission, a subflow that the receive window blocks sends the oldest outstanding segment, unless it has sent it
//! before. The subflows that hold this segment then halve their windows.
//!
//! # References
//! RFC 8684 section 3.3.1 (data sequence mapping), section 3.3.2 (data ACK), section 3.3.4 (receive window) and section 3.3.6
//! (retransmissions).
//! C. Raiciu et al., *How Hard Can It Be? Designing and Implementing a Deployable Multipath TCP*, NSDI 2012, section 4.2
//! (opportunistic retransmission and penalisation). Reinjection of all outstanding data after an RTO: multipath-tcp.org.
//!
//! # Parameters
//! `scheduler`, `opportunistic_retransmission`; `window_limit` applies to the connection.
//!
//! # Limitations
//! The size of the DSS option is not added to packets. Address advertisement, backup subflows, `DATA_FIN`, fallback to TCP
//! and checksums are not modelled, and a subflow is never closed. The send buffer is unlimited.

mod scheduler;

use std::collections::{BTreeSet, VecDeque};

use optcp_units::{Duration, Time};

use crate::ranges::Ranges;
use crate::seq::Seq;

pub use scheduler::SchedulerKind;

/// Maximum number of subflows per connection, as in Linux (`MPTCP_SUBFLOWS_MAX`).
pub const MAX_SUBFLOWS: usize = 8;

/// Parameters of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MultipathConfig {
    /// Packet scheduler.
    pub scheduler: SchedulerKind,
    /// `true`: opportunistic retransmission with penalisation.
    pub opportunistic_retransmission: bool,
}

/// Data that a subflow sends in a new segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assigned {
    /// Data number, from 0.
    pub data: u32,
    /// Subflows that halve their windows, because the data wait for them.
    pub penalised: Vec<usize>,
}

/// State of a subflow at the connection.
#[derive(Clone, Debug)]
struct Subflow {
    /// Segment number of the first entry of `mapped`.
    first: Seq,
    /// Data numbers of the segments from `first` on.
    mapped: VecDeque<u32>,
    /// Next data number with scheduler `redundant`.
    cursor: u32,
    /// `true`: its window may be open.
    is_open: bool,
    /// `true`: an RTO has fired, and no ACK of new data has arrived since.
    is_stalled: bool,
    /// Time of the last penalty.
    penalised: Option<Time>,
}

/// Both ends of a connection over several subflows.
#[derive(Clone, Debug)]
pub struct Connection {
    config: MultipathConfig,
    /// Receive window in segments.
    window: u32,
    /// Oldest data number that the data ACK does not cover.
    una: u32,
    /// Next new data number.
    next: u32,
    /// End of the data that the application has written.
    end: u32,
    /// Data that the application has not written yet.
    unwritten: u32,
    /// Subflows that have sent the data from `una` to `next`, as bits.
    carriers: VecDeque<u8>,
    /// Data to reinject.
    reinjected: BTreeSet<u32>,
    subflows: Vec<Subflow>,
    /// Subflow that sent the latest data.
    last: usize,
    /// Next data number that the receiver's application expects.
    delivered: u32,
    /// Data after a gap at the receiver.
    beyond: Ranges,
}

impl Connection {
    /// Creates a connection of `segments` full segments, or of unlimited data, of which `unwritten` are written later. The
    /// receive window is `window` segments. Data start at segment `first` of each of the `subflows`.
    #[must_use]
    pub fn new(
        config: MultipathConfig,
        window: u32,
        segments: Option<u32>,
        unwritten: u32,
        first: Seq,
        subflows: usize,
    ) -> Self {
        let subflow = Subflow {
            first,
            mapped: VecDeque::new(),
            cursor: 0,
            is_open: false,
            is_stalled: false,
            penalised: None,
        };
        Connection {
            config,
            window,
            una: 0,
            next: 0,
            end: segments.unwrap_or(u32::MAX) - unwritten,
            unwritten,
            carriers: VecDeque::new(),
            reinjected: BTreeSet::new(),
            subflows: vec![subflow; subflows],
            last: subflows - 1,
            delivered: 0,
            beyond: Ranges::default(),
        }
    }

    /// Adds `segments` segments written by the application.
    pub fn supply(&mut self, segments: u32) {
        self.unwritten -= segments;
        self.end += segments;
    }

    /// Returns the data number that a subflow would send in a new segment, if any.
    #[must_use]
    pub fn offer(&self, subflow: usize) -> Option<u32> {
        let in_window = |data: u32| data < self.end && data - self.una < self.window;
        if self.config.scheduler == SchedulerKind::Redundant {
            return Some(self.subflows[subflow].cursor.max(self.una))
                .filter(|&data| in_window(data));
        }
        let may = |data: &u32| !self.has_sent(*data, subflow);
        if let Some(data) = self.reinjected.iter().copied().find(may) {
            return Some(data);
        }
        if in_window(self.next) {
            return Some(self.next);
        }
        let is_blocked = self.next < self.end && self.next > self.una;
        Some(self.una)
            .filter(|_| self.config.opportunistic_retransmission && is_blocked)
            .filter(may)
    }

    fn has_sent(&self, data: u32, subflow: usize) -> bool {
        let carriers = self.carriers.get((data - self.una) as usize);
        carriers.is_some_and(|carriers| carriers >> subflow & 1 == 1)
    }

    /// Returns the subflows in the order in which the scheduler asks them, by their SRTTs.
    #[must_use]
    pub fn order(&self, srtt: &[Option<Duration>]) -> Vec<usize> {
        self.config.scheduler.order(srtt, self.last)
    }

    /// Assigns the offered data to the new segment that a subflow sends at `now`. A subflow is penalised at most once per
    /// SRTT.
    ///
    /// # Panics
    /// If nothing is offered.
    pub fn assign(&mut self, subflow: usize, now: Time, srtt: &[Option<Duration>]) -> Assigned {
        let data = self.offer(subflow).expect("a new segment needs data");
        let is_reinjected = self.reinjected.remove(&data);
        let is_new = data == self.next;
        let mut penalised = Vec::new();
        if is_new {
            self.next += 1;
            self.carriers.push_back(0);
        } else if !is_reinjected && self.config.scheduler != SchedulerKind::Redundant {
            penalised = self.penalise(data, now, srtt);
        }
        self.carriers[(data - self.una) as usize] |= 1 << subflow;
        let sending = &mut self.subflows[subflow];
        sending.mapped.push_back(data);
        sending.cursor = data + 1;
        self.last = subflow;
        Assigned { data, penalised }
    }

    /// Returns the subflows that carry `data` and were not penalised within their last SRTT.
    fn penalise(&mut self, data: u32, now: Time, srtt: &[Option<Duration>]) -> Vec<usize> {
        let due = |number: &usize| {
            let last = self.subflows[*number].penalised;
            let since = last.map(|last| now.saturating_since(last));
            self.has_sent(data, *number)
                && since.is_none_or(|since| since >= srtt[*number].unwrap_or(Duration::ZERO))
        };
        let found: Vec<usize> = (0..self.subflows.len()).filter(due).collect();
        found.iter().for_each(|&number| self.subflows[number].penalised = Some(now));
        found
    }

    /// Returns the data number of segment `seq` of a subflow, if it carries data that its ACKs do not cover.
    #[must_use]
    pub fn data(&self, subflow: usize, seq: Seq) -> Option<u32> {
        let Subflow { first, mapped, .. } = &self.subflows[subflow];
        mapped.get(seq.number().checked_sub(first.number())? as usize).copied()
    }

    /// Processes an ACK of everything below `seq` on a subflow, with its data ACK.
    pub fn on_ack(&mut self, subflow: usize, seq: Seq, data_ack: Option<u32>) {
        let acked = &mut self.subflows[subflow];
        let before = acked.first;
        while acked.first < seq && acked.mapped.pop_front().is_some() {
            acked.first += 1;
        }
        acked.is_stalled &= acked.first == before;
        let data_ack = data_ack.unwrap_or(0).max(self.una);
        self.carriers.drain(..(data_ack - self.una) as usize);
        self.una = data_ack;
        self.reinjected = self.reinjected.split_off(&data_ack);
    }

    /// Processes an RTO of a subflow: data that no other working subflow carries are reinjected.
    pub fn on_timeout(&mut self, subflow: usize) {
        self.subflows[subflow].is_stalled = true;
        if self.config.scheduler == SchedulerKind::Redundant {
            return;
        }
        let stalled = |number: &usize| self.subflows[*number].is_stalled;
        let stalled: u8 = (0..self.subflows.len()).filter(stalled).map(|number| 1 << number).sum();
        let mapped = self.subflows[subflow].mapped.iter().copied();
        let lost = mapped.filter(|&data| {
            let place = data.checked_sub(self.una);
            place.is_some_and(|place| self.carriers[place as usize] & !stalled == 0)
        });
        self.reinjected.extend(lost);
    }

    /// Processes the segments from `seq` to `end` that have become in order on a subflow. Returns the number of data
    /// segments that have become in order at the receiver.
    pub fn receive(&mut self, subflow: usize, seq: Seq, end: Seq) -> u32 {
        let before = self.delivered;
        for number in seq.number()..end.number() {
            let Some(data) = self.data(subflow, Seq::new(number)) else { continue };
            if data >= self.delivered {
                self.beyond.insert(Seq::new(data), Seq::new(data + 1), |_, _| ());
            }
        }
        if let Some((start, end)) = self.beyond.first()
            && start.number() == self.delivered
        {
            self.delivered = end.number();
            self.beyond.remove_below(end);
        }
        self.delivered - before
    }

    /// Returns the data ACK: everything below this data number has arrived.
    #[must_use]
    pub const fn data_ack(&self) -> u32 {
        self.delivered
    }

    /// Returns whether the sender has received a data ACK of data.
    #[must_use]
    pub const fn has_data_ack(&self) -> bool {
        self.una > 0
    }

    /// Returns whether `data` is the last data number of the transfer.
    #[must_use]
    pub const fn is_last(&self, data: u32) -> bool {
        self.unwritten == 0 && data + 1 == self.end
    }

    /// Returns whether the data ACK covers everything, and everything has been written.
    #[must_use]
    pub const fn is_finished(&self) -> bool {
        self.una == self.end && self.unwritten == 0
    }

    /// Returns whether it has unlimited data.
    #[must_use]
    pub const fn is_unlimited(&self) -> bool {
        self.end == u32::MAX
    }

    /// Returns whether the window of a subflow may be open.
    #[must_use]
    pub fn is_open(&self, subflow: usize) -> bool {
        self.subflows[subflow].is_open
    }

    /// Records whether the window of a subflow may be open.
    pub fn set_open(&mut self, subflow: usize, is_open: bool) {
        self.subflows[subflow].is_open = is_open;
    }
}

#[cfg(test)]
mod tests;
