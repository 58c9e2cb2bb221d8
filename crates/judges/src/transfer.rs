//! Transfers by a stack over a simulated link.

use optcp_units::{Duration, Time};

use crate::case::Case;
use crate::link::{Arrival, Datagram, End, HEADERS, Link};

/// Transport stack at both ends of the link. The client sends the data of a case as soon as it can.
pub trait Stack {
    /// Receives a packet, at the time of its arrival.
    fn receive(&mut self, arrival: Arrival);

    /// Executes the timers that are due.
    fn execute_timers(&mut self, now: Time);

    /// Returns the time of the next timer.
    fn next_timer(&mut self) -> Option<Time>;

    /// Returns the next packet to be sent now.
    fn next_packet(&mut self, now: Time) -> Option<Datagram>;

    /// Returns the state of the transfer.
    fn state(&mut self) -> State;

    /// Returns the packet number and the data in a packet, if they are readable.
    fn content(&mut self, packet: &Datagram) -> Content;
}

/// State of a transfer.
#[derive(Clone, Copy, Debug, Default)]
pub struct State {
    /// Whether the client can send data.
    pub is_connected: bool,
    /// Bytes that the server has received in order.
    pub received: u64,
    /// Congestion window of the client in bytes.
    pub cwnd: u64,
    /// Packets that the client has declared lost.
    pub lost: u64,
    /// Probe timeouts (QUIC) or retransmission timeouts (TCP) of the client.
    pub timeouts: u64,
}

/// Content of a packet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Content {
    /// Packet number.
    pub number: Option<u64>,
    /// Pieces of data: first byte, and number of bytes.
    pub data: Vec<(u64, u64)>,
}

/// Packet of a transfer.
#[derive(Clone, Debug)]
pub struct Sent {
    /// Time.
    pub at: Time,
    /// The end that sent it.
    pub from: End,
    /// Size on the wire in bytes.
    pub size: usize,
    /// Content.
    pub content: Content,
}

/// Change of the client's state.
#[derive(Clone, Copy, Debug)]
pub struct Change {
    /// Time.
    pub at: Time,
    /// New state.
    pub state: State,
}

/// Result of a transfer. Times count from the client's first packet.
#[derive(Clone, Debug, Default)]
pub struct Transfer {
    /// Arrival of the last byte in order.
    pub completed: Option<Duration>,
    /// Time at which the client could send data.
    pub connected: Option<Duration>,
    /// Longest time without data in order, between the first byte and the last one.
    pub stall: Duration,
    /// Data in order at the server over time.
    pub progress: Vec<(Duration, u64)>,
    /// All packets.
    pub sent: Vec<Sent>,
    /// Changes of the client's congestion window, losses and timeouts.
    pub changes: Vec<Change>,
    /// State at the end.
    pub end: State,
}

impl Transfer {
    /// Executes the transfer of a case until all data has arrived, or until the end of the run.
    ///
    /// # Panics
    /// If the stack sets a timer in the past again and again.
    pub fn run(case: &Case, seed: u64, stack: &mut dyn Stack) -> Self {
        let mut link = Link::new(case, seed);
        let mut transfer = Transfer::default();
        let mut now = Time::ZERO;
        let mut idle = 0;
        transfer.send(now, &mut link, stack);
        while transfer.completed.is_none() {
            let timer = stack.next_timer().unwrap_or(Time::MAX);
            let next = link.next_at().min(timer).max(now);
            if next >= link.stop() {
                break;
            }
            idle = if next > now { 0 } else { idle + 1 };
            assert!(idle < 10_000, "{}: no time passes at {now}", case.name);
            now = next;
            for arrival in link.advance(now) {
                stack.receive(arrival);
                transfer.note(now, case.size, stack);
                transfer.send(now, &mut link, stack);
            }
            if timer <= now {
                stack.execute_timers(now);
                transfer.note(now, case.size, stack);
                transfer.send(now, &mut link, stack);
            }
        }
        transfer.end = stack.state();
        transfer
    }

    fn send(&mut self, now: Time, link: &mut Link, stack: &mut dyn Stack) {
        while let Some(datagram) = stack.next_packet(now) {
            let content = stack.content(&datagram);
            let size = HEADERS + datagram.payload.len();
            self.sent.push(Sent { at: now, from: datagram.from, size, content });
            link.send(now, &datagram);
        }
    }

    fn note(&mut self, now: Time, size: u64, stack: &mut dyn Stack) {
        let state = stack.state();
        let since = now.saturating_since(Time::ZERO);
        if state.is_connected && self.connected.is_none() {
            self.connected = Some(since);
        }
        let before = self.progress.last().copied();
        if state.received > before.map_or(0, |(_, bytes)| bytes) {
            if let Some((at, _)) = before {
                self.stall = self.stall.max(Duration::from_ps(since.as_ps() - at.as_ps()));
            }
            self.progress.push((since, state.received));
            if state.received >= size {
                self.completed = Some(since);
            }
        }
        let key = |state: &State| (state.cwnd, state.lost, state.timeouts);
        if self.changes.last().is_none_or(|last| key(&last.state) != key(&state)) {
            self.changes.push(Change { at: now, state });
        }
    }

    /// Returns the number of packets of an end.
    #[must_use]
    pub fn packets(&self, from: End) -> usize {
        self.sent.iter().filter(|sent| sent.from == from).count()
    }
}
