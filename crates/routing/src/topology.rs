//! The graph that routers know: nodes, and links with a cost in each direction.

/// A direction of a link: the link's index, and 0 from its first end to its second or 1 back.
pub type DirectedLink = (usize, usize);

/// A point-to-point link between two routers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Link {
    /// The two nodes.
    pub ends: [usize; 2],
    /// The cost from the first end to the second, and back; above zero.
    pub costs: [u32; 2],
}

/// A link as the node at its near end sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Adjacency {
    /// The node at the far end.
    pub to: usize,
    /// The direction that leads there.
    pub hop: DirectedLink,
    /// What it costs.
    pub cost: u32,
}

/// Nodes and links by index. Parallel links are links of their own.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Topology {
    links: Vec<Option<Link>>,
    /// By node: its adjacencies, by neighbour, then by link.
    adjacencies: Vec<Vec<Adjacency>>,
}

impl Topology {
    /// A graph of `nodes` nodes; an index without a link stands for none.
    #[must_use]
    pub fn new(nodes: usize, links: Vec<Option<Link>>) -> Self {
        let mut adjacencies = vec![Vec::new(); nodes];
        for (index, link) in links.iter().enumerate() {
            let Some(Link { ends, costs }) = *link else { continue };
            for direction in [0, 1] {
                adjacencies[ends[direction]].push(Adjacency {
                    to: ends[1 - direction],
                    hop: (index, direction),
                    cost: costs[direction],
                });
            }
        }
        adjacencies.iter_mut().for_each(|list| list.sort_unstable());
        Topology { links, adjacencies }
    }

    /// The graph that is left when these links are taken out, both directions of each.
    #[must_use]
    pub fn without(&self, taken: impl IntoIterator<Item = usize>) -> Self {
        let mut links = self.links.clone();
        taken.into_iter().for_each(|link| links[link] = None);
        Topology::new(self.nodes(), links)
    }

    /// How many nodes there are.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.adjacencies.len()
    }

    /// The links by index.
    #[must_use]
    pub fn links(&self) -> &[Option<Link>] {
        &self.links
    }

    /// The adjacencies of a node, by neighbour, then by link.
    #[must_use]
    pub fn adjacencies(&self, node: usize) -> &[Adjacency] {
        &self.adjacencies[node]
    }

    /// The adjacency over a direction of a link; `None` if the link is not there.
    #[must_use]
    pub fn adjacency(&self, (link, direction): DirectedLink) -> Option<Adjacency> {
        let Link { ends, costs } = self.links[link]?;
        let (to, cost) = (ends[1 - direction], costs[direction]);
        Some(Adjacency { to, hop: (link, direction), cost })
    }
}
