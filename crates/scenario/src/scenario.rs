//! Parsed and checked scenario.

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
use crate::{check, expression, overrides, resolved, schema, sweep, warnings, written};

/// Parsed scenario: topology, paths, flows, failures, protection and observations.
#[derive(Clone, Debug)]
pub struct Scenario {
    source: Arc<Source>,
    overrides: Vec<(String, String)>,
    /// Contents of the file with overrides applied.
    tree: Node,
    plan: Plan,
    axes: Vec<(String, Vec<String>)>,
    /// Warnings found by the check.
    noted: Vec<Noted>,
    silenced: Vec<WarningKind>,
    /// Digest of the canonical JSON. It is stored because writing the JSON takes longer than many runs.
    sha256: String,
    protected: Option<Protected>,
}

/// Common source of scenarios that differ only in overrides.
#[derive(Debug)]
struct Source {
    text: String,
    file_name: String,
    library: Library,
    networks: Networks,
}

/// Summary of a scenario for `optcp validate`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Title.
    pub title: String,
    /// Number of nodes.
    pub nodes: usize,
    /// Number of links in the file, excluding circuits of backups, routes of bursts and virtual output
    /// queues.
    pub links: usize,
    /// Number of flows, excluding random arrivals.
    pub flows: usize,
    /// Groups of flows.
    pub groups: Vec<String>,
    /// End of the run.
    pub stop: Time,
    /// Names of the observations.
    pub observe: Vec<String>,
    /// Parameters as written, with overrides applied.
    pub parameters: BTreeMap<String, String>,
}

impl Scenario {
    /// Parses and checks a scenario that refers to no topology.
    ///
    /// # Errors
    /// As [`Scenario::parse_with`].
    pub fn parse(
        text: &str,
        file_name: &str,
        overrides: &[(String, String)],
    ) -> Result<Scenario, Diagnostic> {
        Scenario::parse_with(text, file_name, overrides, &Library::default())
    }

    /// Parses and checks a scenario. The caller provides the text and a library for its topologies, because
    /// this crate opens no files.
    ///
    /// # Errors
    /// All problems of the scenario that can be found at once.
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
                    "this looks like {language}; a scenario is TOML; `optcp new` writes an example"
                );
                first.help = Some(help);
            }
            return Err(Diagnostic::new(file_name, text, overrides, found));
        }
        let tree = Node::of_file(table.get_ref(), text.len());
        Scenario::of_tree(Arc::new(source), tree, Vec::new(), overrides)
    }

    /// Returns the scenario with further overrides, which take precedence over the present ones. An
    /// overridden swept parameter is removed from `[sweep]`.
    ///
    /// # Errors
    /// As [`Scenario::parse`].
    pub fn with_overrides(&self, more: &[(String, String)]) -> Result<Scenario, Diagnostic> {
        // A new option replaces the settings of the previous option, which only the file contains.
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

    /// Applies overrides to the tree and checks the result.
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
        // An expression with a problem stays as text in the tree; that text is not a second problem.
        let known = |problem: &Problem| {
            let mut reported = found.iter().map(|other| &other.origin);
            unresolved.contains(&problem.origin) || reported.any(|other| *other == problem.origin)
        };
        problems.found.retain(|problem| !known(problem));
        found.append(&mut problems.found);
        // Check the plan only if the file was read completely: an unreadable link would otherwise count as
        // missing.
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

    /// Returns the scenario as a file with overrides applied. Files that it names are relative to the
    /// original file.
    #[must_use]
    pub fn to_toml(&self) -> String {
        written::file(&self.tree)
    }

    /// Returns key paths with values as written, each of which could be an override: everything except title
    /// and sweep.
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

    /// Returns the expanded and checked plan.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Returns plan and title as canonical JSON, with all TCP parameters. It does not contain parameters,
    /// units or the sweep: equal scenarios have equal text.
    #[must_use]
    pub fn resolved_json(&self) -> String {
        resolved::json(&self.plan)
    }

    /// Returns the SHA-256 in hexadecimal of the scenario without its title: of [`Scenario::resolved_json`]
    /// without defaults.
    #[must_use]
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// Returns the swept parameters in the order of the file: key path, and values that can be used as
    /// overrides.
    #[must_use]
    pub fn axes(&self) -> &[(String, Vec<String>)] {
        &self.axes
    }

    /// Returns the warnings that the file does not suppress.
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

    /// Returns whether the file suppresses a warning.
    #[must_use]
    pub fn silences(&self, kind: WarningKind) -> bool {
        self.silenced.contains(&kind)
    }

    /// Returns the capacity that its protections need, in the order of the file.
    #[must_use]
    pub fn spare(&self) -> Vec<Spare> {
        protected::spare(&self.plan)
    }

    /// Returns the coverage of its fast reroute; `None` without routing.
    #[must_use]
    pub fn coverage(&self) -> Option<Coverage> {
        self.protected.as_ref().map(Protected::coverage)
    }

    /// Returns route and backup of each router for each destination; empty without routing.
    #[must_use]
    pub fn backups(&self) -> Vec<Backup> {
        routed::backups(&self.plan)
    }

    /// Returns a summary of the scenario.
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

/// Returns the number of flows in a run, excluding random arrivals.
fn flows_of(plan: &Plan) -> usize {
    let fixed = plan.flows.iter().filter(|flow| flow.carries == Carries::Flow).count();
    let drawn = plan.drawn.iter().map(|drawn| drawn.count as usize * drawn.per_source as usize);
    fixed + drawn.sum::<usize>()
}

/// Guesses the language of a text that is not TOML.
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
