//! Parameters of applications.

use optcp_des::{Spread, Stream};
use optcp_units::{Duration, registry};

use crate::Volume;

registry! {
    /// Kind of application.
    pub enum ApplicationKind ("applications") {
        "request-response" => RequestResponse: "each client asks each server in turn: request, response, think time", "closed loop, D. A. Menascé and V. A. F. Almeida 2002";
        "partition-aggregate" => PartitionAggregate: "each client asks all servers at once and waits for all responses", "A. Phanishayee and others, FAST 2008";
        "ring-all-reduce" => RingAllReduce: "each host sends 2 (n - 1) parts of 1/n of the data to the next host, each after the part before has arrived", "P. Patarasuk and X. Yuan, JPDC 2009";
        "tree-all-reduce" => TreeAllReduce: "data are added up a binary tree of the hosts, and the sum is sent down", "R. Thakur and others, IJHPCA 2005";
        "all-to-all" => AllToAll: "each host sends 1/n of its data to each other host at once", "R. Thakur and others, IJHPCA 2005";
        "page" => Page: "each client loads the objects of a page from each server, each object after those that it needs", "X. S. Wang and others, NSDI 2013";
        "video" => Video: "each client plays a video from each server: chunks are requested one by one, until the buffer is full", "T.-Y. Huang and others, SIGCOMM 2014";
    }
}

impl ApplicationKind {
    /// Returns whether clients ask servers; otherwise equal members exchange data.
    #[must_use]
    pub const fn has_servers(self) -> bool {
        match self {
            Self::RequestResponse | Self::PartitionAggregate | Self::Page | Self::Video => true,
            Self::RingAllReduce | Self::TreeAllReduce | Self::AllToAll => false,
        }
    }
}

/// Hosts of an application, by number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parties {
    /// Clients and servers. A host that is both does not ask itself.
    Between(Vec<u32>, Vec<u32>),
    /// Equal members, in order.
    Among(Vec<u32>),
}

/// Application with its parameters. Each kind uses some of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Application {
    /// Kind.
    pub kind: ApplicationKind,
    /// Hosts.
    pub parties: Parties,
    /// Number of rounds: exchanges per session, collectives, pages, or chunks of a video.
    pub rounds: u32,
    /// Size of a request in bytes.
    pub request: u64,
    /// Size of a response; for collectives the data of each host.
    pub size: Volume,
    /// Time between rounds.
    pub think: Spread,
    /// Time between the arrival of a request and its response.
    pub service: Spread,
    /// Objects of a page.
    pub objects: Vec<PageObject>,
    /// Connections of a page per client and server.
    pub connections: u32,
    /// Playing time of a chunk of video.
    pub chunk: Duration,
    /// Number of chunks to which the buffer is filled, and number before playing starts.
    pub buffer: [u32; 2],
}

/// Direction in which a connection carries data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// From a client to a server.
    Requests,
    /// From a server to a client, or between equal members.
    Data,
}

/// TCP connection of an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connection {
    /// Sending and receiving host.
    pub ends: [u32; 2],
    /// Direction.
    pub role: Role,
}

/// Random streams of an application.
#[derive(Clone, Debug)]
pub struct Draws {
    /// Stream of sizes.
    pub sizes: Stream,
    /// Stream of times between rounds.
    pub think: Stream,
    /// Stream of service times.
    pub service: Stream,
}

/// Object of a page.
#[derive(Clone, Debug, PartialEq)]
pub struct PageObject {
    /// Size.
    pub size: Volume,
    /// Earlier objects that it needs.
    pub needs: Vec<usize>,
}

impl Application {
    pub(super) fn members(&self) -> &[u32] {
        match &self.parties {
            Parties::Among(members) => members,
            Parties::Between(..) => &[],
        }
    }
}

impl Parties {
    /// Iterates over the pairs of a client and a server.
    pub(super) fn pairs(&self) -> impl Iterator<Item = [u32; 2]> {
        let (clients, servers): (&[u32], &[u32]) = match self {
            Parties::Between(clients, servers) => (clients, servers),
            Parties::Among(_) => (&[], &[]),
        };
        let pairs = clients.iter().flat_map(move |&a| servers.iter().map(move |&b| [a, b]));
        pairs.filter(|[client, server]| client != server)
    }
}
