//! Bursts of each class, assembled again from the list of packets.

use optcp_optical::burst::Assembly;
use optcp_runs::Series;
use optcp_scenario::plan::BurstsPlan;
use optcp_units::Bytes;

use super::{Evidence, Row, called, whole};
use crate::check::{BURSTS, Failure, failure};

/// A burst with its packets.
pub(super) struct Carried<'r> {
    pub(super) at: u64,
    pub(super) class: u8,
    pub(super) rows: Vec<Row<'r>>,
}

impl Carried<'_> {
    pub(super) fn bytes(&self) -> u64 {
        self.rows.iter().map(|row| row.bytes).sum()
    }
}

/// Departure times, packets and bytes of a port's bursts.
type Listed = Vec<(u64, u64, u64)>;

impl<'r> Evidence<'r> {
    /// Returns the bursts of a port, which must be exactly the listed ones.
    pub(super) fn carried(&self, port: &str) -> Result<Vec<Carried<'r>>, Failure> {
        let mut listed = listed(super::series(self.run, BURSTS), port);
        let (bursts, number) = self.burst_port(port);
        let queued = self.rows.iter().filter(|row| row.event == "queued");
        let queued: Vec<Row<'r>> = queued.filter(|row| row.port == Some(number)).copied().collect();
        let mut carried = Vec::new();
        for class in 0..8 {
            let rows = queued.iter().filter(|row| self.burst_class(bursts, row) == class);
            let rows: Vec<Row<'r>> = rows.copied().collect();
            self.assemble((bursts, number % 2), class, &rows, &mut listed, &mut carried)?;
        }
        match listed.first() {
            Some(left) => failure("bursts", format!("{port}: nothing fills {left:?}")),
            None => Ok(carried),
        }
    }

    /// The bursts and the number of a port. A fibre may have the same name.
    pub(super) fn burst_port(&self, name: &str) -> (&'r BurstsPlan, usize) {
        let mut ports = self
            .plan
            .bursts
            .iter()
            .flat_map(|bursts| [0, 1].map(|direction| (bursts, 2 * bursts.link + direction)));
        ports.find(|&(_, number)| self.ports[number] == name).expect("a port with bursts")
    }

    /// The class of the burst that a packet joins.
    pub(super) fn burst_class(&self, bursts: &BurstsPlan, row: &Row<'_>) -> u8 {
        let group = self.groups[row.flow].1.expect("a group of the plan");
        if bursts.classes.is_some() { self.plan.classes[group] } else { 0 }
    }

    /// Assembles the packets of a class, and takes each burst from the listed ones.
    fn assemble(
        &self,
        (bursts, direction): (&BurstsPlan, usize),
        class: u8,
        rows: &[Row<'r>],
        listed: &mut Listed,
        carried: &mut Vec<Carried<'r>>,
    ) -> Result<(), Failure> {
        let separate = bursts.classes.as_ref();
        let assembly =
            separate.map_or(bursts.assembly, |all| all.each[usize::from(class)].assembly);
        let (timer, size) = match assembly {
            Assembly::Timer(timer) => (Some(timer.period), None),
            Assembly::Size(size) => (None, Some(size.threshold.count())),
            Assembly::Hybrid(both) => (Some(both.timer.period), Some(both.size.threshold.count())),
            Assembly::Adaptive(adaptive) => (Some(adaptive.most.period), None),
        };
        let rate = self.plan.links[bursts.link].directions[direction].rate;
        let (mut left, mut average) = (rows, None::<u64>);
        while let Some(first) = left.first() {
            let period = match (assembly, average) {
                (Assembly::Adaptive(adaptive), Some(average)) => {
                    let bytes = Bytes::new(average.saturating_mul(adaptive.factor));
                    let time = rate.transmission_time(bytes);
                    Some(time.clamp(adaptive.least, adaptive.most.period))
                }
                _ => timer,
            };
            let due = period.map_or(u64::MAX, |period| first.at.saturating_add(period.as_ps()));
            let mut sum = 0;
            let full = left.iter().position(|row| {
                sum += row.bytes;
                size.is_some_and(|size| sum >= size)
            });
            let in_time = |row: &&Row<'_>| row.at < due;
            let certain = left.iter().take_while(in_time).count();
            let (at, fewest, most) = match full {
                Some(full) if full < certain => (left[full].at, full + 1, full + 1),
                // A packet at the end of the time joins the burst if its event comes first.
                _ => {
                    let possible = left.iter().take_while(|row| row.at <= due).count();
                    (due, certain.max(1), possible.min(full.map_or(usize::MAX, |full| full + 1)))
                }
            };
            let fits = |&number: &usize| {
                let bytes = left[..number].iter().map(|row| row.bytes).sum::<u64>();
                listed.iter().position(|one| *one == (at, number as u64, bytes))
            };
            let found = (fewest..=most).find_map(|number| Some((number, fits(&number)?)));
            let Some((number, place)) = found else {
                // The run ends before the burst leaves.
                return match at >= self.stop {
                    true => Ok(()),
                    false => failure("bursts", format!("class {class}: no burst leaves at {at}")),
                };
            };
            listed.remove(place);
            let burst = Carried { at, class, rows: left[..number].to_vec() };
            average = Some(average.map_or(burst.bytes(), |old| (old + 3 * burst.bytes()) / 4));
            carried.push(burst);
            left = &left[number..];
        }
        Ok(())
    }
}

fn listed(series: &Series, port: &str) -> Listed {
    let of = called(series, "port", "ports");
    let (at, packets) = (whole(series, "time_ps"), whole(series, "packets"));
    let bytes = whole(series, "bytes");
    let own = (0..at.len()).filter(|&i| of[i] == Some(port));
    own.map(|i| (at[i], packets[i], bytes[i])).collect()
}
