//! Queues and their disciplines.

use optcp_net::{CLASSES, Discipline, QueueKind, Setting};
use optcp_units::Duration;

use crate::problem::Problems;
use crate::schema::{Count, QueueEntry};
use crate::tree::Step;

/// Returns the discipline of a queue; drop-tail if its parameters are invalid.
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

/// Maximum number of probability updates of a discipline in a run.
const MOST_UPDATES: u64 = 200_000_000;

/// Reports problems of a queue.
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
    if queue.limit.is_nothing() {
        problems
            .at(&at("limit"), "queue limit is zero")
            .label("must hold at least one packet: the packet in transmission counts");
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
                [] => "its only key is `limit`".to_owned(),
                known => format!("its keys are `limit`, {}", known.join(", ")),
            });
        }
    }
    if let Some(Setting::Time(update)) = discipline.get("update") {
        let updates = stop.as_ps() / update.as_ps().max(1);
        if updates > MOST_UPDATES {
            problems
                .at(&at("update"), format!("{updates} updates of {update} in the run"))
                .label(format!("at most {MOST_UPDATES}"));
            return;
        }
    }
    if let Some((name, expected)) = discipline.fault() {
        problems
            .at(&at(name), format!("invalid `{name}` of queue `{}`", table.kind.name()))
            .label(format!("expected {expected}"));
    }
}

/// Returns the traffic class of a group of flows.
pub(super) fn class(class: Option<Count>, place: &[Step<'_>], problems: &mut Problems<'_>) -> u8 {
    let class = class.map_or(0, |class| class.0);
    match u8::try_from(class).ok().filter(|&class| usize::from(class) < CLASSES) {
        Some(class) => class,
        None => {
            problems.at(place, format!("unknown class {class}")).label("from 0 to 7");
            0
        }
    }
}
