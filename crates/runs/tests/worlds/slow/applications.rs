//! Operations of applications, from the arrivals of their data.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use optcp_des::Streams;
use optcp_runs::Series;
use optcp_scenario::Scenario;
use optcp_scenario::plan::ApplicationPlan;
use optcp_traffic::{Draws, Script};

use super::{Evidence, called, equal, whole};
use crate::check::Failure;

/// Begin and end of an operation; none that has not happened.
type Ends = [Option<u64>; 2];

impl Evidence<'_> {
    pub(super) fn operations(
        &self,
        scenario: &Scenario,
        series: &Series,
        groups: &[usize],
    ) -> Result<(), Failure> {
        if self.may_discard {
            return Ok(());
        }
        let plan = scenario.plan();
        // When a run ended with its flows, its packets do not show its end.
        let ends = whole(series, "time_ps").into_iter().zip(whole(series, "finished"));
        let cut = ends.into_iter().find(|(_, finished)| *finished == 0).map(|(at, _)| at);
        let stop = cut.filter(|_| scenario.plan().end_with_flows).unwrap_or(self.stop);
        let mut expected = Vec::new();
        for (index, entry) in plan.applications.iter().enumerate() {
            if groups.contains(&entry.group) {
                let (script, ends) = self.replayed(index, entry);
                let group = plan.groups[entry.group].as_str();
                for (operation, ends) in script.operations.iter().zip(ends) {
                    let [Some(begin), end] = ends else { continue };
                    let end = end.unwrap_or(stop);
                    let finished = u64::from(ends[1].is_some());
                    let of = (operation.session, operation.number);
                    expected.push((group, of, begin, end, operation.bytes, finished));
                }
            }
        }
        let (at, start) = (whole(series, "time_ps"), whole(series, "start_ps"));
        let (number, bytes) = (whole(series, "number"), whole(series, "bytes"));
        let (finished, session) = (whole(series, "finished"), whole(series, "session"));
        let group = called(series, "group", "groups");
        // Sessions are numbered over all applications, and here in each.
        let mut first: BTreeMap<&str, u64> = BTreeMap::new();
        let mut sessions = 0;
        for entry in &plan.applications {
            first.insert(&plan.groups[entry.group], sessions);
            sessions += entry.application.sessions().len() as u64;
        }
        let narrow = |value: u64| u32::try_from(value).expect("a small number");
        let mut found: Vec<_> = (0..at.len())
            .map(|i| {
                let group = group[i].expect("a group");
                let of = (narrow(session[i] - first[group]), narrow(number[i]));
                (group, of, start[i], at[i], bytes[i], finished[i])
            })
            .collect();
        found.sort_unstable();
        expected.sort_unstable();
        equal(series, "rows", &found, &expected)?;
        let in_order = |done: u64| at.iter().zip(&finished).filter(move |(_, one)| **one == done);
        let ends: Vec<u64> = in_order(1).map(|(at, _)| *at).collect();
        equal(series, "order", &[ends.is_sorted()], &[true])
    }

    /// Returns the script of an application, and when its operations begin and end.
    fn replayed(&self, index: usize, entry: &ApplicationPlan) -> (Script, Vec<Ends>) {
        let streams = Streams::new(self.run.seed);
        let group = &self.plan.groups[entry.group];
        let stream = |what| streams.stream(&format!("applications/{group}/{what}"));
        let mut draws =
            Draws { sizes: stream("sizes"), think: stream("think"), service: stream("service") };
        let script = entry.application.script(&mut draws);
        let start = entry.start.draw(&mut stream("start")).as_ps();
        let of_application = self.plan.flows.iter().filter_map(|flow| {
            let (application, connection) = flow.application?;
            (application == index).then_some((connection, &flow.name))
        });
        let flows: BTreeMap<u32, usize> = of_application
            .map(|(connection, name)| {
                let flow = self.flows.iter().position(|one| one == name);
                (connection, flow.expect("all flows are listed"))
            })
            .collect();
        // Bytes in order after each arrival, by flow.
        let mut curves: BTreeMap<usize, Vec<(u64, u64)>> = BTreeMap::new();
        for (at, flow, new) in self.progress() {
            let curve = curves.entry(flow).or_default();
            let before = curve.last().map_or(0, |(_, bytes)| *bytes);
            curve.push((at, before + new));
        }
        let mut ends = vec![[None; 2]; script.operations.len()];
        let mut closers = vec![0; script.operations.len()];
        script
            .steps
            .iter()
            .filter_map(|step| step.closes)
            .for_each(|one| closers[one as usize] += 1);
        let mut needs: Vec<u32> = script.steps.iter().map(|step| step.needs).collect();
        let mut ready = vec![0; script.steps.len()];
        let mut due = BinaryHeap::new();
        for (number, step) in script.steps.iter().enumerate().filter(|(_, step)| step.needs == 0) {
            due.push(Reverse((start + step.delay.as_ps(), number)));
        }
        let mut written: BTreeMap<u32, u64> = BTreeMap::new();
        while let Some(Reverse((at, number))) =
            due.pop().filter(|Reverse((at, _))| *at <= self.stop)
        {
            let step = script.steps[number];
            if let Some(operation) = step.opens {
                ends[operation as usize][0].get_or_insert(at);
            }
            let complete = match step.message {
                None => Some(at),
                Some(message) => {
                    let flow = flows[&message.connection];
                    let (mss, _) = self.segments(flow).expect("a TCP flow");
                    let sum = written.entry(message.connection).or_default();
                    *sum += message.bytes.div_ceil(mss).max(1) * mss;
                    let curve = curves.get(&flow).into_iter().flatten();
                    curve.clone().find(|(_, bytes)| bytes >= sum).map(|(at, _)| *at)
                }
            };
            let Some(complete) = complete else { continue };
            if let Some(operation) = step.closes {
                closers[operation as usize] -= 1;
                let end = &mut ends[operation as usize][1];
                *end = Some(end.unwrap_or(0).max(complete));
            }
            let followers = script.edges.iter().filter(|edge| edge[0] as usize == number);
            for follower in followers.map(|edge| edge[1] as usize) {
                ready[follower] = ready[follower].max(complete);
                needs[follower] -= 1;
                if needs[follower] == 0 {
                    let at = ready[follower].saturating_add(script.steps[follower].delay.as_ps());
                    due.push(Reverse((at, follower)));
                }
            }
        }
        for (ends, open) in ends.iter_mut().zip(closers) {
            if open > 0 {
                ends[1] = None;
            }
        }
        (script, ends)
    }
}
