//! What virtual output queues tell senders: when, and of which change.

use std::collections::BTreeSet;

use optcp_scenario::plan::{ChangePlan, DirectedLink, FlowPlan};
use optcp_units::Duration;

use super::{Evidence, called, whole};
use crate::check::{Failure, SENDERS, failure};

impl Evidence<'_> {
    /// A sender hears of another network when the queue on its way tells of one, and at no other time.
    pub(super) fn senders_hear_of_networks(&self) -> Result<(), Failure> {
        let senders = super::series(self.run, SENDERS);
        let (at, flow) = (whole(senders, "time_ps"), whole(senders, "flow"));
        let cause = called(senders, "cause", "causes");
        for ((&at, &flow), cause) in at.iter().zip(&flow).zip(cause) {
            let number = usize::try_from(flow).expect("an index");
            if cause == Some("network")
                && !self.routes(number).any(|route| self.news(route).contains(&at))
            {
                let detail = format!("{} at {at}", self.flows[number]);
                return failure("a sender hears of what nothing tells", detail);
            }
        }
        Ok(())
    }

    /// When the senders of a route hear of another network.
    fn news(&self, route: &FlowPlan) -> BTreeSet<u64> {
        let told = route.hops.iter().find_map(|&hop| Some((hop, self.notify(hop)?)));
        let Some(((link, direction), after)) = told else { return BTreeSet::new() };
        let voq = self.plan.links[link].voq.as_ref().expect("only these tell");
        let mut known = voq.served[direction].unwrap_or(0);
        let served: Vec<(u64, u8)> = self
            .changes
            .iter()
            .filter(|change| change.port == 2 * link + direction)
            .filter_map(|change| match change.what {
                ChangePlan::Serve(Some(way)) => Some((change.at, way)),
                _ => None,
            })
            .collect();
        let mut news = BTreeSet::new();
        for (place, &(at, way)) in served.iter().enumerate() {
            // Of several changes at an instant the last counts.
            let last = served.get(place + 1).is_none_or(|next| next.0 > at);
            if last && way != known {
                known = way;
                news.insert(at + after.as_ps());
            }
        }
        news
    }

    fn notify(&self, (link, _): DirectedLink) -> Option<Duration> {
        self.plan.links[link].voq.as_ref()?.notify
    }
}
