//! Conservative parallel execution of one run in time windows. `docs/developers/parallel.md` explains it with a figure.
//!
//! # Model
//! A single event queue orders all events of a run. Results need less: an event cannot affect a distant part of the
//! network before the delay in between has passed. Ports and endpoints are therefore partitioned into *logical
//! processes*, each with its own event queue, which execute their events window by window. [`partition`] defines the
//! processes and the window length; [`run`] executes one window.
//!
//! Invariant: when a logical process executes a window, its queue or inbox already contains all
//! packets that reach it before the window ends. The order of its events is then the same as with
//! one queue, and so are records, digests and series. A packet that violates the invariant stops
//! the run (`enter` asserts it).
//!
//! On one thread ([`run`]), windows keep the data of a logical process in the cache. On several threads ([`threads`]),
//! logical processes at least a window apart are executed at the same time.
//!
//! The rest of the engine uses [`Windows`], which holds the state, and [`Fast::run_stretch`], [`Fast::close_windows`],
//! [`Fast::wait`] and [`Fast::for_each_waiting`].
//!
//! # References
//! - Logical processes and lookahead: K. M. Chandy and J. Misra, IEEE Trans. Software Eng. SE-5(5), 1979; R. E. Bryant,
//!   MIT-LCS-TR-188, 1977.
//! - Windows between barriers: B. Lubachevsky, CACM 32(1), 1989; D. Nicol, JACM 40(2), 1993.
//! - Survey: R. Fujimoto, CACM 33(10), 1990.
//!
//! Timers that fire in advance ([`partition`]) are specific to this simulator.
//!
//! # Limitations
//! [`NoWindowsReason`] lists the runs without windows.

mod partition;
mod policy;
mod run;
mod state;
mod sync;
mod threads;
mod vertices;

use optcp_des::{Buckets, Due};
use optcp_net::Packet;
use optcp_units::{Duration, Time};

use super::Fast;
use super::forwarding::LpId;
use crate::model::Model;
use crate::observe::Observer;
use crate::workers::WorkerState;

use partition::Partition;
use policy::{NoWindowsReason, WindowPolicy};
use state::Processes;
pub(super) use state::Windows;
use vertices::Vertices;

/// Minimum length of a stretch with windows. Opening them for a shorter one takes longer than it saves.
const MIN_STRETCH: Duration = Duration::from_ms(10);

impl Fast {
    /// Executes a stretch: all events before `until`, with no outside action in between. Uses windows where possible,
    /// on up to `workers.threads` threads. Returns `false` if `go_on` ended the run.
    pub(super) fn run_stretch<O: Observer>(
        &mut self,
        model: &mut Model<O>,
        workers: &mut WorkerState<(Fast, Model<O>)>,
        until: Time,
        go_on: &mut dyn FnMut(Time) -> bool,
    ) -> bool {
        let start = self.cut;
        self.open_windows(model, workers.threads, until.saturating_since(start));
        for process in 0..self.windows.process_count() {
            self.enter(process);
            self.release(model, until);
            self.leave(process);
        }
        match self.windows.processes {
            Some(_) => self.run_windows(model, workers, start, go_on),
            None => self.run_to_cut(model, go_on),
        }
    }

    /// Returns all waiting packets and timers to one event queue.
    pub(super) fn close_windows(&mut self) {
        let Some(processes) = self.windows.processes.take() else { return };
        let Some(whole_run) = self.windows.whole_run.take() else { return };
        let mut before = std::mem::replace(&mut self.waiting, whole_run);
        self.forwarding.clear_processes();
        self.windows.running = LpId::ALL;
        let sent = std::mem::take(&mut self.windows.inboxes);
        sent.into_iter().flatten().for_each(|due| self.waiting.push(due));
        for mut process in processes.each {
            before.exchange(&mut process.waiting);
            before.drain().into_iter().for_each(|due| self.waiting.push(due));
            process.event_queue.into_events().for_each(|key| self.event_queue.push(key));
        }
    }

    /// Queues a packet in the logical process `lp` until it arrives behind a port.
    #[inline(always)]
    pub(super) fn wait(&mut self, due: Due<Packet>, lp: LpId) {
        if lp == self.windows.running {
            self.waiting.push(due);
        } else if let Some(inbox) = self.windows.inboxes.get_mut(lp.index()) {
            inbox.push(due);
        } else {
            self.wait_at_destination(due);
        }
    }

    #[inline(never)]
    fn wait_at_destination(&mut self, due: Due<Packet>) {
        let lp = self.windows.process_of(self.vertices(), &due);
        self.wait(due, lp);
    }

    /// Calls `visit` for every waiting packet, in no particular order.
    pub(super) fn for_each_waiting(&self, mut visit: impl FnMut(Due<Packet>)) {
        self.waiting.for_each(&mut visit);
        self.windows.for_each_waiting(&mut visit);
    }

    fn vertices(&self) -> Vertices {
        Vertices::new(self.ports.len())
    }

    /// Opens windows for a stretch of this length if they are closed and possible. They stay open until they are
    /// closed.
    fn open_windows<O>(&mut self, model: &Model<O>, threads: usize, length: Duration) {
        // Feeders are absent if windows have been considered since forwarding was computed.
        let Some(feeders) = &self.feeders else { return };
        let Windows { policy, reason, opened, .. } = self.windows;
        let opened_now = match policy {
            WindowPolicy::Never => Err(NoWindowsReason::Unwanted),
            // A run without windows is not examined again, regardless of later control actions.
            WindowPolicy::WherePaying if opened == 0 && reason != NoWindowsReason::Brief => {
                Err(reason)
            }
            // A later stretch may be longer.
            WindowPolicy::WherePaying if length < MIN_STRETCH => {
                self.windows.reason = NoWindowsReason::Brief;
                return;
            }
            WindowPolicy::WherePaying | WindowPolicy::WherePossible(_) => {
                let mut pending = Vec::new();
                self.waiting.for_each(|due| pending.push(due));
                let view =
                    partition::NetworkView::new(model, &self.forwarding, feeders, &self.ports);
                partition::find(&view, &pending, policy, threads)
            }
        };
        self.feeders = None;
        match opened_now {
            Ok(partition) => self.distribute(model, partition),
            Err(reason) => self.windows.reason = reason,
        }
    }

    /// Distributes the waiting packets and timers to the logical processes of a partition.
    fn distribute<O>(&mut self, model: &Model<O>, partition: Partition) {
        let processes = Processes::new(self.windows.opened, partition, model, &self.forwarding);
        let lp_of_label = &processes.lp_of_label;
        self.forwarding.set_processes(&model.labels, |label| lp_of_label[label.0 as usize]);
        let vertices = self.vertices();
        let pending = self.waiting.drain();
        let whole_run = Buckets::of_width(processes.partition.window_log2);
        self.windows.whole_run = Some(std::mem::replace(&mut self.waiting, whole_run));
        self.windows.inboxes = vec![Vec::new(); processes.each.len()];
        self.windows.opened += 1;
        self.windows.running = LpId::NONE;
        let processes = self.windows.processes.insert(Box::new(processes));
        for key in std::mem::take(&mut self.event_queue).into_events() {
            let process = processes.lp_of_event(vertices, key);
            processes.each[process].event_queue.push(key);
        }
        for due in pending {
            let lp = self.windows.process_of(vertices, &due);
            self.wait(due, lp);
        }
    }
}
