//! Resequencing buffers of a run.

use optcp_engine::observe::Observer;
use optcp_engine::{BufferUse, Simulation};

use crate::build::{Resequencing, World};

/// Use of the buffer of a node that puts the copies of `1+1` in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResequencingBuffer {
    /// Protection, as an index of the file.
    pub protection: usize,
    /// Node.
    pub node: String,
    /// `true`: of ACKs, otherwise of data.
    pub acks: bool,
    /// Its maximum.
    pub most: BufferUse,
}

/// Returns the maximum use of each resequencing buffer.
pub(crate) fn buffers<O: Observer>(
    world: &World,
    simulation: &Simulation<O>,
) -> Vec<ResequencingBuffer> {
    let used = world.resequencing.iter().zip(simulation.buffer_uses());
    let buffer = |(one, most): (&Resequencing, BufferUse)| ResequencingBuffer {
        protection: one.protection,
        node: one.node.clone(),
        acks: one.acks,
        most,
    };
    used.map(buffer).collect()
}
