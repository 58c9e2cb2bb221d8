//! Random scenarios over the whole schema, run with both engines, forked and whole, with and
//! without digest, in windows on one thread and two. Every series is derived again from the
//! packets.
//!
//! `make worlds` checks more of them than `cargo test`, and resumes after an interruption. A
//! scenario that fails a check is reduced as far as possible, and shown with its seed.

mod check;
mod draw;
mod generate;
mod live;
mod parts;
mod schema;
mod slow;
mod stated;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use check::{Failure, Worth};
use optcp_net::DropReason;
use schema::Schema;
use toml::{Table, Value};

/// Number of scenarios that `cargo test` checks.
const USUAL: u64 = 2000;

/// So many of them have each key and each word of the schema, at least, and show each kind and each reason of drops.
const LEAST: u64 = 3;

/// Keys that the schema contains, because flows, applications and datagrams share tables and names, but that
/// are rejected.
const IMPOSSIBLE: [&str; 11] = [
    "applications.path = valiant",
    "applications.sizes.smallest",
    "flows.sizes.smallest",
    "traffic.sizes.kind = data-mining",
    "traffic.sizes.kind = hadoop",
    "traffic.sizes.kind = pareto",
    "traffic.sizes.kind = points",
    "traffic.sizes.kind = web-like",
    "traffic.sizes.kind = web-search",
    "traffic.sizes.points",
    "traffic.sizes.shape",
];

thread_local! {
    /// Where this thread panicked last.
    static PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Returns the result; a panic counts as a failure.
fn caught<T>(f: impl FnOnce() -> T) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(f)).map_err(|panic| {
        let said = panic.downcast_ref::<String>().cloned();
        let said = said.or_else(|| panic.downcast_ref::<&str>().map(|&text| text.to_owned()));
        let place = PANIC.with_borrow(String::clone);
        Failure { what: format!("panic at {place}"), detail: said.unwrap_or_default() }
    })
}

/// Reads a scenario, repairs it if it is invalid, and checks it. Returns the scenario, its
/// statistics, and the failed check, if any. `None` if it cannot be repaired.
fn examined(world: Table, seed: u64) -> Option<(Table, Result<Worth, Failure>)> {
    let mut last = world.clone();
    match caught(|| parts::mended(world, &mut last)) {
        Ok(mended) => mended.map(|world| {
            let held = caught(|| check::check(&parts::written(&world), seed));
            (world, held.and_then(|held| held))
        }),
        Err(panic) => Some((last, Err(panic))),
    }
}

/// Returns the failed check of a scenario, if any. An invalid scenario has none.
fn fault(world: &Table, seed: u64) -> Option<Failure> {
    let text = parts::written(world);
    match caught(|| check::read(&text, &[]).is_ok()) {
        Ok(true) => caught(|| check::check(&text, seed)).and_then(|held| held).err(),
        Ok(false) => None,
        Err(panic) => Some(panic),
    }
}

/// Returns the keys and words of the schema that a scenario uses.
fn used(world: &Table) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for (key, value) in world {
        all.insert(key.clone());
        // Tables of TCP options have names that users choose.
        match value {
            Value::Table(tables) if key == "tcp" => {
                tables.values().for_each(|table| within(table, key, &mut all));
            }
            _ => within(value, key, &mut all),
        }
    }
    all
}

fn within(value: &Value, place: &str, all: &mut BTreeSet<String>) {
    match value {
        Value::Table(table) => {
            for (key, value) in table {
                let place = format!("{place}.{key}");
                all.insert(place.clone());
                within(value, &place, all);
            }
        }
        Value::Array(list) => list.iter().for_each(|value| within(value, place, all)),
        Value::String(word) => _ = all.insert(format!("{place} = {word}")),
        _ => {}
    }
}

/// Total of the statistics of several scenarios.
#[derive(Default)]
struct Total {
    possible: u64,
    packets: u64,
    windows: u64,
    /// Number of scenarios per key and word of the schema.
    used: BTreeMap<String, u64>,
    /// Number of scenarios per kind of observation and reason of drops.
    seen: BTreeMap<String, u64>,
    failed: BTreeMap<u64, Failure>,
}

fn count(totals: &mut BTreeMap<String, u64>, once: BTreeSet<String>) {
    once.into_iter().for_each(|one| *totals.entry(one).or_default() += 1);
}

/// Returns the entries that too few scenarios have.
fn too_few(totals: &BTreeMap<String, u64>, all: impl IntoIterator<Item = String>) -> Vec<String> {
    let had = |one: &String| totals.get(one).copied().unwrap_or_default();
    let few = all.into_iter().filter(|one| had(one) < LEAST);
    few.map(|one| format!("{one}: {}", had(&one))).collect()
}

/// Checks the scenarios `from` to `to`.
fn look(from: u64, to: u64, schema: &Schema, report: impl Fn(u64, &Total) + Sync) -> Total {
    let total = Mutex::new(Total::default());
    let next = AtomicU64::new(from);
    let worker = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= to {
                return;
            }
            let found = caught(|| examined(generate::world(number, schema), number));
            let found = found.unwrap_or_else(|panic| {
                let table = Table::new();
                Some((
                    table,
                    Err(Failure { what: format!("the test itself: {}", panic.what), ..panic }),
                ))
            });
            let found = found.map(|(world, held)| {
                let smallest = held.as_ref().err().map(|failure| {
                    eprintln!("world {number}: {}: {}", failure.what, failure.detail);
                    let fails = |smaller: &Table| fault(smaller, number);
                    parts::written(&parts::shrunk(world.clone(), failure, fails))
                });
                (used(&world), held, smallest)
            });
            let mut total = total.lock().expect("nobody panics with it");
            if let Some((used, held, smallest)) = found {
                total.possible += 1;
                count(&mut total.used, used);
                match held {
                    Ok(worth) => {
                        total.packets += worth.packets;
                        total.windows += worth.windows;
                        count(&mut total.seen, worth.seen);
                    }
                    Err(failure) => {
                        let smallest = smallest.unwrap_or_default();
                        eprintln!("the smallest like world {number}:\n{smallest}");
                        total.failed.insert(number, failure);
                    }
                }
            }
            report(number, &total);
        }
    };
    std::thread::scope(|scope| {
        (0..2).for_each(|_| _ = scope.spawn(worker));
    });
    total.into_inner().expect("nobody panicked with it")
}

fn note_panics() {
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map(|place| format!("{}:{}", place.file(), place.line()));
        PANIC.with_borrow_mut(|last| *last = place.unwrap_or_default());
    }));
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the range of a longer look comes from outside")]
fn all_kinds_of_scenarios_pass() {
    note_panics();
    let schema = Schema::new();
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let (from, to) = (number("WORLDS_FROM").unwrap_or(0), number("WORLDS_TO").unwrap_or(USUAL));
    let longer = (from, to) != (0, USUAL);
    let total = look(from, to, &schema, |number, total| {
        if longer && (number + 1).is_multiple_of(1000) {
            eprintln!("{} of {to} worlds, {} failed", number + 1, total.failed.len());
        }
    });
    let _ = std::panic::take_hook();
    eprintln!(
        "{} of {} worlds possible, {} with windows, {} packet-hops, {} failed",
        total.possible,
        to - from,
        total.windows,
        total.packets,
        total.failed.len()
    );
    let kinds: BTreeMap<&str, u64> =
        total.failed.values().fold(BTreeMap::new(), |mut kinds, one| {
            *kinds.entry(one.what.as_str()).or_default() += 1;
            kinds
        });
    assert!(kinds.is_empty(), "{kinds:?}");
    if to - from >= USUAL {
        // The limit applies per kind: an additional member of a registry only reduces the scenarios
        // of other members.
        let everything = schema.everything().into_iter();
        let possible = everything.filter(|it| !IMPOSSIBLE.contains(&it.as_str()));
        let missing = too_few(&total.used, possible);
        let reasons = DropReason::ALL.iter().map(|reason| format!("drop {}", reason.name()));
        let kinds = schema.words("ObserveEntry", "kind");
        let kinds = kinds.iter().map(|kind| format!("kind {kind}"));
        let others = ["marks", "marks of QUIC", "trims", "cuts", "gives up"].map(str::to_owned);
        let unseen = too_few(&total.seen, reasons.chain(kinds).chain(others));
        assert!(unseen.is_empty(), "fewer than {LEAST} worlds had {unseen:?}");
        assert!(missing.is_empty(), "fewer than {LEAST} possible worlds had {missing:?}");
        assert!(total.possible * 10 >= (to - from) * 8, "too few worlds are possible");
    }
}

/// Number of scenarios that are drawn with another schema.
const REDRAWN: u64 = 100;

/// Removing a word changes only the scenarios that had it. A new word therefore changes only those
/// that use it.
#[test]
fn new_word_changes_only_scenarios_that_use_it() {
    let schema = Schema::new();
    let before: Vec<Table> = (0..REDRAWN).map(|number| generate::world(number, &schema)).collect();
    let (mut taken, mut families) = (0, 0);
    for (family, words) in schema.families() {
        // A choice needs one.
        let Some(word) = words.iter().max_by_key(|word| holding(&before, word)) else { continue };
        let without = schema.without(&family, word);
        if words.len() < 2 {
            continue;
        }
        families += 1;
        for (number, world) in before.iter().enumerate() {
            let had = has(world, word);
            taken += u64::from(had);
            let now = generate::world(number as u64, &without);
            if now != *world && !had {
                let texts = [world, &now].map(parts::written).join("\n---\n");
                panic!("world {number} changes without {family}'s {word}:\n{texts}");
            }
        }
    }
    assert!(families > 20 && taken > 300, "{families} families, {taken} worlds");
}

/// The order of entries in the schema does not change the scenarios.
#[test]
fn order_of_words_changes_nothing() {
    let (schema, backwards) = (Schema::new(), Schema::new().backwards());
    for number in 0..REDRAWN {
        let [world, other] = [&schema, &backwards].map(|schema| generate::world(number, schema));
        assert_eq!(parts::written(&world), parts::written(&other), "world {number}");
    }
}

fn holding(worlds: &[Table], word: &str) -> usize {
    worlds.iter().filter(|world| has(world, word)).count()
}

/// Returns whether a word occurs anywhere in a scenario.
fn has(world: &Table, word: &str) -> bool {
    let quoted = format!("\"{word}\"");
    parts::written(world).contains(&quoted)
}
