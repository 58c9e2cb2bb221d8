//! What the parts of a world share: the numbers of ports and paths, draws, and when links are down.

use optcp_des::Streams;
use optcp_net::{PathId, PortConfig, PortId};
use optcp_optical::protection::Outage;
use optcp_scenario::plan::{DirectedLink, FailurePlan, FlowPlan, Plan, Shape, Spread};
use optcp_traffic::{exponential, lognormal, normal, pareto, whole_ps};
use optcp_units::Duration;

/// The number of a port: both directions of a link stand side by side.
pub(crate) fn port_id((link, direction): DirectedLink) -> PortId {
    PortId::at(2 * link + direction)
}

/// The propagation delay of a port.
pub(super) fn delay_of(ports: &[PortConfig], hop: DirectedLink) -> Duration {
    ports[port_id(hop).index()].delay
}

pub(super) fn draw(spread: &Spread, streams: Streams, name: impl Fn() -> String) -> Duration {
    match spread {
        Spread::Fixed(value) => *value,
        Spread::Uniform { low, high } => streams.stream(&name()).uniform(*low, *high),
        Spread::Choice(values) => {
            let at = streams.stream(&name()).below(values.len() as u64);
            values[usize::try_from(at).expect("below a length")]
        }
        Spread::Cut { shape, mean, most } => {
            let mean = mean.as_ps() as f64;
            let most = most.unwrap_or(Duration::LONGEST);
            let stream = &mut streams.stream(&name());
            // The greatest value is not below the mean: what is refused is no more than about a half.
            loop {
                let ps = match shape {
                    Shape::Normal(deviation) => mean + deviation.as_ps() as f64 * normal(stream),
                    Shape::Exponential => mean * exponential(stream),
                    Shape::Lognormal(deviation) => {
                        lognormal(stream, mean, deviation.as_ps() as f64)
                    }
                    Shape::Pareto(shape) => pareto(stream, mean * (shape - 1.0) / shape, *shape),
                };
                if ps >= 0.0 && ps <= most.as_ps() as f64 {
                    return Duration::from_ps(whole_ps(ps)).min(most);
                }
            }
        }
    }
}

/// The two paths of a flow, data and ACKs: those of its group, or its own if it is switched apart from others.
pub(super) fn path_ids(plan: &Plan, flow: &FlowPlan) -> [PathId; 2] {
    let number = flow.lsp.map_or(flow.group, |lsp| plan.groups.len() + lsp);
    let data = 2 * PathId::try_from(number).expect("a plan has fewer than 2^31 groups and flows");
    [data, data + 1]
}

/// When a port is down, in order.
pub(super) fn outages(plan: &Plan, hop: DirectedLink) -> Vec<Outage> {
    let of_hop = plan.failures.iter().filter(|failure| fails(plan, failure, hop));
    united(of_hop.map(|one| Outage { failure: one.at, repair: one.repair }).collect())
}

/// Whether a failure takes a port down: that of its link, or of a circuit over it.
pub(super) fn fails(plan: &Plan, failure: &FailurePlan, (link, direction): DirectedLink) -> bool {
    let hit = |(under, way): DirectedLink| under == failure.link && failure.directions[way];
    let over = &plan.links[link].over;
    hit((link, direction)) || over.iter().any(|&hop| hit(hop))
}

/// The same as outages that are apart, in order.
pub(super) fn united(mut outages: Vec<Outage>) -> Vec<Outage> {
    outages.sort_by_key(|outage| outage.failure);
    outages.dedup_by(|next, last| {
        let together = last.repair.is_none_or(|repair| next.failure <= repair);
        if together {
            last.repair = last.repair.zip(next.repair).map(|(a, b)| a.max(b));
        }
        together
    });
    outages
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: u32 = 20_000;

    /// Draws of a distribution in ms, one of each stream.
    fn drawn(spread: &Spread) -> Vec<f64> {
        let one = |i| draw(spread, Streams::new(1), || format!("draws/{i}")).as_ps() as f64 / 1e9;
        (0..DRAWS).map(one).collect()
    }

    fn cut(shape: Shape, mean_ms: u64, most_ms: Option<u64>) -> Spread {
        Spread::Cut {
            shape,
            mean: Duration::from_ms(mean_ms),
            most: most_ms.map(Duration::from_ms),
        }
    }

    fn mean(draws: &[f64]) -> f64 {
        draws.iter().sum::<f64>() / f64::from(DRAWS)
    }

    /// That the share of draws up to `end` is what is expected, within four standard errors.
    fn below(draws: &[f64], end: f64, expected: f64) {
        let share = draws.iter().filter(|&&draw| draw <= end).count() as f64 / f64::from(DRAWS);
        let error = (expected * (1.0 - expected) / f64::from(DRAWS)).sqrt();
        assert!((share - expected).abs() <= 4.0 * error, "{share} up to {end}, not {expected}");
    }

    /// P(X <= mean) = 1 - 1/e. Cut at two means, the mean is 1 - 2 e^-2 / (1 - e^-2) = 0.68696 of it.
    #[test]
    fn exponential_draws() {
        let draws = drawn(&cut(Shape::Exponential, 10, None));
        below(&draws, 10.0, 1.0 - 1.0_f64.exp().recip());
        below(&draws, 20.0, 1.0 - 2.0_f64.exp().recip());
        let draws = drawn(&cut(Shape::Exponential, 10, Some(20)));
        assert!(draws.iter().all(|&draw| draw <= 20.0));
        // The deviation of what is left is below 20 / sqrt(12) = 5.8: four errors are 0.17.
        assert!((mean(&draws) - 6.8696).abs() < 0.17, "{}", mean(&draws));
    }

    /// Phi(-1) = 0.158655. With a deviation of twice the mean, P(0 < X <= mean) is (0.5 - Phi(-0.5)) / (1 - Phi(-0.5)) with
    /// Phi(-0.5) = 0.308538.
    #[test]
    fn normal_draws() {
        let draws = drawn(&cut(Shape::Normal(Duration::from_ms(2)), 10, None));
        below(&draws, 8.0, 0.158_655);
        below(&draws, 10.0, 0.5);
        let draws = drawn(&cut(Shape::Normal(Duration::from_ms(20)), 10, None));
        assert!(draws.iter().all(|&draw| draw >= 0.0));
        below(&draws, 10.0, (0.5 - 0.308_538) / (1.0 - 0.308_538));
    }

    /// The median is mean / sqrt(1 + (deviation / mean)^2) = 10 / sqrt(1.25), and the mean is above it: its share is
    /// Phi(sigma / 2), sigma = sqrt(log 1.25) = 0.472381, Phi(0.236190) = 0.593357.
    #[test]
    fn lognormal_draws() {
        let draws = drawn(&cut(Shape::Lognormal(Duration::from_ms(5)), 10, None));
        below(&draws, 10.0 / 1.25_f64.sqrt(), 0.5);
        below(&draws, 10.0, 0.593_357);
        assert!((mean(&draws) - 10.0).abs() < 4.0 * 5.0 / f64::from(DRAWS).sqrt());
    }

    /// Shape 3: the least value is 2/3 of the mean, P(X > x) = (least / x)^3.
    #[test]
    fn pareto_draws() {
        let draws = drawn(&cut(Shape::Pareto(3.0), 9, None));
        assert!(draws.iter().all(|&draw| draw >= 6.0 - 1e-9));
        below(&draws, 12.0, 1.0 - 1.0 / 8.0);
    }

    #[test]
    fn choices_are_alike() {
        let values = [1, 2, 5].map(Duration::from_ms);
        let draws = drawn(&Spread::Choice(values.into()));
        below(&draws, 1.0, 1.0 / 3.0);
        below(&draws, 2.0, 2.0 / 3.0);
        below(&draws, 5.0, 1.0);
    }
}
