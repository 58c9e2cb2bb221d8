//! Keys of a protection that have no effect.

use optcp_optical::protection::{Revert, Scheme};

use crate::plan::CapacityKind;
use crate::problem::Problems;
use crate::schema::{Count, Disjoint, ListOr, ProtectionEntry};
use crate::tree::place;

use super::circuits;

/// Reports keys that the scheme does not use.
pub(super) fn check_keys(i: usize, entry: &ProtectionEntry, problems: &mut Problems<'_>) {
    let scheme = entry.scheme.unwrap_or(Scheme::Local);
    let revert = entry.revert.unwrap_or(Revert::None);
    let mut idle = |given: bool, key: &str, why: String| {
        if given {
            let place = place!["protection", i, key];
            problems.at(place, format!("`{key}` is not used here")).label(why);
        }
    };
    let name = scheme.name();
    idle(
        entry.signal_processing.is_some() && !scheme.signals(),
        "signal_processing",
        format!("scheme `{name}` sends no notifications"),
    );
    idle(
        entry.computation.is_some() && !scheme.computes(),
        "computation",
        "needs scheme `restoration`: other backups are set up in advance".to_owned(),
    );
    idle(
        entry.wait_to_restore.is_some() && revert == Revert::None,
        "wait_to_restore",
        "needs a `revert` other than `none`".to_owned(),
    );
    idle(
        entry.resequencing.is_some() && !scheme.bridges(),
        "resequencing",
        "needs scheme `1+1`: other schemes send each packet once".to_owned(),
    );
    for (given, key) in [
        (entry.switch_delay.is_some(), "switch_delay"),
        (entry.hello.is_some(), "hello"),
        (entry.hold_off.is_some(), "hold_off"),
        (revert != Revert::None, "revert"),
        (!entry.commands.is_empty(), "commands"),
    ] {
        let why = "with `resequencing` no node switches: the first copy of each packet passes";
        idle(given && entry.resequencing.is_some() && scheme.bridges(), key, why.to_owned());
    }
    idle(
        entry.resequencing.is_some() && entry.flows.is_none(),
        "resequencing",
        "needs `flows`".to_owned(),
    );
    idle(
        entry.cycle.is_some() && !matches!(entry.backup, ListOr::Found(Disjoint::PCycle)),
        "cycle",
        "needs backup = \"p-cycle\"".to_owned(),
    );
    let capacity = entry.capacity.unwrap_or(circuits::default_capacity(scheme));
    idle(
        entry.rate.is_some() && capacity != CapacityKind::Reserved,
        "rate",
        format!("capacity `{}` sets the rate; `rate` needs `reserved`", capacity.name()),
    );
    let computed = matches!(entry.backup, ListOr::Found(_));
    idle(
        entry.segment_links.is_some() && !(scheme == Scheme::Segment && computed),
        "segment_links",
        "needs scheme `segment` and a computed `backup`".to_owned(),
    );
    if let Some(Count(0)) = entry.segment_links {
        problems
            .at(place!["protection", i, "segment_links"], "segments without links")
            .label("must be above zero");
    }
    if scheme.bridges() && revert.merges() {
        problems
            .at(place!["protection", i, "revert"], format!("1+1 cannot revert `{}`", revert.name()))
            .label("its selector accepts packets of one path only")
            .help("use `optical` or `none`".to_owned());
    }
}
