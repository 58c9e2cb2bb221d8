//! Numbers for ports and endpoints, which are the vertices of the graph that is partitioned.

use optcp_net::PortId;

/// Numbers the vertices of a run: its ports first, then the sending and the receiving end of each flow and source.
#[derive(Clone, Copy, Debug)]
pub(super) struct Vertices {
    ports: usize,
}

/// A port or an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Vertex {
    Port(PortId),
    /// A sender or source, or the receiver or sink if it `receives`.
    End {
        flow: usize,
        receives: bool,
    },
}

impl Vertices {
    pub(super) fn new(ports: usize) -> Self {
        Vertices { ports }
    }

    /// The number of an endpoint; that of a port is its index.
    #[inline(always)]
    pub(super) fn end(self, flow: usize, receives: bool) -> usize {
        self.ports + 2 * flow + usize::from(receives)
    }

    /// How many vertices there are with `flows` flows and sources.
    pub(super) fn count(self, flows: usize) -> usize {
        self.end(flows, false)
    }

    /// The port or endpoint with a number.
    pub(super) fn at(self, number: usize) -> Vertex {
        match number.checked_sub(self.ports) {
            None => Vertex::Port(PortId::at(number)),
            Some(end) => Vertex::End { flow: end / 2, receives: end % 2 == 1 },
        }
    }
}
