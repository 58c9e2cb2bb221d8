//! Requests and responses of clients and servers.

use optcp_units::Duration;

use super::parameters::{Connection, Parties, Role};
use super::script::{Message, Script};

/// Returns the connections of each pair, `each` times: requests, responses.
pub(super) fn connections(parties: &Parties, each: u32) -> Vec<Connection> {
    let of_pair = |[client, server]: [u32; 2]| {
        let both = [
            Connection { ends: [client, server], role: Role::Requests },
            Connection { ends: [server, client], role: Role::Data },
        ];
        std::iter::repeat_n(both, each as usize).flatten()
    };
    parties.pairs().flat_map(of_pair).collect()
}

/// Request and response over a pair of connections.
pub(super) struct Exchange {
    /// Connection of the requests. Responses use the next one.
    pub(super) connection: u32,
    /// Size of the request in bytes.
    pub(super) request: u64,
    /// Size of the response in bytes.
    pub(super) response: u64,
    /// Time between the arrival of the request and the response.
    pub(super) service: Duration,
}

impl Exchange {
    /// Adds the exchange after `needs`. Returns the steps of request and response.
    pub(super) fn write(self, script: &mut Script, needs: &[u32], delay: Duration) -> [u32; 2] {
        let request = Message { connection: self.connection, bytes: self.request };
        let request = script.message(needs, delay, request);
        let response = Message { connection: self.connection + 1, bytes: self.response };
        [request, script.message(&[request], self.service, response)]
    }
}
