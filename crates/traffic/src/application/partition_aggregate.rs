//! Requests to many servers at once, with a barrier.
//!
//! # Model
//! Each client asks all servers at the same time and waits for the last byte of the last response. After a think time the
//! next round follows. An operation is a round: from the requests to the last response.
//!
//! # References
//! A. Phanishayee, E. Krevat, V. Vasudevan, D. G. Andersen, G. R. Ganger, G. A. Gibson, S. Seshan, "Measurement and
//! analysis of TCP throughput collapse in cluster-based storage systems", FAST 2008: synchronised reads of a block
//! that is striped over the servers.
//!
//! # Limitations
//! There is one level of aggregation, and no deadline after which a response is given up.

use super::exchange::Exchange;
use super::parameters::{Application, Draws, Parties};
use super::script::Script;

pub(super) fn write(of: &Application, script: &mut Script, draws: &mut Draws) {
    let Parties::Between(clients, servers) = &of.parties else { return };
    let mut pair = 0;
    for (session, client) in (0..).zip(clients) {
        let asked = servers.iter().filter(|&server| server != client).count();
        let mut before = Vec::new();
        for round in 0..of.rounds {
            let begin = script.step(&before, of.think.draw(&mut draws.think));
            before.clear();
            let mut bytes = 0;
            for number in (pair..).take(asked) {
                let response = of.size.draw(&mut draws.sizes);
                let service = of.service.draw(&mut draws.service);
                let exchange =
                    Exchange { connection: 2 * number, request: of.request, response, service };
                before.push(exchange.write(script, &[begin], optcp_units::Duration::ZERO)[1]);
                bytes += response;
            }
            let operation = script.operation(session, round, bytes);
            script.opens(begin, operation);
            before.iter().for_each(|&response| script.closes(response, operation));
        }
        pair += u32::try_from(asked).expect("fewer than 2^32 servers");
    }
}
