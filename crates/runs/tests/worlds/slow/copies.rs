//! Fate of packets that 1+1 copies, derived by counting the copies of each.
//!
//! The list of packets does not assign rows to packets. While no other packet of the same flow,
//! kind and number is in flight, all rows belong to the same packet. Otherwise the lost packet is
//! unknown, and the list gives bounds.

use std::collections::{BTreeMap, BTreeSet};

use optcp_scenario::plan::{Carries, FlowPlan, Loses, ProtectionPlan};

use super::{Evidence, Row};
use crate::check::{Failure, count, failure};

/// Fate of packets.
#[derive(Debug, Default)]
pub(super) struct Fates {
    /// Rows that lose a packet.
    pub(super) losses: BTreeSet<usize>,
    /// Rows at which a second copy of a packet arrives.
    pub(super) seconds: BTreeSet<usize>,
    /// Flows of which the list leaves something open.
    pub(super) open: BTreeSet<usize>,
    /// Minimum and maximum of the packets that are not in the sets above.
    delivered: [u64; 2],
    dropped: [u64; 2],
}

/// The ports that begin the two paths of a flow's bridges, for data and for ACKs, and the port
/// where its ACKs enter the network.
struct Bridges {
    heads: [usize; 2],
    acks_enter: usize,
}

/// Rows of one flow, kind and number from the first packet sent until none is in flight.
#[derive(Default)]
struct Period {
    packets: u64,
    in_flight: i64,
    arrivals: Vec<usize>,
    drops: Vec<usize>,
}

impl Evidence<'_> {
    /// Of all packets; an error where copies do not add up.
    pub(super) fn find_fates(&self) -> Result<Fates, Failure> {
        let mut fates = Fates::default();
        let mut same: BTreeMap<(usize, bool, u64), Vec<usize>> = BTreeMap::new();
        for (place, row) in self.rows.iter().enumerate() {
            same.entry((row.flow, row.ack, row.seq)).or_default().push(place);
        }
        let plan = self.plan;
        let bridged = plan.protections.iter().any(|one| one.scheme.bridges());
        let bridges: Vec<Option<Bridges>> =
            (0..self.flows.len()).map(|flow| self.bridges(flow)).collect();
        for ((flow, ack, _), places) in same {
            match &bridges[flow] {
                _ if !bridged || !self.may_have_copies(flow) => {
                    fates.losses.extend(places.iter().filter(|&&place| self.is(place, "dropped")));
                }
                Some(bridges) => self.count_copies(bridges, ack, flow, &places, &mut fates)?,
                None => {
                    fates.open.insert(flow);
                    let of = |event| {
                        places.iter().filter(|&&place| self.is(place, event)).count() as u64
                    };
                    let came = of("arrived") + of("arrived-trimmed") + of("acked");
                    fates.delivered[0] += came.min(1);
                    fates.delivered[1] += came;
                    fates.dropped[1] += of("dropped");
                    let arrived = |place: &usize| self.came(*place);
                    fates.seconds.extend(places.into_iter().filter(arrived));
                }
            }
        }
        Ok(fates)
    }

    fn is(&self, place: usize, event: &str) -> bool {
        self.rows[place].event == event
    }

    fn came(&self, place: usize) -> bool {
        matches!(self.rows[place].event, "arrived" | "arrived-trimmed" | "acked")
    }

    fn routes_of(&self, flow: usize) -> impl Iterator<Item = (usize, &FlowPlan)> {
        let routes = self.plan.flows.iter().enumerate();
        routes.filter(move |(_, route)| self.groups[flow].1 == Some(route.group))
    }

    fn may_have_copies(&self, flow: usize) -> bool {
        let bridging = || self.plan.protections.iter().filter(|one| one.scheme.bridges());
        self.routes_of(flow).any(|(number, route)| {
            bridging()
                .any(|one| one.flows.contains(&number) || (one.group.is_none() && route.routed))
        })
    }

    /// Returns the bridges of a flow, if rows list the packets that pass them. This requires a
    /// single protection, no link that duplicates packets, and no queue with several paths.
    fn bridges(&self, flow: usize) -> Option<Bridges> {
        let plan = self.plan;
        let duplicates = |loses: &Loses| matches!(loses, Loses::Duplication { .. });
        let (number, route) =
            self.routes_of(flow).find(|(_, route)| route.name == self.flows[flow])?;
        let [protection] = &plan.protections[..] else { return None };
        let plain = matches!(route.carries, Carries::Flow | Carries::Datagrams(_))
            && protection.scheme.bridges()
            && protection.flows.contains(&number)
            && route.bundles.is_empty()
            && !plan.losses.iter().any(|loss| duplicates(&loss.loses))
            && !(0..self.ports.len()).any(|port| self.is_voq(port));
        if !plain {
            return None;
        }
        let data = head(route, protection)?;
        let acks = tail(route, protection)?;
        let acks_enter = route.hops.last().map(|&(link, way)| 2 * link + (way ^ 1))?;
        let around = protection.hops.iter();
        let around: BTreeSet<usize> =
            around.flat_map(|&(link, _)| [2 * link, 2 * link + 1]).collect();
        let listed = [data, acks, acks_enter].iter().all(|&port| self.listed[port]);
        let once = route.path.iter().collect::<BTreeSet<_>>().len() == route.path.len();
        let apart = ![data, acks, acks_enter].iter().any(|port| around.contains(port));
        (listed && once && apart).then_some(Bridges { heads: [data, acks], acks_enter })
    }

    /// Returns whether a row lists the arrival of a packet at a port, accepted or not.
    fn enters(&self, row: &Row<'_>) -> bool {
        let refused =
            ["queue-full", "link-down", "scripted", "random-loss", "periodic-loss"].map(Some);
        row.event == "queued" || refused.contains(&row.reason) || self.turned_away(row)
    }

    fn count_copies(
        &self,
        bridges: &Bridges,
        ack: bool,
        flow: usize,
        places: &[usize],
        fates: &mut Fates,
    ) -> Result<(), Failure> {
        let mut period = Period::default();
        for &place in places {
            let row = &self.rows[place];
            let enters = |port| self.enters(row) && row.port == Some(port);
            if matches!(row.event, "sent" | "resent") || (ack && enters(bridges.acks_enter)) {
                period.packets += 1;
                period.in_flight += 1;
            }
            period.in_flight += i64::from(enters(bridges.heads[usize::from(ack)]));
            if self.came(place) {
                period.arrivals.push(place);
                period.in_flight -= 1;
            } else if row.event == "dropped" {
                period.drops.push(place);
                period.in_flight -= 1;
            }
            if period.in_flight < 0 {
                return failure("copies", format!("more end than there are: {row:?}"));
            }
            if period.in_flight == 0 {
                self.close(std::mem::take(&mut period), flow, fates);
            }
        }
        self.close(period, flow, fates);
        Ok(())
    }

    fn close(&self, period: Period, flow: usize, fates: &mut Fates) {
        let Period { packets, in_flight, arrivals, drops } = period;
        if packets <= 1 {
            fates.seconds.extend(arrivals.iter().skip(1));
            if in_flight == 0 && arrivals.is_empty() {
                let at_selector =
                    |place: &&usize| self.rows[**place].reason == Some("not-selected");
                let other = drops.iter().find(|place| !at_selector(place));
                let loss = other.or(drops.first());
                fates.losses.extend(loss);
                // Rows do not show whether drops at one time belong to one event.
                let undecided = loss.is_some_and(|&first| {
                    let with = |&place: &usize| {
                        let (row, first) = (&self.rows[place], &self.rows[first]);
                        row.at == first.at && row.reason != first.reason
                    };
                    drops.iter().filter(|place| !at_selector(place)).any(with)
                });
                if undecided {
                    fates.open.insert(flow);
                }
            }
            return;
        }
        // Which arrivals and drops are of which packet is open.
        fates.open.insert(flow);
        fates.seconds.extend(arrivals.iter().skip(1));
        let more = (arrivals.len() as u64).min(packets).saturating_sub(1);
        fates.delivered[1] += more;
        let left = u64::try_from(in_flight).unwrap_or(0);
        let delivered = [u64::from(!arrivals.is_empty()), more + 1];
        fates.dropped[0] += packets.saturating_sub(delivered[1] + left);
        fates.dropped[1] += (packets - delivered[0]).min(drops.len() as u64);
    }

    /// Checks that the counts of packets match the rows.
    pub(super) fn counts_of_copies(&self) -> Result<(), Failure> {
        let Fates { losses, seconds, open, delivered, dropped } = &self.fates;
        let came = (0..self.rows.len()).filter(|&place| self.came(place)).count();
        let once = (came - seconds.len()) as u64;
        let counted = [("delivered", once, delivered), ("dropped", losses.len() as u64, dropped)];
        for (name, sure, more) in counted {
            let (found, bounds) = (count(self.run, name), more.map(|more| sure + more));
            if !(bounds[0]..=bounds[1]).contains(&found) {
                return failure("totals", format!("{found} {name}, expected {bounds:?}"));
            }
        }
        if !open.is_empty() {
            return Ok(());
        }
        let mut reasons: BTreeMap<&str, u64> = BTreeMap::new();
        for &place in losses {
            *reasons.entry(self.rows[place].reason.unwrap_or("none")).or_default() += 1;
        }
        let counted: BTreeMap<&str, u64> = self.run.drops.iter().copied().collect();
        if reasons != counted {
            return failure("drops by reason", format!("{counted:?}, expected {reasons:?}"));
        }
        let dropped = (0..self.rows.len()).filter(|&place| self.is(place, "dropped")).count();
        let discarded = (seconds.len() + dropped - losses.len()) as u64;
        match count(self.run, "copies_discarded") == discarded {
            true => Ok(()),
            false => failure("discarded copies", format!("{:?}, {discarded}", self.run.counts)),
        }
    }
}

/// The port by which data leave a bridge on the working path.
fn head(route: &FlowPlan, protection: &ProtectionPlan) -> Option<usize> {
    let first = protection.backup.first()?;
    let place = route.path.iter().position(|node| node == first)?;
    route.hops.get(place).map(|&(link, way)| 2 * link + way)
}

/// The port by which ACKs leave theirs.
fn tail(route: &FlowPlan, protection: &ProtectionPlan) -> Option<usize> {
    let last = protection.backup.last()?;
    let place = route.path.iter().position(|node| node == last)?;
    route.hops.get(place.checked_sub(1)?).map(|&(link, way)| 2 * link + (way ^ 1))
}
