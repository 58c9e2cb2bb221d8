//! Applications in a run: steps that have happened, and messages that have arrived.

use std::collections::VecDeque;
use std::sync::Arc;

use optcp_net::FlowId;
use optcp_traffic::Script;
use optcp_units::Time;

/// Applications of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ApplicationsSpec {
    /// Steps of all applications. The time of a step that needs no other counts from zero.
    pub script: Script,
    /// Flow of each connection, as long as all its messages.
    pub flows: Vec<FlowId>,
    /// Group of each session, as an index.
    pub groups: Vec<u32>,
    /// Names of the sessions.
    pub sessions: Vec<String>,
}

impl ApplicationsSpec {
    /// Returns whether a flow belongs to an application, by flow.
    pub(crate) fn has(&self, flows: usize) -> Vec<bool> {
        let mut has = vec![false; flows];
        self.flows.iter().for_each(|flow| has[flow.index()] = true);
        has
    }
}

/// Steps that follow each step, and the message of each.
#[derive(Debug)]
pub(crate) struct Fixed {
    pub(crate) script: Script,
    /// Ranges of `followers` by step, with one more at the end.
    first: Vec<u32>,
    followers: Vec<u32>,
    /// Flow and number of segments that a step writes.
    pub(crate) writes: Vec<Option<(FlowId, u32)>>,
}

/// Messages that were written to a flow and have not arrived.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outstanding {
    /// Segments written so far.
    pub(crate) written: u32,
    /// Segments until the end of each message, and its step.
    pub(crate) messages: VecDeque<(u32, u32)>,
}

/// State of the applications.
#[derive(Clone, Debug)]
pub(crate) struct Applications {
    pub(crate) fixed: Arc<Fixed>,
    /// Number of needed steps that are not complete, by step.
    pub(crate) needs: Vec<u32>,
    /// Number of steps that have yet to close an operation, by operation.
    pub(crate) open: Vec<u32>,
    /// Start of each operation that has begun.
    pub(crate) begun: Vec<Option<Time>>,
    /// End of each operation that has ended.
    pub(crate) ended: Vec<Option<Time>>,
    /// Messages by flow.
    pub(crate) outstanding: Vec<Outstanding>,
}

impl Fixed {
    /// Returns the steps that need a step.
    pub(crate) fn followers(&self, step: u32) -> &[u32] {
        let range = self.first[step as usize]..self.first[step as usize + 1];
        &self.followers[range.start as usize..range.end as usize]
    }
}

impl Applications {
    /// Creates the state; `None` without applications. `mss` returns the bytes per segment of a flow.
    pub(crate) fn new(
        spec: &ApplicationsSpec,
        flows: usize,
        mss: impl Fn(FlowId) -> u64,
    ) -> Option<Box<Self>> {
        let script = &spec.script;
        if script.steps.is_empty() {
            return None;
        }
        let (mut first, mut followers) = (vec![0; script.steps.len() + 1], Vec::new());
        for [need, _] in &script.edges {
            first[*need as usize + 1] += 1;
        }
        for step in 1..first.len() {
            first[step] += first[step - 1];
        }
        followers.resize(script.edges.len(), 0);
        let mut place = first.clone();
        for [need, step] in &script.edges {
            let place = &mut place[*need as usize];
            followers[*place as usize] = *step;
            *place += 1;
        }
        let writes = script.steps.iter().map(|step| {
            let message = step.message?;
            let flow = spec.flows[message.connection as usize];
            let segments = message.bytes.div_ceil(mss(flow)).max(1);
            // No run sends as many segments.
            Some((flow, u32::try_from(segments).unwrap_or(u32::MAX)))
        });
        let writes = writes.collect();
        let mut open = vec![0; script.operations.len()];
        for step in &script.steps {
            if let Some(operation) = step.closes {
                open[operation as usize] += 1;
            }
        }
        Some(Box::new(Applications {
            needs: script.steps.iter().map(|step| step.needs).collect(),
            begun: vec![None; open.len()],
            ended: vec![None; open.len()],
            open,
            outstanding: vec![Outstanding::default(); flows],
            fixed: Arc::new(Fixed { script: script.clone(), first, followers, writes }),
        }))
    }

    /// Returns the first steps with their times.
    pub(crate) fn first_steps(&self) -> impl Iterator<Item = (u32, Time)> {
        let steps = (0..).zip(&self.fixed.script.steps);
        steps.filter(|(_, step)| step.needs == 0).map(|(number, step)| {
            let at = Time::ZERO + step.delay;
            (number, at)
        })
    }

    /// Returns whether a message to a flow has not arrived.
    pub(crate) fn is_watched(&self, flow: FlowId) -> bool {
        self.outstanding.get(flow.index()).is_some_and(|one| !one.messages.is_empty())
    }
}
