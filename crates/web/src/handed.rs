//! Library of a web page: networks and files that the page has parsed. The module opens no files, and parses
//! neither GML nor CSV.

use std::collections::BTreeMap;

use optcp_scenario::{
    FibreRow, FlowColumns, FlowList, Graph, GraphFibre, GraphFibres, GraphLink, LinkRisks,
    LinkValues, Matrix, Reference, ReferenceResolver, Rows, Values,
};
use serde::Deserialize;

/// Network as returned by `optcp.scenarios.topologies.find`. It contains nodes, and links with the
/// numbers of their ends, name and length in millimetres if known. Demands, coordinates in 10^-6
/// degrees, names in the file, rates and notes follow.
type Network = (
    Vec<String>,
    Vec<(usize, usize, Option<String>, Option<u64>)>,
    Vec<(usize, usize, u64)>,
    Vec<Option<[i64; 2]>>,
    Vec<Vec<String>>,
    Vec<String>,
    Vec<String>,
);

/// Fibres as returned by `optcp.scenarios.topologies.fibres`, and the path of each link.
type Fibres = (Vec<FibreRow>, Vec<Option<Vec<String>>>);

/// Contents of files and collections, by the names that scenarios use.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Handed {
    /// Networks of a collection.
    names: BTreeMap<String, Network>,
    /// Networks in files.
    graphs: BTreeMap<String, Network>,
    /// Values of links by reference, key and column, joined by line breaks.
    link_values: BTreeMap<String, LinkValues>,
    /// Shared risks by reference.
    link_risks: BTreeMap<String, LinkRisks>,
    /// Fibres by reference.
    fibres: BTreeMap<String, Fibres>,
    /// Lists of flows by file.
    flows: BTreeMap<String, FlowColumns>,
    matrix: BTreeMap<String, Matrix>,
    values: BTreeMap<String, Values>,
    table: BTreeMap<String, Rows>,
}

fn found<T: Clone>(among: &BTreeMap<String, T>, name: &str) -> Result<T, String> {
    among.get(name).cloned().ok_or_else(|| format!("`{name}` has not been handed in"))
}

fn text(reference: Reference<'_>) -> &str {
    match reference {
        Reference::Name(text) | Reference::File(text) => text,
    }
}

impl ReferenceResolver for Handed {
    fn graph(&self, reference: Reference<'_>) -> Result<Graph, String> {
        let (nodes, links, demands, places, own_names, rates, notes) = match reference {
            Reference::Name(name) => found(&self.names, name),
            Reference::File(file) => found(&self.graphs, file),
        }?;
        let link = |(a, b, name, length_mm)| GraphLink { ends: [a, b], name, length_mm };
        let links = links.into_iter().map(link).collect();
        Ok(Graph { nodes, places, links, demands, own_names, rates, notes })
    }

    fn link_values(
        &self,
        reference: Reference<'_>,
        key: &str,
        column: &str,
    ) -> Result<LinkValues, String> {
        found(&self.link_values, &[text(reference), key, column].join("\n"))
    }

    fn link_risks(&self, reference: Reference<'_>) -> Result<LinkRisks, String> {
        found(&self.link_risks, text(reference))
    }

    fn fibres(&self, reference: Reference<'_>) -> Result<GraphFibres, String> {
        let (fibres, paths) = found(&self.fibres, text(reference))?;
        Ok((fibres.into_iter().map(GraphFibre::from).collect(), paths))
    }

    fn matrix(&self, file: &str) -> Result<Matrix, String> {
        found(&self.matrix, file)
    }

    fn values(&self, file: &str) -> Result<Values, String> {
        found(&self.values, file)
    }

    fn flows(&self, file: &str) -> Result<FlowList, String> {
        found::<FlowColumns>(&self.flows, file).map(FlowList::from)
    }

    fn table(&self, file: &str) -> Result<Rows, String> {
        found(&self.table, file)
    }
}
