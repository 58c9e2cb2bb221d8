//! A parsed and checked scenario.

use std::collections::BTreeMap;
use std::sync::Arc;

use optcp_routing::Coverage;
use optcp_units::Time;
use toml::de::DeTable;

use crate::every::Found;
use crate::library::Library;
use crate::plan::{Carries, Plan};
use crate::problem::{Diagnostic, Problem, Problems};
use crate::protected::{self, Spare};
use crate::routed::{self, Backup, Networks, Protected};
use crate::sweep::Values;
use crate::tree::{Node, Origin};
use crate::warnings::{Noted, Places, Warning, WarningKind};
use crate::{check, expression, overrides, queue_time, resolved, schema, sweep, warnings, written};

/// One parsed world: topology, paths, flows, failures, protection, what to observe.
#[derive(Clone, Debug)]
pub struct Scenario {
    source: Arc<Source>,
    overrides: Vec<(String, String)>,
    /// What the file says with the overrides in place.
    tree: Node,
    plan: Plan,
    axes: Vec<(String, Vec<String>)>,
    /// Warnings that the check found.
    noted: Vec<Noted>,
    silenced: Vec<WarningKind>,
    /// Of the canonical JSON, which takes longer to write than many a run needs.
    sha256: String,
    protected: Option<Protected>,
}

/// Where scenarios come from that differ in overrides only.
#[derive(Debug)]
struct Source {
    text: String,
    file_name: String,
    library: Library,
    networks: Networks,
}

/// A scenario in a few numbers, for `optcp validate`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// What the scenario is about.
    pub title: String,
    /// How many nodes there are.
    pub nodes: usize,
    /// How many links the file has: without circuits of backups, routes of bursts and virtual output queues.
    pub links: usize,
    /// How many flows there are, without those that come at random.
    pub flows: usize,
    /// The groups of flows.
    pub groups: Vec<String>,
    /// When the run ends.
    pub stop: Time,
    /// The names of the observations.
    pub observe: Vec<String>,
    /// The parameters as written, overrides applied.
    pub parameters: BTreeMap<String, String>,
}

impl Scenario {
    /// Reads and checks a scenario that names no topology.
    ///
    /// # Errors
    /// As in [`Scenario::parse_with`].
    pub fn parse(
        text: &str,
        file_name: &str,
        overrides: &[(String, String)],
    ) -> Result<Scenario, Diagnostic> {
        Scenario::parse_with(text, file_name, overrides, &Library::default())
    }

    /// Reads and checks a scenario. The text comes in as it is, and so do topologies that it names: this
    /// layer opens no files.
    ///
    /// # Errors
    /// Everything that is wrong with it, or as much of it as can be found at once.
    pub fn parse_with(
        text: &str,
        file_name: &str,
        overrides: &[(String, String)],
        library: &Library,
    ) -> Result<Scenario, Diagnostic> {
        let source = Source {
            text: text.to_owned(),
            file_name: file_name.to_owned(),
            library: library.clone(),
            networks: Networks::default(),
        };
        let (table, errors) = DeTable::parse_recoverable(text);
        if !errors.is_empty() {
            let mut found: Vec<Problem> = errors.iter().map(syntax).collect();
            if let (Some(language), Some(first)) = (other_language(text), found.first_mut()) {
                let help = format!(
                    "this looks like {language}; a scenario is TOML, such as `optcp new` writes"
                );
                first.help = Some(help);
            }
            return Err(Diagnostic::new(file_name, text, overrides, found));
        }
        let tree = Node::of_file(table.get_ref(), text.len());
        Scenario::of_tree(Arc::new(source), tree, Vec::new(), overrides)
    }

    /// The same world with further overrides, which win over the present ones. An axis of `[sweep]` that is
    /// overridden is none any more.
    ///
    /// # Errors
    /// As in [`Scenario::parse`].
    pub fn with_overrides(&self, more: &[(String, String)]) -> Result<Scenario, Diagnostic> {
        // A choice takes back what another one of its axis has set, which only the file knows.
        let chosen_anew = |(key, _): &&(String, String)| {
            let steps = overrides::split(key);
            steps[0] == "sweep" && more.iter().any(|(other, _)| overrides::split(other) == steps)
        };
        if self.overrides.iter().any(|one| chosen_anew(&one)) {
            let all: Vec<(String, String)> = self
                .overrides
                .iter()
                .filter(|one| !chosen_anew(one))
                .chain(more)
                .cloned()
                .collect();
            let Source { text, file_name, library, .. } = &*self.source;
            return Scenario::parse_with(text, file_name, &all, library);
        }
        let (tree, overrides) = (self.tree.clone(), self.overrides.clone());
        Scenario::of_tree(Arc::clone(&self.source), tree, overrides, more)
    }

    /// Puts overrides into the tree, and checks what comes of it.
    fn of_tree(
        source: Arc<Source>,
        mut tree: Node,
        mut overrides: Vec<(String, String)>,
        more: &[(String, String)],
    ) -> Result<Scenario, Diagnostic> {
        let first = overrides.len();
        overrides.extend_from_slice(more);
        let refuse = |found| Diagnostic::new(&source.file_name, &source.text, &overrides, found);
        let put = |(index, pair)| overrides::apply(&mut tree, index, pair).err();
        let found: Vec<Problem> =
            overrides.iter().enumerate().skip(first).filter_map(put).collect();
        if !found.is_empty() {
            return Err(refuse(found));
        }

        let mut problems = Problems::new(&tree);
        let (resolved, unresolved) = expression::resolve(&source.library, &mut problems);
        let mut found = problems.found;

        let mut problems = Problems::new(&resolved);
        let file = schema::read(&mut problems);
        // An expression with a problem stays in the tree as text, which is no second problem.
        let known = |problem: &Problem| {
            let mut reported = found.iter().map(|other| &other.origin);
            unresolved.contains(&problem.origin) || reported.any(|other| *other == problem.origin)
        };
        problems.found.retain(|problem| !known(problem));
        queue_time::add_conversions(&resolved, &mut problems.found);
        found.append(&mut problems.found);
        // What is badly written hides what is impossible: a link that cannot be read is not missing.
        let file = match file {
            Some(file) if found.is_empty() => file,
            _ => return Err(refuse(found)),
        };
        let axes = sweep::axes(&tree, &overrides, &source.library, &mut problems);
        let plan = check::plan(&file, &source.library, &mut problems);
        let mut noted = std::mem::take(&mut problems.noted);
        let mut found_axes = Vec::new();
        for axis in plan.as_ref().map_or(Vec::new(), |_| axes) {
            let values = match (axis.values, &plan) {
                (Values::Every(every), Some(plan)) => match every.find(plan) {
                    Ok(Found { values, left_out }) => {
                        noted.extend(left_out.map(|message| Noted {
                            kind: WarningKind::IdleInSweep,
                            message,
                            origin: every.origin,
                        }));
                        values
                    }
                    Err(problem) => {
                        problems.found.push(problem);
                        continue;
                    }
                },
                (Values::Listed(values), _) => values,
                (Values::Every(_), None) => continue,
            };
            found_axes.push((axis.key, values));
        }
        let found = problems.found;
        sweep::without_fixed(&mut tree, &overrides);
        match plan {
            Some(plan) if found.is_empty() => Ok(Scenario {
                sha256: resolved::sha256(&plan),
                protected: source.networks.of(&plan),
                plan,
                axes: found_axes,
                noted,
                silenced: file.silence,
                source,
                overrides,
                tree,
            }),
            _ => Err(refuse(found)),
        }
    }

    /// The scenario as a file, overrides in place. Files that it names are looked for from where that one is.
    #[must_use]
    pub fn to_toml(&self) -> String {
        written::file(&self.tree)
    }

    /// Key paths and their values as written, each of which could be an override: all that the file says but for
    /// the title and the sweep.
    #[must_use]
    pub fn settings(&self) -> Vec<(String, String)> {
        let mut found = Vec::new();
        for entry in self.tree.entries() {
            if !matches!(entry.key.as_str(), "title" | "sweep") {
                overrides::settings(&entry.node, &overrides::step(&entry.key), &mut found);
            }
        }
        found
    }

    /// The world, fully expanded and checked.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The world and its title as canonical JSON, with all choices of TCP. Parameters, units and the
    /// sweep leave no trace: what leads to the same world has the same text.
    #[must_use]
    pub fn resolved_json(&self) -> String {
        resolved::json(&self.plan)
    }

    /// SHA-256, in hexadecimal, of the world without its title: of [`Scenario::resolved_json`] without defaults.
    #[must_use]
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// The axes of `[sweep]` in the order of the file: key path, and values that can be passed on as
    /// overrides.
    #[must_use]
    pub fn axes(&self) -> &[(String, Vec<String>)] {
        &self.axes
    }

    /// What is possible and hardly meant, but for what the file silences.
    #[must_use]
    pub fn warnings(&self) -> Vec<Warning> {
        let Source { text, file_name, .. } = &*self.source;
        let places = Places { file_name, text, overrides: &self.overrides };
        let noted = self.noted.iter().map(|one| Warning {
            kind: one.kind,
            message: one.message.clone(),
            place: places.of(one.origin),
        });
        let mut found = warnings::warnings(&self.plan, &self.tree, &places);
        found.extend(noted);
        found.retain(|warning| !self.silenced.contains(&warning.kind));
        found
    }

    /// Whether the file silences a warning.
    #[must_use]
    pub fn silences(&self, kind: WarningKind) -> bool {
        self.silenced.contains(&kind)
    }

    /// What its protections need, in the order of the file.
    #[must_use]
    pub fn spare(&self) -> Vec<Spare> {
        protected::spare(&self.plan)
    }

    /// How much its fast reroute protects; `None` without routing.
    #[must_use]
    pub fn coverage(&self) -> Option<Coverage> {
        self.protected.as_ref().map(Protected::coverage)
    }

    /// Each router's route and backup for each destination; none without routing.
    #[must_use]
    pub fn backups(&self) -> Vec<Backup> {
        routed::backups(&self.plan)
    }

    /// The scenario in a few numbers.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let plan = &self.plan;
        Summary {
            title: plan.title.clone(),
            nodes: plan.nodes.len(),
            links: plan.links.iter().filter(|link| !link.is_derived()).count(),
            flows: flows_of(plan),
            groups: plan.groups.clone(),
            stop: plan.stop,
            observe: plan.observe.iter().map(|observe| observe.name.clone()).collect(),
            parameters: parameters(&self.tree),
        }
    }
}

/// How many flows a run has, without those that come at random.
fn flows_of(plan: &Plan) -> usize {
    let fixed = plan.flows.iter().filter(|flow| flow.carries == Carries::Flow).count();
    let drawn = plan.drawn.iter().map(|drawn| drawn.count as usize * drawn.per_source as usize);
    fixed + drawn.sum::<usize>()
}

/// What a text that is not TOML looks like.
fn other_language(text: &str) -> Option<&'static str> {
    let first =
        text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'))?;
    let key = first.split_once(':').map(|(key, _)| key);
    let plain = |key: &str| !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || c == '_');
    match first {
        _ if first.starts_with('{') => Some("JSON"),
        _ if first.starts_with('<') => Some("XML"),
        _ if first == "---" || key.is_some_and(plain) => Some("YAML"),
        _ => None,
    }
}

fn syntax(error: &toml::de::Error) -> Problem {
    let span = error.span().unwrap_or(0..0);
    let origin = Origin::File { start: span.start, end: span.end };
    Problem::new(origin, format!("not TOML: {}", error.message().trim()))
}

fn parameters(tree: &Node) -> BTreeMap<String, String> {
    let entries = tree.get("parameters").map_or(&[][..], Node::entries);
    entries.iter().map(|entry| (entry.key.clone(), entry.node.to_text())).collect()
}
