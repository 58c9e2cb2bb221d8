//! Worlds over the whole schema, drawn at random: both engines, forked and not, with and without digest, in windows on
//! one thread and two; and every series derived again from the packets.
//!
//! `make worlds` looks at more of them than `cargo test` does, and goes on where it was stopped. A world in
//! which something does not hold is made as small as it can be, and shown with its seed.

mod check;
mod draw;
mod generate;
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

/// Worlds that `cargo test` looks at.
const USUAL: u64 = 2000;

/// So many of them have each key and each word of the schema, at least, and show each kind and each reason of drops.
const LEAST: u64 = 3;

/// What the schema has, since flows and datagrams share a table of sizes, and is refused.
const IMPOSSIBLE: [&str; 9] = [
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

/// What comes out; a panic is a failure like others.
fn caught<T>(f: impl FnOnce() -> T) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(f)).map_err(|panic| {
        let said = panic.downcast_ref::<String>().cloned();
        let said = said.or_else(|| panic.downcast_ref::<&str>().map(|&text| text.to_owned()));
        let place = PANIC.with_borrow(String::clone);
        Failure { what: format!("panic at {place}"), detail: said.unwrap_or_default() }
    })
}

/// Reads a world, mends it where it is not possible, and checks it: the world, what it was worth, and whether
/// something does not hold. `None` where nothing could mend it.
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

/// The fault of a world as it stands, if it has one. What the reader refuses has none.
fn fault(world: &Table, seed: u64) -> Option<Failure> {
    let text = parts::written(world);
    match caught(|| check::read(&text, &[]).is_ok()) {
        Ok(true) => caught(|| check::check(&text, seed)).and_then(|held| held).err(),
        Ok(false) => None,
        Err(panic) => Some(panic),
    }
}

/// Which keys and words of the schema a world uses.
fn used(world: &Table) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for (key, value) in world {
        all.insert(key.clone());
        // Tables of TCP choices have names of their own.
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

/// What a number of worlds were worth together.
#[derive(Default)]
struct Total {
    possible: u64,
    packets: u64,
    windows: u64,
    /// By key and word of the schema: how many worlds have it.
    used: BTreeMap<String, u64>,
    /// By kind of observation and reason of drops: how many worlds show it.
    seen: BTreeMap<String, u64>,
    failed: BTreeMap<u64, Failure>,
}

fn count(totals: &mut BTreeMap<String, u64>, once: BTreeSet<String>) {
    once.into_iter().for_each(|one| *totals.entry(one).or_default() += 1);
}

/// What fewer worlds have than each must.
fn too_few(totals: &BTreeMap<String, u64>, all: impl IntoIterator<Item = String>) -> Vec<String> {
    let had = |one: &String| totals.get(one).copied().unwrap_or_default();
    let few = all.into_iter().filter(|one| had(one) < LEAST);
    few.map(|one| format!("{one}: {}", had(&one))).collect()
}

/// Looks at the worlds `from` to `to`.
fn look(from: u64, to: u64, schema: &Schema, told: impl Fn(u64, &Total) + Sync) -> Total {
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
            told(number, &total);
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
fn worlds_of_all_kinds_hold() {
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
        // By kind, not in all: one more member of a registry takes worlds from others of this registry only.
        let everything = schema.everything().into_iter();
        let possible = everything.filter(|it| !IMPOSSIBLE.contains(&it.as_str()));
        let missing = too_few(&total.used, possible);
        let reasons = DropReason::ALL.iter().map(|reason| format!("drop {}", reason.name()));
        let kinds = schema.words("ObserveEntry", "kind");
        let kinds = kinds.iter().map(|kind| format!("kind {kind}"));
        let others = ["marks".to_owned(), "cuts".to_owned()];
        let unseen = too_few(&total.seen, reasons.chain(kinds).chain(others));
        assert!(unseen.is_empty(), "fewer than {LEAST} worlds had {unseen:?}");
        assert!(missing.is_empty(), "fewer than {LEAST} possible worlds had {missing:?}");
        assert!(total.possible * 10 >= (to - from) * 8, "too few worlds are possible");
    }
}

/// How many worlds are drawn with another schema.
const REDRAWN: u64 = 100;

/// A word less changes the worlds that had it, and no others; so a new one changes only those that take it.
#[test]
fn new_word_changes_only_worlds_that_take_it() {
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

/// What stands in the schema in another order gives the same worlds.
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

/// Whether a word is said anywhere in a world.
fn has(world: &Table, word: &str) -> bool {
    let quoted = format!("\"{word}\"");
    parts::written(world).contains(&quoted)
}
