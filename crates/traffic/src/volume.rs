//! Flow sizes.

use optcp_des::{
    Stream,
    variates::{exponential, normal_pair, unit},
};

use crate::Workload;

/// Distribution of flow sizes in bytes.
#[derive(Clone, Debug, PartialEq)]
pub enum Volume {
    /// Constant size.
    Fixed(u64),
    /// Exponential with this mean, rounded up to bytes.
    Exponential(u64),
    /// Sizes by [`BoundedPareto`].
    Pareto(BoundedPareto),
    /// Sizes by [`WebLike`].
    Web(WebLike),
    /// Sizes by [`Workload`].
    Measured(Workload),
}

impl Volume {
    /// Returns the size of the next flow, at least one byte.
    pub fn draw(&self, stream: &mut Stream) -> u64 {
        match self {
            Volume::Fixed(bytes) => (*bytes).max(1),
            Volume::Exponential(mean) => whole(*mean as f64 * exponential(stream)),
            Volume::Pareto(pareto) => whole(pareto.draw(stream)),
            Volume::Web(web) => whole(web.draw(stream)),
            Volume::Measured(workload) => whole(workload.draw(stream)),
        }
    }

    /// Returns the mean in bytes, before rounding up.
    #[must_use]
    pub fn mean(&self) -> f64 {
        match self {
            Volume::Fixed(bytes) => *bytes as f64,
            Volume::Exponential(mean) => *mean as f64,
            Volume::Pareto(pareto) => pareto.mean(),
            Volume::Web(web) => web.mean(),
            Volume::Measured(workload) => workload.mean(),
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the cast saturates")]
fn whole(bytes: f64) -> u64 {
    (libm::ceil(bytes) as u64).max(1)
}

/// Pareto distribution with a minimum and a maximum.
///
/// # Model
/// Most flows are small, and few flows carry most of the data.
///
/// # References
/// The Pareto distribution conditioned on not exceeding the maximum: P(X > x) = ((least / x)^shape - (least /
/// most)^shape) / (1 - (least / most)^shape).
///
/// # Limitations
/// The minimum is chosen to give the requested mean, including the bounds. Flows are rounded up to whole segments
/// afterwards.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoundedPareto {
    shape: f64,
    least: f64,
    most: f64,
}

impl BoundedPareto {
    /// Creates a distribution up to `most` with this mean; `None` unless the mean is below `most` and a minimum above
    /// one byte gives it.
    #[must_use]
    pub fn with_mean(mean: f64, shape: f64, most: f64) -> Option<Self> {
        let with_minimum = |least| BoundedPareto { shape, least, most };
        if !(shape > 0.0 && mean < most && mean > with_minimum(1.0).mean()) {
            return None;
        }
        // The mean grows with the minimum.
        let (mut low, mut high) = (1.0, mean);
        for _ in 0..200 {
            let middle = f64::midpoint(low, high);
            if with_minimum(middle).mean() < mean {
                low = middle;
            } else {
                high = middle;
            }
        }
        Some(with_minimum(f64::midpoint(low, high)))
    }

    /// Returns the shape, the minimum and the maximum.
    #[must_use]
    pub fn parameters(&self) -> [f64; 3] {
        [self.shape, self.least, self.most]
    }

    /// Returns the mean: the integral of x times the density from the minimum to the maximum.
    fn mean(&self) -> f64 {
        let BoundedPareto { shape, least, most } = *self;
        let cut = libm::pow(least / most, shape);
        let ratio = most / least;
        // The general formula loses all digits near shape 1.
        let integral = if (shape - 1.0).abs() < 1e-6 {
            least * libm::log(ratio)
        } else {
            least * shape / (shape - 1.0) * (1.0 - libm::pow(ratio, 1.0 - shape))
        };
        integral / (1.0 - cut)
    }

    fn draw(&self, stream: &mut Stream) -> f64 {
        let cut = libm::pow(self.least / self.most, self.shape);
        let survival = cut + (1.0 - cut) * unit(stream);
        self.least * libm::pow(survival, -1.0 / self.shape)
    }
}

/// Sizes of web transfers.
///
/// # Model
/// Web files: a lognormal body and a Pareto tail.
///
/// # References
/// P. Barford, M. Crovella, "Generating representative web workloads for network and server
/// performance evaluation" (SURGE), SIGMETRICS 1998, table of file sizes. Lognormal with mu = 9.357
/// and sigma = 1.318 up to 133 kB, which covers 93 %; above, Pareto with shape 1.1.
///
/// # Limitations
/// The body is the lognormal conditioned on being below 133 kB. There is one transfer per flow, without think times and
/// pages with embedded objects. The mean depends on the maximum, because the tail index is close to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WebLike {
    tail: BoundedPareto,
}

impl WebLike {
    /// Start of the tail in bytes.
    pub const TAIL_FROM: f64 = 133_000.0;
    const BODY: f64 = 0.93;
    const MU: f64 = 9.357;
    const SIGMA: f64 = 1.318;
    const SHAPE: f64 = 1.1;

    /// Creates a distribution up to `most` bytes; `None` if this is below the start of the tail.
    #[must_use]
    pub fn new(most: f64) -> Option<Self> {
        let tail = BoundedPareto { shape: Self::SHAPE, least: Self::TAIL_FROM, most };
        (most > Self::TAIL_FROM).then_some(WebLike { tail })
    }

    /// Returns the maximum.
    #[must_use]
    pub fn largest(&self) -> f64 {
        self.tail.most
    }

    fn draw(&self, stream: &mut Stream) -> f64 {
        if unit(stream) > Self::BODY {
            return self.tail.draw(stream);
        }
        // One draw in thirty exceeds the body and is redrawn.
        loop {
            let [normal, _] = normal_pair(stream);
            let size = libm::exp(Self::MU + Self::SIGMA * normal);
            if size <= Self::TAIL_FROM {
                return size;
            }
        }
    }

    /// Returns the mean. The body's is exp(mu + sigma^2 / 2) Phi(z - sigma) / Phi(z), with the tail starting at z.
    fn mean(&self) -> f64 {
        let below = |z: f64| 0.5 * libm::erfc(-z * std::f64::consts::FRAC_1_SQRT_2);
        let z = (libm::log(Self::TAIL_FROM) - Self::MU) / Self::SIGMA;
        let unbounded = libm::exp(Self::MU + Self::SIGMA * Self::SIGMA / 2.0);
        let body = unbounded * below(z - Self::SIGMA) / below(z);
        Self::BODY * body + (1.0 - Self::BODY) * self.tail.mean()
    }
}

#[cfg(test)]
mod tests {
    use optcp_des::Streams;

    use super::*;

    fn mean_of(volume: Volume, n: u32) -> f64 {
        let mut stream = Streams::new(1).stream("volumes");
        let sum: f64 = (0..n).map(|_| volume.draw(&mut stream) as f64).sum();
        sum / f64::from(n)
    }

    #[test]
    fn bounded_pareto_has_requested_mean() {
        for shape in [0.9, 1.0, 1.2, 2.5] {
            let pareto = BoundedPareto::with_mean(10_000.0, shape, 200_000.0).expect("a mean");
            assert!((pareto.mean() - 10_000.0).abs() < 1e-3);
            let mean = mean_of(Volume::Pareto(pareto), 200_000);
            // E X^2 is at most mean x most = 2e9: a standard deviation below 44 721, and 100 for the mean. Rounding up
            // adds half a byte.
            assert!((mean - 10_000.5).abs() < 400.0, "shape {shape}: {mean}");
        }
        assert_eq!(BoundedPareto::with_mean(300.0, 1.2, 200.0), None);
    }

    /// Shape 2 from 1 to 10, by hand: the integral of 2 / x^2 from 1 to 10 over 1 - 1/100 is 1.8 / 0.99 = 1.818182.
    #[test]
    fn mean_of_bounded_pareto_matches_hand_calculation() {
        let pareto = BoundedPareto { shape: 2.0, least: 1.0, most: 10.0 };
        assert!((pareto.mean() - 1.818_182).abs() < 1e-6);
    }

    #[test]
    fn web_like_sizes_match_formulas() {
        let web = WebLike::new(10e6).expect("room for the tail");
        let mut stream = Streams::new(2).stream("volumes");
        let n = 200_000_u32;
        let mut drawn: Vec<f64> = (0..n).map(|_| web.draw(&mut stream)).collect();
        drawn.sort_by(f64::total_cmp);
        let body = drawn.iter().filter(|&&size| size <= WebLike::TAIL_FROM).count() as f64;
        assert!((body / f64::from(n) - 0.93).abs() < 4.0 * (0.93 * 0.07 / f64::from(n)).sqrt());
        // The median of the body's lognormal, exp(9.357) = 11 580 B, exceeds 0.93 x 0.5 / Phi(1.8523) = 0.4802 of all
        // sizes; Phi(1.8523) = 0.96801.
        let below = drawn.iter().filter(|&&size| size <= libm::exp(9.357)).count() as f64;
        assert!((below / f64::from(n) - 0.4804).abs() < 0.005, "{}", below / f64::from(n));
        let mean = drawn.iter().sum::<f64>() / f64::from(n);
        // E X^2 is about 0.07 x 133000 x 10e6 x ...: a standard deviation below 310 000, 700 for the mean.
        assert!((mean - web.mean()).abs() < 2800.0, "{mean} for {}", web.mean());
    }

    #[test]
    fn exponential_flow_sizes_have_expected_mean() {
        let mean = mean_of(Volume::Exponential(10_000), 100_000);
        // Standard error 10 000 / sqrt(1e5) = 31.6.
        assert!((mean - 10_000.5).abs() < 4.0 * 31.6, "{mean}");
    }
}
