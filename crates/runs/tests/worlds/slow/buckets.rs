//! Policers, markers and shapers, as leaky buckets instead of token buckets.

use optcp_net::{BucketAction, BucketPlace};
use optcp_scenario::plan::{BucketEffect, BucketPlan, Loses, Plan};
use optcp_units::{Bytes, Rate};

use super::{Evidence, Row};
use crate::check::{Failure, failure};

/// Content per byte.
const BYTE: u128 = 8_000_000_000_000;

/// Transmissions that do not begin by this time never begin, in picoseconds.
const NEVER: u128 = 1 << 63;

/// A bucket into which packets are poured, and that leaks at its rate.
#[derive(Clone, Debug)]
struct Leak {
    rate: u128,
    holds: u128,
    content: u128,
    since: u64,
}

impl Leak {
    fn new((rate, burst): (Rate, Bytes)) -> Self {
        let (rate, holds) = (u128::from(rate.bps()), u128::from(burst.count()) * BYTE);
        Leak { rate, holds, content: 0, since: 0 }
    }

    fn left(&self, at: u64) -> u128 {
        self.content.saturating_sub(self.rate * u128::from(at.saturating_sub(self.since)))
    }

    fn fits(&self, at: u64, bytes: u64) -> bool {
        self.left(at) + u128::from(bytes) * BYTE <= self.holds
    }

    fn pour(&mut self, at: u64, bytes: u64) {
        self.content = self.left(at) + u128::from(bytes) * BYTE;
        self.since = self.since.max(at);
    }

    /// When a packet fits, at the earliest.
    fn when(&self, at: u64, bytes: u64) -> u64 {
        if self.fits(at, bytes) {
            return at.max(self.since);
        }
        let leaks = (self.content + u128::from(bytes) * BYTE - self.holds).div_ceil(self.rate);
        u64::try_from((u128::from(self.since) + leaks).min(NEVER)).expect("at most 2^63")
    }
}

/// The shapers of a port.
#[derive(Clone, Debug)]
pub(super) struct Shaping(Vec<Leak>);

impl Shaping {
    pub(super) fn of(plan: &Plan, port: usize) -> Self {
        let shapers = of_port(plan, port).filter(|one| one.effect == BucketEffect::Shaper);
        Shaping(shapers.flat_map(leaks).collect())
    }

    /// When a packet begins that is taken out of the queue at `at`.
    pub(super) fn begins(&self, at: u64, bytes: u64) -> u64 {
        self.0.iter().map(|leak| leak.when(at, bytes)).fold(at, u64::max)
    }

    /// The same, for a packet that is then sent.
    pub(super) fn begin(&mut self, at: u64, bytes: u64) -> u64 {
        let begins = self.begins(at, bytes);
        self.0.iter_mut().for_each(|leak| leak.pour(begins, bytes));
        begins
    }
}

fn of_port(plan: &Plan, port: usize) -> impl Iterator<Item = &BucketPlan> {
    plan.buckets.iter().filter(move |one| 2 * one.hop.0 + one.hop.1 == port)
}

fn leaks(plan: &BucketPlan) -> Vec<Leak> {
    std::iter::once(plan.bucket).chain(plan.peak).map(Leak::new).collect()
}

/// A policer or marker.
struct Meter {
    effect: BucketEffect,
    leaks: Vec<Leak>,
}

impl Meter {
    /// Returns whether a packet passes, and its colour then: 0 for green, 1 for yellow, 2 for red.
    fn passes(&mut self, at: u64, row: &Row<'_>, colour: u8) -> (bool, u8) {
        let fits: Vec<bool> = self.leaks.iter().map(|leak| leak.fits(at, row.bytes)).collect();
        let (after, action) = match self.effect {
            BucketEffect::Policer { .. } if fits.iter().all(|&fits| fits) => {
                self.leaks.iter_mut().for_each(|leak| leak.pour(at, row.bytes));
                return (true, colour);
            }
            BucketEffect::Policer { exceeding, .. } => (2, exceeding),
            BucketEffect::Trtcm { aware, actions, .. } => {
                let least = if aware { colour } else { 0 };
                let metered = if fits[1] { u8::from(!fits[0]) } else { 2 };
                let after = metered.max(least);
                if after < 2 {
                    self.leaks[1].pour(at, row.bytes);
                }
                if after == 0 {
                    self.leaks[0].pour(at, row.bytes);
                }
                (after, actions[usize::from(after)])
            }
            BucketEffect::Shaper => return (true, colour),
        };
        let capable = matches!(row.marking.split(' ').next(), Some("ce" | "ect0" | "ect1"));
        let passes = match action {
            BucketAction::Pass => true,
            BucketAction::Mark => capable,
            BucketAction::Drop => false,
        };
        (passes, after)
    }
}

impl Evidence<'_> {
    pub(super) fn is_shaped(&self, port: usize) -> bool {
        of_port(self.plan, port).any(|one| one.effect == BucketEffect::Shaper)
    }

    /// Whether a bucket acts when the transmitter takes a packet.
    pub(super) fn has_bucket_behind_queue(&self, port: usize) -> bool {
        !self.meters(port, BucketPlace::Egress).is_empty() || self.is_shaped(port)
    }

    fn meters(&self, port: usize, place: BucketPlace) -> Vec<Meter> {
        let here = |one: &&BucketPlan| match one.effect {
            BucketEffect::Policer { at, .. } | BucketEffect::Trtcm { at, .. } => at == place,
            BucketEffect::Shaper => false,
        };
        let meter = |one: &BucketPlan| Meter { effect: one.effect, leaks: leaks(one) };
        of_port(self.plan, port).filter(here).map(meter).collect()
    }

    /// Checks that policers and markers drop the packets that do not fit, and no others.
    pub(super) fn policed(&self) -> Result<(), Failure> {
        for port in 0..self.ports.len() {
            let [before, behind] =
                [BucketPlace::Ingress, BucketPlace::Egress].map(|place| self.meters(port, place));
            let policed = self.rows.iter().any(|row| {
                row.port == Some(port) && matches!(row.reason, Some("policed" | "policed-egress"))
            });
            if policed && before.is_empty() && behind.is_empty() {
                return failure("policed by nothing", self.ports[port].clone());
            }
            // Rows do not tell copies from packets, nor losses at a switch from losses at the port.
            let duplicates = self.plan.losses.iter().any(|loss| {
                let here = 2 * loss.hop.0 + loss.hop.1 == port;
                here && matches!(loss.loses, Loses::Duplication { .. })
            });
            if !self.is_queue(port) || duplicates || self.is_at_switch(port, false) {
                continue;
            }
            self.policed_before(port, before)?;
            if !self.is_voq(port) {
                self.policed_behind(port, behind)?;
            }
        }
        Ok(())
    }

    fn policed_before(&self, port: usize, mut meters: Vec<Meter>) -> Result<(), Failure> {
        let comes = |row: &&Row<'_>| {
            let refused = matches!(row.reason, Some("queue-full" | "link-down" | "policed"));
            row.port == Some(port) && (row.event == "queued" || refused || self.turned_away(row))
        };
        for row in self.rows.iter().filter(comes) {
            let dropped = row.reason == Some("policed");
            verdict(&mut meters, row.at, row, dropped, "policed before the queue")?;
        }
        Ok(())
    }

    fn policed_behind(&self, port: usize, mut meters: Vec<Meter>) -> Result<(), Failure> {
        if meters
            .iter()
            .any(|meter| matches!(meter.effect, BucketEffect::Trtcm { aware: true, .. }))
        {
            // The colour in the queue is not listed.
            return Ok(());
        }
        let rows = || self.rows.iter().filter(|row| row.port == Some(port));
        // A failure discards a packet that was metered, and was not sent.
        let end =
            rows().find(|row| row.reason == Some("queue-flushed")).map_or(u64::MAX, |row| row.at);
        let sent = rows().filter(|row| row.event == "transmitted").zip(self.transmissions(port));
        // At one time, packets are dropped before the next one is taken.
        let sent = sent.map(|(row, sent)| (sent.taken, true, row));
        let dropped = rows().filter(|row| row.reason == Some("policed-egress"));
        let mut taken: Vec<(u64, bool, &Row<'_>)> =
            sent.chain(dropped.map(|row| (row.at, false, row))).collect();
        taken.retain(|&(at, ..)| at < end);
        taken.sort_by_key(|&(at, passed, _)| (at, passed));
        for (at, passed, row) in taken {
            verdict(&mut meters, at, row, !passed, "policed behind the queue")?;
        }
        Ok(())
    }
}

fn verdict(
    meters: &mut [Meter],
    at: u64,
    row: &Row<'_>,
    dropped: bool,
    what: &str,
) -> Result<(), Failure> {
    let mut colour = row.colour;
    let passes = meters.iter_mut().all(|meter| {
        let (passes, after) = meter.passes(at, row, colour);
        colour = after;
        passes
    });
    match passes == dropped {
        true => failure(what, format!("passes: {passes}, {row:?}")),
        false => Ok(()),
    }
}
