//! Scenario files, worlds built from them, and the conformance cases.

pub mod conformance;
