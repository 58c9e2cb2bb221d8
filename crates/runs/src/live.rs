//! Run that can be paused, and continued with another scenario.

use std::sync::Arc;

use optcp_engine::observe::Observations;
use optcp_scenario::Scenario;
use optcp_units::Time;

use crate::build::{World, world};
use crate::run::{Cancel, Progress, Run, RunOptions, result, shared_until};

/// Run in progress. A clone of it is a fork: both continue from the same time.
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
    /// Creates a run at time zero. The caller decides whether branches share their past: `fork` is ignored.
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

    /// Returns the current time: everything before it has been simulated.
    #[must_use]
    pub fn now(&self) -> Time {
        self.progress.simulation.now()
    }

    /// Simulates everything before `until`, or before the end of the run.
    pub fn advance(&mut self, until: Time) {
        let cancelled = self.progress.advance(Some(until), &Cancel::default());
        cancelled.expect("nobody else has the flag");
    }

    /// Continues as a run of `scenario` with the same seed.
    ///
    /// # Errors
    /// Returns the time up to which both are equal, if the run is past it. This time is zero if they differ
    /// from the start, have other observations, or end with their flows. The run is unchanged in case of an
    /// error.
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

    /// Runs to the end, with the result of [`run_branches`](crate::run_branches).
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
    world(scenario.plan(), seed, options.digest, &mut || true).expect("it is not cancelled")
}
