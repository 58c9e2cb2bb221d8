//! One run in progress.

use optcp_net::{Action, PortCounts, PortId, Tally};
use optcp_optical::switching::{BurstCore, FibreId, FibreTally};
use optcp_tcp::Sender;
use optcp_units::{Duration, Time};

use crate::controls::Controls;
use crate::engine::Engine;
use crate::fast::Fast;
use crate::model::Model;
use crate::observe::{Counters, Observer};
use crate::reference::Reference;
use crate::workers::WorkerState;
use crate::{Blueprint, Conservation, Counts};

#[derive(Clone, Debug)]
enum Driver {
    Reference(Reference),
    Fast(Box<Fast>),
}

/// One run. The whole of it is plain data and can be cloned at any instant.
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
    /// A run at time zero.
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

    /// The same on up to so many threads, 16 at most: what happens does not depend on their number, nor do digests and
    /// results. Only the fast engine has more than one, and only where the world has delay between its parts and much
    /// happens.
    #[must_use]
    pub fn on_threads(self, threads: usize) -> Self {
        Simulation { workers: WorkerState::new(threads), ..self }
    }

    /// Executes everything that happens before `limit`; control actions of an instant come first.
    pub fn run_before(&mut self, limit: Time) {
        self.run_before_while(limit, &mut |_| true);
    }

    /// The same, but says from time to time how far it is, and asks whether to go on. Says whether it came to the limit; where it
    /// did not, the run is of no more use.
    pub fn run_before_while(&mut self, limit: Time, go_on: &mut dyn FnMut(Time) -> bool) -> bool {
        // What is to be read at the stop is read when everything has happened there.
        let stop = self.stop;
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
        let through = match &mut self.driver {
            Driver::Reference(engine) => engine.run_before(model, controls, limit, go_on),
            Driver::Fast(engine) => {
                engine.run_before(model, controls, &mut self.workers, limit, go_on)
            }
        };
        self.now = self.now.max(limit.min(self.stop));
        through
    }

    /// How packets wait at present, in words.
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

    /// Runs to the end, but says from time to time how far it is, and asks whether to go on; says whether it came there.
    pub fn run_while(&mut self, go_on: &mut dyn FnMut(Time) -> bool) -> bool {
        let after_the_last_instant = self.stop + Duration::from_ps(1);
        if !self.run_before_while(after_the_last_instant, go_on) {
            return false;
        }
        self.read();
        self.model.observer.finish(self.stop);
        debug_assert_eq!(self.audit(), Ok(()), "packets must be conserved");
        true
    }

    /// Lets the observer read what is to be read by now.
    fn read(&mut self) {
        let (core, driver) = (&self.model.core, &self.driver);
        self.model.observer.read(self.now, &Counted { core, driver, now: self.now });
    }

    /// Goes on as a run of `blueprint`, which must agree with this one up to now
    /// ([`Blueprint::shared_until`]).
    pub fn continue_as(&mut self, blueprint: &Blueprint) {
        self.controls.replace(&blueprint.controls);
        self.stop = blueprint.stop;
        // What nothing has come to yet may be another in this world: laid anew, and its past with it.
        let past = std::mem::replace(&mut self.model.labels, blueprint.labels.clone());
        self.model.labels.continue_selectors(&past);
        for control in self.controls.past() {
            if let Action::SetHop(label, hop) = control.action {
                self.model.labels.set(label, hop);
            }
        }
        match &mut self.driver {
            Driver::Reference(engine) => engine.continue_as(blueprint, self.controls.past()),
            Driver::Fast(engine) => engine.continue_as(blueprint, self.controls.past()),
        }
    }

    /// Everything before it has happened.
    #[must_use]
    pub fn now(&self) -> Time {
        self.now
    }

    /// Returns a time before which no event happens. It is close to the time of the next event, and [`Time::MAX`] if there
    /// is none.
    #[must_use]
    pub fn next_at(&self) -> Time {
        let next = match &self.driver {
            Driver::Reference(engine) => engine.next_at(),
            Driver::Fast(engine) => engine.next_at(),
        };
        next.min(self.controls.next_at())
    }

    /// The last instant that is simulated.
    #[must_use]
    pub fn stop(&self) -> Time {
        self.stop
    }

    /// Makes the present instant the last one that is simulated.
    pub fn stop_now(&mut self) {
        self.stop = self.stop.min(self.now);
    }

    /// What watches the run.
    #[must_use]
    pub fn observer(&self) -> &O {
        &self.model.observer
    }

    /// What has happened so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.model.counts
    }

    /// Transmissions over links so far: packets that ports accepted.
    #[must_use]
    pub fn packet_hops(&self) -> u64 {
        let ports = match &self.driver {
            Driver::Reference(engine) => engine.ports(),
            Driver::Fast(engine) => engine.ports(),
        };
        // What comes out of a queue of several ways is sent by a port of one of them.
        let sends = |port: &PortId| !self.model.planned.is_queue(*port);
        PortId::all().take(ports).filter(sends).map(|port| self.port_counts(port).accepted).sum()
    }

    /// What a port has done.
    #[must_use]
    pub fn port_counts(&self, port: PortId) -> PortCounts {
        match &self.driver {
            Driver::Reference(engine) => engine.port_counts(port),
            Driver::Fast(engine) => engine.port_counts(port),
        }
    }

    /// What has gone into some of the blueprint's `tallied` ports up to now, and how long it stood there.
    #[must_use]
    pub fn port_tallies(&self, ports: &[PortId]) -> Vec<Tally> {
        Counted { core: &self.model.core, driver: &self.driver, now: self.now }.port_tallies(ports)
    }

    /// Packets in a port's queue now, the one in transmission included.
    #[must_use]
    pub fn queue_length(&self, port: PortId) -> u64 {
        match &self.driver {
            Driver::Reference(engine) => engine.queue_length(port),
            Driver::Fast(engine) => engine.queue_length(port, self.now),
        }
    }

    /// Packets in queues, in assemblers of bursts and on links.
    #[must_use]
    pub fn in_flight(&self) -> u64 {
        let under_way = match &self.driver {
            Driver::Reference(engine) => engine.in_flight(),
            Driver::Fast(engine) => engine.in_flight(),
        };
        under_way + self.model.in_bursts()
    }

    /// The sending ends, by flow.
    pub fn senders(&self) -> impl Iterator<Item = &Sender> {
        self.model.senders.iter().map(|end| &end.sender)
    }

    /// Checks that packets are conserved: sent + copied = delivered + dropped + copies discarded + in flight.
    ///
    /// # Errors
    /// The counts, if they do not add up.
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

/// What has been counted up to an instant.
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
