//! Applications, one kind per file. Hosts of an application send as a reaction to received data.
//!
//! # Model
//! An application consists of the steps of a [`Script`]. A step happens some time after the steps that it needs. It may
//! write a message to a TCP connection, and is then complete when the message has arrived in order. Each step depends
//! only on data that its own host has written or received.
//!
//! # Limitations
//! Connections are open from the start and stay open. Each carries data in one direction: the requests and the
//! responses of a client and a server use two connections, so ACKs are not piggybacked. Messages are rounded up to
//! whole segments. The receiving application reads at once.

mod all_to_all;
mod exchange;
mod page;
mod parameters;
mod partition_aggregate;
mod request_response;
mod ring_all_reduce;
mod script;
mod tree_all_reduce;
mod video;

pub use parameters::{Application, ApplicationKind, Connection, Draws, PageObject, Parties, Role};
pub use script::{Message, Operation, Script, Step};

impl Application {
    /// Returns the TCP connections by number.
    #[must_use]
    pub fn connections(&self) -> Vec<Connection> {
        match self.kind {
            ApplicationKind::RequestResponse
            | ApplicationKind::PartitionAggregate
            | ApplicationKind::Video => exchange::connections(&self.parties, 1),
            ApplicationKind::Page => exchange::connections(&self.parties, self.connections),
            ApplicationKind::RingAllReduce => ring_all_reduce::connections(self.members()),
            ApplicationKind::TreeAllReduce => tree_all_reduce::connections(self.members()),
            ApplicationKind::AllToAll => all_to_all::connections(self.members()),
        }
    }

    /// Returns the hosts of each session. A session is a client with a server, a client, or all members.
    #[must_use]
    pub fn sessions(&self) -> Vec<Vec<u32>> {
        match (self.kind, &self.parties) {
            (_, Parties::Among(members)) => vec![members.clone()],
            (ApplicationKind::PartitionAggregate, Parties::Between(clients, _)) => {
                clients.iter().map(|&client| vec![client]).collect()
            }
            _ => self.parties.pairs().map(Vec::from).collect(),
        }
    }

    /// Returns the number of messages of the whole run.
    #[must_use]
    pub fn messages(&self) -> u64 {
        let members = self.members().len() as u64;
        let others = members.saturating_sub(1);
        // A request and a response.
        let exchanged = 2 * self.parties.pairs().count() as u64;
        u64::from(self.rounds).saturating_mul(match self.kind {
            ApplicationKind::RequestResponse
            | ApplicationKind::PartitionAggregate
            | ApplicationKind::Video => exchanged,
            ApplicationKind::Page => exchanged.saturating_mul(self.objects.len() as u64),
            ApplicationKind::RingAllReduce => members.saturating_mul(2 * others),
            ApplicationKind::TreeAllReduce => 2 * others,
            ApplicationKind::AllToAll => members.saturating_mul(others),
        })
    }

    /// Returns the steps. Sizes and times are drawn.
    #[must_use]
    pub fn script(&self, draws: &mut Draws) -> Script {
        let mut script = Script::default();
        match self.kind {
            ApplicationKind::RequestResponse => request_response::write(self, &mut script, draws),
            ApplicationKind::PartitionAggregate => {
                partition_aggregate::write(self, &mut script, draws);
            }
            ApplicationKind::RingAllReduce => ring_all_reduce::write(self, &mut script, draws),
            ApplicationKind::TreeAllReduce => tree_all_reduce::write(self, &mut script, draws),
            ApplicationKind::AllToAll => all_to_all::write(self, &mut script, draws),
            ApplicationKind::Page => page::write(self, &mut script, draws),
            ApplicationKind::Video => video::write(self, &mut script, draws),
        }
        script
    }
}
