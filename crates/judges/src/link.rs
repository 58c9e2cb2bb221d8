//! The simulated link between client and server.
//!
//! # Model
//! Packets enter the network at the time at which a stack sends them, and reach the other stack at their arrival time. The
//! run stops one picosecond after each event, so a packet sent in response enters one picosecond after the arrival.

use optcp_runs::{Engine, External, FlowId, LiveRun, RunOptions};
use optcp_units::{Codepoint, Duration, Marking, Time};

use crate::case::Case;

/// End of the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Sender of the data.
    Client,
    /// Receiver of the data.
    Server,
}

impl End {
    /// Returns the end at the other side.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            End::Client => End::Server,
            End::Server => End::Client,
        }
    }
}

/// Packet of a stack.
#[derive(Clone, Debug)]
pub struct Datagram {
    /// The end that sent it.
    pub from: End,
    /// Content: UDP payload.
    pub payload: Vec<u8>,
    /// ECN codepoint.
    pub ecn: Codepoint,
}

/// Packet at the other end.
#[derive(Clone, Debug)]
pub struct Arrival {
    /// Time.
    pub at: Time,
    /// The packet, with the codepoint at arrival.
    pub datagram: Datagram,
}

/// Sizes of the headers of IPv4 and UDP.
pub const HEADERS: usize = 20 + 8;

/// Link in simulated time.
pub struct Link {
    run: LiveRun,
    sources: [FlowId; 2],
}

impl Link {
    /// Creates the link of a case at time zero. The seed determines the random losses.
    ///
    /// # Panics
    /// If the case is no scenario of one flow.
    #[must_use]
    pub fn new(case: &Case, seed: u64) -> Self {
        // Only the next event of the reference engine has an exact time.
        let options = RunOptions { engine: Engine::Reference, ..RunOptions::default() };
        let made = LiveRun::with_external(&case.scenario(), seed, options, &[0, 1]);
        let (run, flows) = made.expect("one flow between two nodes");
        Link { run, sources: flows[0].sources }
    }

    /// Returns the time of the next event in the network.
    #[must_use]
    pub fn next_at(&self) -> Time {
        self.run.next_at()
    }

    /// Returns the end of the run.
    #[must_use]
    pub fn stop(&self) -> Time {
        self.run.stop()
    }

    /// Sends a packet at the current time.
    pub fn send(&mut self, now: Time, datagram: &Datagram) {
        let source = self.sources[usize::from(datagram.from == End::Server)];
        let mut bytes = vec![0; HEADERS];
        bytes.extend_from_slice(&datagram.payload);
        let marking = Marking::new(datagram.ecn, 0);
        self.run.inject(source, now, External { bytes: bytes.into(), marking, flow_label: 0 });
    }

    /// Simulates all events until `now`, included, and returns the arrivals in order.
    ///
    /// # Panics
    /// If a packet arrived before `now`, the time of the next event.
    pub fn advance(&mut self, now: Time) -> Vec<Arrival> {
        self.run.advance(now + Duration::from_ps(1));
        let arrival = |delivery: optcp_runs::Delivery| {
            let from = if delivery.source == self.sources[0] { End::Client } else { End::Server };
            assert_eq!(delivery.at, now, "no arrival is late");
            let payload = delivery.bytes[HEADERS..].to_vec();
            let ecn = delivery.marking.codepoint();
            Arrival { at: delivery.at, datagram: Datagram { from, payload, ecn } }
        };
        self.run.take_deliveries().into_iter().map(arrival).collect()
    }
}
