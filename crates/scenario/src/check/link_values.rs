//! Rates, delays, costs, losses and shared risks of `[topology]` that come from the file.

use optcp_units::Rate;

use crate::library::{Library, LinkRisks, LinkValues, Reference};
use crate::plan::Spread;
use crate::problem::Problems;
use crate::schema::{
    Column, Count, LinkCost, PerLink, Probability, Span, Speed, TopologyTable, Written,
};
use crate::tree::place;

use super::bounds::is_name;

/// Values of the links in both directions.
type Both<T> = Vec<[Option<T>; 2]>;

/// Values of links from the file. Lists are empty if the scenario does not use them.
#[derive(Default)]
pub(super) struct Columns {
    /// Rates; each link has one.
    pub rates: Both<Rate>,
    /// Propagation delays.
    pub delays: Both<Spread>,
    /// Costs; each link has one.
    pub costs: Both<u32>,
    /// Probabilities of loss.
    pub losses: Both<f64>,
    /// Shared risks.
    pub risks: LinkRisks,
}

/// Source of the values: network, its link names, and the file's library.
pub(super) struct Source<'s> {
    pub library: &'s Library,
    pub reference: Reference<'s>,
    /// Names of the links, in the order of the file.
    pub links: &'s [String],
}

impl Columns {
    /// Reads the values that `[topology]` takes from the file; returns `None` after a problem.
    pub(super) fn read(
        table: &TopologyTable,
        source: &Source<'_>,
        problems: &mut Problems<'_>,
    ) -> Option<Self> {
        let before = problems.found.len();
        let mut columns = Columns {
            rates: values("rate", table.rate.0.column(), source, problems, |one: Speed| one.0),
            ..Columns::default()
        };
        if let Some(default) = table.default_rate {
            match table.rate.0 {
                PerLink::All(_) => {
                    problems
                        .at(place!["topology", "default_rate"], "`default_rate` is not used here")
                        .label("needs `rate = \"file\"` or a rate from an attribute");
                }
                PerLink::Column(_) => fill(&mut columns.rates, default.0),
            }
        }
        if let Some(scale) = table.rate_scale {
            scaled(table, scale.0, &mut columns.rates, problems);
        }
        complete("rate", &columns.rates, source, "set `default_rate` for such links", problems);
        if let Some(delay) = &table.delay {
            let delay = delay.0.column();
            columns.delays =
                values("delay", delay, source, problems, |one: Span| Spread::Fixed(one.0));
        }
        if let Some(LinkCost(cost)) = &table.cost {
            columns.costs = values("cost", cost.column(), source, problems, |one: Count| one.0);
            complete("cost", &columns.costs, source, "set one `cost` for all links", problems);
            if columns.costs.iter().flatten().any(|cost| *cost == Some(0)) {
                let place = place!["topology", "cost"];
                problems.at(place, "a cost in the file is zero").label("must be above zero");
            }
        }
        if table.loss.is_some() {
            let file = Some(&Column::File);
            columns.losses = values("loss", file, source, problems, |one: Probability| one.0);
            let over = |loss: &&Option<f64>| loss.is_some_and(|loss| loss > 1.0);
            if columns.losses.iter().flatten().find(over).is_some() {
                let place = place!["topology", "loss"];
                problems.at(place, "a loss ratio in the file is above 1").label("at most 1");
            }
        }
        if table.risks.is_some() {
            columns.risks = risks(source, problems);
        }
        (problems.found.len() == before).then_some(columns)
    }
}

/// Multiplies rates of the file by `rate_scale`.
fn scaled(table: &TopologyTable, scale: f64, rates: &mut Both<Rate>, problems: &mut Problems<'_>) {
    let place = place!["topology", "rate_scale"];
    if table.rate.0.all().is_some() {
        problems
            .at(place, "`rate_scale` is not used here")
            .label("needs `rate = \"file\"` or a rate from an attribute");
        return;
    }
    for rate in rates.iter_mut().flatten().flatten() {
        let bps = (rate.bps() as f64 * scale).round();
        // Casts saturate: an excessive rate is the highest one.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
        match Rate::from_bps(bps as u64) {
            Some(scaled) => *rate = scaled,
            None => {
                problems.at(place, format!("{rate} times {scale} is below 1 bps"));
                return;
            }
        }
    }
}

/// Returns the values of a key for all links.
fn values<T: Written, U>(
    key: &'static str,
    column: Option<&Column>,
    source: &Source<'_>,
    problems: &mut Problems<'_>,
    value: impl Fn(T) -> U,
) -> Both<U> {
    let Some(column) = column else { return Vec::new() };
    let place = place!["topology", key];
    let found: LinkValues = match source.library.link_values(source.reference, key, &column.text())
    {
        Ok(found) => found,
        Err(message) => {
            problems.at(place, message);
            return Vec::new();
        }
    };
    let parse = |text: Option<String>| text.map(|text| T::from_text(&text).map(&value)).transpose();
    let mut all = Vec::new();
    for (name, both) in source.links.iter().zip(found) {
        let [there, back] = both.map(parse);
        match (there, back) {
            (Ok(there), Ok(back)) => all.push([there, back]),
            (Err(error), _) | (_, Err(error)) => {
                problems.at(place, format!("link `{name}`: {error}"));
                return Vec::new();
            }
        }
    }
    all
}

/// Sets missing values.
fn fill<T: Copy>(values: &mut Both<T>, default: T) {
    for value in values.iter_mut().flatten() {
        value.get_or_insert(default);
    }
}

/// Reports the links without a value.
fn complete<T>(
    key: &'static str,
    values: &Both<T>,
    source: &Source<'_>,
    help: &str,
    problems: &mut Problems<'_>,
) {
    let missing = |both: &[Option<T>; 2]| both.iter().any(Option::is_none);
    let mut without = source.links.iter().zip(values).filter(|(_, both)| missing(both));
    if let Some((name, _)) = without.next() {
        let message = match without.count() {
            0 => format!("the file has no {key} for the link `{name}`"),
            more => format!("the file has no {key} for the link `{name}` and {more} more"),
        };
        problems.at(place!["topology", key], message).help(help.to_owned());
    }
}

/// Returns the shared risks of the file.
fn risks(source: &Source<'_>, problems: &mut Problems<'_>) -> LinkRisks {
    let place = place!["topology", "risks"];
    match source.library.link_risks(source.reference) {
        Err(message) => {
            problems.at(place, message);
            Vec::new()
        }
        Ok(risks) if risks.is_empty() => {
            problems.at(place, "the file has no shared risks");
            Vec::new()
        }
        Ok(risks) => {
            let count = source.links.len();
            let valid = |(name, links): &(String, Vec<usize>)| {
                is_name(name) && links.iter().all(|&link| link < count)
            };
            risks.into_iter().filter(valid).collect()
        }
    }
}
