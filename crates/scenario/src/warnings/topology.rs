//! Warnings of elements in a topology file that the plan ignores.

use super::{Finder, WarningKind, first_names, text};
use crate::tree::place;

impl Finder<'_> {
    pub(super) fn topology(&mut self) {
        let plan = self.plan;
        let own = plan.links.iter().find(|link| link.entry.is_none() && link.over.is_empty());
        if let (false, Some(link)) = (plan.rates_not_read.is_empty(), own) {
            let names: Vec<&str> = plan.rates_not_read.iter().map(String::as_str).collect();
            let message = format!(
                "link attributes {} of the file are ignored: every link has the rate {}; write \
                 `rate = \"attribute:{}\"` to use them",
                first_names(&names),
                text::rate(link.directions[0].rate),
                names[0]
            );
            self.warn(WarningKind::RatesNotRead, place!["topology", "rate"], message);
        }
        if !plan.topology_notes.is_empty() {
            let message = plan.topology_notes.join("; ");
            self.warn(WarningKind::TopologyFile, place!["topology", "file"], message);
        }
    }
}
