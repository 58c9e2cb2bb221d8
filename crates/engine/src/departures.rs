//! Departures as events: drives an [`optcp_net::Port`] from an event queue.

use optcp_des::{Class, EventQueue, Key};
use optcp_net::{Admission, DropReason, Fate, Packet, Port, PortId, Transmission};
use optcp_units::{Duration, Time};

use crate::model::Model;
use crate::observe::{Observer, Record};

/// Handles a packet that arrives at a port.
#[inline]
pub(crate) fn enter<O: Observer>(
    port: &mut Port,
    event_queue: &mut EventQueue,
    model: &mut Model<O>,
    id: PortId,
    packet: Packet,
) {
    let packet = port.enters(packet);
    let admission = port.admit(model.now(), packet);
    follow(admission, port, event_queue, model, id, packet);
    if matches!(admission, Admission::Dropped(_)) {
        return;
    }
    for _ in 0..port.copies(packet) {
        let copy = model.duplicate(packet);
        let admission = port.admit_copy(model.now(), copy);
        follow(admission, port, event_queue, model, id, copy);
    }
}

/// Handles the result of an admission.
#[inline]
fn follow<O: Observer>(
    admission: Admission,
    port: &mut Port,
    event_queue: &mut EventQueue,
    model: &mut Model<O>,
    id: PortId,
    packet: Packet,
) {
    match admission {
        Admission::Queued => {}
        Admission::Sending(transmission) => event_queue.push(end(id, transmission)),
        Admission::Dropped(reason) => return model.lose(id, packet, reason),
    }
    model.record(Record::Accepted { port: id, packet: port.accepted(packet) });
    record_fates(port, model, id);
    if model.observer.watches(id) {
        record_queue(port, model, id);
    }
}

/// Executes the current event, the end of a transmission. Returns the sent packet and its arrival time at the far end.
///
/// Returns `None` if a failure aborted the transmission or the packet was corrupted.
#[inline]
pub(crate) fn finish<O: Observer>(
    port: &mut Port,
    event_queue: &mut EventQueue,
    model: &mut Model<O>,
) -> Option<(Time, Packet)> {
    let (id, ordinal) = (PortId::new(model.event.entity()), model.event.ordinal());
    let sent = port.finish_transmission(model.now(), ordinal)?;
    if let Some(transmission) = sent.next {
        event_queue.push(end(id, transmission));
    }
    if model.observer.watches(id) {
        model.record(Record::Transmitted { port: id, packet: sent.packet, waited: sent.waited });
    }
    record_fates(port, model, id);
    if model.observer.watches(id) {
        record_queue(port, model, id);
    }
    if sent.corrupted {
        model.lose(id, sent.packet, DropReason::Corrupted);
        return None;
    }
    Some((sent.arrival, sent.packet))
}

/// Records what a port's queue did when it was asked for a packet outside the end of a transmission.
///
/// `taken` is the packet that another transmitter took, with its queueing delay. The discipline may have dropped or
/// marked packets even if none was taken.
#[inline]
pub(crate) fn released<O: Observer>(
    port: &mut Port,
    model: &mut Model<O>,
    id: PortId,
    taken: Option<(Packet, Duration)>,
) {
    if taken.is_none() && !port.has_fates() {
        return;
    }
    // Drops and marks precede the departure in the records.
    record_fates(port, model, id);
    if model.observer.watches(id) {
        if let Some((packet, waited)) = taken {
            model.record(Record::Transmitted { port: id, packet, waited });
        }
        record_queue(port, model, id);
    }
}

/// Records the packets that the queue discipline has marked, trimmed or dropped since the last call.
#[inline]
fn record_fates<O: Observer>(port: &mut Port, model: &mut Model<O>, id: PortId) {
    if !port.has_fates() {
        return;
    }
    for (packet, fate) in port.fates() {
        match fate {
            Fate::Marked => model.mark(id, packet),
            Fate::Trimmed => model.record(Record::Trimmed { port: id, packet }),
            Fate::Dropped(reason) => model.lose(id, packet, reason),
        }
    }
}

pub(crate) fn end(port: PortId, Transmission { until, ordinal }: Transmission) -> Key {
    Key::new(until, Class::TransmissionEnd, port.number(), ordinal)
}

fn record_queue<O: Observer>(port: &Port, model: &mut Model<O>, id: PortId) {
    let packets = u32::try_from(port.queue_length()).unwrap_or(u32::MAX);
    model.record(Record::QueueLength { port: id, packets });
}
