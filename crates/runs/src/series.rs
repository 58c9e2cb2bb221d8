//! Observed series of a run, as named columns.

use optcp_engine::Blueprint;
use optcp_engine::observe::{Column, Findings, Names, Observations, ObserveKind, Values, Watched};
use optcp_scenario::plan::{DirectedLink, ObservePlan, Plan};
use optcp_units::{Duration, Time};
use sha2::{Digest, Sha256};

use crate::build::{all_hops, observed_ports};

/// Result of one observation.
///
/// Columns of the series. For kinds with an interval, every column is a table of `rows` rows with
/// one value per interval, row by row; `names[0]` names the rows. For other kinds, every column has
/// one value per event, in order of time. For `segments-per-burst`, it has one value per port and
/// number of segments.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Name in the scenario.
    pub name: String,
    /// Kind in the scenario.
    pub kind: &'static str,
    /// Start of the first interval.
    pub after: Duration,
    /// Length T of an interval. After the start, interval i is (i T, (i + 1) T]; for kinds `ports` and
    /// `fibres` [i T, (i + 1) T).
    pub interval: Option<Duration>,
    /// End of the run, which cuts the last interval.
    pub stop: Time,
    /// Lists of names, for rows and for columns of indices.
    pub names: Vec<(&'static str, Vec<String>)>,
    /// Data.
    pub columns: Vec<Column>,
}

impl Series {
    /// Returns empty series of each kind, with the columns of every run.
    pub fn empty() -> impl Iterator<Item = Series> {
        let blueprint = Blueprint::default();
        ObserveKind::ALL.iter().flat_map(move |&kind| {
            let mut observations = Observations::default();
            let (after, interval) = (Duration::ZERO, Duration::from_secs(1));
            let none = Watched {
                blueprint: &blueprint,
                group_of: &[],
                external: &[],
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

    /// Adds the series to a digest.
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

/// Returns every observation of the plan, in order.
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
        Names::Flows => {
            let flows = plan.flows.iter().map(|flow| &flow.name);
            flows
                .chain(plan.connections.iter().map(|connection| &connection.name))
                .cloned()
                .collect()
        }
        Names::ChosenLinks => observed_ports(plan, observed).into_iter().map(port).collect(),
        Names::Ports => all_hops(plan).map(port).collect(),
        Names::These(names) => names,
    }
}
