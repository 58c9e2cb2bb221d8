//! The plan matches the file: links, failures and flows are looked up in the text again.

use optcp_scenario::plan::{Carries, LinkPlan, Plan, QueueLimit};
use toml::{Table, Value};

use crate::check::{Failure, failure};

/// Compares plain values of a file with the plan. Parameters, products and groups are left to other
/// tests.
pub(crate) fn planned(world: &Table, plan: &Plan) -> Result<(), Failure> {
    for entry in entries(world, "links") {
        for link in made_by(entry, plan) {
            lines(entry, link)?;
        }
    }
    for (number, entry) in entries(world, "failures").enumerate() {
        failures(number, entry, plan)?;
    }
    entries(world, "flows").try_for_each(|entry| flows(entry, plan))
}

fn entries<'w>(world: &'w Table, list: &str) -> impl Iterator<Item = &'w Table> {
    let list = world.get(list).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_table)
}

fn words(value: Option<&Value>) -> Vec<&str> {
    value.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}

/// Returns the links of an entry, without chains through groups.
fn made_by<'p>(entry: &Table, plan: &'p Plan) -> Vec<&'p LinkPlan> {
    let chain = words(entry.get("chain"));
    let named = entry.get("name").and_then(Value::as_str);
    let between = |pair: &[&str], link: &LinkPlan| {
        let ends = link.ends.map(|node| plan.nodes[node].as_str());
        ends == pair && link.over.is_empty()
    };
    let of = |link: &&LinkPlan| match named {
        Some(name) => {
            link.named
                && link.name.trim_end_matches(char::is_numeric)
                    == name.trim_end_matches(char::is_numeric)
                && chain.windows(2).any(|pair| between(pair, link))
        }
        None => !link.named && chain.windows(2).any(|pair| between(pair, link)),
    };
    plan.links.iter().filter(of).collect()
}

/// Rate and queue of both directions.
fn lines(entry: &Table, link: &LinkPlan) -> Result<(), Failure> {
    let reverse = entry.get("reverse").and_then(Value::as_table);
    for (way, port) in link.directions.iter().enumerate() {
        let said = |key: &str| {
            let own = reverse.filter(|_| way == 1).and_then(|reverse| reverse.get(key));
            own.or_else(|| entry.get(key)).and_then(Value::as_str)
        };
        let rate = said("rate").and_then(|text| match text.split_once(' ')? {
            (number, "Mbps") => Some(number.parse::<u64>().ok()? * 1_000_000),
            (number, "bps") => number.parse().ok(),
            _ => None,
        });
        if rate.is_some_and(|bps| bps != port.rate.bps()) {
            return failure("rate of a link", format!("{}, way {way}: {rate:?}", link.name));
        }
        let fits = match said("queue").and_then(|text| text.split_once(' ')) {
            Some((number, "packets")) => number.parse().ok().map(QueueLimit::Packets),
            Some((number, "B")) => {
                number.parse().ok().map(|count| QueueLimit::Bytes(optcp_units::Bytes::new(count)))
            }
            _ => None,
        };
        if fits.is_some_and(|limit| limit != port.queue) {
            return failure("queue of a link", format!("{}, way {way}: {fits:?}", link.name));
        }
    }
    Ok(())
}

/// Every link that a failure names fails, in the directions that it says.
fn failures(number: usize, entry: &Table, plan: &Plan) -> Result<(), Failure> {
    let several = entry.get("links").and_then(Value::as_array).into_iter().flatten();
    for named in entry.get("link").into_iter().chain(several) {
        let ends = words(Some(named));
        // Whether the entry has the link, and whether it is written in the link's own direction.
        let meant = |link: &LinkPlan| match (named.as_str(), ends.as_slice()) {
            (Some(name), _) => (link.name == name).then_some(true),
            (None, [a, b]) => {
                let of_link = link.ends.map(|node| plan.nodes[node].as_str());
                let hit = of_link == [*a, *b] || of_link == [*b, *a];
                (hit && !link.named && link.over.is_empty()).then_some(of_link[0] == *a)
            }
            _ => None,
        };
        let forward = entry.get("direction").and_then(Value::as_str) == Some("forward");
        for (index, along) in
            plan.links.iter().enumerate().filter_map(|(i, l)| Some((i, meant(l)?)))
        {
            let expected = match (forward, along) {
                (false, _) => [true, true],
                (true, true) => [true, false],
                (true, false) => [false, true],
            };
            let planned =
                plan.failures.iter().filter(|one| one.entry == number && one.link == index);
            let planned: Vec<[bool; 2]> = planned.map(|one| one.directions).collect();
            let failing = |way: usize| planned.iter().any(|directions| directions[way]);
            if (0..2).any(|way| expected[way] && !failing(way))
                || (planned.len() == 1 && planned[0] != expected)
            {
                let detail =
                    format!("{}: {planned:?}, expected {expected:?}", plan.links[index].name);
                return failure("a link that is to fail", detail);
            }
        }
    }
    Ok(())
}

/// A path without groups has as many flows as the entry says.
fn flows(entry: &Table, plan: &Plan) -> Result<(), Failure> {
    let path = words(entry.get("path"));
    let single = path.iter().all(|word| {
        let link = plan.links.iter().any(|link| link.name == *word);
        link || plan.nodes.iter().chain(plan.bundles.iter().map(|b| &b.name)).any(|n| n == word)
    });
    let name = entry.get("group").and_then(Value::as_str).unwrap_or_default();
    if path.is_empty() || !single || entry.contains_key("arrivals") || entry.contains_key("load") {
        return Ok(());
    }
    let group = plan.groups.iter().position(|group| group == name);
    let flows = plan.flows.iter().filter(|flow| flow.carries == Carries::Flow);
    let found = flows.filter(|flow| Some(flow.group) == group).count();
    let expected = entry.get("per_source").and_then(Value::as_integer).unwrap_or(1);
    match i64::try_from(found) == Ok(expected) {
        true => Ok(()),
        false => failure("flows of a group", format!("{name}: {found}, expected {expected}")),
    }
}
