//! Sum of the data of all hosts, formed up a binary tree and distributed down the tree.
//!
//! # Model
//! Member i is the parent of members 2 i + 1 and 2 i + 2. A member sends its data to its parent after the data of both
//! children have arrived. It sends the sum to its children after the sum has arrived from the parent. A member that has the sum
//! begins the next round after a think time. An operation is a round: from the first member's start to the last member's
//! end.
//!
//! # References
//! R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective communication operations in MPICH", IJHPCA 19,
//! 2005, section 4: reduce, then broadcast. With n = 2^k - 1 members on separate paths, a round takes 2 (k - 1) times the
//! transfer of all data.
//!
//! # Limitations
//! Adding takes no time. Data are not pipelined in parts.

use optcp_units::Duration;

use super::parameters::{Application, Connection, Draws, Role};
use super::script::{Message, Script};

/// Returns the connections of each member but the root: to its parent, and back.
pub(super) fn connections(members: &[u32]) -> Vec<Connection> {
    let ends = (1..members.len()).flat_map(|member| {
        let [child, parent] = [members[member], members[parent(member)]];
        [[child, parent], [parent, child]]
    });
    ends.map(|ends| Connection { ends, role: Role::Data }).collect()
}

const fn parent(member: usize) -> usize {
    (member - 1) / 2
}

pub(super) fn write(of: &Application, script: &mut Script, draws: &mut Draws) {
    let members = of.members().len();
    let mut before: Vec<Option<u32>> = vec![None; members];
    for round in 0..of.rounds {
        let bytes = of.size.draw(&mut draws.sizes);
        let operation = script.operation(0, round, bytes);
        // Steps that a member needs before it sends to its parent.
        let mut needs: Vec<Vec<u32>> = Vec::with_capacity(members);
        for last in &before {
            let begin = script.step(last.as_slice(), of.think.draw(&mut draws.think));
            script.opens(begin, operation);
            needs.push(vec![begin]);
        }
        let up = |member: usize| u32::try_from(2 * (member - 1)).expect("few members");
        for member in (1..members).rev() {
            let message = Message { connection: up(member), bytes };
            let sent = script.message(&needs[member], Duration::ZERO, message);
            needs[parent(member)].push(sent);
        }
        let root = script.step(&needs[0], Duration::ZERO);
        let mut sums = vec![root];
        for member in 1..members {
            let message = Message { connection: up(member) + 1, bytes };
            sums.push(script.message(&[sums[parent(member)]], Duration::ZERO, message));
        }
        for &sum in &sums {
            script.closes(sum, operation);
        }
        before = sums.into_iter().map(Some).collect();
    }
}
