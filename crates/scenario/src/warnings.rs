//! Warnings: probably unintended parts of a scenario, each with a name by which a file can silence it.

mod circuits;
mod faults;
mod flows;
mod gives_up;
pub(crate) mod text;
mod topology;
mod unused;

use crate::plan::Plan;
use crate::traffic_footprint::{TrafficFootprint, crossed};
use crate::tree::{Node, Origin, Step, place};

pub(crate) use text::first_names;

optcp_units::registry! {
    /// Subject of a warning.
    pub enum WarningKind ("warnings") {
        "long-delay" => LongDelay: "link delay above 300 ms (a geostationary satellite: 240 ms up and down)", "OpTCP";
        "slow-rate" => SlowRate: "link rate below 64 kb/s", "OpTCP";
        "late-switch" => LateSwitch: "rerouting or switchover more than 10 s after a failure", "OpTCP";
        "shallow-queue" => ShallowQueue: "bottleneck of N flows with a queue below a tenth of BDP / sqrt(N)", "Appenzeller et al., SIGCOMM 2004";
        "deep-queue" => DeepQueue: "bottleneck queue that takes more than 5 s to empty", "OpTCP";
        "high-loss" => HighLoss: "random loss rate of 10 % or more", "OpTCP";
        "idle-failure" => IdleFailure: "failure of links that no traffic crosses", "OpTCP";
        "idle-in-sweep" => IdleInSweep: "values of `every` that no traffic crosses; they are left out of the sweep", "OpTCP";
        "not-covered" => NotCovered: "failure on the path of a protected group that none of its backups avoids", "OpTCP";
        "cut-for-good" => CutForGood: "flows without a backup whose path fails and is never repaired", "OpTCP";
        "gives-up" => GivesUp: "outage in which connections give up, with Linux's defaults after 924.6 s", "RFC 9293 section 3.8.3; Linux";
        "shared-risk" => SharedRisk: "backup that shares a risk with the path it protects", "RFC 4202 section 2.3";
        "oversubscribed" => Oversubscribed: "reserved backups with more capacity than the links they replace or use", "OpTCP";
        "weights-unused" => WeightsUnused: "pair weights without effect, because every pair has the same flows", "OpTCP";
        "no-effect" => NoEffect: "key without effect, given the other keys of the file", "OpTCP";
        "equal-starts" => EqualStarts: "three or more flows with equal start time and RTT, without jitter, at one bottleneck: phase effects decide which flows lose packets", "Floyd and Jacobson 1992";
        "short-run" => ShortRun: "run shorter than 20 RTTs", "OpTCP";
        "warm-up" => WarmUp: "`ports` or `fibres` recorded before all long-lived flows have started", "OpTCP";
        "whole-segments" => WholeSegments: "flow sizes that increase by a tenth or more when rounded up to whole segments, or a tenth of flows smaller than one segment", "OpTCP";
        "ecn-mismatch" => EcnMismatch: "`receiver_ecn` that does not match `ecn`", "RFC 9768 table 2";
        "rates-not-read" => RatesNotRead: "link rates in a topology file; they are ignored, and `rate` of `[topology]` applies to all links", "OpTCP";
        "topology-file" => TopologyFile: "links of a topology file that are left out or unidirectional, and nodes with equal names", "OpTCP";
        "few-seeds" => FewSeeds: "two to five seeds: intervals are wide, and no paired difference can reach p < 0.05", "OpTCP";
        "identical-runs" => IdenticalRuns: "after a run: all seeds of a cell gave the same run, because nothing in the scenario is random (n = 1)", "OpTCP";
        "unfinished" => Unfinished: "after a run: unfinished flows, so that means and quantiles of completion times, or a stall, are lower bounds", "Kaplan and Meier 1958";
    }
}

/// A probably unintended part of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Subject.
    pub kind: WarningKind,
    /// Fact, consequence and remedy.
    pub message: String,
    /// Place, such as `ring.toml:12`, or the override.
    pub place: String,
}

/// Warning found during the check, which has information about the file that the plan lacks.
#[derive(Clone, Debug)]
pub(crate) struct Noted {
    pub kind: WarningKind,
    pub message: String,
    pub origin: Origin,
}

/// Source texts, for the places of warnings.
pub(crate) struct Places<'p> {
    pub file_name: &'p str,
    pub text: &'p str,
    pub overrides: &'p [(String, String)],
}

impl Places<'_> {
    pub(crate) fn of(&self, origin: Origin) -> String {
        match origin {
            Origin::File { start, .. } => {
                let line = 1 + self.text[..start.min(self.text.len())].matches('\n').count();
                format!("{}:{line}", self.file_name)
            }
            Origin::Override(index) => {
                let set = self.overrides.get(index);
                set.map_or(String::new(), |(key, value)| format!("--set {key}={value}"))
            }
        }
    }
}

/// Maximum number of names in a message; others are counted.
const SHOWN: usize = 5;

/// Returns the warnings of a plan.
pub(crate) fn warnings(plan: &Plan, tree: &Node, places: &Places<'_>) -> Vec<Warning> {
    let mut finder = Finder { plan, tree, places, crossed: crossed(plan, None), found: Vec::new() };
    finder.topology();
    finder.links();
    finder.queues();
    finder.losses();
    finder.failures();
    finder.connections();
    finder.switches();
    finder.backups();
    finder.circuits();
    finder.flows();
    finder.ends();
    finder.measured();
    finder.parameters();
    finder.classes();
    finder.repathing();
    finder.trimming();
    finder.found
}

struct Finder<'f> {
    plan: &'f Plan,
    tree: &'f Node,
    places: &'f Places<'f>,
    crossed: TrafficFootprint,
    found: Vec<Warning>,
}

impl Finder<'_> {
    fn warn(&mut self, kind: WarningKind, path: &[Step<'_>], message: String) {
        let place = self.places.of(self.tree.deepest(path).origin);
        // Links of the same line in the file cause only one warning.
        if !self.found.iter().any(|one| one.kind == kind && one.place == place) {
            self.found.push(Warning { kind, message, place });
        }
    }

    /// Returns the place of a key in the entry of a link.
    fn link_place(&self, link: usize, key: &'static str) -> Vec<Step<'static>> {
        match self.plan.links[link].entry {
            Some(entry) => place!["links", entry, key].to_vec(),
            None => place!["topology", key].to_vec(),
        }
    }
}
