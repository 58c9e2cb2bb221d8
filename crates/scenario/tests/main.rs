//! Every test file of the crate, in one binary: each binary is linked with all that it uses.

mod bad;
mod changes;
mod circuits;
mod found;
mod known;
mod overridden;
mod sample;
mod schema;
mod warnings;
