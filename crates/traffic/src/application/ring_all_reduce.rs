//! Sum of the data of all hosts, formed along a ring.
//!
//! # Model
//! The data of each of n hosts are divided into n parts. In each of 2 (n - 1) stages, each host sends one part to the
//! next host in the ring. It waits for the part of the stage before, from the previous host. In the first n - 1
//! stages parts are added up, in the others sums are distributed. A host that has received its last part begins the next
//! round after a think time (its computation). An operation is a round: from the first host's start to the last host's
//! end.
//!
//! # References
//! P. Patarasuk and X. Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations", JPDC 69, 2009. On
//! links of rate B and latency L, a round takes 2 (n - 1) (D / (n B) + L).
//!
//! # Limitations
//! Adding takes no time. Parts are not pipelined within a stage.

use optcp_units::Duration;

use super::parameters::{Application, Connection, Draws, Role};
use super::script::{Message, Script};

/// Returns the connection of each member to the next one.
pub(super) fn connections(members: &[u32]) -> Vec<Connection> {
    let next = members.iter().cycle().skip(1);
    let ends = members.iter().zip(next).map(|(&from, &to)| [from, to]);
    ends.map(|ends| Connection { ends, role: Role::Data }).collect()
}

pub(super) fn write(of: &Application, script: &mut Script, draws: &mut Draws) {
    let members = of.members().len();
    // Last parts that arrived, by receiving member.
    let mut before: Vec<Option<u32>> = vec![None; members];
    for round in 0..of.rounds {
        let bytes = of.size.draw(&mut draws.sizes);
        let part = bytes.div_ceil(members as u64);
        let operation = script.operation(0, round, bytes);
        let mut arrived: Vec<u32> = Vec::with_capacity(members);
        for last in &before {
            let begin = script.step(last.as_slice(), of.think.draw(&mut draws.think));
            script.opens(begin, operation);
            arrived.push(begin);
        }
        for _ in 0..2 * (members - 1) {
            let sent = (0..).zip(&arrived).map(|(connection, &need)| {
                script.message(&[need], Duration::ZERO, Message { connection, bytes: part })
            });
            let sent: Vec<u32> = sent.collect();
            // Member i + 1 receives the part that member i sends.
            arrived = (0..members).map(|member| sent[(member + members - 1) % members]).collect();
        }
        for &last in &arrived {
            script.closes(last, operation);
        }
        before = arrived.into_iter().map(Some).collect();
    }
}
