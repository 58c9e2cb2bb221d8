//! Requests and responses in a closed loop.
//!
//! # Model
//! Each pair of a client and a server is a separate session: request, service time, response, think time, and again.
//! The first request follows the start by a think time. An operation lasts from the request to the last byte of the
//! response.
//!
//! # References
//! The closed loop of interactive systems: with one server and no queue, a session completes one exchange per think time
//! plus response time (D. A. Menascé and V. A. F. Almeida, "Capacity Planning for Web Services", 2002, chapter 3).
//!
//! # Limitations
//! Sessions do not end early, and a server handles any number of requests at the same time.

use super::exchange::Exchange;
use super::parameters::{Application, Draws};
use super::script::Script;

pub(super) fn write(of: &Application, script: &mut Script, draws: &mut Draws) {
    for (session, _) in (0..).zip(of.parties.pairs()) {
        let mut before = None;
        for round in 0..of.rounds {
            let think = of.think.draw(&mut draws.think);
            let response = of.size.draw(&mut draws.sizes);
            let service = of.service.draw(&mut draws.service);
            let exchange =
                Exchange { connection: 2 * session, request: of.request, response, service };
            let [request, response_step] = exchange.write(script, before.as_slice(), think);
            let operation = script.operation(session, round, response);
            script.opens(request, operation);
            script.closes(response_step, operation);
            before = Some(response_step);
        }
    }
}
