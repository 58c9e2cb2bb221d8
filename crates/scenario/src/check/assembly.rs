//! Assembly of bursts, also by traffic class.

use optcp_net::CLASSES;
use optcp_optical::burst::{Adaptive, Assembly, AssemblyKind, BurstClass, Hybrid, Size, Timer};
use optcp_units::Duration;

use crate::plan::BurstClassesPlan;
use crate::problem::Problems;
use crate::schema::{self, BurstsEntry, Span};
use crate::tree::{Step, place};

use super::queues;

/// Assembly of all bursts, and of each class if they have separate bursts.
#[derive(Clone)]
pub(super) struct Assemblies {
    pub(super) assembly: Assembly,
    pub(super) classes: Option<BurstClassesPlan>,
}

/// Returns the assembly if the entry has exactly the keys of its kind.
pub(super) fn assemblies(
    i: usize,
    entry: &BurstsEntry,
    problems: &mut Problems<'_>,
) -> Option<Assemblies> {
    let before = problems.found.len();
    for (key, given) in
        [("least_timer", entry.least_timer.is_some()), ("factor", entry.factor.is_some())]
    {
        if given && entry.assembly != AssemblyKind::Adaptive {
            unused(key, entry, place!["bursts", i, key], problems);
        }
    }
    if entry.factor.is_some_and(|factor| factor.0 == 0) {
        problems.at(place!["bursts", i, "factor"], "factor is zero").label("must be above zero");
    }
    let place = place!["bursts", i];
    check_keys(entry, entry.timer, entry.size, place, problems);
    let [timed, sized] = uses(entry.assembly);
    for (key, missing, example) in [
        ("timer", timed && entry.timer.is_none(), "timer = \"1 ms\""),
        ("size", sized && entry.size.is_none(), "size = \"64 kB\""),
    ] {
        if missing {
            let name = entry.assembly.name();
            problems
                .at(place, format!("assembly `{name}` needs `{key}`"))
                .help(format!("for example: {example}"));
        }
    }
    let mut listed = Vec::new();
    for (j, one) in entry.classes.iter().enumerate() {
        let place = place!["bursts", i, "classes", j];
        check_keys(entry, one.timer, one.size, place, problems);
        let place = place!["bursts", i, "classes", j, "class"];
        let number = queues::class(Some(one.class), place, problems);
        if listed.contains(&number) {
            problems.at(place, format!("class {number} is listed twice"));
        }
        listed.push(number);
    }
    if problems.found.len() > before {
        return None;
    }
    let assembly = with_values(entry, entry.timer, entry.size)?;
    if entry.classes.is_empty() {
        return Some(Assemblies { assembly, classes: None });
    }
    let mut each = [BurstClass { assembly, extra_offset: Duration::ZERO }; CLASSES];
    for (&number, one) in listed.iter().zip(&entry.classes) {
        each[usize::from(number)] = BurstClass {
            assembly: with_values(entry, one.timer.or(entry.timer), one.size.or(entry.size))?,
            extra_offset: one.extra_offset.map_or(Duration::ZERO, |extra| extra.0),
        };
    }
    Some(Assemblies { assembly, classes: Some(BurstClassesPlan { each, listed }) })
}

/// Returns whether assembly uses a timer and a size.
fn uses(kind: AssemblyKind) -> [bool; 2] {
    match kind {
        AssemblyKind::Timer | AssemblyKind::Adaptive => [true, false],
        AssemblyKind::Size => [false, true],
        AssemblyKind::Hybrid => [true, true],
    }
}

/// Reports a key that the assembly does not use.
fn unused(key: &str, entry: &BurstsEntry, place: &[Step<'_>], problems: &mut Problems<'_>) {
    problems.at(place, format!("assembly `{}` has no `{key}`", entry.assembly.name()));
}

/// Checks timer and size of an entry or of one of its classes.
fn check_keys(
    entry: &BurstsEntry,
    timer: Option<Span>,
    size: Option<schema::Size>,
    place: &[Step<'_>],
    problems: &mut Problems<'_>,
) {
    let at = |key| [place, &[Step::Key(key)]].concat();
    let [timed, sized] = uses(entry.assembly);
    for (key, given, used) in [("timer", timer.is_some(), timed), ("size", size.is_some(), sized)] {
        if given && !used {
            unused(key, entry, &at(key), problems);
        }
    }
    let least = entry.least_timer.map_or(Duration::ZERO, |least| least.0);
    if timer.is_some_and(|timer| timer.0 < least) {
        // Classes share the minimum of their entry.
        let (key, label) = match place.len() {
            2 => ("least_timer", "must not exceed `timer`"),
            _ => ("timer", "must be at least `least_timer`"),
        };
        problems.at(&at(key), "minimum above the maximum").label(label);
    }
    if timer.is_some_and(|timer| timer.0 == Duration::ZERO) {
        problems.at(&at("timer"), "timer is zero").label("must be above zero");
    }
    if size.is_some_and(|size| size.0.count() == 0) {
        problems.at(&at("size"), "burst size is zero").label("must be above zero");
    }
}

/// Returns the assembly with a timer and a size, if it has what it needs.
fn with_values(
    entry: &BurstsEntry,
    timer: Option<Span>,
    size: Option<schema::Size>,
) -> Option<Assembly> {
    let timer = timer.map(|timer| Timer { period: timer.0 });
    let size = size.map(|size| Size { threshold: size.0 });
    Some(match entry.assembly {
        AssemblyKind::Timer => Assembly::Timer(timer?),
        AssemblyKind::Adaptive => {
            let least = entry.least_timer.map_or(Duration::ZERO, |least| least.0);
            let factor = entry.factor.map_or(1, |factor| u64::from(factor.0));
            Assembly::Adaptive(Adaptive { least, most: timer?, factor })
        }
        AssemblyKind::Size => Assembly::Size(size?),
        AssemblyKind::Hybrid => Assembly::Hybrid(Hybrid { timer: timer?, size: size? }),
    })
}
