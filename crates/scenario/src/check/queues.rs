//! Queues and their disciplines.

use optcp_net::{CLASSES, Discipline, QueueKind, Setting};
use optcp_units::Duration;

use crate::problem::Problems;
use crate::schema::{Count, QueueEntry};
use crate::tree::Step;

/// The discipline of a queue; drop-tail where what is said of it does not fit.
pub(super) fn discipline(queue: &QueueEntry) -> Discipline {
    let mut discipline = Discipline::of(kind(queue));
    if let Some(table) = &queue.table {
        for (name, setting) in table.settings() {
            discipline.set(name, setting);
        }
    }
    discipline
}

fn kind(queue: &QueueEntry) -> QueueKind {
    queue.table.as_ref().map_or(QueueKind::DropTail, |table| table.kind)
}

/// The most times that a discipline finds its probability anew in a run.
const MOST_UPDATES: u64 = 200_000_000;

/// Reports what is wrong with a queue.
pub(super) fn check(
    queue: &QueueEntry,
    stop: Duration,
    place: &[Step<'_>],
    problems: &mut Problems<'_>,
) {
    let at = |key: &'static str| match queue.table {
        Some(_) => [place, &[Step::from(key)]].concat(),
        None => place.to_vec(),
    };
    if queue.limit.0.is_nothing() {
        problems
            .at(&at("limit"), "a queue that holds nothing passes nothing")
            .label("must hold a packet: the one in transmission counts");
    }
    let Some(table) = &queue.table else { return };
    let mut discipline = Discipline::of(table.kind);
    for (name, setting) in table.settings() {
        if !discipline.set(name, setting) {
            let known: Vec<String> =
                table.kind.parameters().iter().map(|known| format!("`{}`", known.name)).collect();
            let problem = problems
                .at(&at(name), format!("queue `{}` has no `{name}`", table.kind.name()))
                .label("not a key of this discipline");
            problem.help(match known.as_slice() {
                [] => "it has none but `limit`".to_owned(),
                known => format!("it has `limit`, {}", known.join(", ")),
            });
        }
    }
    if let Some(Setting::Time(update)) = discipline.get("update") {
        let updates = stop.as_ps() / update.as_ps().max(1);
        if updates > MOST_UPDATES {
            problems
                .at(&at("update"), format!("the run has {updates} updates of {update}"))
                .label(format!("at most {MOST_UPDATES}"));
            return;
        }
    }
    if let Some((name, expected)) = discipline.fault() {
        problems
            .at(&at(name), format!("this `{name}` does not fit queue `{}`", table.kind.name()))
            .label(format!("expected {expected}"));
    }
}

/// The class of a group of flows.
pub(super) fn class(class: Option<Count>, place: &[Step<'_>], problems: &mut Problems<'_>) -> u8 {
    let class = class.map_or(0, |class| class.0);
    match u8::try_from(class).ok().filter(|&class| usize::from(class) < CLASSES) {
        Some(class) => class,
        None => {
            problems.at(place, format!("there is no class {class}")).label("from 0 to 7");
            0
        }
    }
}
