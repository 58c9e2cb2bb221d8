//! Wavelength requests and utilisation by fibre and interval, from tallies.

use optcp_optical::switching::{FibreId, FibreTally};
use optcp_units::{Duration, Time};

use super::column::Values::{F64, U64};
use super::column::{Findings, Names, column};
use super::observed::{Keys, Links, Observed, Watched};
use super::observer::Counters;
use super::readings::Readings;

/// Tallies of chosen fibres at the ends of the intervals [`after` + i T, `after` + (i + 1) T).
#[derive(Clone, Debug)]
pub(super) struct Fibres {
    /// Fibres with their numbers of wavelengths.
    fibres: Vec<(FibreId, u32)>,
    readings: Readings<FibreTally>,
}

impl Observed for Fibres {
    const KEYS: Keys =
        Keys { links: Some(Links::Fibres), interval: true, after: true, ..Keys::NONE };

    fn new(watched: &Watched<'_>) -> Self {
        let core = &watched.blueprint.core;
        let fibres = watched.fibres.iter().map(|&fibre| (fibre, core.wavelengths(fibre)));
        Fibres { fibres: fibres.collect(), readings: Readings::new(watched) }
    }

    fn next_reading(&self) -> Option<Time> {
        self.readings.next()
    }

    fn read(&mut self, counters: &dyn Counters) {
        let tally = |&(fibre, _): &(FibreId, u32)| counters.fibre_tally(fibre);
        self.readings.add(self.fibres.iter().map(tally).collect());
    }

    fn findings(&self) -> Findings {
        let readings = &self.readings;
        let utilisation = |fibre: usize, length, before: &_, after: &_| {
            utilisation(self.fibres[fibre].1, length, before, after)
        };
        Findings {
            names: vec![("fibres", Names::ChosenLinks)],
            columns: vec![
                column("bursts", U64(readings.growth(|tally| tally.bursts))),
                column("bytes", U64(readings.growth(|tally| tally.bytes))),
                column("lost", U64(readings.growth(|tally| tally.lost))),
                column("lost_bytes", U64(readings.growth(|tally| tally.lost_bytes))),
                column("utilisation", F64(readings.rows(utilisation))),
            ],
        }
    }
}

/// Returns the share of a fibre's wavelengths that was reserved in an interval.
#[expect(clippy::cast_precision_loss, reason = "a share of very many picoseconds")]
fn utilisation(wavelengths: u32, length: Duration, before: &FibreTally, after: &FibreTally) -> f64 {
    (after.busy_ps - before.busy_ps) as f64 / (length.as_ps() as f64 * f64::from(wavelengths))
}
