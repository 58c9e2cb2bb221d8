//! What a run observed, as named columns.

use optcp_engine::Blueprint;
use optcp_engine::observe::{Column, Findings, Names, Observations, ObserveKind, Values, Watched};
use optcp_scenario::plan::{DirectedLink, ObservePlan, Plan};
use optcp_units::{Duration, Time};
use sha2::{Digest, Sha256};

use crate::build::{all_hops, observed_ports};

/// One observation's result.
///
/// Of the kinds with an interval, every column is a table of `rows` rows with as many values as there
/// are intervals, row after row, and `names[0]` names the rows. Of the others, every column holds one
/// value an event, in order of time; of `segments-per-burst`, one a port and number of segments.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The name in the scenario.
    pub name: String,
    /// The kind in the scenario.
    pub kind: &'static str,
    /// When the first interval begins.
    pub after: Duration,
    /// T, where interval i is (i T, (i + 1) T] after that; of kinds `ports` and `fibres` [i T, (i + 1) T).
    pub interval: Option<Duration>,
    /// When the run ended; it cuts the last interval.
    pub stop: Time,
    /// Lists of names, for rows and for columns of indices.
    pub names: Vec<(&'static str, Vec<String>)>,
    /// The data.
    pub columns: Vec<Column>,
}

impl Series {
    /// Series of each kind from a run in which nothing is observed: their columns are those of every run.
    pub fn empty() -> impl Iterator<Item = Series> {
        let blueprint = Blueprint::default();
        ObserveKind::ALL.iter().flat_map(move |&kind| {
            let mut observations = Observations::default();
            let (after, interval) = (Duration::ZERO, Duration::from_secs(1));
            let none = Watched {
                blueprint: &blueprint,
                group_of: &[],
                groups: &[],
                ports: &[],
                fibres: &[],
                after,
                until: None,
                interval,
            };
            observations.add(kind, &none);
            let series = |Findings { names, columns }| Series {
                name: String::new(),
                kind: kind.name(),
                after,
                interval: kind.keys().interval.then_some(interval),
                stop: Time::ZERO,
                names: names.into_iter().map(|(list, _)| (list, Vec::new())).collect(),
                columns,
            };
            observations.findings().map(series).collect::<Vec<_>>()
        })
    }

    /// Feeds the series to a digest.
    pub(crate) fn digest(&self, sha: &mut Sha256) {
        sha.update(&self.name);
        let said = |column: &&Column| !column.later || !column.values.are_zero();
        for column in self.columns.iter().filter(said) {
            sha.update(column.name);
            match &column.values {
                Values::U64(v) => v.iter().for_each(|x| sha.update(x.to_le_bytes())),
                Values::U32(v) => v.iter().for_each(|x| sha.update(x.to_le_bytes())),
                Values::U8(v) => sha.update(v),
                Values::Bool(v) => v.iter().for_each(|&x| sha.update([u8::from(x)])),
                Values::F64(v) => v.iter().for_each(|x| sha.update(x.to_bits().to_le_bytes())),
            }
        }
    }
}

/// Every observation of the plan, in its order.
pub(crate) fn series(plan: &Plan, observations: &Observations) -> Vec<Series> {
    let one = |(observed, found): (&ObservePlan, Findings)| Series {
        name: observed.name.clone(),
        kind: observed.kind.name(),
        after: observed.after,
        interval: observed.interval,
        stop: plan.stop,
        names: found
            .names
            .into_iter()
            .map(|(list, of)| (list, names(plan, observed, of)))
            .collect(),
        columns: found.columns,
    };
    plan.observe.iter().zip(observations.findings()).map(one).collect()
}

fn names(plan: &Plan, observed: &ObservePlan, of: Names) -> Vec<String> {
    let port = |hop: DirectedLink| plan.port_name(hop);
    match of {
        Names::ChosenGroups => {
            observed.groups.iter().map(|&group| plan.groups[group].clone()).collect()
        }
        Names::Groups => plan.groups.clone(),
        Names::Flows => plan.flows.iter().map(|flow| flow.name.clone()).collect(),
        Names::ChosenPorts => observed_ports(plan, observed).into_iter().map(port).collect(),
        Names::Ports => all_hops(plan).map(port).collect(),
        Names::These(names) => names,
    }
}
