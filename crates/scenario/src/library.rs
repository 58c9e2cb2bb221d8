//! Networks that are known by name: the front end knows where they are.

use std::fmt;
use std::sync::Arc;

use serde::Deserialize;

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
    /// Where each node is, in millionths of a degree of longitude and latitude, if that is known.
    pub places: Vec<Option<[i64; 2]>>,
    /// The links.
    pub links: Vec<GraphLink>,
    /// Demands between nodes, as indices; only their proportions count.
    pub demands: Vec<(usize, usize, u64)>,
    /// The name that a file has for each node, empty where that is the name here or names several nodes; none at all
    /// is as good as empty ones.
    pub own_names: Vec<String>,
    /// Attributes of links that look like a rate, which is not read.
    pub rates: Vec<String>,
    /// What is left out or added, in sentences.
    pub notes: Vec<String>,
}

/// Pairs of nodes with weights.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Matrix {
    /// The line and the fields of a first row whose third field is no number: a heading, unless it names two nodes.
    pub heading: Option<(u64, [String; 3])>,
    /// Line, source, destination and weight of each row; only the proportions of weights count.
    pub rows: Vec<(u64, String, String, u64)>,
}

/// Values as written, each with its line in the file.
pub type Values = Vec<(u64, String)>;

/// Lines of a table, each with its number in the file and its fields by the names of their columns; without those that are empty.
pub type Rows = Vec<(u64, Vec<(String, String)>)>;

/// Who looks things up; what is wrong with a reference comes back as a message.
pub trait ReferenceResolver: Send + Sync {
    /// A network.
    ///
    /// # Errors
    /// What is wrong with the reference, or with what it refers to.
    fn graph(&self, reference: Reference<'_>) -> Result<Graph, String>;

    /// The matrix in a file.
    ///
    /// # Errors
    /// What is wrong with the file.
    fn matrix(&self, file: &str) -> Result<Matrix, String> {
        Err(format!("there is no library in which `{file}` could be"))
    }

    /// The values in a file, as written; without their unit where it is named apart from them.
    ///
    /// # Errors
    /// What is wrong with the file.
    fn values(&self, file: &str) -> Result<Values, String> {
        Err(format!("there is no library in which `{file}` could be"))
    }

    /// The table in a file.
    ///
    /// # Errors
    /// What is wrong with the file.
    fn table(&self, file: &str) -> Result<Rows, String> {
        Err(format!("there is no library in which `{file}` could be"))
    }
}

/// Where networks and matrices are looked up.
#[derive(Clone)]
pub struct Library(Arc<dyn ReferenceResolver>);

impl Library {
    /// A library with this shelf.
    pub fn new(shelf: impl ReferenceResolver + 'static) -> Self {
        Library(Arc::new(shelf))
    }

    /// A network.
    pub(crate) fn graph(&self, reference: Reference<'_>) -> Result<Graph, String> {
        self.0.graph(reference)
    }

    /// The matrix in a file.
    pub(crate) fn matrix(&self, file: &str) -> Result<Matrix, String> {
        self.0.matrix(file)
    }

    /// The values in a file.
    pub(crate) fn values(&self, file: &str) -> Result<Values, String> {
        self.0.values(file)
    }

    /// The table in a file.
    pub(crate) fn table(&self, file: &str) -> Result<Rows, String> {
        self.0.table(file)
    }
}

/// A shelf without a book.
struct Empty;

impl ReferenceResolver for Empty {
    fn graph(&self, _: Reference<'_>) -> Result<Graph, String> {
        Err("there is no library of topologies here".to_owned())
    }
}

impl Default for Library {
    /// A library without a book.
    fn default() -> Self {
        Library::new(Empty)
    }
}

impl fmt::Debug for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Library")
    }
}
