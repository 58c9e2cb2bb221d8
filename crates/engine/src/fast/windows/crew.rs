//! What the threads of a run share: where they wait for each other, and what they hand over.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use optcp_des::Due;
use optcp_net::Packet;
use optcp_units::Time;

/// A thread looks so often whether the others have come, some tens of microseconds, before it sleeps.
const LOOKS: u32 = 2000;

/// The threads of a stretch of a run.
#[derive(Debug)]
pub(super) struct Crew<O> {
    barrier: Barrier,
    /// By shard, what other threads have for it.
    mail: Vec<Mutex<Vec<Due<Packet>>>>,
    /// By thread, whose first one notes nothing: what it has told.
    notes: Vec<Mutex<O>>,
    /// By window, even and odd, and by thread: an instant before which it has nothing to do. Nobody is a whole window
    /// ahead of another, so what belongs to the next window does not meet what belongs to the last one.
    next: [Vec<AtomicU64>; 2],
    stop: [AtomicBool; 2],
}

impl<O> Crew<O> {
    /// Threads that note what they tell in `notes`, and `shards` to which packets come. Threads that sleep at once leave the
    /// processor to the others.
    pub(super) fn new(notes: Vec<O>, shards: usize, sleep_at_once: bool) -> Self {
        let threads = notes.len();
        let next = || (0..threads).map(|_| AtomicU64::new(0)).collect();
        Crew {
            barrier: Barrier::new(threads, if sleep_at_once { 0 } else { LOOKS }),
            mail: (0..shards).map(|_| Mutex::new(Vec::new())).collect(),
            notes: notes.into_iter().map(Mutex::new).collect(),
            next: [next(), next()],
            stop: [AtomicBool::new(false), AtomicBool::new(false)],
        }
    }

    pub(super) fn threads(&self) -> usize {
        self.notes.len()
    }

    /// Waits until all threads have come here: whether all have.
    pub(super) fn meet(&self) -> bool {
        self.barrier.wait()
    }

    /// Whoever panics no longer comes to where the others wait.
    pub(super) fn watch(&self) -> Watch<'_> {
        Watch(&self.barrier)
    }

    /// Hands over what has come to a shard of another thread.
    pub(super) fn post(&self, shard: usize, packets: &mut Vec<Due<Packet>>) {
        locked(&self.mail[shard]).append(packets);
    }

    /// Takes what other threads have for a shard.
    pub(super) fn collect(&self, shard: usize, inbox: &mut Vec<Due<Packet>>) {
        inbox.append(&mut locked(&self.mail[shard]));
    }

    /// What a thread has told.
    pub(super) fn notes(&self, thread: usize) -> MutexGuard<'_, O> {
        locked(&self.notes[thread])
    }

    /// A thread has nothing to do before `at`, once the window is over.
    pub(super) fn tell_next(&self, window: usize, thread: usize, at: Time) {
        self.next[window % 2][thread].store(at.as_ps(), Ordering::Relaxed);
    }

    /// An instant before which nobody has anything to do. All have met since they told.
    pub(super) fn next(&self, window: usize) -> Time {
        let told = self.next[window % 2].iter().map(|next| next.load(Ordering::Relaxed));
        Time::from_ps(told.min().unwrap_or(u64::MAX))
    }

    /// The window is the last one.
    pub(super) fn stop(&self, window: usize) {
        self.stop[window % 2].store(true, Ordering::Relaxed);
    }

    pub(super) fn stops(&self, window: usize) -> bool {
        self.stop[window % 2].load(Ordering::Relaxed)
    }
}

/// Breaks the barrier if its thread panics.
pub(super) struct Watch<'a>(&'a Barrier);

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.break_up();
        }
    }
}

/// Where threads wait for each other: they look for a while, and then sleep.
#[derive(Debug)]
struct Barrier {
    threads: usize,
    looks: u32,
    come: AtomicUsize,
    /// How often all have come.
    times: AtomicUsize,
    broken: AtomicBool,
    sleepers: Mutex<()>,
    all_have_come: Condvar,
}

impl Barrier {
    fn new(threads: usize, looks: u32) -> Self {
        Barrier {
            threads,
            looks,
            come: AtomicUsize::new(0),
            times: AtomicUsize::new(0),
            broken: AtomicBool::new(false),
            sleepers: Mutex::new(()),
            all_have_come: Condvar::new(),
        }
    }

    /// Whether all have come; otherwise one never will.
    fn wait(&self) -> bool {
        let times = self.times.load(Ordering::Acquire);
        if self.come.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.come.store(0, Ordering::Relaxed);
            self.times.store(times.wrapping_add(1), Ordering::Release);
            self.wake();
            return !self.broken.load(Ordering::Acquire);
        }
        let waits =
            || self.times.load(Ordering::Acquire) == times && !self.broken.load(Ordering::Acquire);
        for _ in 0..self.looks {
            if !waits() {
                return !self.broken.load(Ordering::Acquire);
            }
            std::hint::spin_loop();
        }
        let mut sleepers = locked(&self.sleepers);
        while waits() {
            sleepers = self.all_have_come.wait(sleepers).unwrap_or_else(PoisonError::into_inner);
        }
        !self.broken.load(Ordering::Acquire)
    }

    fn break_up(&self) {
        self.broken.store(true, Ordering::Release);
        self.wake();
    }

    fn wake(&self) {
        // Nobody falls asleep between looking and waiting while this is held.
        drop(locked(&self.sleepers));
        self.all_have_come.notify_all();
    }
}

// Whoever panicked with it ends the run.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
