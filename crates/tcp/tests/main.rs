//! Every test file of the crate, in one binary: each binary is linked with all that it uses.

mod bursts;
mod choices;
mod duplicate_acks;
mod ecn;
mod network;
mod path_state;
mod pause;
mod random_network;
mod response;
mod retcp;
mod sack;
mod step_marking;
