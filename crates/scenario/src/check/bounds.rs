//! Limits of counts, and the syntax of names.

use crate::problem::Problems;
use crate::tree::Step;

/// Maximum number of nodes, links or flows. Higher numbers are probably mistakes and would exhaust the
/// memory.
pub(super) const MOST: usize = 200_000;

/// Maximum number of flows with a list. A run of so many flows takes about 2.2 GB of memory.
pub(super) const MOST_LISTED: usize = 1_000_000;

/// Reports names that conflict with the punctuation of paths and labels, or with special folders such as
/// `..`.
pub(super) fn check_name(name: &str, place: &[Step<'_>], problems: &mut Problems<'_>) {
    if !is_name(name) {
        problems.at(place, format!("`{name}` is not a valid name")).label(
            "names consist of letters, digits, `_`, `-` and `.`, with at least one letter or digit",
        );
    }
}

/// Returns whether [`check_name`] accepts the name.
pub(super) fn is_name(name: &str) -> bool {
    let allowed = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    name.chars().any(char::is_alphanumeric) && name.chars().all(allowed)
}
