//! Parts of a topology's file that a plan does not have.

use super::{Finder, WarningKind, some, text};
use crate::tree::place;

impl Finder<'_> {
    pub(super) fn topology(&mut self) {
        let plan = self.plan;
        let own = plan.links.iter().find(|link| link.entry.is_none() && link.over.is_empty());
        if let (false, Some(link)) = (plan.rates_not_read.is_empty(), own) {
            let names: Vec<&str> = plan.rates_not_read.iter().map(String::as_str).collect();
            let message = format!(
                "the file's links have {}, which is not read: each has the rate {}",
                some(&names),
                text::rate(link.directions[0].rate)
            );
            self.warn(WarningKind::RatesNotRead, place!["topology", "rate"], message);
        }
        if !plan.topology_notes.is_empty() {
            let message = plan.topology_notes.join("; ");
            self.warn(WarningKind::TopologyFile, place!["topology", "file"], message);
        }
    }
}
