//! Steps of applications at the times of a run.
//!
//! A step with a delay has an event. All steps without a delay belong to the event of the step or message that they
//! need.

use std::collections::VecDeque;
use std::sync::Arc;

use optcp_des::{Class, EventQueue, Key};
use optcp_net::FlowId;
use optcp_units::Duration;

use crate::model::Model;
use crate::observe::{Observer, Record};
use crate::timers::TimerEvent;

impl<O: Observer> Model<O> {
    /// Completes a step: closes its operation, and schedules the steps that needed only this one. Steps that happen now
    /// are appended to `due`.
    fn complete(&mut self, step: u32, due: &mut VecDeque<u32>, event_queue: &mut EventQueue) {
        let now = self.now();
        let Some(applications) = &mut self.applications else { return };
        let fixed = Arc::clone(&applications.fixed);
        for &follower in fixed.followers(step) {
            let needs = &mut applications.needs[follower as usize];
            *needs -= 1;
            if *needs > 0 {
                continue;
            }
            // A reaction without delay belongs to the event that caused it. A separate event would precede arrivals at the
            // same time.
            match fixed.script.steps[follower as usize].delay {
                Duration::ZERO => due.push_back(follower),
                delay => {
                    let entity = self.first_step + follower;
                    let ordinal = TimerEvent::Step as u32;
                    event_queue.push(Key::new(now + delay, Class::Timer, entity, ordinal));
                }
            }
        }
        if let Some(operation) = fixed.script.steps[step as usize].closes {
            let open = &mut applications.open[operation as usize];
            *open -= 1;
            if *open == 0 {
                applications.ended[operation as usize] = Some(now);
                self.record(Record::OperationClosed { operation });
            }
        }
    }

    /// Executes steps, and all steps that follow at the same time. Returns the flows to which they wrote.
    fn take_steps(&mut self, mut due: VecDeque<u32>, event_queue: &mut EventQueue) -> Vec<FlowId> {
        let (now, mut written) = (self.now(), Vec::new());
        while let Some(step) = due.pop_front() {
            let Some(applications) = &mut self.applications else { break };
            let fixed = Arc::clone(&applications.fixed);
            if let Some(operation) = fixed.script.steps[step as usize].opens
                && applications.begun[operation as usize].is_none()
            {
                applications.begun[operation as usize] = Some(now);
                self.record(Record::OperationOpened { operation });
            }
            match fixed.writes[step as usize] {
                None => self.complete(step, &mut due, event_queue),
                Some((flow, segments)) => {
                    self.write_message(flow, segments, step);
                    written.push(flow);
                }
            }
        }
        written
    }

    fn write_message(&mut self, flow: FlowId, segments: u32, step: u32) {
        if let Some(applications) = &mut self.applications {
            let outstanding = &mut applications.outstanding[flow.index()];
            outstanding.written = outstanding.written.saturating_add(segments);
            outstanding.messages.push_back((outstanding.written, step));
        }
        self.senders[flow.index()].sender.supply(segments);
        self.push_next(flow);
    }

    /// Executes the step of the current event. Returns the flows to which applications wrote.
    pub(crate) fn take_step(&mut self, event_queue: &mut EventQueue) -> Vec<FlowId> {
        let step = self.event.entity() - self.first_step;
        self.take_steps(VecDeque::from([step]), event_queue)
    }

    /// Lets the application read the data that have arrived at a receiver. Returns the flows to which applications wrote.
    #[inline]
    pub(crate) fn read_messages(
        &mut self,
        flow: FlowId,
        event_queue: &mut EventQueue,
    ) -> Vec<FlowId> {
        match &self.applications {
            Some(applications) if applications.is_watched(flow) => {
                self.read_arrived(flow, event_queue)
            }
            _ => Vec::new(),
        }
    }

    // Few flows belong to applications.
    #[inline(never)]
    fn read_arrived(&mut self, flow: FlowId, event_queue: &mut EventQueue) -> Vec<FlowId> {
        let arrived = self.receivers[flow.index()].delivered_segments();
        let mut due = VecDeque::new();
        while let Some(applications) = &mut self.applications
            && let messages = &mut applications.outstanding[flow.index()].messages
            && let Some(&(end, step)) = messages.front()
            && end <= arrived
        {
            messages.pop_front();
            self.complete(step, &mut due, event_queue);
            self.push_next(flow);
        }
        self.take_steps(due, event_queue)
    }

    /// Marks the end of the first message that has not arrived, as the sender's PSH flag does.
    fn push_next(&mut self, flow: FlowId) {
        let outstanding = self.applications.as_ref().map(|all| &all.outstanding[flow.index()]);
        if let Some(&(end, _)) = outstanding.and_then(|one| one.messages.front()) {
            self.receivers[flow.index()].push_segment(end - 1);
        }
    }
}
