//! Crossbar of a switch with queues at its inputs, through which packets pass in cells.
//!
//! # Model
//! A packet that arrives over a link waits at this input in the virtual output queue (VOQ) of its output. Time is
//! divided into slots, from time zero on. At the start of a slot [`islip`] matches inputs and outputs, and one cell
//! crosses the crossbar for each match. The output reassembles a packet: it enters the output queue at the end of the
//! slot of its last cell. Cells of several inputs may alternate at an output. The speed-up of the crossbar is the
//! ratio of the transmission time of a cell to the slot.
//!
//! A packet that arrives during a slot, or at its start, first takes part in the next slot. A VOQ has a limit; the
//! packet whose cells are crossing counts.
//!
//! With one FIFO queue per input only its first packet can cross (head-of-line blocking).
//!
//! # References
//! - M. J. Karol, M. G. Hluchyj, S. P. Morgan, "Input versus output queueing on a space-division packet switch", IEEE
//!   Trans. Commun. 35(12), 1987: FIFO queues, and their limit of 2 - sqrt(2).
//! - N. McKeown, "The iSLIP scheduling algorithm for input-queued switches", 1999.
//!
//! # Limitations
//! - Cells have no header; the last cell of a packet takes a whole slot.
//! - There is no back-pressure: a packet that finds the output queue full is lost there.
//! - Packets of the switch itself enter the output queue directly.

mod islip;

use std::collections::VecDeque;

use optcp_units::{Duration, Time};

use crate::{DropReason, Packet, PortId, QueueLimit};

pub use islip::MOST_PORTS;
use islip::{Islip, Set, bit};

/// Configuration of a crossbar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CrossbarConfig {
    /// Ports whose packets arrive at the switch.
    pub inputs: Vec<PortId>,
    /// Ports of the switch.
    pub outputs: Vec<PortId>,
    /// Whether each input has one FIFO queue.
    pub fifo: bool,
    /// Number of iterations of iSLIP per slot.
    pub iterations: u32,
    /// Data in a cell, in bytes.
    pub cell: u64,
    /// Duration of a slot.
    pub slot: Duration,
    /// Limit of each queue at an input.
    pub limit: QueueLimit,
}

/// Queue of an input for an output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Voq {
    packets: VecDeque<Packet>,
    /// Number of cells of the first packet that have crossed.
    crossed: u64,
}

/// Amount of data in a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Level {
    packets: u64,
    bytes: u64,
}

impl Level {
    fn add(&mut self, packet: Packet) {
        self.packets += 1;
        self.bytes += u64::from(packet.size());
    }

    fn remove(&mut self, packet: Packet) {
        self.packets -= 1;
        self.bytes -= u64::from(packet.size());
    }

    /// Returns whether a packet fits in addition.
    fn admits(self, packet: Packet, limit: QueueLimit) -> bool {
        match limit {
            QueueLimit::Unlimited => true,
            QueueLimit::Packets(most) => self.packets < u64::from(most),
            QueueLimit::Bytes(most) => self.bytes + u64::from(packet.size()) <= most,
        }
    }
}

/// State of a crossbar in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crossbar {
    config: CrossbarConfig,
    islip: Islip,
    /// VOQs by input and output.
    voqs: Vec<Voq>,
    /// With FIFO queues: outputs of the packets of each input, in order.
    order: Vec<VecDeque<usize>>,
    /// Level of each queue that has a limit: of each VOQ, or of each input.
    levels: Vec<Level>,
    /// Level of all queues for an output.
    backlogs: Vec<Level>,
    /// Inputs that request an output, by output.
    requests: Vec<Set>,
    /// Matches of the current slot.
    matches: Vec<(usize, usize)>,
    /// Start of the next slot, if packets wait.
    next: Option<Time>,
}

impl Crossbar {
    /// Creates an empty crossbar.
    ///
    /// # Panics
    /// Panics with more than [`MOST_PORTS`] inputs or outputs, or a slot of length zero.
    #[must_use]
    pub fn new(config: CrossbarConfig) -> Self {
        let (inputs, outputs) = (config.inputs.len(), config.outputs.len());
        assert!(inputs.max(outputs) <= MOST_PORTS, "at most {MOST_PORTS} inputs and outputs");
        assert!(config.slot > Duration::ZERO, "slots have a length");
        let queues = if config.fifo { inputs } else { inputs * outputs };
        Crossbar {
            islip: Islip::new(inputs, outputs, config.iterations),
            voqs: vec![Voq::default(); inputs * outputs],
            order: vec![VecDeque::new(); if config.fifo { inputs } else { 0 }],
            levels: vec![Level::default(); queues],
            backlogs: vec![Level::default(); outputs],
            requests: vec![0; outputs],
            matches: Vec::new(),
            next: None,
            config,
        }
    }

    /// Returns the ports of the switch.
    #[must_use]
    pub fn outputs(&self) -> &[PortId] {
        &self.config.outputs
    }

    /// Returns the ports whose packets arrive at the switch.
    #[must_use]
    pub fn inputs(&self) -> &[PortId] {
        &self.config.inputs
    }

    /// Returns the number of packets at the inputs.
    #[must_use]
    pub fn packets(&self) -> u64 {
        self.backlogs.iter().map(|level| level.packets).sum()
    }

    /// Returns the packets and bytes at all inputs for an output.
    #[must_use]
    pub fn backlog(&self, output: PortId) -> (u64, u64) {
        let level = self.backlogs[place(&self.config.outputs, output)];
        (level.packets, level.bytes)
    }

    /// Returns the packets at the inputs, each with its output.
    pub fn inside(&self) -> impl Iterator<Item = (PortId, Packet)> {
        let outputs = self.config.outputs.iter().cycle();
        let queues = self.voqs.iter().zip(outputs);
        queues.flat_map(|(voq, &output)| voq.packets.iter().map(move |&packet| (output, packet)))
    }

    /// Queues a packet that arrived from `input`. Returns the start of the next slot if its event is new.
    ///
    /// # Errors
    /// Returns the reason if the queue is full.
    pub fn admit(
        &mut self,
        now: Time,
        input: PortId,
        output: PortId,
        packet: Packet,
    ) -> Result<Option<Time>, DropReason> {
        let (input, output) =
            (place(&self.config.inputs, input), place(&self.config.outputs, output));
        let level = self.level(input, output);
        if !self.levels[level].admits(packet, self.config.limit) {
            return Err(DropReason::QueueFull);
        }
        self.levels[level].add(packet);
        self.backlogs[output].add(packet);
        let voq = self.voq(input, output);
        self.voqs[voq].packets.push_back(packet);
        if let Some(order) = self.order.get_mut(input) {
            order.push_back(output);
        }
        self.request(input, output);
        if self.next.is_some() {
            return Ok(None);
        }
        let slot = self.config.slot.as_ps();
        self.next = Some(Time::from_ps((now.as_ps() / slot + 1) * slot));
        Ok(self.next)
    }

    /// Ends a slot at `now` and begins the next one. Appends the packets that have crossed, with their output port, to
    /// `crossed`. Returns the start of the slot after it, if packets wait.
    pub fn advance(&mut self, now: Time, crossed: &mut Vec<(PortId, Packet)>) -> Option<Time> {
        for (input, output) in std::mem::take(&mut self.matches) {
            let number = self.voq(input, output);
            let voq = &mut self.voqs[number];
            voq.crossed += 1;
            let Some(&packet) = voq.packets.front() else { unreachable!("a match has a packet") };
            if voq.crossed < u64::from(packet.size()).div_ceil(self.config.cell).max(1) {
                continue;
            }
            voq.crossed = 0;
            voq.packets.pop_front();
            let level = self.level(input, output);
            self.levels[level].remove(packet);
            self.backlogs[output].remove(packet);
            crossed.push((self.config.outputs[output], packet));
            self.requests[output] &= !bit(input);
            match self.order.get_mut(input) {
                None => self.request(input, output),
                Some(order) => {
                    order.pop_front();
                    if let Some(&first) = order.front() {
                        self.request(input, first);
                    }
                }
            }
        }
        self.islip.arbitrate(&self.requests, &mut self.matches);
        self.next = (!self.matches.is_empty()).then(|| now + self.config.slot);
        self.next
    }

    /// Sets the request of an input for an output if its first packet for it may cross.
    fn request(&mut self, input: usize, output: usize) {
        let waits = !self.voqs[self.voq(input, output)].packets.is_empty();
        let first = self.order.get(input).is_none_or(|order| order.front() == Some(&output));
        if waits && first {
            self.requests[output] |= bit(input);
        }
    }

    fn voq(&self, input: usize, output: usize) -> usize {
        input * self.config.outputs.len() + output
    }

    fn level(&self, input: usize, output: usize) -> usize {
        if self.config.fifo { input } else { self.voq(input, output) }
    }
}

/// Returns the position of a port in a list.
fn place(ports: &[PortId], port: PortId) -> usize {
    ports.iter().position(|&one| one == port).expect("a port of the switch")
}

#[cfg(test)]
mod tests;
