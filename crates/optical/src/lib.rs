//! Optical mechanisms: protection switching, lightpaths over fibres, lightpath bundles, burst assembly and burst switching.

pub mod bundle;
pub mod burst;
pub mod lightpath;
pub mod protection;
pub mod switching;

/// Families of names registered in this crate, as printed by `optcp list`.
pub const FAMILIES: &[optcp_units::registry::Family] = &[
    protection::Scheme::FAMILY,
    protection::Revert::FAMILY,
    protection::Command::FAMILY,
    lightpath::Recovery::FAMILY,
    bundle::Selection::FAMILY,
    burst::AssemblyKind::FAMILY,
    burst::BurstProtection::FAMILY,
    switching::Scheduling::FAMILY,
    switching::Conversion::FAMILY,
];
