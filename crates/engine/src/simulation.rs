//! Run in progress.

use optcp_net::{Action, FlowId, PortCounts, PortId, Tally};
use optcp_optical::switching::{BurstCore, FibreId, FibreTally};
use optcp_tcp::Sender;
use optcp_units::{Duration, Time};

use crate::connection::Multipath;
use crate::controls::Controls;
use crate::engine::Engine;
use crate::event_handler::EventHandler;
use crate::fast::Fast;
use crate::model::Model;
use crate::observe::{Counters, Observer};
use crate::reference::Reference;
use crate::timers::TimerEvent;
use crate::workers::WorkerState;
use crate::{
    Blueprint, BufferUse, Conservation, Counts, Delivery, External, FlowState, OperationTimes,
    PortState, Transfer,
};

#[derive(Clone, Debug)]
enum Driver {
    Reference(Reference),
    Fast(Box<Fast>),
}

/// Run in progress. It is plain data and can be cloned at any time.
#[derive(Clone, Debug)]
pub struct Simulation<O> {
    model: Model<O>,
    controls: Controls,
    driver: Driver,
    workers: WorkerState<(Fast, Model<O>)>,
    now: Time,
    stop: Time,
}

impl<O: Observer> Simulation<O> {
    /// Creates a run at time zero.
    #[must_use]
    pub fn new(blueprint: &Blueprint, engine: Engine, observer: O) -> Self {
        let mut model = Model::new(blueprint, observer);
        let driver = match engine {
            Engine::Reference => Driver::Reference(Reference::new(blueprint, &mut model)),
            _ => Driver::Fast(Box::new(Fast::new(blueprint, &mut model, engine))),
        };
        Simulation {
            model,
            controls: Controls::new(&blueprint.controls),
            driver,
            workers: WorkerState::new(1),
            now: Time::ZERO,
            stop: blueprint.stop,
        }
    }

    /// Executes the run on up to `threads` threads, at most 16. Digests and results do not depend on the number.
    ///
    /// Several threads need the fast engine, many events, and delay between the parts of the network.
    #[must_use]
    pub fn on_threads(self, threads: usize) -> Self {
        Simulation { workers: WorkerState::new(threads), ..self }
    }

    /// Executes all events before `limit`. Control actions precede other events at the same time.
    pub fn run_before(&mut self, limit: Time) {
        self.run_before_while(limit, &mut |_| true);
    }

    /// Executes all events before `limit`, and calls `go_on` with the current time at intervals.
    ///
    /// Returns `false` if `go_on` returned `false` before the limit; the run cannot be used any more.
    pub fn run_before_while(&mut self, limit: Time, go_on: &mut dyn FnMut(Time) -> bool) -> bool {
        // Readings at the stop follow all events at the stop.
        let stop = self.stop;
        let limit = limit.min(stop + Duration::from_ps(1));
        let due = |at: &Time| *at <= limit && *at < stop;
        while let Some(at) = self.model.observer.next_reading().filter(due) {
            if !go_on(at) || !self.advance(at, go_on) {
                return false;
            }
            self.read();
        }
        self.advance(limit, go_on)
    }

    fn advance(&mut self, limit: Time, go_on: &mut dyn FnMut(Time) -> bool) -> bool {
        let (model, controls) = (&mut self.model, &mut self.controls);
        let reached = match &mut self.driver {
            Driver::Reference(engine) => engine.run_before(model, controls, limit, go_on),
            Driver::Fast(engine) => {
                engine.run_before(model, controls, &mut self.workers, limit, go_on)
            }
        };
        self.now = self.now.max(limit.min(self.stop));
        reached
    }

    /// Describes how pending packets are stored at present.
    #[must_use]
    pub fn waiting(&self) -> String {
        match &self.driver {
            Driver::Reference(_) => "one event after the other".to_owned(),
            Driver::Fast(engine) => engine.waiting(),
        }
    }

    /// Runs to the end.
    pub fn run(&mut self) {
        self.run_while(&mut |_| true);
    }

    /// Runs to the end as [`Self::run_before_while`] does. Returns whether it reached the end.
    pub fn run_while(&mut self, go_on: &mut dyn FnMut(Time) -> bool) -> bool {
        let after_stop = self.stop + Duration::from_ps(1);
        if !self.run_before_while(after_stop, go_on) {
            return false;
        }
        self.read();
        self.model.observer.finish(self.stop);
        debug_assert_eq!(self.audit(), Ok(()), "packets must be conserved");
        true
    }

    /// Passes the counters that are due to the observer.
    fn read(&mut self) {
        let (core, driver) = (&self.model.core, &self.driver);
        self.model.observer.read(self.now, &Counted { core, driver, now: self.now });
    }

    /// Continues as a run of `blueprint`, which must be identical until now ([`Blueprint::shared_until`]).
    pub fn continue_as(&mut self, blueprint: &Blueprint) {
        self.controls.replace(&blueprint.controls);
        self.stop = blueprint.stop;
        // Label entries that no packet has reached may differ. Rebuild the table and repeat its past changes.
        let past = std::mem::replace(&mut self.model.labels, blueprint.labels.clone());
        self.model.labels.continue_selectors(&past);
        for control in self.controls.past() {
            if let Action::SetHop(label, hop) = control.action {
                self.model.labels.set(label, hop);
            }
        }
        let past = self.controls.past();
        // Runs with schedules have no windows, so the engine's own event queue has all events.
        let event_queue = match &mut self.driver {
            Driver::Reference(engine) => {
                engine.continue_as(blueprint, past);
                engine.event_queue()
            }
            Driver::Fast(engine) => {
                engine.continue_as(blueprint, past);
                engine.event_queue()
            }
        };
        self.model.schedule_state.extend(&blueprint.schedules, event_queue);
    }

    /// Returns the time before which all events are executed.
    #[must_use]
    pub fn now(&self) -> Time {
        self.now
    }

    /// Returns a time before which no event happens: shortly before the next event, or [`Time::MAX`] without one.
    #[must_use]
    pub fn next_at(&self) -> Time {
        let next = match &self.driver {
            Driver::Reference(engine) => engine.next_at(),
            Driver::Fast(engine) => engine.next_at(),
        };
        next.min(self.controls.next_at())
    }

    /// Returns a time before which no packet arrives at its destination if none is injected; never before
    /// [`next_at`](Self::next_at). The reference engine adds the shortest propagation delay to events that precede it.
    #[must_use]
    pub fn next_arrival_at(&self) -> Time {
        let next = match &self.driver {
            Driver::Reference(engine) => engine.next_arrival_at(),
            Driver::Fast(engine) => engine.next_at(),
        };
        next.min(self.controls.next_at())
    }

    /// Returns the last simulated time.
    #[must_use]
    pub fn stop(&self) -> Time {
        self.stop
    }

    /// Sets the last simulated time to now.
    pub fn stop_now(&mut self) {
        self.stop = self.stop.min(self.now);
    }

    /// Returns the observer.
    #[must_use]
    pub fn observer(&self) -> &O {
        &self.model.observer
    }

    /// Returns the counts so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.model.counts
    }

    /// Returns the number of transmissions over links so far: packets that ports accepted.
    #[must_use]
    pub fn packet_hops(&self) -> u64 {
        // Packets from a queue with several paths are counted at the port that transmits them.
        let sends = |port: &PortId| !self.model.schedule_state.is_queue(*port);
        PortId::all()
            .take(self.ports())
            .filter(sends)
            .map(|port| self.port_counts(port).accepted)
            .sum()
    }

    /// Returns the counts of a port.
    #[must_use]
    pub fn port_counts(&self, port: PortId) -> PortCounts {
        match &self.driver {
            Driver::Reference(engine) => engine.port_counts(port),
            Driver::Fast(engine) => engine.port_counts(port),
        }
    }

    /// Returns the packets and queueing times of ports in the blueprint's `tallied` list until now.
    #[must_use]
    pub fn port_tallies(&self, ports: &[PortId]) -> Vec<Tally> {
        Counted { core: &self.model.core, driver: &self.driver, now: self.now }.port_tallies(ports)
    }

    /// Returns the number of packets in a port's queue now, including the one in transmission.
    #[must_use]
    pub fn queue_length(&self, port: PortId) -> u64 {
        match &self.driver {
            Driver::Reference(engine) => engine.queue_length(port),
            Driver::Fast(engine) => engine.queue_length(port, self.now),
        }
    }

    /// Returns the number of ports.
    #[must_use]
    pub fn ports(&self) -> usize {
        match &self.driver {
            Driver::Reference(engine) => engine.ports(),
            Driver::Fast(engine) => engine.ports(),
        }
    }

    /// Returns the states of ports.
    #[must_use]
    pub fn port_states(&self, ports: &[PortId]) -> Vec<PortState> {
        match &self.driver {
            Driver::Reference(engine) => engine.port_states(ports, self.now),
            Driver::Fast(engine) => engine.port_states(ports, self.now),
        }
    }

    /// Returns the state of a flow.
    ///
    /// # Panics
    /// If there is no such flow.
    #[must_use]
    pub fn flow_state(&self, flow: FlowId) -> FlowState {
        self.model.flow_state(flow)
    }

    /// Returns the ports that data or ACKs of a flow would visit if the network did not change, in service or not.
    ///
    /// # Panics
    /// If there is no such flow.
    #[must_use]
    pub fn current_path(&self, flow: FlowId, acks: bool) -> Vec<PortId> {
        self.model.current_path(flow, acks)
    }

    /// Sets cwnd and ssthresh of a flow in bytes, as [`Sender::set_cwnd`] does.
    ///
    /// # Panics
    /// If there is no such flow.
    pub fn set_cwnd(&mut self, flow: FlowId, bytes: f64) {
        self.model.senders[flow.index()].sender.set_cwnd(bytes);
    }

    /// Sends a packet from outside at `at`, or as soon as possible after it. Returns the time.
    ///
    /// # Panics
    /// If `source` is not the flow number of an external source ([`Blueprint::externals`]).
    pub fn inject(&mut self, source: FlowId, at: Time, packet: External) -> Time {
        let at = at.max(self.now);
        self.model.source(source).add(packet);
        let event_queue = match &mut self.driver {
            Driver::Reference(engine) => engine.event_queue(),
            Driver::Fast(engine) => engine.event_queue(),
        };
        event_queue.push(TimerEvent::Datagram.key(source, at));
        at
    }

    /// Removes and returns the external packets that have arrived. With the fast engine, some may arrive later than now.
    pub fn take_deliveries(&mut self) -> Vec<Delivery> {
        std::mem::take(&mut self.model.deliveries)
    }

    /// Returns the maximum use of the buffer of each resequencer.
    #[must_use]
    pub fn buffer_uses(&self) -> Vec<BufferUse> {
        self.model.buffer_uses()
    }

    /// Returns the number of packets in queues, in burst assemblers, at crossbars, in resequencing buffers and on links.
    #[must_use]
    pub fn in_flight(&self) -> u64 {
        let on_links = match &self.driver {
            Driver::Reference(engine) => engine.in_flight(),
            Driver::Fast(engine) => engine.in_flight(),
        };
        let waiting = self.model.in_crossbars() + self.model.in_resequencers().count() as u64;
        on_links + self.model.in_bursts() + waiting
    }

    /// Returns how many bytes of an external source have arrived in order, and the time of the last ones.
    ///
    /// # Panics
    /// If there is no source with this flow number.
    #[must_use]
    pub fn external_progress(&self, source: FlowId) -> (u64, Time) {
        self.model.datagrams[source.index() - self.model.senders.len()].arrived()
    }

    /// Returns the flows of finite size that have started, by number.
    pub fn transfers(&self, blueprint: &Blueprint) -> impl Iterator<Item = Transfer> {
        self.model.transfers(blueprint, self.now)
    }

    /// Returns the operations of applications that have begun, by number.
    pub fn operations(&self) -> impl Iterator<Item = OperationTimes> {
        self.model.operations(self.now)
    }

    /// Returns the senders by flow.
    pub fn senders(&self) -> impl Iterator<Item = &Sender> {
        self.model.senders.iter().map(|end| &end.sender)
    }

    /// Returns whether each connection over several flows has written everything, and its data ACK covers it.
    pub fn finished_connections(&self) -> impl Iterator<Item = bool> {
        self.model.connections.iter().map(Multipath::is_finished)
    }

    /// Returns whether all connections of finite size have ended.
    #[must_use]
    pub fn connections_have_ended(&self) -> bool {
        let senders = &self.model.senders;
        let ended = |one: &Multipath| one.is_finished() || one.aborted(senders).is_some();
        self.model.connections.iter().all(|one| ended(one) || one.is_unlimited())
    }

    /// Checks that packets are conserved: sent + copied = delivered + dropped + copies discarded + in flight.
    ///
    /// # Errors
    /// Returns the counts if they do not add up.
    pub fn audit(&self) -> Result<(), Conservation> {
        let counts = self.counts();
        let sums = Conservation {
            sent: counts.sent,
            copied: counts.copied,
            delivered: counts.delivered,
            dropped: counts.dropped_in_all(),
            copies_discarded: counts.copies_discarded,
            in_flight: self.in_flight(),
        };
        let accounted = sums.delivered + sums.dropped + sums.copies_discarded + sums.in_flight;
        if sums.sent + sums.copied == accounted { Ok(()) } else { Err(sums) }
    }
}

/// Counters at one time.
struct Counted<'a> {
    core: &'a BurstCore,
    driver: &'a Driver,
    now: Time,
}

impl Counters for Counted<'_> {
    fn port_tallies(&self, ports: &[PortId]) -> Vec<Tally> {
        match self.driver {
            Driver::Reference(engine) => engine.port_tallies(ports, self.now),
            Driver::Fast(engine) => engine.port_tallies(ports, self.now),
        }
    }

    fn fibre_tally(&self, fibre: FibreId) -> FibreTally {
        self.core.tally(fibre, self.now)
    }
}
