//! Exchange of data between each two hosts.
//!
//! # Model
//! Each of n hosts sends 1/n of its data to each other host, all at once. A host that has received all parts begins the
//! next round after a think time. An operation is a round: from the first host's start to the last host's end.
//!
//! # References
//! R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective communication operations in MPICH", IJHPCA 19,
//! 2005, section 5: the algorithm that posts all sends at once. Each host sends and receives (n - 1) / n of its data.
//!
//! # Limitations
//! The order of the destinations is the order of the members for every host.

use optcp_units::Duration;

use super::parameters::{Application, Connection, Draws, Role};
use super::script::{Message, Script};

/// Returns the connections of each member to each other member.
pub(super) fn connections(members: &[u32]) -> Vec<Connection> {
    let pairs = members.iter().flat_map(|&from| members.iter().map(move |&to| [from, to]));
    let others = pairs.filter(|[from, to]| from != to);
    others.map(|ends| Connection { ends, role: Role::Data }).collect()
}

pub(super) fn write(of: &Application, script: &mut Script, draws: &mut Draws) {
    let members = of.members().len();
    let mut before: Vec<Vec<u32>> = vec![Vec::new(); members];
    for round in 0..of.rounds {
        let bytes = of.size.draw(&mut draws.sizes);
        let part = bytes.div_ceil(members as u64);
        let operation = script.operation(0, round, bytes);
        let mut arrived: Vec<Vec<u32>> = vec![Vec::new(); members];
        let mut connections = 0..;
        for (from, needs) in before.iter().enumerate() {
            let begin = script.step(needs, of.think.draw(&mut draws.think));
            script.opens(begin, operation);
            let others = (0..members).filter(|&to| to != from);
            for (to, connection) in others.zip(&mut connections) {
                let message = Message { connection, bytes: part };
                let sent = script.message(&[begin], Duration::ZERO, message);
                script.closes(sent, operation);
                arrived[to].push(sent);
            }
        }
        before = arrived;
    }
}
