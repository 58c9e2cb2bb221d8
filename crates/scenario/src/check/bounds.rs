//! How many of a thing there may be, and what may be its name.

use crate::problem::Problems;
use crate::tree::Step;

/// More nodes, links or flows than this are taken for a slip: they would fill the memory.
pub(super) const MOST: usize = 200_000;

/// Reports a name that cannot be told apart from the punctuation of paths and labels: `..` is a folder to every system.
pub(super) fn check_name(name: &str, place: &[Step<'_>], problems: &mut Problems<'_>) {
    if !is_name(name) {
        problems.at(place, format!("`{name}` cannot be a name")).label(
            "letters, digits, `_`, `-` and `.` make a name, with a letter or digit among them",
        );
    }
}

/// Whether [`check_name`] has nothing to report.
pub(super) fn is_name(name: &str) -> bool {
    let allowed = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    name.chars().any(char::is_alphanumeric) && name.chars().all(allowed)
}
