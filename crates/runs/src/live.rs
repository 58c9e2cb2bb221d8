//! A run that stops where it is told to, and may go on as another world from there.

use std::sync::Arc;

use optcp_engine::observe::Observations;
use optcp_scenario::Scenario;
use optcp_units::Time;

use crate::build::{World, world};
use crate::run::{Cancel, Progress, Run, RunOptions, result, shared_until};

/// A run in progress. A clone of it is a fork: both go on from the same instant.
#[derive(Clone)]
pub struct LiveRun {
    scenario: Scenario,
    seed: u64,
    options: RunOptions,
    world: Arc<World>,
    progress: Progress<Observations>,
    forked_at: Option<Time>,
}

impl LiveRun {
    /// A run at time zero. Whether branches share their past is up to whoever forks it: `fork` says nothing here.
    #[must_use]
    pub fn new(scenario: &Scenario, seed: u64, options: RunOptions) -> Self {
        let mut world = built(scenario, seed, options);
        let observations = std::mem::take(&mut world.observations);
        let plan = scenario.plan();
        LiveRun {
            progress: Progress::new(plan, &world.blueprint, options, observations),
            scenario: scenario.clone(),
            seed,
            options,
            world: Arc::new(world),
            forked_at: None,
        }
    }

    /// Everything before it has happened.
    #[must_use]
    pub fn now(&self) -> Time {
        self.progress.simulation.now()
    }

    /// Executes everything that happens before `until`, or before the end of the run.
    pub fn advance(&mut self, until: Time) {
        let cancelled = self.progress.advance(Some(until), &Cancel::default());
        cancelled.expect("nobody else has the flag");
    }

    /// Goes on as a run of `scenario` with the same seed.
    ///
    /// # Errors
    /// The instant before which both are the same, if the run is past it, and zero where they differ from the start, observe
    /// other things, or end with their flows. Nothing has changed then.
    pub fn change(&mut self, scenario: &Scenario) -> Result<(), Time> {
        let other = built(scenario, self.seed, self.options);
        let shared = shared_until((self.scenario.plan(), &self.world), (scenario.plan(), &other));
        if shared == Time::ZERO || shared < self.now() {
            return Err(shared);
        }
        self.progress.simulation.continue_as(&other.blueprint);
        self.world = Arc::new(other);
        self.scenario = scenario.clone();
        self.forked_at = Some(self.now());
        Ok(())
    }

    /// Runs to the end: what [`run_branches`](crate::run_branches) finds.
    #[must_use]
    pub fn finish(mut self) -> Run {
        let LiveRun { scenario, seed, world, progress, forked_at, .. } = &mut self;
        let never = Cancel::default();
        progress.advance(None, &never).expect("nobody else has the flag");
        let made = result(scenario, world, *seed, *forked_at, progress, &never);
        made.expect("nobody else has the flag")
    }
}

fn built(scenario: &Scenario, seed: u64, options: RunOptions) -> World {
    world(scenario.plan(), seed, options.digest, &mut || true).expect("it is not told to stop")
}
