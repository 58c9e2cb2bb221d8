//! Windows on several threads: each has some of the shards, whatever they are; so nothing but time depends on their
//! number.
//!
//! A thread has a kernel and a model of its own, in which ports, endpoints and bundles stand at their places. Those of
//! its shards are put there when a stretch begins, and taken back when it ends: at control actions and readings the
//! world is in one piece.

use std::ops::Range;

use optcp_des::{Buckets, Calendar};
use optcp_net::PortId;
use optcp_units::Time;

use super::crew::Crew;
use super::{Choice, Shard, Windows};
use crate::counts::Counts;
use crate::fast::Fast;
use crate::fast::forwarding::Home;
use crate::helpers::Helpers;
use crate::kept::Kept;
use crate::model::Model;
use crate::observe::Observer;

/// A stretch in which fewer packets pass ports is no work for several threads.
const ENOUGH: u128 = 50_000;

/// A thread's kernel and model.
type Helper<O> = (Fast, Model<O>);

/// Which thread has which shards.
#[derive(Clone, Debug)]
pub(super) struct Shares {
    /// By shard.
    thread_of: Vec<usize>,
    /// The shards of each phase.
    phases: Vec<Range<usize>>,
}

impl Shares {
    /// In each phase the largest shard that is left goes to the thread that has least.
    fn new(windows: &Windows, threads: usize) -> Self {
        let mut thread_of = vec![0; windows.shards.len()];
        let mut phases: Vec<Range<usize>> = Vec::new();
        for shard in 0..windows.shards.len() {
            match phases.last_mut() {
                Some(last) if windows.phases[shard] == windows.phases[last.start] => {
                    last.end = shard + 1;
                }
                _ => phases.push(shard..shard + 1),
            }
        }
        for phase in &phases {
            let mut loads = vec![0_u64; threads];
            let mut shards: Vec<usize> = phase.clone().collect();
            shards.sort_by_key(|&shard| std::cmp::Reverse(windows.loads[shard]));
            for shard in shards {
                let least = (0..threads).min_by_key(|&thread| loads[thread]).unwrap_or(0);
                thread_of[shard] = least;
                loads[least] = loads[least].saturating_add(windows.loads[shard]);
            }
        }
        Shares { thread_of, phases }
    }
}

impl Fast {
    /// Executes everything before the cut, window by window, on several threads if that may pay.
    pub(in crate::fast) fn run_windows<O: Observer>(
        &mut self,
        model: &mut Model<O>,
        helpers: &mut Helpers<Helper<O>>,
        began: Time,
        go_on: &mut dyn FnMut(Time) -> bool,
    ) -> bool {
        let threads = self.threads_for(helpers.threads, began);
        if threads < 2 {
            return self.run_windows_alone(model, began, go_on);
        }
        let Some(windows) = &self.windows else { return true };
        let shares = Shares::new(windows, threads);
        self.prepare(model, helpers, threads);
        let others = &mut helpers.each[..threads - 1];
        let mut kept = std::mem::take(&mut model.kept).share(threads).into_iter();
        model.kept = kept.next().unwrap_or_default();
        for ((thread, helper), kept) in (1..).zip(&mut *others).zip(kept) {
            helper.0.cut = self.cut;
            helper.1.kept = kept;
            helper.1.counts = Counts::default();
            self.hand_over(model, helper, &shares, thread);
        }
        let free = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let notes = (0..threads).map(|_| model.observer.helper()).collect();
        let crew = Crew::new(notes, shares.thread_of.len(), threads > free);
        let through = std::thread::scope(|scope| {
            for (thread, helper) in (1..).zip(&mut *others) {
                let (crew, shares) = (&crew, &shares);
                let (fast, model) = helper;
                scope.spawn(move || fast.run_shares(model, crew, shares, thread, began, None));
            }
            self.run_shares(model, &crew, &shares, 0, began, Some(go_on))
        });
        for (thread, helper) in (1..).zip(others) {
            self.hand_over(model, helper, &shares, thread);
            model.counts.add(&helper.1.counts);
            helper.1.kept = Kept::default();
            model.observer.absorb(&mut crew.notes(thread));
        }
        (0..self.inboxes.len()).for_each(|shard| crew.collect(shard, &mut self.inboxes[shard]));
        model.kept = Kept::join(&mut model.kept);
        through
    }

    /// How many threads a stretch is worth.
    fn threads_for(&self, most: usize, began: Time) -> usize {
        let Some(windows) = &self.windows else { return 1 };
        let span = u128::from(self.cut.saturating_since(began).as_ps());
        let load: u128 = windows.loads.iter().map(|&load| u128::from(load)).sum();
        let enough = load * span / 1_000_000_000_000 >= ENOUGH;
        let tried = matches!(self.choice, Choice::Always(Some(_)));
        if enough || tried { most.min(windows.shards.len()) } else { 1 }
    }

    /// Makes helpers as far as they are missing, for the windows that there are now.
    fn prepare<O: Observer>(
        &mut self,
        model: &Model<O>,
        helpers: &mut Helpers<Helper<O>>,
        threads: usize,
    ) {
        let Some(windows) = &self.windows else { return };
        let helpers = &mut helpers.each;
        while helpers.len() < threads - 1 {
            helpers.push((self.helper(), model.helper()));
        }
        for helper in helpers {
            let opened = helper.0.windows.as_ref().map(|windows| windows.number);
            if opened != Some(windows.number) {
                helper.1.forward_like(model);
                helper.0.forwarding = self.forwarding.clone();
                helper.0.waiting = Buckets::of_width(windows.length);
                helper.0.inboxes = vec![Vec::new(); windows.shards.len()];
                helper.0.windows = Some(Box::new(windows.without_shards()));
            }
        }
    }

    /// A kernel for a helper.
    fn helper(&self) -> Fast {
        Fast {
            ports: self.ports.placeholders(),
            forwarding: self.forwarding.clone(),
            stale: false,
            waiting: Buckets::of_width(20),
            calendar: Calendar::default(),
            windows: None,
            opened: 0,
            emptied: None,
            choice: self.choice,
            no_windows: self.no_windows,
            ways: None,
            running: Home::NONE,
            inboxes: Vec::new(),
            cut: self.cut,
            survey_at: Time::MAX,
            resumed: None,
        }
    }

    /// Exchanges what belongs to the shards of a thread with its helper.
    fn hand_over<O: Observer>(
        &mut self,
        model: &mut Model<O>,
        helper: &mut Helper<O>,
        shares: &Shares,
        thread: usize,
    ) {
        let (Some(ours), Some(theirs)) = (&mut self.windows, &mut helper.0.windows) else {
            return;
        };
        let is_theirs = |shard: u16| shares.thread_of[usize::from(shard)] == thread;
        let ports = self.ports.len();
        for (node, _) in ours.of.iter().enumerate().filter(|(_, shard)| is_theirs(**shard)) {
            match node.checked_sub(ports) {
                None => self.ports.exchange(&mut helper.0.ports, PortId::at(node)),
                Some(end) => model.exchange_end(&mut helper.1, end / 2, end % 2 == 1),
            }
        }
        for (bundle, other) in model.bundles.iter_mut().zip(&mut helper.1.bundles) {
            if is_theirs(ours.of[bundle.members()[0].index()]) {
                std::mem::swap(bundle, other);
            }
        }
        for (shard, of) in shares.thread_of.iter().enumerate() {
            if *of == thread {
                std::mem::swap(&mut ours.shards[shard], &mut theirs.shards[shard]);
                std::mem::swap(&mut self.inboxes[shard], &mut helper.0.inboxes[shard]);
            }
        }
    }

    /// A thread's part of a stretch: whether it came to the cut. The first thread asks whether to go on.
    fn run_shares<O: Observer>(
        &mut self,
        model: &mut Model<O>,
        crew: &Crew<O>,
        shares: &Shares,
        thread: usize,
        began: Time,
        mut go_on: Option<&mut dyn FnMut(Time) -> bool>,
    ) -> bool {
        let _watch = crew.watch();
        let (mut end, mut before) = (began, 0);
        for window in 0.. {
            if go_on.as_mut().is_some_and(|go_on| !go_on(end)) {
                crew.stop(window);
            }
            for phase in &shares.phases {
                for shard in phase.clone().filter(|&shard| shares.thread_of[shard] == thread) {
                    crew.collect(shard, &mut self.inboxes[shard]);
                    self.enter(shard);
                    self.run_shard(model, shard, end, &mut |_| true);
                    self.leave(shard);
                }
                for (shard, inbox) in self.inboxes.iter_mut().enumerate() {
                    if !inbox.is_empty() && shares.thread_of[shard] != thread {
                        crew.post(shard, inbox);
                    }
                }
                if phase.end == shares.thread_of.len() {
                    let idle = model.counts.events == before;
                    before = model.counts.events;
                    crew.tell_next(window, thread, if idle { self.next_at() } else { Time::ZERO });
                    if O::TAKES_RECORDS && thread > 0 {
                        crew.notes(thread).absorb(&mut model.observer);
                    }
                }
                if !crew.meet() {
                    return false;
                }
            }
            if O::TAKES_RECORDS && thread == 0 {
                for other in 1..crew.threads() {
                    model.observer.absorb(&mut crew.notes(other));
                }
            }
            if crew.stops(window) {
                return false;
            }
            if end == self.cut {
                return true;
            }
            end = self.window_from(crew.next(window).clamp(end, self.cut));
        }
        true
    }
}

impl Windows {
    /// The same, whose shards are elsewhere.
    fn without_shards(&self) -> Self {
        let elsewhere = |_| Shard::elsewhere(self.length);
        Windows {
            shards: self.shards.iter().map(elsewhere).collect(),
            of: self.of.clone(),
            homes: self.homes.clone(),
            loads: self.loads.clone(),
            phases: self.phases.clone(),
            ..*self
        }
    }
}
