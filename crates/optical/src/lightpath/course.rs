//! Course of lightpaths while fibres fail and are repaired.

use std::collections::{BTreeMap, BTreeSet};

use optcp_units::Time;

use super::{OpticalLayer, Recovery};
use crate::protection::Outage;

/// Outages and paths of a lightpath.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Course {
    /// Periods in which the lightpath is down, in order.
    pub outages: Vec<Outage>,
    /// Changes of the path, in order: time, and fibres from then on.
    pub paths: Vec<(Time, Vec<usize>)>,
}

/// Event of the optical layer. At the same time, fibres come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Event {
    Repaired {
        fibre: usize,
    },
    Failed {
        fibre: usize,
    },
    /// A path is chosen. The attempt is out of date if its number differs from the lightpath's.
    Chosen {
        lightpath: usize,
        attempt: u32,
    },
    /// A set-up message is in front of a fibre of the chosen path.
    Message {
        lightpath: usize,
        attempt: u32,
        hop: usize,
    },
    SetUp {
        lightpath: usize,
        attempt: u32,
    },
    /// The working path has been up for long enough, unless its count of repairs differs.
    Return {
        lightpath: usize,
        repairs: u32,
    },
}

#[derive(Clone, Debug, Default)]
pub(super) struct State {
    path: Vec<usize>,
    down_since: Option<Time>,
    /// Number of attempts to recover, and of repairs that ended one.
    pub(super) attempt: u32,
    /// Path that is being set up.
    pub(super) chosen: Vec<usize>,
    /// Fibres of it on which a wavelength is reserved.
    pub(super) reserved: Vec<usize>,
    /// Fibres without a free wavelength, according to messages.
    pub(super) blocked: BTreeSet<usize>,
    /// `true`: no path was found.
    waits: bool,
    working_is_up: bool,
    /// Number of changes of `working_is_up`.
    repairs: u32,
    course: Course,
}

pub(super) struct Courses<'l> {
    pub(super) layer: &'l OpticalLayer,
    up: Vec<bool>,
    events: BTreeMap<(Time, Event), ()>,
    pub(super) states: Vec<State>,
}

impl OpticalLayer {
    /// Returns the course of each lightpath, given the outages of each fibre, sorted and without overlaps.
    #[must_use]
    pub fn courses(&self, outages: &[Vec<Outage>]) -> Vec<Course> {
        let state = |one: &super::Lightpath| State {
            path: one.working.clone(),
            working_is_up: true,
            ..State::default()
        };
        let mut courses = Courses {
            layer: self,
            up: vec![true; self.fibres.len()],
            events: BTreeMap::new(),
            states: self.lightpaths.iter().map(state).collect(),
        };
        for (fibre, outages) in outages.iter().enumerate() {
            for outage in outages.iter().filter(|outage| !is_instant(outage)) {
                courses.add(outage.failure, Event::Failed { fibre });
                if let Some(repair) = outage.repair {
                    courses.add(repair, Event::Repaired { fibre });
                }
            }
        }
        courses.run();
        for (fibre, outages) in outages.iter().enumerate() {
            for outage in outages.iter().filter(|outage| is_instant(outage)) {
                courses.interrupt(fibre, *outage);
            }
        }
        courses.states.into_iter().map(|state| state.course).collect()
    }
}

/// Returns whether an outage has no duration. Such an outage loses the packets on the fibre, and has no other effect.
fn is_instant(outage: &Outage) -> bool {
    outage.repair == Some(outage.failure)
}

impl Courses<'_> {
    pub(super) fn add(&mut self, at: Time, event: Event) {
        self.events.insert((at, event), ());
    }

    /// Adds an outage without duration to the lightpaths that use a fibre at its time.
    fn interrupt(&mut self, fibre: usize, outage: Outage) {
        for (state, one) in self.states.iter_mut().zip(&self.layer.lightpaths) {
            let Course { outages, paths } = &mut state.course;
            let path = paths.iter().rfind(|&&(from, _)| from <= outage.failure);
            let path = path.map_or(&one.working, |(_, path)| path);
            let down = outages.iter().any(|other| other.covers(outage.failure));
            if path.contains(&fibre) && !down {
                let place = outages.partition_point(|other| other.failure < outage.failure);
                outages.insert(place, outage);
            }
        }
    }

    fn run(&mut self) {
        while let Some(((now, event), ())) = self.events.pop_first() {
            match event {
                Event::Repaired { fibre } => self.set(fibre, true, now),
                Event::Failed { fibre } => self.set(fibre, false, now),
                Event::Chosen { lightpath, attempt } => self.choose(lightpath, attempt, now),
                Event::Message { lightpath, attempt, hop } => {
                    self.message(lightpath, attempt, hop, now);
                }
                Event::SetUp { lightpath, attempt } => self.set_up(lightpath, attempt, now),
                Event::Return { lightpath, repairs } => self.go_back(lightpath, repairs, now),
            }
        }
        for state in &mut self.states {
            if let Some(failure) = state.down_since {
                state.course.outages.push(Outage { failure, repair: None });
            }
        }
    }

    /// Sets the state of a fibre. The lightpaths follow after the last such event at this time.
    fn set(&mut self, fibre: usize, up: bool, now: Time) {
        self.up[fibre] = up;
        let next = self.events.first_key_value().map(|(key, ())| *key);
        let more =
            matches!(next, Some((at, Event::Repaired { .. } | Event::Failed { .. })) if at == now);
        if !more {
            (0..self.states.len()).for_each(|lightpath| self.follow(lightpath, now));
        }
    }

    fn is_up(&self, path: &[usize]) -> bool {
        path.iter().all(|&fibre| self.up[fibre])
    }

    /// Updates a lightpath after changes of fibres.
    fn follow(&mut self, lightpath: usize, now: Time) {
        let timing = self.layer.timing;
        let working_is_up = self.is_up(&self.layer.lightpaths[lightpath].working);
        let is_up = self.is_up(&self.states[lightpath].path);
        let state = &mut self.states[lightpath];
        if working_is_up != state.working_is_up {
            (state.working_is_up, state.repairs) = (working_is_up, state.repairs + 1);
            let repairs = state.repairs;
            if let Some(wait) = timing.wait_to_restore.filter(|_| working_is_up) {
                self.add(now + wait, Event::Return { lightpath, repairs });
            }
        }
        let state = &mut self.states[lightpath];
        match state.down_since {
            None if !is_up => {
                (state.down_since, state.attempt) = (Some(now), state.attempt + 1);
                let attempt = state.attempt;
                if self.layer.recovery != Recovery::None {
                    self.add(now + timing.detection, Event::Chosen { lightpath, attempt });
                }
            }
            Some(_) if is_up => self.come_up(lightpath, now),
            Some(_) if state.waits => {
                state.blocked.clear();
                let attempt = state.attempt;
                self.add(now, Event::Chosen { lightpath, attempt });
            }
            _ => {}
        }
    }

    fn come_up(&mut self, lightpath: usize, now: Time) {
        let state = &mut self.states[lightpath];
        if let Some(failure) = state.down_since.take() {
            state.course.outages.push(Outage { failure, repair: Some(now) });
        }
        state.attempt += 1;
        state.chosen.clear();
        state.reserved.clear();
        state.blocked.clear();
        state.waits = false;
    }

    fn choose(&mut self, lightpath: usize, attempt: u32, now: Time) {
        if self.states[lightpath].attempt != attempt {
            return;
        }
        let found = self.path(lightpath);
        let state = &mut self.states[lightpath];
        state.waits = found.is_none();
        let Some(path) = found else { return };
        state.chosen.clone_from(&path);
        let timing = self.layer.timing;
        let computed = now + timing.computation;
        if timing.signal_processing.is_some() {
            self.add(computed, Event::Message { lightpath, attempt, hop: 0 });
        } else {
            state.reserved = path;
            self.add(computed + timing.set_up, Event::SetUp { lightpath, attempt });
        }
    }

    /// Returns a path over fibres that are up and have a free wavelength.
    fn path(&self, lightpath: usize) -> Option<Vec<usize>> {
        let layer = self.layer;
        let one = &layer.lightpaths[lightpath];
        let blocked = &self.states[lightpath].blocked;
        let full = |&fibre: &usize| blocked.contains(&fibre) || !self.is_free(fibre, lightpath);
        let taken: BTreeSet<usize> = (0..layer.fibres.len()).filter(full).collect();
        let free = |path: &&Vec<usize>| {
            !path.is_empty() && path.iter().all(|fibre| !taken.contains(fibre))
        };
        match layer.recovery {
            Recovery::None => None,
            Recovery::Restoration => layer.shortest(one.ends, &taken),
            Recovery::Protection => [&one.working, &one.backup].into_iter().find(free).cloned(),
        }
    }

    /// Returns whether a fibre is up and has a wavelength for a lightpath.
    pub(super) fn is_free(&self, fibre: usize, lightpath: usize) -> bool {
        let most = self.layer.fibres[fibre].wavelengths.map_or(usize::MAX, |most| most as usize);
        self.up[fibre] && self.others_over(fibre, lightpath) < most
    }

    /// Returns the number of other lightpaths that have a wavelength of a fibre.
    fn others_over(&self, fibre: usize, lightpath: usize) -> usize {
        let returns = self.layer.timing.wait_to_restore.is_some();
        let has = |&other: &usize| {
            let (state, one) = (&self.states[other], &self.layer.lightpaths[other]);
            let over = |path: &[usize]| path.contains(&fibre);
            let kept = state.down_since.is_none() || state.reserved.is_empty();
            (kept && over(&state.path)) || over(&state.reserved) || (returns && over(&one.working))
        };
        (0..self.states.len()).filter(|&other| other != lightpath).filter(has).count()
    }

    fn set_up(&mut self, lightpath: usize, attempt: u32, now: Time) {
        let state = &mut self.states[lightpath];
        if state.attempt != attempt {
            return;
        }
        state.reserved.clear();
        let path = std::mem::take(&mut state.chosen);
        if self.is_up(&path) {
            self.change(lightpath, path, now);
            self.come_up(lightpath, now);
        } else {
            self.choose(lightpath, attempt, now);
        }
    }

    fn go_back(&mut self, lightpath: usize, repairs: u32, now: Time) {
        let working = &self.layer.lightpaths[lightpath].working;
        if self.states[lightpath].repairs != repairs || self.states[lightpath].path == *working {
            return;
        }
        self.change(lightpath, working.clone(), now);
        self.come_up(lightpath, now);
    }

    fn change(&mut self, lightpath: usize, path: Vec<usize>, now: Time) {
        let state = &mut self.states[lightpath];
        state.path.clone_from(&path);
        state.course.paths.push((now, path));
    }
}

#[cfg(test)]
pub(super) mod tests {
    use optcp_units::Duration;

    use super::*;
    use crate::lightpath::{Fibre, Lightpath, RecoveryTiming};

    pub(in super::super) fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_ms(ms)
    }

    pub(in super::super) fn outage(from: u64, to: u64) -> Outage {
        Outage { failure: at(from), repair: (to > 0).then(|| at(to)) }
    }

    /// Square A-B-C-D (fibres 0 to 3) of 1 ms per side with the diagonal A-C (fibre 4) of 5 ms. The lightpaths are
    /// A-B and B-C.
    pub(in super::super) fn square(
        recovery: Recovery,
        wavelengths: Option<u32>,
        wait: Option<u64>,
    ) -> OpticalLayer {
        let fibre = |a, b, ms| Fibre { ends: [a, b], delay: Duration::from_ms(ms), wavelengths };
        let mut layer = OpticalLayer {
            nodes: 4,
            fibres: vec![
                fibre(0, 1, 1),
                fibre(1, 2, 1),
                fibre(2, 3, 1),
                fibre(3, 0, 1),
                fibre(0, 2, 5),
            ],
            ducts: vec![],
            lightpaths: vec![],
            recovery,
            timing: RecoveryTiming {
                detection: Duration::from_ms(10),
                computation: Duration::from_ms(40),
                set_up: Duration::from_ms(50),
                signal_processing: None,
                wait_to_restore: wait.map(Duration::from_ms),
            },
        };
        for ends in [[0, 1], [1, 2]] {
            let working = layer.shortest(ends, &BTreeSet::new()).unwrap();
            let backup = layer.backup(ends, &working);
            layer.lightpaths.push(Lightpath { ends, working, backup });
        }
        layer
    }

    /// Returns the courses after outages of fibres, given as (fibre, from, to) in ms; 0 for no repair.
    pub(in super::super) fn courses(
        layer: &OpticalLayer,
        failures: &[(usize, u64, u64)],
    ) -> Vec<Course> {
        let of = |fibre| {
            let these = failures.iter().filter(|one| one.0 == fibre);
            these.map(|&(_, from, to)| outage(from, to)).collect()
        };
        layer.courses(&(0..5).map(of).collect::<Vec<_>>())
    }

    #[test]
    fn lightpaths_without_recovery_fail_with_their_fibres() {
        let found = courses(&square(Recovery::None, None, None), &[(0, 100, 500), (2, 50, 0)]);
        assert_eq!(found[0], Course { outages: vec![outage(100, 500)], paths: vec![] });
        assert_eq!(found[1], Course::default());
    }

    #[test]
    fn outage_without_duration_ends_at_once() {
        for recovery in [Recovery::None, Recovery::Restoration] {
            let found = courses(&square(recovery, None, None), &[(0, 100, 100), (0, 300, 350)]);
            let outages = vec![outage(100, 100), outage(300, 350)];
            assert_eq!(found[0], Course { outages, paths: vec![] });
            assert_eq!(found[1], Course::default());
        }
    }

    #[test]
    fn restoration_takes_detection_computation_and_set_up() {
        let found = courses(&square(Recovery::Restoration, None, None), &[(0, 100, 500)]);
        // A-D-C-B: 3 ms instead of A-C-B with 6 ms.
        let paths = vec![(at(200), vec![3, 2, 1])];
        assert_eq!(found[0], Course { outages: vec![outage(100, 200)], paths });
    }

    #[test]
    fn repair_before_recovery_ends_the_outage() {
        let found = courses(&square(Recovery::Restoration, None, None), &[(0, 100, 160)]);
        assert_eq!(found[0], Course { outages: vec![outage(100, 160)], paths: vec![] });
    }

    #[test]
    fn lightpath_returns_after_the_wait() {
        let layer = square(Recovery::Restoration, None, Some(1000));
        let found = courses(&layer, &[(0, 100, 500), (0, 700, 800)]);
        // The second failure interrupts the wait of the first repair.
        let paths = vec![(at(200), vec![3, 2, 1]), (at(1800), vec![0])];
        assert_eq!(found[0], Course { outages: vec![outage(100, 200)], paths });
    }

    #[test]
    fn failure_of_the_new_path_starts_another_computation() {
        // Chosen at 110 ms: A-D-C-B, which fails at 150 ms. At 200 ms: A-C-B, from 290 ms on.
        let layer = square(Recovery::Restoration, None, None);
        let found = courses(&layer, &[(0, 100, 0), (3, 150, 0)]);
        let paths = vec![(at(290), vec![4, 1])];
        assert_eq!(found[0], Course { outages: vec![outage(100, 290)], paths });
    }

    #[test]
    fn lightpath_without_a_path_waits_for_a_repair() {
        // Without fibres 0 and 1, node B is isolated. The repair of fibre 1 at 1 s lets A-B use it at 1.09 s.
        let layer = square(Recovery::Restoration, None, None);
        let found = courses(&layer, &[(0, 100, 0), (1, 100, 1000)]);
        assert_eq!(found[0].outages, vec![outage(100, 1090)]);
        assert_eq!(found[1], Course { outages: vec![outage(100, 1000)], paths: vec![] });
    }

    #[test]
    fn fibres_without_a_free_wavelength_are_avoided() {
        // One wavelength per fibre: B-C has the wavelength of fibre 1, the only other fibre of B.
        let layer = square(Recovery::Restoration, Some(1), None);
        assert_eq!(courses(&layer, &[(0, 100, 500)])[0].outages, vec![outage(100, 500)]);
        let layer = square(Recovery::Restoration, Some(2), None);
        assert_eq!(courses(&layer, &[(0, 100, 500)])[0].outages, vec![outage(100, 200)]);
    }

    #[test]
    fn protection_uses_its_backup_only() {
        let layer = square(Recovery::Protection, None, None);
        assert_eq!(layer.lightpaths[0].backup, [3, 2, 1]);
        let found = courses(&layer, &[(0, 100, 500)]);
        assert_eq!(found[0].paths, vec![(at(200), vec![3, 2, 1])]);
        // The backup is down, too; A-C-B would be free.
        let found = courses(&layer, &[(0, 100, 500), (3, 50, 0)]);
        assert_eq!(found[0], Course { outages: vec![outage(100, 500)], paths: vec![] });
    }

    #[test]
    fn backup_avoids_ducts() {
        let mut layer = square(Recovery::Protection, None, None);
        layer.ducts = vec![vec![0, 3]];
        assert_eq!(layer.backup([0, 1], &[0]), [4, 1]);
        layer.ducts = vec![vec![0, 3, 4]];
        assert_eq!(layer.backup([0, 1], &[0]), [3, 2, 1], "disjoint in fibres at least");
    }
}
