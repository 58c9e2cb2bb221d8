//! Pages whose objects depend on each other.
//!
//! # Model
//! A page has objects of given sizes. A client requests an object as soon as the objects that it needs have arrived.
//! Objects use the connections of a client and a server in rotation, in the order of the page. Responses of a connection
//! follow in the order of their requests. An operation is a page: from the first request to the last byte.
//! After a think time the next page follows, over the same connections.
//!
//! # References
//! X. S. Wang, A. Balasubramanian, A. Krishnamurthy, D. Wetherall, "Demystifying page load performance with WProf",
//! NSDI 2013: the load time of a page is the length of the longest path through its dependencies.
//! Browsers use up to six connections.
//!
//! # Limitations
//! Computing in the browser takes no time. An object keeps its connection even if another one is idle. Responses of one
//! connection are not interleaved (as they may be in HTTP/2).

use super::exchange::Exchange;
use super::parameters::{Application, Draws};
use super::script::Script;

pub(super) fn write(of: &Application, script: &mut Script, draws: &mut Draws) {
    for (session, _) in (0..).zip(of.parties.pairs()) {
        let mut before: Vec<u32> = Vec::new();
        for round in 0..of.rounds {
            let begin = script.step(&before, of.think.draw(&mut draws.think));
            let mut arrived: Vec<u32> = Vec::new();
            let mut bytes = 0;
            for (number, object) in (0..).zip(&of.objects) {
                let response = object.size.draw(&mut draws.sizes);
                let service = of.service.draw(&mut draws.service);
                let connection = 2 * (session * of.connections + number % of.connections);
                let needs: Vec<u32> = match object.needs[..] {
                    [] => vec![begin],
                    _ => object.needs.iter().map(|&need| arrived[need]).collect(),
                };
                let exchange = Exchange { connection, request: of.request, response, service };
                arrived.push(exchange.write(script, &needs, optcp_units::Duration::ZERO)[1]);
                bytes += response;
            }
            let operation = script.operation(session, round, bytes);
            script.opens(begin, operation);
            arrived.iter().for_each(|&object| script.closes(object, operation));
            before = arrived;
        }
    }
}
