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

pub(crate) use text::some;

optcp_units::registry! {
    /// What a warning is about.
    pub enum WarningKind ("warnings") {
        "long-delay" => LongDelay: "a link of more than 300 ms: light needs 240 ms to a geostationary satellite and back", "OpTCP";
        "slow-rate" => SlowRate: "a link slower than 64 kb/s", "OpTCP";
        "late-switch" => LateSwitch: "routers or a protection that act more than 10 s after a failure", "OpTCP";
        "shallow-queue" => ShallowQueue: "at a bottleneck of N flows, a queue below a tenth of the bandwidth-delay product over the root of N", "Appenzeller et al., SIGCOMM 2004";
        "deep-queue" => DeepQueue: "at a bottleneck, a queue that takes more than 5 s to empty", "OpTCP";
        "high-loss" => HighLoss: "a random loss of one packet in ten or more", "OpTCP";
        "idle-failure" => IdleFailure: "a failure of links that no traffic crosses", "OpTCP";
        "idle-in-sweep" => IdleInSweep: "values of `every` that no traffic crosses: they are left out of the sweep", "OpTCP";
        "not-covered" => NotCovered: "a failure on the path of a protected group that no backup of it avoids", "OpTCP";
        "cut-for-good" => CutForGood: "flows without a backup whose path fails and is not repaired", "OpTCP";
        "gives-up" => GivesUp: "outages after which Linux would have closed connections that go on here: more than 924.6 s", "RFC 9293 section 3.8.3; Linux";
        "shared-risk" => SharedRisk: "a backup that shares a risk with the path that it protects", "RFC 4202 section 2.3";
        "oversubscribed" => Oversubscribed: "reserved backups with more capacity than the links that they replace, or the links that they go over", "OpTCP";
        "weights-unused" => WeightsUnused: "weights of pairs where every pair has the same flows", "OpTCP";
        "no-effect" => NoEffect: "a key that changes nothing beside the other keys of the file", "OpTCP";
        "equal-starts" => EqualStarts: "three or more flows that start at the same time on equal RTTs without jitter and share a bottleneck: phase effects decide which flows lose packets", "Floyd and Jacobson 1992";
        "short-run" => ShortRun: "a run shorter than 20 RTTs", "OpTCP";
        "warm-up" => WarmUp: "a measurement of `ports` or `fibres` that begins before all long-lived flows have started", "OpTCP";
        "whole-segments" => WholeSegments: "sizes that whole segments make a tenth larger, or flows of which a tenth or more are smaller than one segment", "OpTCP";
        "ecn-mismatch" => EcnMismatch: "a `receiver_ecn` that does not fit `ecn`", "RFC 9768 table 2";
        "rates-not-read" => RatesNotRead: "a topology's file whose links have rates: `rate` of `[topology]` is that of all", "OpTCP";
        "topology-file" => TopologyFile: "links of a topology's file that are left out or have one direction, and nodes of one name", "OpTCP";
        "few-seeds" => FewSeeds: "two to five seeds: intervals are wide, and no paired difference can have p < 0.05", "OpTCP";
        "identical-runs" => IdenticalRuns: "after a run: all seeds of a cell gave the same run, because nothing in the scenario is random, so that n = 1", "OpTCP";
        "unfinished" => Unfinished: "after a run: flows had not ended, so that a mean or a quantile of completion times, or a stall, has a lower bound only", "Kaplan and Meier 1958";
    }
}

/// A probably unintended part of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Its subject.
    pub kind: WarningKind,
    /// Fact, consequence and remedy.
    pub message: String,
    /// Its place: `ring.toml:12`, or the override.
    pub place: String,
}

/// A warning that the check of a scenario found, which knows more of the file than a plan does.
#[derive(Clone, Debug)]
pub(crate) struct Noted {
    pub kind: WarningKind,
    pub message: String,
    pub origin: Origin,
}

/// Where texts come from, to say where something stands.
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

/// Names in a message; the others are counted.
const SHOWN: usize = 5;

/// The warnings of a plan.
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
        // One mistake, one warning: many links are of one line.
        if !self.found.iter().any(|one| one.kind == kind && one.place == place) {
            self.found.push(Warning { kind, message, place });
        }
    }

    /// The place of a key of the entry that a link is of.
    fn link_place(&self, link: usize, key: &'static str) -> Vec<Step<'static>> {
        match self.plan.links[link].entry {
            Some(entry) => place!["links", entry, key].to_vec(),
            None => place!["topology", key].to_vec(),
        }
    }
}
