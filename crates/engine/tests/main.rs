//! Every test file of the crate, in one binary: each binary is linked with all that it uses.

mod bbr_shares;
mod common;
mod cuts;
mod engines;
mod interrupts;
mod physics;
mod planned;
mod queueing;
mod random_worlds;
