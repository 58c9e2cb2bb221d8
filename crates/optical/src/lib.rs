//! Optical mechanisms: what the network does about failures, and lightpaths in bundles.

pub mod bundle;
pub mod protection;
