//! Reservation of wavelengths by messages, with crankback.
//!
//! # Model
//! The first end of a lightpath chooses a path with the wavelengths that are free at this time. After the computation, a
//! message visits the nodes of the path and reserves a wavelength of each fibre. A confirmation returns from the other
//! end, and the set-up follows. A message returns from a fibre that is down or has no free wavelength. Its reservations
//! end, and the first end chooses a path without that fibre. Every node takes
//! `signal_processing` for a message, and fibres take their propagation delay. So lightpaths that fail together contend
//! for wavelengths.
//!
//! # References
//! RFC 3473 (Path and Resv messages of RSVP-TE); RFC 4920 (crankback); RFC 4427, section 4.6 (shared-mesh recovery).
//!
//! # Limitations
//! Reservations of a message that returns end at once. The number of attempts is unlimited, but each excludes another
//! fibre. Excluded fibres are considered again after the next repair.

use optcp_units::{Duration, Time};

use super::course::{Courses, Event};

impl Courses<'_> {
    /// Handles a message in front of a fibre of its path.
    pub(super) fn message(&mut self, lightpath: usize, attempt: u32, hop: usize, now: Time) {
        if self.states[lightpath].attempt != attempt {
            return;
        }
        let path = &self.states[lightpath].chosen;
        let (fibre, is_last) = (path[hop], hop + 1 == path.len());
        if !self.is_free(fibre, lightpath) {
            let back = self.delay(&path[..hop]);
            let state = &mut self.states[lightpath];
            state.reserved.clear();
            state.blocked.insert(fibre);
            self.add(now + back, Event::Chosen { lightpath, attempt });
            return;
        }
        let there = now + self.delay(&path[hop..=hop]);
        let event = match is_last {
            true => {
                let confirmed = there + self.delay(path);
                (confirmed + self.layer.timing.set_up, Event::SetUp { lightpath, attempt })
            }
            false => (there, Event::Message { lightpath, attempt, hop: hop + 1 }),
        };
        self.states[lightpath].reserved.push(fibre);
        self.add(event.0, event.1);
    }

    /// Returns the time of a message over fibres, with the processing in the node behind each.
    fn delay(&self, fibres: &[usize]) -> Duration {
        let processing = self.layer.timing.signal_processing.unwrap_or(Duration::ZERO);
        let fibres = fibres.iter().map(|&fibre| self.layer.fibres[fibre].delay + processing);
        fibres.fold(Duration::ZERO, |sum, delay| sum + delay)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use optcp_units::Duration;

    use super::super::course::tests::{at, courses, outage, square};
    use super::super::{Course, Lightpath, OpticalLayer, Recovery};

    /// As `square`: sides of 1 ms and a diagonal A-C of 5 ms. Processing takes 2 ms.
    fn signalled(wavelengths: [Option<u32>; 5]) -> OpticalLayer {
        let mut layer = square(Recovery::Restoration, None, None);
        layer.timing.signal_processing = Some(Duration::from_ms(2));
        for (fibre, wavelengths) in layer.fibres.iter_mut().zip(wavelengths) {
            fibre.wavelengths = wavelengths;
        }
        layer
    }

    #[test]
    fn message_and_confirmation_take_their_time() {
        let found = courses(&signalled([None; 5]), &[(0, 100, 500)]);
        // 110 ms: A-D-C-B is chosen. 150 ms: the message leaves, 3 (1 + 2) ms in each direction, then 50 ms of set-up.
        let paths = vec![(at(218), vec![3, 2, 1])];
        assert_eq!(found[0], Course { outages: vec![outage(100, 218)], paths });
    }

    /// Two lightpaths A-B fail together, and fibre C-D has one wavelength. Both messages leave at 150 ms, and the first in
    /// order takes the wavelength of C-D at 153 ms. The other one is back in A at 156 ms. There, A-C-B is computed until
    /// 196 ms. The message and the confirmation take 5 + 2 + 1 + 2 ms each: 216 ms. After the set-up: 266 ms.
    #[test]
    fn message_without_a_wavelength_returns() {
        let mut layer = signalled([None, None, Some(1), None, None]);
        let twin = layer.lightpaths[0].clone();
        layer.lightpaths.push(twin);
        let found = courses(&layer, &[(0, 100, 500)]);
        assert_eq!(found[0].outages, vec![outage(100, 218)]);
        assert_eq!(found[2].outages, vec![outage(100, 266)]);
        assert_eq!(found[2].paths, vec![(at(266), vec![4, 1])]);
    }

    /// As before, but the diagonal has no second path: the lightpath waits for the repair.
    #[test]
    fn lightpath_without_a_path_waits_for_a_repair() {
        let mut layer = signalled([None, None, Some(1), None, Some(0)]);
        let twin = layer.lightpaths[0].clone();
        layer.lightpaths.push(twin);
        assert_eq!(courses(&layer, &[(0, 100, 500)])[2].outages, vec![outage(100, 500)]);
    }

    /// The fibre fails while the message travels to it.
    #[test]
    fn message_before_a_failed_fibre_returns() {
        let found = courses(&signalled([None; 5]), &[(0, 100, 500), (2, 152, 0)]);
        assert_eq!(found[0].paths, vec![(at(266), vec![4, 1])]);
    }

    /// After two failures at 200 pairs of times and fibres, no fibre has more lightpaths than wavelengths.
    #[test]
    fn fibres_never_have_more_lightpaths_than_wavelengths() {
        for number in 0..200_u64 {
            let mut layer = signalled([Some(4); 5]);
            for ends in [[0, 1], [0, 2], [1, 3], [2, 3], [0, 3]] {
                let working =
                    layer.shortest(ends, &BTreeSet::new()).expect("the square is connected");
                layer.lightpaths.push(Lightpath { ends, working, backup: Vec::new() });
            }
            let fibre = |n: u64| usize::try_from(n % 5).expect("below five");
            let failures = [
                (fibre(number), 100, 400 + number),
                (fibre(number / 5 + 1), 100 + number % 90, 600),
            ];
            let failures =
                if failures[0].0 == failures[1].0 { &failures[..1] } else { &failures[..] };
            let found = courses(&layer, failures);
            let mut times: Vec<_> =
                found.iter().flat_map(|one| one.paths.iter().map(|&(time, _)| time)).collect();
            times.sort();
            for time in times {
                for fibre in 0..5 {
                    let over = layer.lightpaths.iter().zip(&found).filter(|(lightpath, course)| {
                        let down = course.outages.iter().any(|outage| outage.covers(time));
                        let path = course.paths.iter().rfind(|&&(from, _)| from <= time);
                        !down && path.map_or(&lightpath.working, |(_, path)| path).contains(&fibre)
                    });
                    assert!(over.count() <= 4, "fibre {fibre} at {time} after {failures:?}");
                }
            }
        }
    }
}
