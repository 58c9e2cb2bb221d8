//! Estimates of the Hurst parameter from counts per slot.

mod aggregated;
mod whittle;

pub use aggregated::aggregated_variance;
pub use whittle::{LocalWhittle, local_whittle};

/// Minimum number of slots for an estimate.
pub const FEWEST_SLOTS: usize = 512;
