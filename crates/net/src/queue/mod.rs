//! Queue disciplines: which packets a port accepts, marks and drops, and which it sends next.
//!
//! A discipline either decides when a packet arrives ([`OnArrival`]), over a single FIFO queue, or
//! stores packets itself. In the latter case it also decides when the transmitter is free
//! ([`OnDeparture`]). The port owns the packet in transmission and passes it where a discipline may
//! count it.
//!
//! A discipline is plain data and independent of the engine. The reference engine, and stepped ports of the fast
//! engine, use it through [`Port`](crate::Port). Disciplines that decide on arrival also work in the other modes of the
//! fast engine, without departure events.
//!
//! To add a discipline, write its file, and add its module and its registration here.

mod codel;
mod drop_tail;
mod drr;
mod dualpi2;
mod fifo;
mod fq_codel;
mod head_drop;
mod limit;
#[macro_use]
mod kinds;
mod parameters;
mod pie;
mod priority;
mod red;
mod step;
mod trim;

use std::sync::Arc;

use optcp_des::Stream;
use optcp_units::{Rate, Time};

use crate::{DropReason, Packet};
pub(crate) use fifo::Fifo;

pub use limit::QueueLimit;
pub use parameters::{Parameter, Parameters, Setting};
pub use priority::CLASSES;

disciplines! {
    on arrival {
        "drop-tail" => DropTail in drop_tail: "drops packets that arrive at a full queue", "ns-2, DropTail";
        "red" => Red in red: "drops or marks at random, more often the longer the average queue; gentle or not, adaptive or not", "Floyd and Jacobson 1993; Floyd, Gummadi and Shenker 2001; as in ns-2.35";
        "pie" => Pie in pie: "drops or marks at random to keep the queueing delay near a target", "RFC 8033";
        "step" => Step in step: "marks packets that find more than a threshold in the queue", "SIGCOMM 2010, DCTCP; RFC 8257 section 3.1";
    }
    on departure {
        "head-drop" => HeadDrop in head_drop: "drops the oldest packets of a full queue", "Lakshman, Neidhardt and Ott 1996";
        "codel" => Codel in codel: "drops or marks departing packets while the queueing delay is too high", "RFC 8289";
        "fq-codel" => FqCodel in fq_codel: "one CoDel queue per flow, served in turn, new flows first", "RFC 8290";
        "dualpi2" => Dualpi2 in dualpi2: "two coupled queues: marks scalable senders early, drops or marks others with the square of the base probability", "RFC 9332";
        "priority" => Priority in priority: "higher classes first", "RFC 3246, its appendix; Linux, prio";
        "drr" => Drr in drr: "flows in turn, by bytes", "Shreedhar and Varghese 1996";
        "trim" => Trim in trim: "cuts segments beyond a threshold to their headers, which go first", "Handley and others 2017, NDP; Ultra Ethernet 1.0";
    }
}

/// Decision about a queued packet, other than sending it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Marked instead of dropped; the packet stays.
    Marked,
    /// Cut to its header on arrival, and accepted.
    Trimmed,
    /// Dropped after acceptance.
    Dropped(DropReason),
}

/// Packets and their fates in order of time.
pub type Fates = Vec<(Packet, Fate)>;

/// Properties of the port that a discipline uses.
#[derive(Clone, Debug)]
pub struct Link {
    /// Queue limit.
    pub limit: QueueLimit,
    /// Transmission rate.
    pub rate: Rate,
    /// Random stream of the discipline.
    pub stream: Option<Stream>,
    /// Class by flow.
    pub classes: Arc<[u8]>,
    /// Whether segments may be trimmed, by flow; empty if none may.
    pub trimmable: Arc<[bool]>,
}

impl Link {
    /// Returns the class of a packet's flow.
    fn class(&self, packet: Packet) -> usize {
        let class = self.classes.get(packet.flow().index()).copied().unwrap_or(0);
        usize::from(class).min(priority::CLASSES - 1)
    }

    /// Returns whether a packet is a segment that may be trimmed.
    fn trims(&self, packet: Packet) -> bool {
        !packet.is_ack() && self.trimmable.get(packet.flow().index()).copied().unwrap_or(false)
    }
}

/// State of the queue when a packet arrives, including the packet in transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backlog {
    /// Arrival time.
    pub now: Time,
    /// Number of packets in the queue.
    pub packets: usize,
    /// Bytes in the queue.
    pub bytes: u64,
    /// Time at which all queued packets will have been, or were, sent.
    pub until: Time,
    /// Whether the arriving packet fits.
    pub fits: bool,
}

/// Decision about an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The packet is queued if it fits.
    Take,
    /// The packet is marked and queued if it fits.
    Mark,
    /// The packet is dropped.
    Drop(DropReason),
}

/// Discipline that decides about each packet once, on arrival. Packets leave in order of arrival.
pub trait OnArrival: Clone {
    /// Parameters.
    type Parameters: Parameters;

    /// Creates the state before the first packet.
    fn new(parameters: &Self::Parameters, link: &Link) -> Self;

    /// Decides about an arriving packet. A packet that does not fit is dropped regardless of the decision.
    fn decide(&mut self, backlog: &Backlog, packet: Packet) -> Verdict;

    /// Resets the state after a link failure, which empties the queue; the random stream continues.
    fn restart(&mut self) {}
}

/// Discipline that stores the packets.
pub trait OnDeparture: Clone {
    /// Parameters.
    type Parameters: Parameters;

    /// Creates the state before the first packet.
    fn new(parameters: &Self::Parameters, link: &Link) -> Self;

    /// Handles a packet that arrives while `sending` is in transmission. `fates` receives decisions about queued
    /// packets, including this one.
    fn enqueue(
        &mut self,
        now: Time,
        packet: Packet,
        sending: Option<Packet>,
        fates: &mut Fates,
    ) -> Result<(), DropReason>;

    /// Returns the packet that the free transmitter sends now, with its arrival time.
    fn dequeue(&mut self, now: Time, fates: &mut Fates) -> Option<(Packet, Time)>;

    /// Returns the number of queued packets.
    fn len(&self) -> usize;

    /// Returns the number of queued bytes.
    fn bytes(&self) -> u64;

    /// Lists the queued packets, roughly in the order of departure without further arrivals.
    fn list(&self, packets: &mut Vec<Packet>);
}

/// Returns the number of a packet's flow and direction, for disciplines with one queue per flow.
fn flow_and_direction(packet: Packet) -> usize {
    packet.flow().index() << 1 | usize::from(packet.is_ack())
}

/// Queue in front of a transmitter.
#[derive(Clone, Debug)]
pub(crate) enum Queue {
    /// FIFO queue with a discipline that decides on arrival.
    InOrder(ArrivalState, Fifo, QueueLimit),
    /// Queue of a discipline that decides on departure.
    Kept(DepartureState),
}

impl Queue {
    /// Handles a packet that arrives while `sending` is in transmission; all queued packets will have been sent at
    /// `until`.
    pub(super) fn enqueue(
        &mut self,
        now: Time,
        until: Time,
        packet: Packet,
        sending: Option<Packet>,
        fates: &mut Fates,
    ) -> Result<(), DropReason> {
        let (state, fifo, limit) = match self {
            Queue::InOrder(state, fifo, limit) => (state, fifo, *limit),
            Queue::Kept(state) => return state.enqueue(now, packet, sending, fates),
        };
        let bytes = fifo.bytes() + sending.map_or(0, |sending| u64::from(sending.size()));
        let packets = fifo.len() + usize::from(sending.is_some());
        let fits = limit.has_room(packets, bytes, packet.size());
        let marked = state.judge(&Backlog { now, packets, bytes, until, fits }, packet)?;
        if marked != packet {
            fates.push((marked, Fate::Marked));
        }
        fifo.push(now, marked);
        Ok(())
    }

    /// Returns the packet that the free transmitter sends now, with its arrival time.
    pub(super) fn dequeue(&mut self, now: Time, fates: &mut Fates) -> Option<(Packet, Time)> {
        match self {
            Queue::InOrder(_, fifo, _) => fifo.pop(),
            Queue::Kept(state) => state.dequeue(now, fates),
        }
    }

    /// Sets the limit, which includes the packet in transmission. Returns the youngest packets, which exceed it. Only
    /// for FIFO queues.
    pub(super) fn limit(&mut self, to: QueueLimit, sending: Option<Packet>) -> Vec<Packet> {
        let Queue::InOrder(_, fifo, limit) = self else {
            unreachable!("the limit of a discipline that stores packets never changes");
        };
        *limit = to;
        let mut out = Vec::new();
        let sent = sending.map_or(0, |sending| u64::from(sending.size()));
        while !to.holds(fifo.len() + usize::from(sending.is_some()), fifo.bytes() + sent)
            && let Some((packet, _)) = fifo.pop_last()
        {
            out.push(packet);
        }
        out.reverse();
        out
    }

    /// Returns the number of queued bytes.
    pub(super) fn bytes(&self) -> u64 {
        match self {
            Queue::InOrder(_, fifo, _) => fifo.bytes(),
            Queue::Kept(state) => state.bytes(),
        }
    }

    /// Returns the number of queued packets.
    pub(super) fn len(&self) -> usize {
        match self {
            Queue::InOrder(_, fifo, _) => fifo.len(),
            Queue::Kept(state) => state.len(),
        }
    }

    /// Returns the queued packets, roughly in the order of departure without further arrivals.
    pub(super) fn list(&self) -> Vec<Packet> {
        let mut packets = Vec::new();
        match self {
            Queue::InOrder(_, fifo, _) => packets.extend(fifo.iter()),
            Queue::Kept(state) => state.list(&mut packets),
        }
        packets
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{FlowId, Label};

    pub(crate) fn packet(seq: u32, size: u16) -> Packet {
        Packet::data(FlowId::new(0), Label(0), seq, size, 0)
    }

    pub(crate) fn link(limit: QueueLimit) -> Link {
        Link {
            limit,
            rate: Rate::from_bps(8_000_000).unwrap(),
            stream: None,
            classes: Arc::default(),
            trimmable: Arc::default(),
        }
    }

    /// Returns one of the values at random.
    pub(crate) fn choose_one<T: Copy>(stream: &mut Stream, values: &[T]) -> T {
        values[usize::try_from(stream.below(values.len() as u64)).expect("a place")]
    }

    pub(crate) fn backlog(packets: usize, bytes: u64) -> Backlog {
        Backlog { now: Time::ZERO, packets, bytes, until: Time::ZERO, fits: true }
    }

    fn drop_tail(limit: QueueLimit) -> Queue {
        Discipline::of(QueueKind::DropTail).queue(&link(limit))
    }

    fn enqueue(
        queue: &mut Queue,
        packet: Packet,
        sending: Option<Packet>,
    ) -> Result<(), DropReason> {
        queue.enqueue(Time::ZERO, Time::ZERO, packet, sending, &mut Fates::new())
    }

    /// With a limit of two packets, the one in transmission occupies one place. With 150 B it occupies 100 B: 50 B fit,
    /// 51 B do not.
    #[test]
    fn packet_in_transmission_counts_towards_limit() {
        let sending = Some(packet(0, 100));
        for (limit, fits) in [(QueueLimit::Packets(2), 51), (QueueLimit::Bytes(150), 50)] {
            let mut queue = drop_tail(limit);
            assert_eq!(enqueue(&mut queue, packet(1, fits), sending), Ok(()));
            assert_eq!(enqueue(&mut queue, packet(2, 1), sending), Err(DropReason::QueueFull));
        }
        let mut queue = drop_tail(QueueLimit::Bytes(150));
        assert_eq!(enqueue(&mut queue, packet(1, 51), sending), Err(DropReason::QueueFull));
        assert_eq!(enqueue(&mut queue, packet(1, 51), None), Ok(()));
    }

    #[test]
    fn packets_leave_in_order_and_bytes_are_counted() {
        let mut queue = drop_tail(QueueLimit::Unlimited);
        for (seq, size) in [(0, 100), (1, 40)] {
            assert_eq!(enqueue(&mut queue, packet(seq, size), None), Ok(()));
        }
        assert_eq!((queue.bytes(), queue.list()), (140, vec![packet(0, 100), packet(1, 40)]));
        let fates = &mut Fates::new();
        assert_eq!(queue.dequeue(Time::ZERO, fates), Some((packet(0, 100), Time::ZERO)));
        assert_eq!((queue.bytes(), queue.list()), (40, vec![packet(1, 40)]));
        assert_eq!(queue.dequeue(Time::ZERO, fates), Some((packet(1, 40), Time::ZERO)));
        assert_eq!((queue.bytes(), queue.dequeue(Time::ZERO, fates)), (0, None));
    }

    /// Every parameter has the type of its default, or is unset by default.
    #[test]
    fn parameters_are_set_by_name() {
        for &kind in QueueKind::ALL {
            let mut discipline = Discipline::of(kind);
            for parameter in kind.parameters() {
                if let Some(setting) = discipline.get(parameter.name) {
                    assert!(discipline.set(parameter.name, setting), "{}", parameter.name);
                }
                assert!(!discipline.set("no such parameter", Setting::Flag(true)));
            }
            assert_eq!(discipline, Discipline::of(kind));
        }
    }
}
