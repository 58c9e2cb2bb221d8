//! Optical mechanisms: what the network does about failures, lightpaths in bundles, and bursts.

pub mod bundle;
pub mod burst;
pub mod protection;
