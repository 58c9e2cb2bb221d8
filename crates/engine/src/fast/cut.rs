//! Cuts: times at which something outside the event queue acts on the run, such as a control action or the end of a
//! stretch.
//!
//! No step is executed early beyond a cut, so at the cut the state equals the state of the reference engine.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use optcp_des::Due;
use optcp_net::{Action, Crossbar, DropReason, Packet, PortId};
use optcp_optical::burst::Assembler;
use optcp_units::{Duration, Time};

use super::Fast;
use super::eager::{FeederAnalysis, SPECIAL};
use crate::controls::Controls;
use crate::model::Model;
use crate::observe::{Observer, Record};
use crate::stepping::Stepping;

/// First time until forwarding is analysed again for packets of unknown departure time: packets in an
/// assembler without a timer, or in a stepped port. It doubles until a control action makes forwarding stale, because
/// such packets may stay for most of a long run.
pub(super) const RECHECK_INTERVAL: Duration = Duration::from_ms(100);

impl Fast {
    /// Recomputes forwarding if it is stale, or if the last packets on old paths have arrived.
    pub(super) fn analyse_if_due<O: Observer>(&mut self, model: &Model<O>) {
        if self.stale || self.analyse_at <= self.cut {
            self.recheck = match self.stale {
                true => RECHECK_INTERVAL,
                false => (self.recheck * 2).min(Duration::LONGEST),
            };
            self.close_windows();
            let mut pending = Vec::with_capacity(self.waiting.len());
            self.waiting.for_each(|due| pending.push(due));
            pending.sort_unstable();
            self.analyse(model, &pending);
        }
    }

    /// Moves the cut to `until`. In the current logical process, packets that stopped at the last cut continue.
    pub(super) fn release<O: Observer>(&mut self, model: &mut Model<O>, until: Time) {
        self.cut = Time::ZERO;
        let forwarding = &self.forwarding;
        let early = self.waiting.extract(|due| due.at < until && forwarding.ahead(due.item));
        self.resumed = Some((until, early.into_iter().map(Reverse).collect::<BinaryHeap<_>>()));
        // The earliest packet advances one step at a time, because it may meet another packet that stopped further on.
        while let Some(Reverse(due)) = self.resumed.as_mut().and_then(|(_, heap)| heap.pop()) {
            self.step(model, due);
        }
        self.resumed = None;
        self.cut = until;
    }

    /// Recomputes forwarding.
    fn analyse<O: Observer>(&mut self, model: &Model<O>, pending: &[Due<Packet>]) {
        let (now, recheck) = (self.cut, self.recheck);
        let of_port =
            |id: PortId| pending.iter().filter(move |due| due.entity == id.number()).copied();
        let overtaken: Vec<PortId> = (self.ports.ids())
            .filter(|&id| self.ports.get(id).may_overtake(now, of_port(id)))
            .collect();
        // Packets in assemblers and in bursts are in flight, too, with an unknown arrival time.
        let in_bursts = model.assemblers.iter().flat_map(|assembler| {
            let entity = assembler.port().number();
            let due = move |at| move |&item: &Packet| Due { at, entity, ordinal: 0, item };
            let sent = assembler
                .in_flight()
                .flat_map(move |burst| burst.packets.iter().map(due(burst.due)));
            let held = assembler.held().flat_map(move |(until, packets)| {
                packets.iter().map(due(until.unwrap_or(now + recheck).max(now)))
            });
            held.chain(sent)
        });
        // Packets in stepped ports are in flight, too.
        let in_ports = self.ports.stepped().flat_map(|(id, port)| {
            // The departure time is unknown. The estimate is late enough to prevent repeated analyses for a slow port.
            let (at, entity) = (port.busy_until().max(now) + recheck, id.number());
            port.inside().map(move |item| Due { at, entity, ordinal: 0, item })
        });
        // Packets at crossbars are in flight, too.
        let at_crossbars =
            model.crossbars.iter().flat_map(Crossbar::inside).map(|(output, item)| Due {
                at: now + recheck,
                entity: output.number(),
                ordinal: 0,
                item,
            });
        // So are packets in resequencing buffers.
        let in_order = (model.in_resequencers()).map(|item| Due {
            at: now + recheck,
            entity: SPECIAL,
            ordinal: 0,
            item,
        });
        let under_way: Vec<Due<Packet>> = (pending.iter().copied())
            .chain(in_bursts)
            .chain(in_ports)
            .chain(at_crossbars)
            .chain(in_order)
            .collect();
        let last_overtaken = overtaken.iter().flat_map(|&id| of_port(id)).map(|due| due.at).max();
        // A packet must enter an assembler or a stepped port at its arrival time, because their state depends on time.
        let stepped = self.ports.stepped().map(|(id, _)| id);
        let in_turn = model.assemblers.iter().map(Assembler::port).chain(stepped.clone());
        // Bursts on different wavelengths can always overtake each other.
        let disordered = model.assemblers.iter().filter(|assembler| assembler.may_overtake());
        let disordered =
            overtaken.into_iter().chain(disordered.map(Assembler::port)).chain(stepped);
        let analysis = FeederAnalysis::new(model, self.ports.len(), in_turn, disordered);
        let (forwarding, feeders, leftover) = analysis.forwarding(&under_way);
        self.forwarding = forwarding;
        self.feeders = Some(feeders);
        self.stale = false;
        self.analyse_at =
            leftover.max(last_overtaken).map_or(Time::MAX, |at| at.max(now) + Duration::from_ps(1));
    }

    /// Carries out the control actions that are due at `now`.
    pub(super) fn act<O: Observer>(
        &mut self,
        model: &mut Model<O>,
        controls: &mut Controls,
        now: Time,
    ) {
        if controls.next_at() > now {
            return;
        }
        self.close_windows();
        let mut pending = self.waiting.drain();
        while let Some((key, action)) = controls.take(now) {
            model.event = key;
            self.stale = true;
            match action {
                Action::SetHop(..)
                | Action::Expect(..)
                | Action::Select(..)
                | Action::TakeOut(..)
                | Action::PutBack(..)
                | Action::FibreDown(..)
                | Action::FibreUp(_) => model.apply(action),
                Action::PortDown(id) => {
                    self.act_on_port(action, now, &mut pending, |packet, reason| {
                        model.lose(id, packet, reason);
                    });
                    model.record(Record::QueueLength { port: id, packets: 0 });
                }
                Action::PortClosed(_) | Action::PortUp(_) | Action::SetDelay(..) => {
                    self.act_on_port(action, now, &mut pending, |_, _| ());
                    if let Action::PortUp(id) = action {
                        self.feed(model, id);
                    }
                }
            }
        }
        pending.into_iter().for_each(|due| self.waiting.push(due));
    }

    /// Applies an action to a port and to the packets `pending` in it.
    pub(super) fn act_on_port(
        &mut self,
        action: Action,
        now: Time,
        pending: &mut Vec<Due<Packet>>,
        lost: impl FnMut(Packet, DropReason),
    ) {
        match action {
            Action::PortDown(id) => {
                let (inside, others) = pending.iter().partition(|due| due.entity == id.number());
                *pending = others;
                self.ports.get_mut(id).fail(now, &inside, lost);
            }
            Action::PortClosed(id) => {
                let inside: Vec<_> =
                    pending.iter().filter(|due| due.entity == id.number()).copied().collect();
                self.ports.get_mut(id).close(now, &inside);
            }
            Action::PortUp(id) => self.ports.get_mut(id).restore(),
            Action::SetDelay(id, delay) => {
                let (inside, mut others): (Vec<_>, Vec<_>) =
                    pending.iter().copied().partition(|due| due.entity == id.number());
                let mut moved = Vec::new();
                let tell = |ordinal, at| moved.push((ordinal, at));
                self.ports.get_mut(id).set_delay(now, delay, &inside, tell);
                others.extend(inside.into_iter().map(|due| {
                    let changed = moved.iter().find(|(ordinal, _)| *ordinal == due.ordinal);
                    Due { at: changed.map_or(due.at, |&(_, at)| at), ..due }
                }));
                others.sort_unstable();
                *pending = others;
            }
            Action::SetHop(..)
            | Action::Expect(..)
            | Action::Select(..)
            | Action::TakeOut(..)
            | Action::PutBack(..)
            | Action::FibreDown(..)
            | Action::FibreUp(_) => {}
        }
    }
}
