//! Networks that are known by name: the front end knows where they are.

use std::fmt;
use std::sync::Arc;

/// How a scenario refers to a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reference<'r> {
    /// By its name in a collection.
    Name(&'r str),
    /// By a file.
    File(&'r str),
}

/// A link of a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphLink {
    /// The two nodes, as indices.
    pub ends: [usize; 2],
    /// What tells it apart from others between the same nodes.
    pub name: Option<String>,
    /// Its length in millimetres, if that is known.
    pub length_mm: Option<u64>,
}

/// Nodes by name, and links between them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// The names of the nodes.
    pub nodes: Vec<String>,
    /// The links.
    pub links: Vec<GraphLink>,
}

type Find = dyn Fn(Reference<'_>) -> Result<Graph, String> + Send + Sync;

/// Where networks are looked up; what is wrong with a reference comes back as a message.
#[derive(Clone)]
pub struct Library(Arc<Find>);

impl Library {
    /// A library that finds networks in this way.
    pub fn new(
        find: impl Fn(Reference<'_>) -> Result<Graph, String> + Send + Sync + 'static,
    ) -> Self {
        Library(Arc::new(find))
    }

    /// A network.
    pub(crate) fn find(&self, reference: Reference<'_>) -> Result<Graph, String> {
        (self.0)(reference)
    }
}

impl Default for Library {
    /// A library without a book.
    fn default() -> Self {
        Library::new(|_| Err("there is no library of topologies here".to_owned()))
    }
}

impl fmt::Debug for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Library")
    }
}
