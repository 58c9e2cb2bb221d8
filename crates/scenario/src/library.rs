//! Library of networks and files that scenarios refer to. The front end provides the contents.

use std::fmt;
use std::sync::Arc;

use optcp_tcp::congestion::external::Class;
use serde::Deserialize;

/// Reference to a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reference<'r> {
    /// Name in a collection.
    Name(&'r str),
    /// File.
    File(&'r str),
}

/// Link of a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphLink {
    /// The two nodes, as indices.
    pub ends: [usize; 2],
    /// Name that distinguishes parallel links.
    pub name: Option<String>,
    /// Length in millimetres, if known.
    pub length_mm: Option<u64>,
}

/// Graph of named nodes and links.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// Names of the nodes.
    pub nodes: Vec<String>,
    /// Coordinates of each node if known: longitude and latitude, in 10^-6 degrees.
    pub places: Vec<Option<[i64; 2]>>,
    /// Links.
    pub links: Vec<GraphLink>,
    /// Demands between nodes (indices) with relative weights.
    pub demands: Vec<(usize, usize, u64)>,
    /// Other names of each node: first the name in the file, empty if it equals the name in `nodes` or is
    /// ambiguous, then aliases. An empty list means that no node has other names.
    pub own_names: Vec<Vec<String>>,
    /// Link attributes that look like rates, which are ignored.
    pub rates: Vec<String>,
    /// Notes on elements that were left out or added, as sentences.
    pub notes: Vec<String>,
}

/// Traffic matrix: pairs of nodes with weights.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Matrix {
    /// Line and fields of a first row whose third field is not a number. It is a header, unless it names two
    /// nodes.
    pub heading: Option<(u64, [String; 3])>,
    /// Line, source, destination and relative weight of each row.
    pub rows: Vec<(u64, String, String, u64)>,
}

/// List of flows, by columns of equal length.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct FlowList {
    /// Names of nodes and groups, to which the rows refer by index.
    pub names: Vec<String>,
    /// Number of the line in the file.
    pub lines: Vec<u64>,
    /// Start of the flow, in picoseconds.
    pub starts_ps: Vec<u64>,
    /// Source.
    pub from: Vec<u32>,
    /// Destination.
    pub to: Vec<u32>,
    /// Amount of data.
    pub bytes: Vec<u64>,
    /// Group of the flow; empty if the file has no groups.
    pub groups: Vec<u32>,
    /// `true`: UDP. Empty if all flows are TCP.
    pub udp: Vec<bool>,
}

impl FlowList {
    /// Returns whether a row is a UDP flow.
    pub(crate) fn is_udp(&self, row: usize) -> bool {
        self.udp.get(row).copied().unwrap_or(false)
    }
}

/// List of flows as the front ends pass it: the fields of [`FlowList`] in order.
pub type FlowColumns =
    (Vec<String>, Vec<u64>, Vec<u64>, Vec<u32>, Vec<u32>, Vec<u64>, Vec<u32>, Vec<bool>);

impl From<FlowColumns> for FlowList {
    fn from((names, lines, starts_ps, from, to, bytes, groups, udp): FlowColumns) -> Self {
        FlowList { names, lines, starts_ps, from, to, bytes, groups, udp }
    }
}

/// Values as written, each with its line number.
pub type Values = Vec<(u64, String)>;

/// Rows of a table: line number, and fields with the names of their columns. Empty fields are omitted.
pub type Rows = Vec<(u64, Vec<(String, String)>)>;

/// Values of the links of a network, in both directions, as written with their units.
pub type LinkValues = Vec<[Option<String>; 2]>;

/// Shared risks of a network: name, and links as indices.
pub type LinkRisks = Vec<(String, Vec<usize>)>;

/// Fibre of a network.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct GraphFibre {
    /// Names of the two optical nodes.
    pub ends: [String; 2],
    /// Name; `None` for both nodes with `-` between them.
    pub name: Option<String>,
    /// Propagation delay in picoseconds, if known.
    pub delay_ps: Option<u64>,
    /// Length in millimetres, if known.
    pub length_mm: Option<u64>,
    /// Name of the duct, if any.
    pub duct: Option<String>,
    /// Maximum number of lightpaths; `None` for no limit.
    pub wavelengths: Option<u32>,
}

/// Fibre as the front ends pass it: the fields of [`GraphFibre`] in order.
pub type FibreRow =
    ([String; 2], Option<String>, Option<u64>, Option<u64>, Option<String>, Option<u32>);

impl From<FibreRow> for GraphFibre {
    fn from((ends, name, delay_ps, length_mm, duct, wavelengths): FibreRow) -> Self {
        GraphFibre { ends, name, delay_ps, length_mm, duct, wavelengths }
    }
}

/// Fibres of a network, and for each link the path over them as names. A path is empty for the shortest one, and
/// `None` for a link without fibres.
pub type GraphFibres = (Vec<GraphFibre>, Vec<Option<Vec<String>>>);

/// Access to networks and files. Errors are messages for the user.
pub trait ReferenceResolver: Send + Sync {
    /// Returns a network.
    ///
    /// # Errors
    /// If the reference or its target is not valid.
    fn graph(&self, reference: Reference<'_>) -> Result<Graph, String>;

    /// Returns the values of a key (`rate`, `delay`, `cost` or `loss`) for the links of a network.
    ///
    /// `column` is `file`, for values that the format defines, or `attribute:NAME` with an optional unit.
    ///
    /// # Errors
    /// If the network has no such values.
    fn link_values(
        &self,
        reference: Reference<'_>,
        key: &str,
        column: &str,
    ) -> Result<LinkValues, String> {
        let _ = (reference, key, column);
        Err("link values of this network are not available".to_owned())
    }

    /// Returns the shared risks of a network.
    ///
    /// # Errors
    /// If the reference or its target is not valid.
    fn link_risks(&self, reference: Reference<'_>) -> Result<LinkRisks, String> {
        let _ = reference;
        Err("shared risks of this network are not available".to_owned())
    }

    /// Returns the fibres of a network.
    ///
    /// # Errors
    /// If the reference or its target is not valid.
    fn fibres(&self, reference: Reference<'_>) -> Result<GraphFibres, String> {
        let _ = reference;
        Err("fibres of this network are not available".to_owned())
    }

    /// Returns a class of congestion controls, such as `module.Class`.
    ///
    /// # Errors
    /// If there is no such class.
    fn congestion(&self, name: &str) -> Result<Arc<dyn Class>, String> {
        Err(format!("`{name}` cannot be loaded: congestion controls in Python are not available"))
    }

    /// Returns the traffic matrix in a file.
    ///
    /// # Errors
    /// If the file is not valid.
    fn matrix(&self, file: &str) -> Result<Matrix, String> {
        Err(format!("`{file}` cannot be read: no file library is available"))
    }

    /// Returns the values in a file as written, without their unit if the scenario names it.
    ///
    /// # Errors
    /// If the file is not valid.
    fn values(&self, file: &str) -> Result<Values, String> {
        Err(format!("`{file}` cannot be read: no file library is available"))
    }

    /// Returns the list of flows in a file.
    ///
    /// # Errors
    /// If the file is not valid.
    fn flows(&self, file: &str) -> Result<FlowList, String> {
        Err(format!("`{file}` cannot be read: no file library is available"))
    }

    /// Returns the table in a file.
    ///
    /// # Errors
    /// If the file is not valid.
    fn table(&self, file: &str) -> Result<Rows, String> {
        Err(format!("`{file}` cannot be read: no file library is available"))
    }
}

/// Shared access to networks and files.
#[derive(Clone)]
pub struct Library(Arc<dyn ReferenceResolver>);

impl Library {
    /// Creates a library with this resolver.
    pub fn new(shelf: impl ReferenceResolver + 'static) -> Self {
        Library(Arc::new(shelf))
    }

    /// Returns a network.
    pub(crate) fn graph(&self, reference: Reference<'_>) -> Result<Graph, String> {
        self.0.graph(reference)
    }

    /// Returns the values of a key for the links of a network.
    pub(crate) fn link_values(
        &self,
        reference: Reference<'_>,
        key: &str,
        column: &str,
    ) -> Result<LinkValues, String> {
        self.0.link_values(reference, key, column)
    }

    /// Returns the shared risks of a network.
    pub(crate) fn link_risks(&self, reference: Reference<'_>) -> Result<LinkRisks, String> {
        self.0.link_risks(reference)
    }

    /// Returns the fibres of a network.
    pub(crate) fn fibres(&self, reference: Reference<'_>) -> Result<GraphFibres, String> {
        self.0.fibres(reference)
    }

    /// Returns a class of congestion controls.
    pub(crate) fn congestion(&self, name: &str) -> Result<Arc<dyn Class>, String> {
        self.0.congestion(name)
    }

    /// Returns the traffic matrix in a file.
    pub(crate) fn matrix(&self, file: &str) -> Result<Matrix, String> {
        self.0.matrix(file)
    }

    /// Returns the values in a file.
    pub(crate) fn values(&self, file: &str) -> Result<Values, String> {
        self.0.values(file)
    }

    /// Returns the list of flows in a file.
    pub(crate) fn flows(&self, file: &str) -> Result<FlowList, String> {
        self.0.flows(file)
    }

    /// Returns the table in a file.
    pub(crate) fn table(&self, file: &str) -> Result<Rows, String> {
        self.0.table(file)
    }
}

/// Resolver without any contents.
struct Empty;

impl ReferenceResolver for Empty {
    fn graph(&self, _: Reference<'_>) -> Result<Graph, String> {
        Err("no topology library is available".to_owned())
    }
}

impl Default for Library {
    /// Creates a library without contents.
    fn default() -> Self {
        Library::new(Empty)
    }
}

impl fmt::Debug for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Library")
    }
}
