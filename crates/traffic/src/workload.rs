//! Flow sizes by points of a distribution function, from datacenter measurements or a table.

use std::borrow::Cow;

use optcp_des::{Stream, variates::unit};

use crate::SizesKind;

/// Piecewise linear distribution function of flow sizes.
///
/// # Model
/// Points of the user, or flow sizes measured at the servers of three datacenters:
///
/// - `web-search`: queries, coordination and updates of an index;
/// - `data-mining`: an analysis cluster in which half of the flows have a kilobyte and a few per cent carry nearly all
///   data;
/// - `hadoop`: a cluster with a single task.
///
/// Sizes above the maximum are excluded; the others keep their proportions.
///
/// # References
/// `web-search`: M. Alizadeh et al., "Data Center TCP", SIGCOMM 2010. `data-mining`: A. Greenberg et al., "VL2: a
/// scalable and flexible data center network", SIGCOMM 2009. `hadoop`: A. Roy et al., "Inside the social network's
/// (datacenter) network", SIGCOMM 2015. The papers print curves; the points are those that later studies read off them
/// and share with their traffic generators (W. Bai et al., NSDI 2016; Y. Li et al., "HPCC", SIGCOMM 2019).
///
/// # Limitations
/// Sizes are uniform between two points, and between zero and the first one. Two points of equal size define a share of
/// flows with exactly this size. Sizes are drawn independently, because the curves contain no correlations.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    kind: SizesKind,
    /// Bytes, and the share of flows that are not larger; from (0, 0) to (..., 1).
    points: Cow<'static, [(f64, f64)]>,
    largest: f64,
    /// Share of flows that are not larger than `largest`.
    within: f64,
}

const WEB_SEARCH: &[(f64, f64)] = &[
    (0.0, 0.0),
    (10e3, 0.15),
    (20e3, 0.2),
    (30e3, 0.3),
    (50e3, 0.4),
    (80e3, 0.53),
    (200e3, 0.6),
    (1e6, 0.7),
    (2e6, 0.8),
    (5e6, 0.9),
    (10e6, 0.97),
    (30e6, 1.0),
];
const DATA_MINING: &[(f64, f64)] = &[
    (0.0, 0.0),
    (180.0, 0.1),
    (216.0, 0.2),
    (560.0, 0.3),
    (900.0, 0.4),
    (1100.0, 0.5),
    (1870.0, 0.6),
    (3160.0, 0.7),
    (10e3, 0.8),
    (400e3, 0.9),
    (3.16e6, 0.95),
    (100e6, 0.98),
    (1e9, 1.0),
];
const HADOOP: &[(f64, f64)] = &[
    (0.0, 0.0),
    (100.0, 0.01),
    (200.0, 0.02),
    (300.0, 0.05),
    (350.0, 0.15),
    (400.0, 0.2),
    (500.0, 0.3),
    (600.0, 0.4),
    (700.0, 0.5),
    (1e3, 0.6),
    (2e3, 0.67),
    (7e3, 0.7),
    (30e3, 0.72),
    (50e3, 0.82),
    (80e3, 0.87),
    (120e3, 0.9),
    (300e3, 0.95),
    (1e6, 0.975),
    (2e6, 0.99),
    (10e6, 1.0),
];

impl Workload {
    /// Creates a measured workload up to `largest` bytes; `None` for other kinds, or if nothing is left of it.
    #[must_use]
    pub fn new(kind: SizesKind, largest: Option<f64>) -> Option<Self> {
        let points = match kind {
            SizesKind::WebSearch => WEB_SEARCH,
            SizesKind::DataMining => DATA_MINING,
            SizesKind::Hadoop => HADOOP,
            _ => return None,
        };
        Self::up_to(kind, Cow::Borrowed(points), largest)
    }

    /// Creates a workload from points: bytes, and the share of flows that are not larger. Neither decreases, and the
    /// last share is 1. Returns `None` if nothing is left up to `largest` bytes.
    #[must_use]
    pub fn of_points(points: &[(f64, f64)], largest: Option<f64>) -> Option<Self> {
        let points = std::iter::once((0.0, 0.0)).chain(points.iter().copied()).collect();
        Self::up_to(SizesKind::Points, Cow::Owned(points), largest)
    }

    fn up_to(
        kind: SizesKind,
        points: Cow<'static, [(f64, f64)]>,
        largest: Option<f64>,
    ) -> Option<Self> {
        let end = points.last()?.0;
        let largest = largest.unwrap_or(end).min(end);
        if largest < 1.0 {
            return None;
        }
        let place = points.windows(2).position(|two| largest <= two[1].0)?;
        let [(a, p), (b, q)] = [points[place], points[place + 1]];
        // Flows of exactly this size are included.
        let same = points[place + 2..].iter().take_while(|&&(size, _)| size <= largest).last();
        let within = same.map_or(p + (q - p) * (largest - a) / (b - a), |&(_, share)| share);
        (within > 0.0).then_some(Workload { kind, points, largest, within })
    }

    /// Returns the kind of the workload.
    #[must_use]
    pub fn kind(&self) -> SizesKind {
        self.kind
    }

    /// Returns the maximum size.
    #[must_use]
    pub fn largest(&self) -> f64 {
        self.largest
    }

    /// Returns the points: bytes, and the share of flows that are not larger; the first one is (0, 0).
    #[must_use]
    pub fn points(&self) -> &[(f64, f64)] {
        &self.points
    }

    /// Returns the mean: midpoints of the pieces weighted by their shares.
    pub(crate) fn mean(&self) -> f64 {
        let sum: f64 = pieces(&self.points)
            .take_while(|&[(a, _), (b, _)]| a < self.largest || b <= self.largest)
            .map(|[(a, p), (b, q)]| {
                let (b, q) = if b > self.largest { (self.largest, self.within) } else { (b, q) };
                (q - p) * f64::midpoint(a, b)
            })
            .sum();
        sum / self.within
    }

    pub(crate) fn draw(&self, stream: &mut Stream) -> f64 {
        let share = self.within * unit(stream);
        let piece = pieces(&self.points).find(|&[_, (_, q)]| share <= q);
        piece.map_or(self.largest, |[(a, p), (b, q)]| a + (b - a) * (share - p) / (q - p))
    }
}

/// Returns the pieces between adjacent points.
fn pieces(points: &[(f64, f64)]) -> impl Iterator<Item = [(f64, f64); 2]> {
    points.windows(2).map(|two| [two[0], two[1]])
}

#[cfg(test)]
mod tests {
    use optcp_des::Streams;

    use super::*;

    /// Computed by hand, in kB: `0.15 x 5 + 0.05 x 15 + 0.1 x 25 + 0.1 x 40 + 0.13 x 65 + 0.07 x
    /// 140 + 0.1 x 600 + 0.1 x 1500 + 0.1 x 3500 + 0.07 x 7500 + 0.03 x 20 000` = 1711.25.
    #[test]
    fn mean_of_web_search_matches_hand_calculation() {
        let all = Workload::new(SizesKind::WebSearch, None).expect("a workload");
        assert!((all.mean() - 1_711_250.0).abs() < 1e-3);
        // Up to 200 kB: 26.25 of 0.6.
        let small = Workload::new(SizesKind::WebSearch, Some(200e3)).expect("a workload");
        assert!((small.mean() - 26_250.0 / 0.6).abs() < 1e-3);
    }

    #[test]
    fn drawn_sizes_match_points() {
        let n = 100_000_u32;
        for kind in [SizesKind::WebSearch, SizesKind::DataMining, SizesKind::Hadoop] {
            let workload = Workload::new(kind, None).expect("a workload");
            let mut stream = Streams::new(3).stream("sizes");
            let drawn: Vec<f64> = (0..n).map(|_| workload.draw(&mut stream)).collect();
            for &(size, share) in workload.points() {
                let below = drawn.iter().filter(|&&drawn| drawn <= size).count() as f64;
                // Four standard deviations of a share of n draws: at most 4 x 0.5 / sqrt(1e5) = 0.0063.
                assert!((below / f64::from(n) - share).abs() < 0.0064, "{kind:?} {size}");
            }
        }
    }

    #[test]
    fn no_size_exceeds_the_maximum() {
        let workload = Workload::new(SizesKind::DataMining, Some(5e3)).expect("a workload");
        let mut stream = Streams::new(4).stream("sizes");
        assert!((0..10_000).all(|_| workload.draw(&mut stream) <= 5e3));
        assert_eq!(Workload::new(SizesKind::Hadoop, Some(0.0)), None);
        assert_eq!(Workload::new(SizesKind::Pareto, None), None);
    }

    /// 30 % up to 1 kB, 20 % of exactly 1 kB, none up to 4 kB, and 50 % up to 10 kB. Computed by
    /// hand, in kB: 0.3 x 0.5 + 0.2 x 1 + 0.5 x 7 = 3.85. Up to 1 kB it is 0.35 of 0.5, and up to 7
    /// kB 0.35 + 0.25 x 5.5 = 1.725 of 0.75.
    #[test]
    fn sizes_of_table_match_hand_calculation() {
        let points = [(1e3, 0.3), (1e3, 0.5), (4e3, 0.5), (10e3, 1.0)];
        let up_to = |largest| Workload::of_points(&points, largest).expect("a workload");
        for (largest, mean) in [
            (None, 3850.0),
            (Some(20e3), 3850.0),
            (Some(1e3), 700.0),
            (Some(4e3), 700.0),
            (Some(7e3), 2300.0),
        ] {
            assert!(
                (up_to(largest).mean() - mean).abs() < 1e-9,
                "{largest:?}: {}",
                up_to(largest).mean()
            );
        }
        let mut stream = Streams::new(5).stream("sizes");
        let n = 100_000_u32;
        let drawn: Vec<f64> = (0..n).map(|_| up_to(None).draw(&mut stream)).collect();
        let share = |fits: &dyn Fn(f64) -> bool| {
            drawn.iter().filter(|&&size| fits(size)).count() as f64 / f64::from(n)
        };
        // Four standard deviations of a share of n draws: at most 0.0063.
        assert!((share(&|size| size < 1e3) - 0.3).abs() < 0.0064);
        assert!((share(&|size| (size - 1e3).abs() < 1e-9) - 0.2).abs() < 0.0064);
        assert!((share(&|size| size > 7e3) - 0.25).abs() < 0.0064);
        assert!(!drawn.iter().any(|size| (1000.1..=4000.0).contains(size)));
        // All flows have the same size, and no flows remain.
        let one = Workload::of_points(&[(500.0, 0.0), (500.0, 1.0)], None).expect("a workload");
        assert!((0..100).all(|_| (one.draw(&mut stream) - 500.0).abs() < 1e-9));
        assert!((one.mean() - 500.0).abs() < 1e-9);
        assert_eq!(Workload::of_points(&[(500.0, 0.0), (500.0, 1.0)], Some(400.0)), None);
        assert_eq!(Workload::of_points(&[(0.0, 1.0)], None), None);
    }
}
