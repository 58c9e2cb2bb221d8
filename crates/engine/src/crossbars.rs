//! Operation of switches with queues at their inputs, in all engines.

use optcp_net::{BundleId, Crossbar, Packet, PortId};
use optcp_optical::bundle::Bundle;
use optcp_units::{Bytes, Rate, Time};

use crate::departures;
use crate::model::Model;
use crate::observe::Observer;
use crate::stepping::Stepping;

/// View of the queues at crossbars, for the selection of a bundle member.
#[derive(Clone, Copy)]
pub(crate) struct CrossbarView<'a> {
    pub(crate) crossbars: &'a [Crossbar],
    pub(crate) crossbar_at: &'a [Option<u32>],
}

impl CrossbarView<'_> {
    #[inline]
    fn backlog(self, port: PortId) -> (u64, u64) {
        if self.crossbar_at.is_empty() { (0, 0) } else { self.backlog_before(port) }
    }

    // Crossbars are rare. A separate function keeps them out of the hot path.
    #[cold]
    #[inline(never)]
    fn backlog_before(self, port: PortId) -> (u64, u64) {
        let number = self.crossbar_at.get(port.index()).copied().flatten();
        number.map_or((0, 0), |number| self.crossbars[number as usize].backlog(port))
    }

    /// Returns the time at which a port will also have sent the packets at the crossbar before it. It will have sent its
    /// own queue at `until`.
    #[inline]
    pub(crate) fn busy_until(
        self,
        port: PortId,
        until: Time,
        now: Time,
        rate: impl FnOnce() -> Rate,
    ) -> Time {
        match self.backlog(port) {
            (_, 0) => until,
            (_, bytes) => until.max(now) + rate().transmission_time(Bytes::new(bytes)),
        }
    }

    /// Returns the number of packets at the crossbar before a port.
    #[inline]
    pub(crate) fn packets(self, port: PortId) -> u64 {
        self.backlog(port).0
    }
}

impl<O> Model<O> {
    /// Returns a bundle, and the crossbars before its members.
    #[inline]
    pub(crate) fn bundle_and_crossbars(
        &mut self,
        bundle: BundleId,
    ) -> (&mut Bundle, CrossbarView<'_>) {
        let crossbars = CrossbarView { crossbars: &self.crossbars, crossbar_at: &self.crossbar_at };
        (&mut self.bundles[bundle as usize], crossbars)
    }
}

/// Queues a packet that arrived from `input` at the crossbar before the port `output`.
#[inline(never)]
pub(crate) fn admit<E: Stepping, O: Observer>(
    engine: &mut E,
    model: &mut Model<O>,
    number: u32,
    [input, output]: [PortId; 2],
    packet: Packet,
) {
    let now = model.now();
    match model.crossbars[number as usize].admit(now, input, output, packet) {
        Ok(begins) => {
            let key = begins.map(|at| model.slot_key(number, at));
            key.into_iter().for_each(|key| engine.event_queue().push(key));
        }
        Err(reason) => {
            model.lose(output, packet, reason);
            engine.drop_burst(output, vec![packet]);
        }
    }
}

/// Executes the current event, the start of a slot of a crossbar.
pub(crate) fn advance<E: Stepping, O: Observer>(engine: &mut E, model: &mut Model<O>, number: u32) {
    let now = model.now();
    let mut crossed = std::mem::take(&mut model.crossed);
    if let Some(at) = model.crossbars[number as usize].advance(now, &mut crossed) {
        let key = model.slot_key(number, at);
        engine.event_queue().push(key);
    }
    for (id, packet) in crossed.drain(..) {
        let (port, event_queue) = engine.stepped(id);
        departures::enter(port, event_queue, model, id, packet);
    }
    model.crossed = crossed;
}
