//! Optical layer in the plan.

use optcp_optical::lightpath::{OpticalLayer, Recovery};

use super::faults::FailurePlan;

/// Fibres, the links over them, and their failures.
#[derive(Clone, Debug, PartialEq)]
pub struct OpticalPlan {
    /// Fibres and lightpaths.
    pub layer: OpticalLayer,
    /// Names of the fibres.
    pub names: Vec<String>,
    /// Link of each lightpath, as an index.
    pub links: Vec<usize>,
    /// Failures of fibres, in the order of the file. Their `link` is the index of a fibre.
    pub failures: Vec<FailurePlan>,
}

impl OpticalPlan {
    /// Returns whether the optical layer may end a failure before its repair.
    pub(crate) fn may_recover(&self, failure: &FailurePlan) -> bool {
        failure.of_fibre && self.layer.recovery != Recovery::None
    }
}
