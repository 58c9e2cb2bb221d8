//! Optical mechanisms: what the network does about failures, lightpaths in bundles, bursts and
//! their switches.

pub mod bundle;
pub mod burst;
pub mod protection;
pub mod switching;
