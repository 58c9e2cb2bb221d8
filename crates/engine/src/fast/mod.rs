//! Fast engine: computes departure times by arithmetic and avoids events for steps that no other event can affect.
//!
//! Its records equal the records of the reference engine. `docs/developers/performance.md` has measurements.
//!
//! # Limitations
//! Steps are early only up to the next control action, where the state equals the reference engine's and eager
//! forwarding is recomputed. If control actions are closer than an RTT, the engine is no faster than with one event per
//! step.

mod cut;
mod eager;
mod endpoints;
mod forwarding;
mod port;
mod walk;
mod windows;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use optcp_des::{Buckets, Class, Due, EventQueue, Key};
use optcp_net::{Control, Packet, Port, PortCounts, PortId, QueueLimit, Tally};
use optcp_optical::bundle::Bundle;
use optcp_units::{Bytes, Duration, Time};

use crate::Blueprint;
use crate::controls::Controls;
use crate::engine::Engine;
use crate::event_handler::EventHandler;
use crate::model::Model;
use crate::observe::Observer;
use crate::state::PortState;
use crate::stepping::Stepping;
use crate::timers::initial_events;
use crate::workers::WorkerState;

use cut::RECHECK_INTERVAL;
use eager::Feeders;
use forwarding::Forwarding;
use port::{Ports, Wants};
use windows::Windows;

/// Upper bound of the bucket range; few entries are further ahead.
const MAX_BUCKET_RANGE: Duration = Duration::from_secs(2);

/// Ports with known departure times, and packets that wait for their event behind a port.
#[derive(Clone, Debug)]
pub(crate) struct Fast {
    ports: Ports,
    forwarding: Forwarding,
    /// Whether forwarding must be recomputed.
    stale: bool,
    /// Packets that arrive behind a port, by port; in windows only the packets of one logical
    /// process.
    waiting: Buckets<Packet>,
    /// Starts, timers and departures of stepped ports; in windows only the events of one logical
    /// process.
    event_queue: EventQueue,
    windows: Windows,
    /// Feeders from which forwarding was computed, until windows have been opened or rejected.
    feeders: Option<Feeders>,
    /// Time from which no step is executed early.
    cut: Time,
    /// Time of the next forwarding analysis, when packets on old paths have arrived.
    analyse_at: Time,
    /// Time until the next analysis while packets have unknown departure times.
    recheck: Duration,
    /// End time and remaining packets while packets continue step by step after a cut.
    resumed: Option<(Time, BinaryHeap<Reverse<Due<Packet>>>)>,
}

impl Fast {
    /// Creates the engine. Ports are stepped if the blueprint requires it or `engine` demands it.
    pub(crate) fn new<O: Observer>(
        blueprint: &Blueprint,
        model: &mut Model<O>,
        engine: Engine,
    ) -> Self {
        let event_queue = initial_events(blueprint, model);
        let scheduled = blueprint.scheduled_ports();
        let stepped = |port: PortId| engine.stepped_ports() >> (port.number() % 64) & 1 == 1;
        let mut wants: Vec<Wants> = PortId::all()
            .take(blueprint.ports.len())
            .map(|id| Wants {
                watched: model.observer.watches(id),
                tallied: false,
                counted: false,
                stepped: stepped(id) || scheduled.contains(&id) || blueprint.needs_stepping(id),
            })
            .collect();
        blueprint.tallied.iter().for_each(|&port| wants[port.index()].tallied = true);
        let counting = |bundle: &&Bundle| bundle.selection().counts_packets();
        for &port in blueprint.bundles.iter().filter(counting).flat_map(Bundle::members) {
            wants[port.index()].counted = true;
        }
        Fast {
            ports: Ports::new(&blueprint.ports, wants),
            forwarding: Forwarding::default(),
            stale: true,
            waiting: Buckets::new(horizon(blueprint)),
            event_queue,
            windows: Windows::new(engine),
            feeders: None,
            cut: Time::ZERO,
            analyse_at: Time::MAX,
            recheck: RECHECK_INTERVAL,
            resumed: None,
        }
    }

    /// See [`crate::Simulation::run_before_while`].
    pub(crate) fn run_before<O: Observer>(
        &mut self,
        model: &mut Model<O>,
        controls: &mut Controls,
        workers: &mut WorkerState<(Fast, Model<O>)>,
        limit: Time,
        go_on: &mut dyn FnMut(Time) -> bool,
    ) -> bool {
        loop {
            self.analyse_if_due(model);
            let bound = controls.next_at().min(limit).min(self.analyse_at);
            if !self.run_stretch(model, workers, bound, go_on) {
                return false;
            }
            for id in self.ports.ids() {
                self.ports.get_mut(id).report_sent(model, id, bound);
            }
            if bound == limit {
                return true;
            }
            self.act(model, controls, bound);
        }
    }

    /// Executes everything before the cut.
    fn run_to_cut<O: Observer>(
        &mut self,
        model: &mut Model<O>,
        go_on: &mut dyn FnMut(Time) -> bool,
    ) -> bool {
        loop {
            let event_at = self.event_queue.next_at();
            if let Some(due) = self.waiting.pop_before(event_at.min(self.cut)) {
                if !model.should_continue(go_on) {
                    return false;
                }
                self.step(model, due);
            } else if let Some(key) = self.event_queue.pop_before(self.cut) {
                if !model.should_continue(go_on) {
                    return false;
                }
                self.execute_event(model, key);
            } else {
                return true;
            }
        }
    }

    /// Executes an event of the event queue.
    fn execute_event<O: Observer>(&mut self, model: &mut Model<O>, key: Key) {
        model.event = key;
        match key.class() {
            Class::TransmissionEnd => self.end_transmission(model),
            _ => self.handle_timer_event(model),
        }
    }

    /// Describes how pending packets are stored at present.
    pub(crate) fn waiting(&self) -> String {
        self.windows.to_string()
    }

    /// Returns a time before which no event happens.
    pub(crate) fn next_at(&self) -> Time {
        let packets = self.waiting.not_before();
        packets.min(self.event_queue.next_at()).min(self.windows.next_at())
    }

    pub(crate) fn ports(&self) -> usize {
        self.ports.len()
    }

    pub(crate) fn port_counts(&self, port: PortId) -> PortCounts {
        self.ports.get(port).counts()
    }

    pub(crate) fn queue_length(&self, id: PortId, now: Time) -> u64 {
        let mut pending = Vec::new();
        self.for_each_waiting(|due| {
            if due.entity == id.number() {
                pending.push(due);
            }
        });
        self.ports.get(id).queue_length(now, pending.into_iter())
    }

    pub(crate) fn port_tallies(&self, ports: &[PortId], now: Time) -> Vec<Tally> {
        let tally = |id: PortId, pending: &[Due<Packet>]| {
            self.ports.get(id).tally(now, pending.iter().copied())
        };
        self.with_pending(ports, now, tally)
    }

    pub(crate) fn port_states(&self, ports: &[PortId], now: Time) -> Vec<PortState> {
        self.with_pending(ports, now, |id, pending| self.ports.get(id).state(now, pending))
    }

    /// Calls `f` for each port in the list, with the packets behind it that it may still hold at `now`.
    fn with_pending<T>(
        &self,
        ports: &[PortId],
        now: Time,
        f: impl Fn(PortId, &[Due<Packet>]) -> T,
    ) -> Vec<T> {
        let mut requested = vec![false; self.ports.len()];
        ports.iter().for_each(|&port| requested[port.index()] = true);
        // Only queued packets matter; most packets are on links.
        let mut pending: Vec<Vec<Due<Packet>>> = vec![Vec::new(); requested.len()];
        self.for_each_waiting(|due| {
            let id = PortId::new(due.entity);
            if requested[id.index()] && self.ports.get(id).may_hold(&due, now) {
                pending[id.index()].push(due);
            }
        });
        ports.iter().map(|&id| f(id, &pending[id.index()])).collect()
    }

    pub(crate) fn in_flight(&self) -> u64 {
        let mut packets: usize = self.ports.stepped().map(|(_, port)| port.queue_length()).sum();
        self.for_each_waiting(|_| packets += 1);
        packets as u64
    }

    /// See [`crate::Simulation::continue_as`].
    pub(crate) fn continue_as(&mut self, blueprint: &Blueprint, past: &[Control]) {
        self.stale = true;
        let ids = self.ports.ids();
        // Schedules, and the ports that they change, are equal in both runs.
        let scheduled = blueprint.scheduled_ports();
        let replaced = |id| self.ports.get(id).is_untouched() && !scheduled.contains(&id);
        let untouched: Vec<bool> = ids.map(replaced).collect();
        for (id, (config, losses)) in PortId::all().zip(&blueprint.ports) {
            if untouched[id.index()] {
                self.ports.get_mut(id).replace(config, losses);
            }
        }
        let untouched_port = |action: &optcp_net::Action| {
            use optcp_net::Action::{PortClosed, PortDown, PortUp, SetDelay};
            match *action {
                PortDown(id) | PortClosed(id) | PortUp(id) | SetDelay(id, _) => {
                    untouched[id.index()]
                }
                _ => false,
            }
        };
        for control in past.iter().filter(|control| untouched_port(&control.action)) {
            self.act_on_port(control.action, control.at, &mut Vec::new(), |_, _| ());
        }
    }
}

impl Stepping for Fast {
    fn stepped(&mut self, id: PortId) -> (&mut Port, &mut EventQueue) {
        let port = self.ports.get_mut(id).stepped();
        (port.expect("ports with scheduled changes are stepped"), &mut self.event_queue)
    }
}

/// Returns the maximum time ahead at which packets arrive behind a port: longest delay plus full queue.
fn horizon(blueprint: &Blueprint) -> Duration {
    let hop = |(config, _): &(optcp_net::PortConfig, _)| {
        let queue = match config.limit {
            QueueLimit::Unlimited => 100,
            QueueLimit::Packets(limit) => u64::from(limit),
            QueueLimit::Bytes(limit) => limit / 1500,
        };
        let packet = config.rate.transmission_time(Bytes::new(1500));
        config.delay + packet * (queue + 1)
    };
    let longest = blueprint.ports.iter().map(hop).fold(Duration::from_us(1), Duration::max);
    if longest > MAX_BUCKET_RANGE { MAX_BUCKET_RANGE } else { longest }
}
