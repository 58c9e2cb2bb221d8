//! Repair of invalid scenarios, and reduction of failing ones, by removing parts of their text.

use toml::{Table, Value};

use crate::check::{Failure, read};

/// Place of a part in a scenario.
type Place = Vec<Step>;

#[derive(Clone, Debug)]
enum Step {
    Key(String),
    Index(usize),
}

/// Returns the text of a scenario.
pub(crate) fn written(world: &Table) -> String {
    toml::to_string(world).expect("a table of strings, numbers and lists")
}

/// Makes an invalid scenario valid: it removes the key or entry that the error names, and repeats.
/// `last` is the text that was read last.
pub(crate) fn mended(mut world: Table, last: &mut Table) -> Option<Table> {
    for _ in 0..40 {
        last.clone_from(&world);
        let text = written(&world);
        let Err(refusal) = read(&text, &[]) else { return Some(world) };
        let refused = refusal.render(false);
        let line = line_of(&refused)?;
        let (place, key) = located(&text, line)?;
        let mut better = |smaller: &Table| {
            last.clone_from(smaller);
            match read(&written(smaller), &[]) {
                Ok(_) => true,
                Err(other) => other.messages().next() != refusal.messages().next(),
            }
        };
        let without_key = key.and_then(|key| {
            let mut smaller = world.clone();
            let mut full = place.clone();
            full.push(Step::Key(key));
            remove(&mut smaller, &full).then_some(smaller)
        });
        world = match without_key.filter(&mut better) {
            Some(smaller) => smaller,
            None => {
                let mut smaller = world.clone();
                // The entry itself, not a table within it.
                let entry = place.iter().rposition(|step| matches!(step, Step::Index(_)));
                let place = &place[..entry.map_or(place.len(), |at| at + 1)];
                if !remove(&mut smaller, place) {
                    return None;
                }
                smaller
            }
        };
    }
    None
}

/// The line that a message points to: `[w.toml:12:3]`.
fn line_of(message: &str) -> Option<usize> {
    let after = message.split("w.toml:").nth(1)?;
    after.split(':').next()?.parse().ok()
}

/// The table in which a line stands, and its key.
fn located(text: &str, line: usize) -> Option<(Place, Option<String>)> {
    let lines: Vec<&str> = text.lines().take(line).collect();
    let header = lines.iter().rposition(|line| line.starts_with('['));
    let at = lines.last()?;
    let key = at.split_once(" = ").map(|(key, _)| key.trim().trim_matches('"').to_owned());
    let Some(header) = header else { return Some((Vec::new(), key)) };
    let name = lines[header].trim_matches(['[', ']']);
    let mut place = Place::new();
    // Lists of entries may have lists of entries.
    let (mut within, mut first) = (String::new(), 0);
    for step in name.split('.') {
        let dot = if within.is_empty() { "" } else { "." };
        within = format!("{within}{dot}{step}");
        place.push(Step::Key(step.to_owned()));
        let header = format!("[[{within}]]");
        let entries: Vec<usize> =
            (first..lines.len()).filter(|&line| lines[line] == header).collect();
        if let Some(last) = entries.last() {
            place.push(Step::Index(entries.len() - 1));
            first = *last;
        }
    }
    Some((place, key))
}

/// Takes away what stands at a place; says whether there was something.
fn remove(world: &mut Table, place: &[Step]) -> bool {
    let Some((last, before)) = place.split_last() else { return false };
    let mut first = before.iter();
    let Some(Step::Key(name)) = first.next() else {
        return matches!(last, Step::Key(name) if world.remove(name).is_some());
    };
    let mut at = world.get_mut(name);
    for step in first {
        at = match (at, step) {
            (Some(Value::Table(table)), Step::Key(key)) => table.get_mut(key),
            (Some(Value::Array(list)), Step::Index(index)) => list.get_mut(*index),
            _ => None,
        };
    }
    let removed = match (&mut at, last) {
        (Some(Value::Table(table)), Step::Key(key)) => table.remove(key).is_some(),
        (Some(Value::Array(list)), Step::Index(index)) if *index < list.len() => {
            list.remove(*index);
            true
        }
        _ => false,
    };
    // A list of no entries is no list.
    if let (true, [Step::Key(name)], Some(Value::Array(list))) = (removed, before, at)
        && list.is_empty()
    {
        world.remove(name);
    }
    removed
}

/// Returns all removable parts of a scenario, the largest parts first.
fn parts(world: &Table) -> Vec<Place> {
    let mut found = Vec::new();
    for (key, value) in world {
        let place = vec![Step::Key(key.clone())];
        found.push(place.clone());
        inner(value, &place, &mut found);
    }
    found.sort_by_key(Vec::len);
    found
}

fn inner(value: &Value, place: &[Step], found: &mut Vec<Place>) {
    let within = |step: Step| [place, &[step]].concat();
    match value {
        Value::Table(table) => {
            for (key, value) in table {
                let place = within(Step::Key(key.clone()));
                found.push(place.clone());
                inner(value, &place, found);
            }
        }
        Value::Array(list) => {
            for (index, value) in list.iter().enumerate().rev() {
                let place = within(Step::Index(index));
                found.push(place.clone());
                inner(value, &place, found);
            }
        }
        _ => {}
    }
}

/// Returns the smallest scenario with the same failure: it removes parts while the failure
/// persists.
pub(crate) fn shrunk(
    mut world: Table,
    failure: &Failure,
    fails: impl Fn(&Table) -> Option<Failure>,
) -> Table {
    loop {
        let smaller = parts(&world).into_iter().find_map(|place| {
            let mut smaller = world.clone();
            remove(&mut smaller, &place);
            fails(&smaller).filter(|other| other.what == failure.what).map(|_| smaller)
        });
        match smaller {
            Some(smaller) => world = smaller,
            None => return world,
        }
    }
}
