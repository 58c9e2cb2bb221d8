//! Windows on several threads.
//!
//! # Model
//! Each thread executes a subset of the logical processes. Within a window, the processes of one phase run at the same
//! time, because they are at least a window apart. All threads wait at a barrier before the next phase. The partition
//! does not depend on the number of threads, and each logical process executes the same events in the same order on any
//! thread. Only the computing time depends on the threads.
//!
//! Each thread has its own engine and model. The ports, endpoints and bundles of its logical processes move there at
//! the beginning of a stretch and back at its end. The run is therefore complete at control actions and readings, and
//! threads share no memory outside [`ThreadSync`].
//!
//! # References
//! See the parent module. Phases are a topological order of logical processes that are near in one direction only.
//!
//! # Limitations
//! Logical processes do not move between threads within a stretch, even if a thread is idle.

use std::ops::Range;

use optcp_des::{Buckets, EventQueue};
use optcp_units::Time;

use super::partition::Partition;
use super::policy::WindowPolicy;
use super::state::Processes;
use super::sync::ThreadSync;
use super::vertices::Vertex;
use crate::counts::Counts;
use crate::fast::Fast;
use crate::in_flight::InFlightStore;
use crate::model::Model;
use crate::observe::Observer;
use crate::workers::WorkerState;

/// Minimum number of packet-hops of a stretch for several threads.
const MIN_PACKET_HOPS: u128 = 50_000;

/// Engine and model of a thread.
type Worker<O> = (Fast, Model<O>);

/// Assignment of logical processes to threads.
#[derive(Clone, Debug)]
pub(super) struct Assignment {
    /// Thread by logical process.
    thread_of: Vec<usize>,
    /// Logical processes of each phase.
    phases: Vec<Range<usize>>,
}

impl Assignment {
    /// Assigns, in each phase, the logical process with the largest remaining load to the thread with the smallest.
    fn new(partition: &Partition, threads: usize) -> Self {
        let count = partition.processes();
        let mut thread_of = vec![0; count];
        let mut phases: Vec<Range<usize>> = Vec::new();
        for process in 0..count {
            match phases.last_mut() {
                Some(last) if partition.phases[process] == partition.phases[last.start] => {
                    last.end = process + 1;
                }
                _ => phases.push(process..process + 1),
            }
        }
        for phase in &phases {
            let mut loads = vec![0_u64; threads];
            let mut processes: Vec<usize> = phase.clone().collect();
            processes.sort_by_key(|&process| std::cmp::Reverse(partition.loads[process]));
            for process in processes {
                let least = (0..threads).min_by_key(|&thread| loads[thread]).unwrap_or(0);
                thread_of[process] = least;
                loads[least] = loads[least].saturating_add(partition.loads[process]);
            }
        }
        Assignment { thread_of, phases }
    }

    /// Returns the logical processes that a thread executes in a phase.
    fn processes_of(&self, thread: usize, phase: &Range<usize>) -> impl Iterator<Item = usize> {
        phase.clone().filter(move |&process| self.thread_of[process] == thread)
    }
}

impl Fast {
    /// Executes everything before the cut window by window, on several threads if that may save time.
    pub(super) fn run_windows<O: Observer>(
        &mut self,
        model: &mut Model<O>,
        workers: &mut WorkerState<Worker<O>>,
        start: Time,
        go_on: &mut dyn FnMut(Time) -> bool,
    ) -> bool {
        let threads = self.threads_for(workers.threads, start);
        if threads < 2 {
            return self.run_windows_alone(model, start, go_on);
        }
        let Some(processes) = &self.windows.processes else { return true };
        let assignment = Assignment::new(&processes.partition, threads);
        self.prepare(model, workers, threads);
        let others = &mut workers.each[..threads - 1];
        let mut in_flight = std::mem::take(&mut model.in_flight).share(threads).into_iter();
        model.in_flight = in_flight.next().unwrap_or_default();
        for ((thread, worker), in_flight) in (1..).zip(&mut *others).zip(in_flight) {
            worker.0.cut = self.cut;
            worker.1.in_flight = in_flight;
            worker.1.counts = Counts::default();
            self.hand_over(model, worker, &assignment, thread);
        }
        let free = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let records = (0..threads).map(|_| model.observer.helper()).collect();
        let sync = ThreadSync::new(records, assignment.thread_of.len(), threads > free);
        let reached = std::thread::scope(|scope| {
            for (thread, worker) in (1..).zip(&mut *others) {
                let (sync, assignment) = (&sync, &assignment);
                let (fast, model) = worker;
                scope.spawn(move || fast.run_thread(model, sync, assignment, thread, start, None));
            }
            self.run_thread(model, &sync, &assignment, 0, start, Some(go_on))
        });
        for (thread, worker) in (1..).zip(others) {
            self.hand_over(model, worker, &assignment, thread);
            model.counts.add(&worker.1.counts);
            worker.1.in_flight = InFlightStore::default();
            model.observer.absorb(&mut sync.records(thread));
        }
        for (process, inbox) in self.windows.inboxes.iter_mut().enumerate() {
            sync.receive(process, inbox);
        }
        model.in_flight = InFlightStore::join(&mut model.in_flight);
        reached
    }

    /// Returns the number of threads that a stretch justifies.
    fn threads_for(&self, max_threads: usize, start: Time) -> usize {
        let Some(processes) = &self.windows.processes else { return 1 };
        let partition = &processes.partition;
        let span = u128::from(self.cut.saturating_since(start).as_ps());
        let load: u128 = partition.loads.iter().map(|&load| u128::from(load)).sum();
        let enough = load * span / 1_000_000_000_000 >= MIN_PACKET_HOPS;
        let tried = matches!(self.windows.policy, WindowPolicy::WherePossible(Some(_)));
        if enough || tried { max_threads.min(partition.processes()) } else { 1 }
    }

    /// Creates missing workers and updates all of them to the windows that are open now.
    fn prepare<O: Observer>(
        &mut self,
        model: &Model<O>,
        workers: &mut WorkerState<Worker<O>>,
        threads: usize,
    ) {
        let Some(processes) = &self.windows.processes else { return };
        let workers = &mut workers.each;
        while workers.len() < threads - 1 {
            workers.push((self.for_thread(), model.helper()));
        }
        for (fast, worker) in workers {
            let number = fast.windows.processes.as_ref().map(|processes| processes.number);
            if number != Some(processes.number) {
                worker.copy_labels(model);
                fast.forwarding = self.forwarding.clone();
                fast.waiting = Buckets::of_width(processes.partition.window_log2);
                fast.windows.inboxes = vec![Vec::new(); processes.each.len()];
                fast.windows.processes = Some(Box::new(processes.for_thread()));
            }
        }
    }

    /// Returns an engine for another thread.
    fn for_thread(&self) -> Fast {
        Fast {
            ports: self.ports.placeholders(),
            forwarding: self.forwarding.clone(),
            stale: false,
            waiting: Buckets::of_width(20),
            event_queue: EventQueue::default(),
            windows: self.windows.for_thread(),
            feeders: None,
            cut: self.cut,
            analyse_at: Time::MAX,
            recheck: self.recheck,
            resumed: None,
        }
    }

    /// Exchanges the ports, endpoints, bundles and queues of a thread's logical processes with its worker.
    fn hand_over<O: Observer>(
        &mut self,
        model: &mut Model<O>,
        worker: &mut Worker<O>,
        assignment: &Assignment,
        thread: usize,
    ) {
        let vertices = self.vertices();
        let (windows, worker_windows) = (&mut self.windows, &mut worker.0.windows);
        let (Some(Processes { partition, each, .. }), Some(worker_processes)) =
            (windows.processes.as_deref_mut(), &mut worker_windows.processes)
        else {
            return;
        };
        let is_assigned = |lp: u16| assignment.thread_of[usize::from(lp)] == thread;
        for (vertex, &lp) in partition.lp_of_vertex.iter().enumerate() {
            match vertices.at(vertex) {
                _ if !is_assigned(lp) => {}
                Vertex::Port(port) => self.ports.exchange(&mut worker.0.ports, port),
                Vertex::End { flow, receives } => {
                    model.exchange_end(&mut worker.1, flow, receives);
                }
            }
        }
        for (bundle, other) in model.bundles.iter_mut().zip(&mut worker.1.bundles) {
            if is_assigned(partition.lp_of_vertex[bundle.members()[0].index()]) {
                std::mem::swap(bundle, other);
            }
        }
        for process in assignment.processes_of(thread, &(0..each.len())) {
            std::mem::swap(&mut each[process], &mut worker_processes.each[process]);
            std::mem::swap(&mut windows.inboxes[process], &mut worker_windows.inboxes[process]);
        }
    }

    /// Executes a thread's part of a stretch. Returns whether it reached the cut. Only the first thread has `go_on`.
    fn run_thread<O: Observer>(
        &mut self,
        model: &mut Model<O>,
        sync: &ThreadSync<O>,
        assignment: &Assignment,
        thread: usize,
        start: Time,
        mut go_on: Option<&mut dyn FnMut(Time) -> bool>,
    ) -> bool {
        let _watch = sync.watch();
        let (mut end, mut events_before) = (start, 0);
        for window in 0.. {
            if go_on.as_mut().is_some_and(|go_on| !go_on(end)) {
                sync.stop(window);
            }
            for phase in &assignment.phases {
                for process in assignment.processes_of(thread, phase) {
                    sync.receive(process, &mut self.windows.inboxes[process]);
                    self.enter(process);
                    self.run_process(model, process, end, &mut |_| true);
                    self.leave(process);
                }
                for (process, inbox) in self.windows.inboxes.iter_mut().enumerate() {
                    if !inbox.is_empty() && assignment.thread_of[process] != thread {
                        sync.send(process, inbox);
                    }
                }
                if phase.end == assignment.thread_of.len() {
                    let idle = model.counts.events == events_before;
                    events_before = model.counts.events;
                    let next_at = if idle { self.windows.next_at() } else { Time::ZERO };
                    sync.report_next(window, thread, next_at);
                    if O::TAKES_RECORDS && thread > 0 {
                        sync.records(thread).absorb(&mut model.observer);
                    }
                }
                if !sync.meet() {
                    return false;
                }
            }
            if O::TAKES_RECORDS && thread == 0 {
                for other in 1..sync.threads() {
                    model.observer.absorb(&mut sync.records(other));
                }
            }
            if sync.stops(window) {
                return false;
            }
            if end == self.cut {
                return true;
            }
            end = self.window_end(sync.next(window).clamp(end, self.cut));
        }
        true
    }
}
