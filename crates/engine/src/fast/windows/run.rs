//! Execution of one window of one logical process, and of all windows on one thread.
//!
//! # Model
//! Logical processes are executed in the order of their numbers, so each may send packets into the current window of a
//! later one. A window executes packets up to its end, and timers up to its end plus the timer advance of the logical
//! process ([`super::partition`]). A timer waits for all packets that precede it in the order of events: those whose
//! event is earlier than the timer minus the advance.
//!
//! Invariant: [`Fast::enter`] finds no packet earlier than the end of the last window.
//!
//! # References
//! See the parent module.

use optcp_units::Time;

use super::state::earlier;
use crate::fast::Fast;
use crate::fast::forwarding::LpId;
use crate::model::Model;
use crate::observe::Observer;

impl Fast {
    /// Makes a logical process the current one, and moves the packets of its inbox to its queue.
    pub(super) fn enter(&mut self, number: usize) {
        let Some(processes) = &mut self.windows.processes else { return };
        let process = &mut processes.each[number];
        self.waiting.exchange(&mut process.waiting);
        std::mem::swap(&mut self.event_queue, &mut process.event_queue);
        self.windows.running = LpId::of(number);
        for due in self.windows.inboxes[number].drain(..) {
            let in_time = due.at >= process.executed_until;
            assert!(in_time, "a packet reaches a logical process after its window");
            self.waiting.push(due);
        }
    }

    /// Suspends the current logical process.
    pub(super) fn leave(&mut self, number: usize) {
        let Some(processes) = &mut self.windows.processes else { return };
        let process = &mut processes.each[number];
        self.waiting.exchange(&mut process.waiting);
        std::mem::swap(&mut self.event_queue, &mut process.event_queue);
        self.windows.running = LpId::NONE;
    }

    /// Executes the events of the current logical process before `end`.
    pub(super) fn run_process<O: Observer>(
        &mut self,
        model: &mut Model<O>,
        number: usize,
        end: Time,
        go_on: &mut dyn FnMut(Time) -> bool,
    ) -> bool {
        let Some(processes) = &mut self.windows.processes else { return true };
        let process = &mut processes.each[number];
        process.executed_until = end;
        let advance = process.timer_advance;
        let timers_end = self.cut.min(end + advance);
        loop {
            let timer_at = self.event_queue.next_at();
            let packets_end =
                if timer_at < timers_end { end.min(earlier(timer_at, advance)) } else { end };
            if let Some(due) = self.waiting.pop_before(packets_end) {
                if !model.should_continue(go_on) {
                    return false;
                }
                self.step(model, due);
            } else if let Some(key) = self.event_queue.pop_before(timers_end) {
                if !model.should_continue(go_on) {
                    return false;
                }
                self.execute_event(model, key);
            } else {
                return true;
            }
        }
    }

    /// Executes everything before the cut on this thread, window by window.
    pub(super) fn run_windows_alone<O: Observer>(
        &mut self,
        model: &mut Model<O>,
        start: Time,
        go_on: &mut dyn FnMut(Time) -> bool,
    ) -> bool {
        // The first window has zero length: timers that are due within the timer advance fire in it.
        let mut end = start;
        let mut events_before = 0;
        while self.run_window(model, end, go_on) {
            if end == self.cut {
                return true;
            }
            // After a window without events, the next event may be far away.
            let idle = model.counts.events == events_before;
            events_before = model.counts.events;
            let begin = if idle { self.windows.next_at().clamp(end, self.cut) } else { end };
            end = self.window_end(begin);
        }
        false
    }

    /// Returns the end of the window that contains a time, or the cut.
    pub(super) fn window_end(&self, begin: Time) -> Time {
        let processes = self.windows.processes.as_ref();
        processes.map_or(self.cut, |processes| processes.window_end(begin, self.cut))
    }

    /// Executes the events of all logical processes before `end`.
    fn run_window<O: Observer>(
        &mut self,
        model: &mut Model<O>,
        end: Time,
        go_on: &mut dyn FnMut(Time) -> bool,
    ) -> bool {
        for process in 0..self.windows.process_count() {
            self.enter(process);
            let continues = self.run_process(model, process, end, go_on);
            self.leave(process);
            if !continues {
                return false;
            }
        }
        true
    }
}
