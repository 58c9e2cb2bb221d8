//! Every test file of the crate, in one binary: each binary is linked with all that it uses.

mod handshakes;
mod records;
