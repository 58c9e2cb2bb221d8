//! Optical mechanisms: what the network does about failures, lightpaths in bundles, bursts and
//! their switches.

pub mod bundle;
pub mod burst;
pub mod protection;
pub mod switching;

/// The families of names that are registered here, as `optcp list` has them.
pub const FAMILIES: &[optcp_units::registry::Family] = &[
    protection::Scheme::FAMILY,
    protection::Revert::FAMILY,
    bundle::Selection::FAMILY,
    burst::AssemblyKind::FAMILY,
    switching::Scheduling::FAMILY,
    switching::Conversion::FAMILY,
];
