//! Data that the threads of a stretch share: a barrier and mailboxes.
//!
//! # Model
//! Threads send packets and records during a phase and receive them after the barrier at its end. A thread is never a
//! whole window ahead of another.
//!
//! # Limitations
//! A thread that panics breaks the barrier, and the others end the stretch.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use optcp_des::Due;
use optcp_net::Packet;
use optcp_units::Time;

/// Number of barrier checks, some tens of microseconds, before a thread sleeps.
const CHECKS: u32 = 2000;

/// State that the threads of a stretch share.
#[derive(Debug)]
pub(super) struct ThreadSync<O> {
    barrier: Barrier,
    /// Packets that other threads have sent, by logical process.
    packets: Vec<Mutex<Vec<Due<Packet>>>>,
    /// Records of the window, by thread. The first thread owns the observer of the run and does not use its place.
    records: Vec<Mutex<O>>,
    /// Time before which a thread has no event, by parity of the window and by thread. Two windows suffice, because no
    /// thread is further ahead.
    next: [Vec<AtomicU64>; 2],
    stop: [AtomicBool; 2],
}

impl<O> ThreadSync<O> {
    /// Creates the state for `records.len()` threads and `processes` logical processes. With `sleep_at_once`, threads
    /// do not spin and leave the processor to the others.
    pub(super) fn new(records: Vec<O>, processes: usize, sleep_at_once: bool) -> Self {
        let threads = records.len();
        let next = || (0..threads).map(|_| AtomicU64::new(0)).collect();
        ThreadSync {
            barrier: Barrier::new(threads, if sleep_at_once { 0 } else { CHECKS }),
            packets: (0..processes).map(|_| Mutex::new(Vec::new())).collect(),
            records: records.into_iter().map(Mutex::new).collect(),
            next: [next(), next()],
            stop: [AtomicBool::new(false), AtomicBool::new(false)],
        }
    }

    pub(super) fn threads(&self) -> usize {
        self.records.len()
    }

    /// Waits until all threads have arrived. Returns `false` after a panic of a thread.
    pub(super) fn meet(&self) -> bool {
        self.barrier.wait()
    }

    /// Returns a guard that breaks the barrier if the calling thread panics.
    pub(super) fn watch(&self) -> Watch<'_> {
        Watch(&self.barrier)
    }

    /// Sends packets to a logical process of another thread.
    pub(super) fn send(&self, process: usize, packets: &mut Vec<Due<Packet>>) {
        locked(&self.packets[process]).append(packets);
    }

    /// Receives the packets that other threads have sent to a logical process.
    pub(super) fn receive(&self, process: usize, inbox: &mut Vec<Due<Packet>>) {
        inbox.append(&mut locked(&self.packets[process]));
    }

    /// Returns the records of a thread.
    pub(super) fn records(&self, thread: usize) -> MutexGuard<'_, O> {
        locked(&self.records[thread])
    }

    /// Reports that a thread has no event before `at` after the window.
    pub(super) fn report_next(&self, window: usize, thread: usize, at: Time) {
        self.next[window % 2][thread].store(at.as_ps(), Ordering::Relaxed);
    }

    /// Returns a time before which no thread has an event. Valid after the barrier that follows all reports.
    pub(super) fn next(&self, window: usize) -> Time {
        let reported = self.next[window % 2].iter().map(|next| next.load(Ordering::Relaxed));
        Time::from_ps(reported.min().unwrap_or(u64::MAX))
    }

    /// Makes the window the last one.
    pub(super) fn stop(&self, window: usize) {
        self.stop[window % 2].store(true, Ordering::Relaxed);
    }

    /// Returns whether the window is the last one.
    pub(super) fn stops(&self, window: usize) -> bool {
        self.stop[window % 2].load(Ordering::Relaxed)
    }
}

/// Guard that breaks the barrier if its thread panics.
pub(super) struct Watch<'a>(&'a Barrier);

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.break_up();
        }
    }
}

/// Barrier whose threads spin for a while and then sleep.
#[derive(Debug)]
struct Barrier {
    threads: usize,
    checks: u32,
    arrived: AtomicUsize,
    /// Number of completed waits.
    meetings: AtomicUsize,
    broken: AtomicBool,
    sleepers: Mutex<()>,
    all_arrived: Condvar,
}

impl Barrier {
    fn new(threads: usize, checks: u32) -> Self {
        Barrier {
            threads,
            checks,
            arrived: AtomicUsize::new(0),
            meetings: AtomicUsize::new(0),
            broken: AtomicBool::new(false),
            sleepers: Mutex::new(()),
            all_arrived: Condvar::new(),
        }
    }

    /// See [`ThreadSync::meet`].
    fn wait(&self) -> bool {
        let meetings = self.meetings.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.arrived.store(0, Ordering::Relaxed);
            self.meetings.store(meetings.wrapping_add(1), Ordering::Release);
            self.wake();
            return !self.broken.load(Ordering::Acquire);
        }
        let waits = || {
            let met = self.meetings.load(Ordering::Acquire) != meetings;
            !met && !self.broken.load(Ordering::Acquire)
        };
        for _ in 0..self.checks {
            if !waits() {
                return !self.broken.load(Ordering::Acquire);
            }
            std::hint::spin_loop();
        }
        let mut sleepers = locked(&self.sleepers);
        while waits() {
            sleepers = self.all_arrived.wait(sleepers).unwrap_or_else(PoisonError::into_inner);
        }
        !self.broken.load(Ordering::Acquire)
    }

    fn break_up(&self) {
        self.broken.store(true, Ordering::Release);
        self.wake();
    }

    fn wake(&self) {
        // No thread is between its last check and its sleep while this lock is held.
        drop(locked(&self.sleepers));
        self.all_arrived.notify_all();
    }
}

// Poisoning is ignored: a panic of the thread that held the lock ends the run anyway.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
