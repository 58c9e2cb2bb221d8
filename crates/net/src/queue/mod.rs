//! Queue disciplines: which packets a port takes, which it marks or drops, and which it sends next.
//!
//! A discipline decides when a packet comes ([`OnArrival`]), over one queue in order; or it keeps what waits itself, and
//! decides when the transmitter is free too ([`OnDeparture`]). The packet in transmission is the port's; it is shown to
//! the discipline where it may count it. A discipline is plain data that a clone copies, and knows no engine: the
//! reference engine and the stepped lane of the fast one drive it through [`Port`](crate::Port); those that decide on
//! arrival also serve the lanes of the fast engine in which departures are no events.
//!
//! To add one: write its file, and two lines here, the module and the registration.

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
        "drop-tail" => DropTail in drop_tail: "loses what comes where there is no place left", "ns-2, DropTail";
        "red" => Red in red: "drops or marks at random, the more the longer its average queue: gentle or not, adaptive or not", "Floyd and Jacobson 1993; Floyd, Gummadi and Shenker 2001; as in ns-2.35";
        "pie" => Pie in pie: "drops or marks at random, so that packets wait for so long", "RFC 8033";
        "step" => Step in step: "marks what finds more than a threshold in the queue", "SIGCOMM 2010, DCTCP; RFC 8257 section 3.1";
    }
    on departure {
        "head-drop" => HeadDrop in head_drop: "loses what has waited longest where there is no place left", "Lakshman, Neidhardt and Ott 1996";
        "codel" => Codel in codel: "drops or marks what leaves, while packets wait too long", "RFC 8289";
        "fq-codel" => FqCodel in fq_codel: "the same in a queue for each flow, served in turn, new flows first", "RFC 8290";
        "dualpi2" => Dualpi2 in dualpi2: "two coupled queues: marks scalable senders early, drops others by the square", "RFC 9332";
        "priority" => Priority in priority: "higher classes first", "RFC 3246, its appendix; Linux, prio";
        "drr" => Drr in drr: "flows in turn, by bytes", "Shreedhar and Varghese 1996";
    }
}

/// What became of packets, other than that they wait or are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Marked in place of being dropped; it stays.
    Marked,
    /// Lost, after it had been accepted.
    Dropped(DropReason),
}

/// Packets and their fates, in the order in which these come about.
pub type Fates = Vec<(Packet, Fate)>;

/// The port that a discipline works for.
#[derive(Clone, Debug)]
pub struct Link {
    /// How much it holds.
    pub limit: QueueLimit,
    /// How fast it sends.
    pub rate: Rate,
    /// What the discipline draws from.
    pub stream: Option<Stream>,
    /// The class of each flow.
    pub classes: Arc<[u8]>,
}

impl Link {
    /// The class of a packet's flow.
    fn class(&self, packet: Packet) -> usize {
        let class = self.classes.get(packet.flow().index()).copied().unwrap_or(0);
        usize::from(class).min(priority::CLASSES - 1)
    }
}

/// What a packet finds in the queue when it comes; the packet in transmission counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backlog {
    /// When it comes.
    pub now: Time,
    /// Packets in the queue.
    pub packets: usize,
    /// Their bytes.
    pub bytes: u64,
    /// When everything will have been sent, or was.
    pub until: Time,
    /// Whether there is a place for it.
    pub fits: bool,
}

/// What is decided of a packet that comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It waits, if there is a place for it.
    Take,
    /// The same, with a mark.
    Mark,
    /// It is lost.
    Drop(DropReason),
}

/// A discipline that decides when a packet comes, once for all: packets leave in the order in which they came.
pub trait OnArrival: Clone {
    /// What it is told.
    type Parameters: Parameters;

    /// Its state before the first packet.
    fn new(parameters: &Self::Parameters, link: &Link) -> Self;

    /// A packet comes, and finds this. One without a place is lost whatever is said here.
    fn decide(&mut self, backlog: &Backlog, packet: Packet) -> Verdict;

    /// The link has failed and the queue is gone: it begins anew, but for what it draws from.
    fn restart(&mut self) {}
}

/// A discipline that keeps what waits.
pub trait OnDeparture: Clone {
    /// What it is told.
    type Parameters: Parameters;

    /// Its state before the first packet.
    fn new(parameters: &Self::Parameters, link: &Link) -> Self;

    /// A packet comes while another one, or none, is being sent. What becomes of others, or of this one later, goes
    /// into `fates`.
    fn enqueue(
        &mut self,
        now: Time,
        packet: Packet,
        sending: Option<Packet>,
        fates: &mut Fates,
    ) -> Result<(), DropReason>;

    /// The transmitter is free: the packet that it sends now, and when that came.
    fn dequeue(&mut self, now: Time, fates: &mut Fates) -> Option<(Packet, Time)>;

    /// Packets that wait.
    fn len(&self) -> usize;

    /// Bytes that wait.
    fn bytes(&self) -> u64;

    /// Lists what waits, roughly in the order in which it would leave if nothing else came.
    fn list(&self, packets: &mut Vec<Packet>);
}

/// What has a queue of its own where flows have.
fn flow_and_direction(packet: Packet) -> usize {
    packet.flow().index() << 1 | usize::from(packet.is_ack())
}

/// What waits in front of a transmitter.
#[derive(Clone, Debug)]
pub(crate) enum Queue {
    /// One after the other, under a discipline that decides on arrival.
    InOrder(ArrivalState, Fifo, QueueLimit),
    /// As a discipline says that decides on departure.
    Kept(DepartureState),
}

impl Queue {
    /// A packet comes while another one, or none, is being sent; all will have been sent at `until`.
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

    /// The transmitter is free: the packet that it sends now, and when that came.
    pub(super) fn dequeue(&mut self, now: Time, fates: &mut Fates) -> Option<(Packet, Time)> {
        match self {
            Queue::InOrder(_, fifo, _) => fifo.pop(),
            Queue::Kept(state) => state.dequeue(now, fates),
        }
    }

    /// It holds so much from now on, the packet in transmission included: takes the youngest out of what it has beyond
    /// that. Only of a queue in order.
    pub(super) fn limit(&mut self, to: QueueLimit, sending: Option<Packet>) -> Vec<Packet> {
        let Queue::InOrder(_, fifo, limit) = self else {
            unreachable!("a queue whose discipline keeps packets keeps its limit");
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

    /// Bytes that wait.
    pub(super) fn bytes(&self) -> u64 {
        match self {
            Queue::InOrder(_, fifo, _) => fifo.bytes(),
            Queue::Kept(state) => state.bytes(),
        }
    }

    /// Packets that wait.
    pub(super) fn len(&self) -> usize {
        match self {
            Queue::InOrder(_, fifo, _) => fifo.len(),
            Queue::Kept(state) => state.len(),
        }
    }

    /// What waits, roughly in the order in which it would leave if nothing else came.
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
        }
    }

    /// So many packets and bytes at time zero.
    pub(crate) fn one_of<T: Copy>(stream: &mut Stream, of: &[T]) -> T {
        of[usize::try_from(stream.below(of.len() as u64)).expect("a place")]
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

    /// Two places: one is taken by the packet in transmission. 150 B: 100 B are, so 50 B fit and 51 B do not.
    #[test]
    fn the_packet_in_transmission_takes_a_place() {
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
    fn packets_leave_as_they_came_and_bytes_follow() {
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

    /// Every parameter has the kind of its default, or is left out by default.
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
