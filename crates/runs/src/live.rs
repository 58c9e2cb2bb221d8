//! Run that can be paused, inspected, and continued with another scenario.

use std::sync::Arc;

use optcp_engine::observe::Observations;
use optcp_engine::{Counts, Delivery, External, FlowState, PortState, Simulation};
use optcp_net::{FlowId, PortId};
use optcp_scenario::{Plan, Scenario};
use optcp_units::Time;

use crate::build::{Failed, World, all_hops, observations, world};
use crate::external::{ExternalFlow, NotExternal};
use crate::past::past;
use crate::run::{Cancel, Cancelled, Progress, Run, RunOptions, result, shared_until};

/// Run in progress. A clone of it is a fork: both continue from the same time.
#[derive(Clone)]
pub struct LiveRun {
    scenario: Arc<Scenario>,
    seed: u64,
    options: RunOptions,
    world: Arc<World>,
    progress: Progress<Observations>,
    forked_at: Option<Time>,
    /// Time, flow and cwnd in bytes of each call of [`set_cwnd`](Self::set_cwnd).
    windows: Vec<(Time, FlowId, f64)>,
}

impl LiveRun {
    /// Creates a run at time zero. The caller decides whether branches share their past: `fork` is ignored.
    #[must_use]
    pub fn new(scenario: &Scenario, seed: u64, options: RunOptions) -> Self {
        Self::of(built(scenario, seed, options), scenario, seed, options)
    }

    /// Creates a run in which the packets of all flows between the chosen nodes come from outside.
    ///
    /// # Errors
    /// Returns the name of the first flow for which this is impossible, and the reason.
    pub fn with_external(
        scenario: &Scenario,
        seed: u64,
        options: RunOptions,
        nodes: &[usize],
    ) -> Result<(Self, Vec<ExternalFlow>), (String, NotExternal)> {
        let mut world = built(scenario, seed, options);
        let plan = world.populated.as_ref().unwrap_or(scenario.plan());
        let before = world.blueprint.clone();
        let external = ExternalFlow::replace(plan, &mut world.blueprint, nodes)?;
        let group = |flow: &ExternalFlow| plan.groups.iter().position(|name| *name == flow.group);
        let groups = external.iter().flat_map(|flow| [group(flow); 2]).flatten();
        world.observations = observations(plan, &before, false, &groups.collect::<Vec<_>>());
        world.external.clone_from(&external);
        Ok((Self::of(world, scenario, seed, options), external))
    }

    fn of(mut world: World, scenario: &Scenario, seed: u64, options: RunOptions) -> Self {
        let observations = std::mem::take(&mut world.observations);
        let plan = scenario.plan();
        LiveRun {
            progress: Progress::new(plan, &world.blueprint, options, observations),
            scenario: Arc::new(scenario.clone()),
            seed,
            options,
            world: Arc::new(world),
            forked_at: None,
            windows: Vec::new(),
        }
    }

    /// Returns the current time: everything before it has been simulated.
    #[must_use]
    pub fn now(&self) -> Time {
        self.simulation().now()
    }

    /// Returns the last simulated time.
    #[must_use]
    pub fn stop(&self) -> Time {
        self.simulation().stop()
    }

    /// Simulates everything before `until`, or before the end of the run.
    pub fn advance(&mut self, until: Time) {
        self.advance_while(until, &mut |_| true).expect("it is not cancelled");
    }

    /// Advances as [`advance`](Self::advance) does, and calls `go_on` with the current time at intervals.
    ///
    /// # Errors
    /// [`Cancelled`] if `go_on` returned `false`; the run cannot be used any more.
    pub fn advance_while(
        &mut self,
        until: Time,
        go_on: &mut dyn FnMut(Time) -> bool,
    ) -> Result<(), Cancelled> {
        self.progress.advance_while(Some(until), go_on)
    }

    /// Continues as a run of `scenario` with the same seed.
    ///
    /// If forwarding, ports and flows are equal until now, the simulated network continues. Otherwise, `scenario` may
    /// also differ in schedules, flows and the end of the run from now on. Then the past is simulated again.
    ///
    /// # Errors
    /// Returns the time up to which both are equal, if the run is past it. This time is zero if they differ
    /// from the start, have other observations, or end with their flows. The run is unchanged in case of an
    /// error.
    pub fn change(&mut self, scenario: &Scenario) -> Result<(), Time> {
        let other = built(scenario, self.seed, self.options);
        let (ours, theirs) = (self.scenario.plan(), scenario.plan());
        let shared = shared_until((ours, &self.world), (theirs, &other));
        let now = self.now();
        if shared > Time::ZERO && shared >= now {
            self.progress.simulation.continue_as(&other.blueprint);
            self.world = Arc::new(other);
            self.scenario = Arc::new(scenario.clone());
        } else if past(ours, now) == past(theirs, now) && theirs.stop >= now {
            let mut again = LiveRun::new(scenario, self.seed, self.options);
            for (at, flow, bytes) in std::mem::take(&mut self.windows) {
                again.advance(at);
                again.set_cwnd(flow.index(), bytes);
            }
            again.advance(now);
            debug_assert_eq!(self.counts().sent, again.counts().sent, "both have the same past");
            *self = again;
        } else {
            return Err(shared);
        }
        self.forked_at = Some(now);
        Ok(())
    }

    /// Sets cwnd and ssthresh of a TCP connection now, as [`Sender::set_cwnd`](optcp_tcp::Sender::set_cwnd) does. The
    /// result of the run then differs from the result of its scenario.
    ///
    /// # Panics
    /// If there is no connection with this number.
    pub fn set_cwnd(&mut self, number: usize, bytes: f64) {
        let (now, flow) = (self.now(), FlowId::at(number));
        self.progress.simulation.set_cwnd(flow, bytes);
        self.windows.push((now, flow, bytes));
    }

    /// Sends a packet from outside at `at`, or now if that is past, as [`Simulation::inject`] does.
    ///
    /// # Panics
    /// If `source` is not one of an [`ExternalFlow`].
    pub fn inject(&mut self, source: FlowId, at: Time, packet: External) {
        self.progress.simulation.inject(source, at, packet);
    }

    /// Removes and returns the external packets that have arrived. Some may arrive later than now.
    pub fn take_deliveries(&mut self) -> Vec<Delivery> {
        self.progress.simulation.take_deliveries()
    }

    /// Sets the last simulated time to now.
    pub fn stop_now(&mut self) {
        self.progress.simulation.stop_now();
    }

    /// Returns a time before which nothing happens; [`Time::MAX`] if nothing happens any more.
    #[must_use]
    pub fn next_at(&self) -> Time {
        self.simulation().next_at()
    }

    /// Returns a time before which no packet arrives at its destination, as [`Simulation::next_arrival_at`] does.
    #[must_use]
    pub fn next_arrival_at(&self) -> Time {
        self.simulation().next_arrival_at()
    }

    /// Runs to the end, with the result of [`run_branches`](crate::run_branches).
    #[must_use]
    pub fn finish(self) -> Run {
        self.finish_while(&mut |_| true).expect("it is not cancelled")
    }

    /// Finishes as [`finish`](Self::finish) does, and calls `go_on` with the current time at intervals.
    ///
    /// # Errors
    /// [`Cancelled`] if `go_on` returned `false`.
    pub fn finish_while(mut self, go_on: &mut dyn FnMut(Time) -> bool) -> Result<Run, Cancelled> {
        let LiveRun { scenario, seed, world, progress, forked_at, .. } = &mut self;
        progress.advance_while(None, go_on)?;
        result(scenario, world, *seed, *forked_at, progress, &Cancel::default())
    }

    /// Returns the packet counts so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.simulation().counts()
    }

    /// Returns name and group of each TCP connection, by number.
    pub fn flows(&self) -> impl Iterator<Item = (&str, &str)> {
        let plan = self.plan();
        FlowId::all().take(self.world.blueprint.flows.len()).map(|flow| {
            let flow = &plan.flows[flow.index()];
            (flow.name.as_str(), plan.groups[flow.group].as_str())
        })
    }

    /// Returns the state of a TCP connection.
    ///
    /// # Panics
    /// If there is no connection with this number.
    #[must_use]
    pub fn flow(&self, number: usize) -> FlowState {
        self.simulation().flow_state(FlowId::at(number))
    }

    /// Returns the numbers of the ports that data or ACKs of a TCP connection would visit if the network did not
    /// change.
    ///
    /// # Panics
    /// If there is no connection with this number.
    pub fn path(&self, number: usize, acks: bool) -> impl Iterator<Item = usize> {
        self.simulation().current_path(FlowId::at(number), acks).into_iter().map(PortId::index)
    }

    /// Returns the name of each port, by number.
    pub fn ports(&self) -> impl Iterator<Item = String> {
        let plan = self.plan();
        all_hops(plan).map(|hop| plan.port_name(hop))
    }

    /// Returns the failures of ports in this run, in order of time, including the later ones.
    #[must_use]
    pub fn failed(&self) -> &[Failed] {
        &self.world.failed
    }

    /// Returns the states of ports by number.
    #[must_use]
    pub fn port_states(&self, ports: &[PortId]) -> Vec<PortState> {
        self.simulation().port_states(ports)
    }

    fn plan(&self) -> &Plan {
        self.world.populated.as_ref().unwrap_or(self.scenario.plan())
    }

    fn simulation(&self) -> &Simulation<Observations> {
        &self.progress.simulation
    }
}

/// Builds a run in which all ports are tallied, so that their traffic can be read at any time.
fn built(scenario: &Scenario, seed: u64, options: RunOptions) -> World {
    let built = world(scenario.plan(), seed, options.digest, &mut || true);
    let mut world = built.expect("it is not cancelled");
    world.blueprint.tally_all();
    world
}
