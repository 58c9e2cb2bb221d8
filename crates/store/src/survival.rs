//! Survival analysis of durations that the end of the run censors (right-censored observations).
//!
//! # Model
//! Product-limit estimator of the distribution. A censored observation distributes its share among longer
//! ones; a remaining share lies beyond the longest observed time.
//!
//! # References
//! E. L. Kaplan, P. Meier, Nonparametric estimation from incomplete observations, J. Am. Stat. Assoc. 53
//! (1958) 457-481. The mean restricted to the longest time observed: J. O. Irwin, J. Hygiene 47 (1949)
//! 188-189; P. Royston, M. K. B. Parmar, BMC Med. Res. Methodol. 13 (2013) 152.
//!
//! # Limitations
//! The duration of a flow must not depend on its start time, except by chance. The estimator is biased if
//! flows that start late, and are observed for less time, are slower or faster than others.

/// Duration, or a lower bound of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observation {
    /// Time in seconds.
    pub seconds: f64,
    /// `true`: the end was observed.
    pub ended: bool,
}

/// Estimate; infinite if the observations only show a lower bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Estimate {
    pub(crate) value: f64,
    /// `value`, or its lower bound.
    pub(crate) at_least: f64,
}

impl Estimate {
    pub(crate) const fn exact(value: f64) -> Self {
        Estimate { value, at_least: value }
    }

    const fn beyond(bound: f64) -> Self {
        Estimate { value: f64::INFINITY, at_least: bound }
    }
}

/// Estimated distribution of durations.
#[derive(Clone, Debug)]
pub(crate) struct Survival {
    /// Observed durations in ascending order, with their shares.
    ended: Vec<(f64, f64)>,
    /// Share of durations beyond the longest observed time.
    beyond: f64,
    /// Longest observed time.
    longest: f64,
}

/// Returns the share of each observation by the product-limit estimator, zero for censored ones. The
/// remainder to 1 lies beyond the longest observed time.
#[must_use]
pub fn product_limit(observations: &[Observation]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..observations.len()).collect();
    // An end at the same time as a censored observation counts as earlier.
    order.sort_by(|&one, &other| {
        let [one, other] = [one, other].map(|place| observations[place]);
        one.seconds.total_cmp(&other.seconds).then(other.ended.cmp(&one.ended))
    });
    let mut shares = vec![0.0; observations.len()];
    let mut beyond = 1.0;
    for (place, &at) in order.iter().enumerate() {
        if observations[at].ended {
            shares[at] = beyond / count(observations.len() - place);
            beyond -= shares[at];
        }
    }
    shares
}

#[expect(clippy::cast_precision_loss, reason = "numbers of flows")]
fn count(number: usize) -> f64 {
    number as f64
}

/// Tolerance for rounding of sums of shares, so that an exactly reached share counts as reached.
const ROUNDING: f64 = 1e-12;

impl Survival {
    /// Returns the distribution of some observations; `None` without any.
    pub(crate) fn of(observations: Vec<Observation>) -> Option<Self> {
        Self::with_endless(observations, &[])
    }

    /// Returns the distribution of some observations and of durations known to be infinite, with the times for which
    /// these were observed; `None` without any.
    pub(crate) fn with_endless(
        mut observations: Vec<Observation>,
        endless: &[f64],
    ) -> Option<Self> {
        let observed = observations.iter().map(|one| one.seconds).chain(endless.iter().copied());
        let longest = observed.max_by(f64::total_cmp)?;
        let never = Observation { seconds: f64::INFINITY, ended: false };
        observations.extend(endless.iter().map(|_| never));
        observations.sort_by(|one, other| one.seconds.total_cmp(&other.seconds));
        // The last observation takes the remaining share.
        let cut = observations.iter().any(|one| !one.ended && one.seconds >= longest);
        let shares = product_limit(&observations);
        let ended = observations.iter().zip(shares).filter(|(one, _)| one.ended);
        let ended: Vec<(f64, f64)> = ended.map(|(one, share)| (one.seconds, share)).collect();
        let beyond = 1.0 - ended.iter().map(|(_, share)| share).sum::<f64>();
        Some(Survival { ended, beyond: if cut { beyond.max(0.0) } else { 0.0 }, longest })
    }

    /// Returns the smallest duration that at least this share does not exceed.
    pub(crate) fn quantile(&self, share: f64) -> Estimate {
        let mut reached = 0.0;
        for &(seconds, part) in &self.ended {
            reached += part;
            if reached >= share * (1.0 - ROUNDING) {
                return Estimate::exact(seconds);
            }
        }
        Estimate::beyond(self.longest)
    }

    /// Returns the mean. If some durations exceed the longest observed time, its bound is the mean restricted
    /// to that time.
    pub(crate) fn mean(&self) -> Estimate {
        let restricted = self.ended.iter().map(|(seconds, share)| seconds * share).sum::<f64>()
            + self.beyond * self.longest;
        if self.beyond > 0.0 { Estimate::beyond(restricted) } else { Estimate::exact(restricted) }
    }

    /// Returns the maximum duration.
    pub(crate) fn longest(&self) -> Estimate {
        if self.beyond > 0.0 {
            Estimate::beyond(self.longest)
        } else {
            Estimate::exact(self.longest)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn survival(observations: &[(f64, bool)]) -> Survival {
        let one = |&(seconds, ended): &(f64, bool)| Observation { seconds, ended };
        Survival::of(observations.iter().map(one).collect()).expect("observations")
    }

    fn near(estimate: Estimate, value: f64, at_least: f64) {
        let equal =
            |one: f64, other: f64| one.to_bits() == other.to_bits() || (one - other).abs() < 1e-9;
        assert!(equal(estimate.value, value) && equal(estimate.at_least, at_least), "{estimate:?}");
    }

    /// Remission times in weeks of 21 patients with 6-mercaptopurine (E. J. Freireich et al., Blood 21 (1963)
    /// 699-716), the standard example of D. R. Cox, D. Oakes, Analysis of Survival Data, 1984.
    #[test]
    fn product_limit_estimates_match_the_textbook() {
        let ended = [6, 6, 6, 7, 10, 13, 16, 22, 23].map(|week| (f64::from(week), true));
        let cut =
            [6, 9, 10, 11, 17, 19, 20, 25, 32, 32, 34, 35].map(|week| (f64::from(week), false));
        let leukaemia = survival(&[&ended[..], &cut[..]].concat());
        let mut left = 1.0;
        let mut found: Vec<(f64, f64)> = Vec::new();
        for &(week, share) in &leukaemia.ended {
            left -= share;
            match found.last_mut() {
                Some(last) if last.0.to_bits() == week.to_bits() => last.1 = left,
                _ => found.push((week, left)),
            }
        }
        let book = [
            (6.0, 0.857),
            (7.0, 0.807),
            (10.0, 0.753),
            (13.0, 0.690),
            (16.0, 0.627),
            (22.0, 0.538),
            (23.0, 0.448),
        ];
        assert_eq!(found.len(), book.len());
        for ((week, left), (weeks, expected)) in found.into_iter().zip(book) {
            assert!(
                (week - weeks).abs() < 1e-9 && (left - expected).abs() < 5e-4,
                "{week}: {left}"
            );
        }
        // The median remission is 23 weeks; 60 % is never reached, and the longest observed time is 35 weeks.
        near(leukaemia.quantile(0.5), 23.0, 23.0);
        near(leukaemia.quantile(0.6), f64::INFINITY, 35.0);
        near(leukaemia.longest(), f64::INFINITY, 35.0);
    }

    #[test]
    fn without_censoring_estimates_match_the_sample() {
        let sample = survival(&[(8.0, true), (1.0, true), (4.0, true), (2.0, true)]);
        near(sample.mean(), 3.75, 3.75);
        near(sample.quantile(0.5), 2.0, 2.0);
        near(sample.quantile(0.51), 4.0, 4.0);
        near(sample.quantile(0.99), 8.0, 8.0);
        near(sample.longest(), 8.0, 8.0);
        assert!(Survival::of(Vec::new()).is_none());
    }

    /// Computed by hand: of three flows that start together, two end after 1 and 2 s and one is
    /// censored after 3 s. The mean is therefore above (1 + 2 + 3) / 3 s. Censored after 1.5 s, it
    /// lasts as long as the longer flow: 1/3 of 1 s, 2/3 of 2 s.
    #[test]
    fn a_flow_cut_by_the_end_counts_as_later_than_its_cut() {
        let last = survival(&[(1.0, true), (2.0, true), (3.0, false)]);
        near(last.mean(), f64::INFINITY, 2.0);
        near(last.quantile(0.5), 2.0, 2.0);
        near(last.quantile(0.9), f64::INFINITY, 3.0);
        let early = survival(&[(1.0, true), (2.0, true), (1.5, false)]);
        near(early.mean(), 5.0 / 3.0, 5.0 / 3.0);
        near(early.quantile(0.99), 2.0, 2.0);
        // A flow aborted after 0.5 s never ends: half of the flows take longer than any observed one.
        let cut = Observation { seconds: 1.5, ended: false };
        let ended = [1.0, 2.0].map(|seconds| Observation { seconds, ended: true });
        let aborted = Survival::with_endless([&ended[..], &[cut]].concat(), &[0.5]).unwrap();
        near(aborted.quantile(0.25), 1.0, 1.0);
        near(aborted.quantile(0.625), 2.0, 2.0);
        near(aborted.quantile(0.7), f64::INFINITY, 2.0);
        near(aborted.mean(), f64::INFINITY, 0.25 + 0.375 * 4.0);
        // None has ended.
        let none = survival(&[(3.0, false), (1.0, false)]);
        near(none.mean(), f64::INFINITY, 3.0);
        near(none.quantile(0.01), f64::INFINITY, 3.0);
    }
}
