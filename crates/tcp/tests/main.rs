//! All test files of the crate in one binary, because each binary links all its dependencies.

mod bursts;
mod choices;
mod duplicate_acks;
mod ecn;
mod giving_up;
mod network;
mod path_state;
mod pause;
mod probes;
mod quic;
mod random_network;
mod response;
mod retcp;
mod sack;
mod step_marking;
