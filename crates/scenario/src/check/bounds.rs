//! How many of a thing there may be, and what may be its name.

use crate::problem::Problems;
use crate::tree::Step;

/// More nodes, links or flows than this are taken for a slip: they would fill the memory.
pub(super) const MOST: usize = 200_000;

/// Reports a name that cannot be told apart from the punctuation of paths and labels.
pub(super) fn check_name(name: &str, place: &[Step<'_>], problems: &mut Problems<'_>) {
    let allowed = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    if name.is_empty() || !name.chars().all(allowed) {
        problems
            .at(place, format!("`{name}` cannot be a name"))
            .label("letters, digits, `_`, `-` and `.` make a name");
    }
}
