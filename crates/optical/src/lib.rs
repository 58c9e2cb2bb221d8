//! Optical failures and what the network does about them.

pub mod protection;
