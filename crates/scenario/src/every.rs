//! `every`: a swept parameter that takes all links, nodes, shared risks or pairs of links of a network.

use std::collections::BTreeSet;

use optcp_units::nearest::suggestion;

use crate::plan::{LinkPlan, Plan};
use crate::problem::Problem;
use crate::traffic_footprint::crossed;
use crate::tree::{Origin, quoted, written};
use crate::warnings::first_names;

/// Kind of element that `every` enumerates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Links,
    Pairs,
    Nodes,
    Risks,
}

/// `every` with optional filters, such as `every among city` or `every carrying web matching Berlin*`.
#[derive(Clone, Debug)]
pub(crate) struct Every {
    kind: Kind,
    /// Node group: only links between two members, or member nodes.
    among: Option<String>,
    /// Group of flows or sources that must cross the element before any failure.
    carrying: Option<String>,
    /// Pattern of the name; `*` matches any characters.
    matching: Option<String>,
    /// Whether it stands for elements that fail.
    fails: bool,
    pub origin: Origin,
}

/// Values of a swept parameter, and a note about values that were left out because they have no effect.
pub(crate) struct Found {
    pub values: Vec<String>,
    pub left_out: Option<String>,
}

impl Every {
    const FILTERS: [&str; 3] = ["among", "carrying", "matching"];

    pub(crate) fn begins(text: &str) -> bool {
        text.split_whitespace().next() == Some("every")
    }

    /// Parses the text for a key path.
    pub(crate) fn read(steps: &[String], text: &str, origin: Origin) -> Result<Self, Problem> {
        let fails = steps.first().is_some_and(|first| first == "failures");
        let kind = match steps.last().map(String::as_str) {
            Some("link") => Kind::Links,
            Some("links") if fails => Kind::Pairs,
            Some("node") if fails => Kind::Nodes,
            Some("risk") if fails => Kind::Risks,
            _ => {
                let problem =
                    Problem::new(origin, format!("unknown target `every {}`", steps.join(".")));
                let label = "`every` goes with `link`, or in [[failures]] with `node`, `risk` or `links` (pairs)";
                return Err(problem.label(label));
            }
        };
        let mut every = Every { kind, among: None, carrying: None, matching: None, fails, origin };
        let mut words = text.split_whitespace().skip(1);
        while let Some(word) = words.next() {
            let filter = match word {
                "among" => &mut every.among,
                "carrying" => &mut every.carrying,
                "matching" => &mut every.matching,
                _ => {
                    let help = suggestion(word, "filters", Self::FILTERS);
                    let problem = Problem::new(origin, format!("unknown filter `{word}`"));
                    return Err(problem
                        .label("expected `every`, such as `every carrying web`")
                        .help(help));
                }
            };
            let Some(name) = words.next() else {
                return Err(Problem::new(origin, format!("`{word}` without a name"))
                    .label("write a name after it"));
            };
            if filter.replace(name.to_owned()).is_some() {
                return Err(Problem::new(origin, format!("`{word}` occurs twice")));
            }
        }
        Ok(every)
    }

    /// Returns the matching elements of a network, in its order.
    pub(crate) fn find(&self, plan: &Plan) -> Result<Found, Problem> {
        let of = |name: &String| plan.groups.iter().position(|group| group == name);
        let group = match &self.carrying {
            None => None,
            Some(name) => Some(of(name).ok_or_else(|| {
                let help =
                    suggestion(name, "groups of flows", plan.groups.iter().map(String::as_str));
                Problem::new(self.origin, format!("unknown group of flows `{name}`")).help(help)
            })?),
        };
        let among: Option<BTreeSet<usize>> = match &self.among {
            None => None,
            Some(name) => Some(self.members(name, plan)?),
        };
        let inside = |nodes: &[usize]| {
            among.as_ref().is_none_or(|among| nodes.iter().all(|node| among.contains(node)))
        };
        let named = |name: &str| {
            self.matching.as_ref().is_none_or(|pattern| matches_pattern(pattern, name))
        };
        let crossing = crossed(plan, group);
        let (mut values, mut idle) = (Vec::new(), Vec::new());
        let mut add = |value: String, shown: String, carries: bool| match carries {
            true => values.push(value),
            false if group.is_none() => idle.push(shown),
            false => {}
        };
        let carries = |link: usize| crossing.links.contains(&link);
        // Circuits and routes of bursts fail with the links that they use. Packets do not use fibres by themselves.
        let fails =
            |link: &LinkPlan| !link.is_derived() && (self.fails || link.wavelengths.is_none());
        let links = || {
            let all = plan.links.iter().enumerate();
            all.filter(|(_, link)| fails(link) && inside(&link.ends) && named(&link.name))
        };
        match self.kind {
            Kind::Links => {
                for (index, link) in links() {
                    add(written(&link.name), link.name.clone(), carries(index));
                }
            }
            Kind::Pairs => {
                for (a, one) in links() {
                    for (b, other) in links().filter(|&(b, _)| b > a) {
                        let value = format!("[{}, {}]", quoted(&one.name), quoted(&other.name));
                        let shown = format!("{} with {}", one.name, other.name);
                        add(value, shown, carries(a) || carries(b));
                    }
                }
            }
            Kind::Nodes => {
                for (index, name) in plan.nodes.iter().enumerate() {
                    if inside(&[index]) && named(name) {
                        add(written(name), name.clone(), crossing.nodes.contains(&index));
                    }
                }
            }
            Kind::Risks => {
                for risk in &plan.risks {
                    if named(&risk.name) {
                        let carries = risk.links.iter().any(|&link| carries(link));
                        add(written(&risk.name), risk.name.clone(), carries);
                    }
                }
            }
        }
        if values.is_empty() {
            let message = match idle.is_empty() {
                true => "the network has none".to_owned(),
                false => "no traffic crosses any of them".to_owned(),
            };
            return Err(
                Problem::new(self.origin, message).label("no value for this swept parameter")
            );
        }
        let all = values.len() + idle.len();
        let left_out = (!idle.is_empty()).then(|| {
            let names: Vec<&str> = idle.iter().map(String::as_str).collect();
            format!(
"{} of {all} values are left out, since no traffic crosses them: {}; select values with `every carrying GROUP`",
                idle.len(),
                first_names(&names)
            )
        });
        Ok(Found { values, left_out })
    }

    fn members(&self, name: &str, plan: &Plan) -> Result<BTreeSet<usize>, Problem> {
        let group = plan.node_groups.iter().find(|(group, _)| group == name);
        group.map(|(_, members)| members.iter().copied().collect()).ok_or_else(|| {
            let names = plan.node_groups.iter().map(|(group, _)| group.as_str());
            let help = suggestion(name, "groups of nodes", names);
            Problem::new(self.origin, format!("unknown group of nodes `{name}`")).help(help)
        })
    }
}

/// Returns whether a name matches a pattern in which `*` stands for any characters.
fn matches_pattern(pattern: &str, name: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut name) = name.strip_prefix(first) else { return false };
    let parts: Vec<&str> = rest.split('*').collect();
    let (last, between) = parts.split_last().expect("a split text has a part");
    for part in between {
        let Some(at) = name.find(part) else { return false };
        name = &name[at + part.len()..];
    }
    name.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::matches_pattern;

    #[test]
    fn star_matches_any_characters() {
        for (pattern, name, fits) in [
            ("Berlin", "Berlin", true),
            ("Berlin", "Berlin-Hannover", false),
            ("Berlin*", "Berlin-Hannover", true),
            ("*-Hannover", "Berlin-Hannover", true),
            ("*erl*nov*", "Berlin-Hannover", true),
            ("*nov*erl*", "Berlin-Hannover", false),
            ("B*n", "Bn", true),
            ("ab*ba", "aba", false),
        ] {
            assert_eq!(matches_pattern(pattern, name), fits, "{pattern} {name}");
        }
    }
}
