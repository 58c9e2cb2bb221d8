//! Selector: node that accepts packets from either the working path or the backup.
//!
//! # Model
//! A non-merging node, such as an optical switch, discards packets from the side that is not selected. The selection
//! changes with the first packet from the side to which the head end has switched ([`Selector::expect`]), or
//! immediately ([`Selector::select`]).
//!
//! # References
//! GMPLS paper, section 2, Fig. 3, and section 7.1 ("optical").
//!
//! # Limitations
//! The change takes no time.

/// Index into the selectors of a [`crate::LabelTable`].
pub type SelectorId = u32;

/// Input of a selector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Working path.
    Working,
    /// Backup.
    Backup,
}

/// State of a selector: selected input, and input whose next packet changes the selection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selector {
    selected: Side,
    expected: Side,
    /// Both sides pass; copies are eliminated later.
    merges: bool,
}

impl Default for Selector {
    fn default() -> Self {
        Selector { selected: Side::Working, expected: Side::Working, merges: false }
    }
}

impl Selector {
    /// Selects `side` with the next packet from it.
    pub fn expect(&mut self, side: Side) {
        self.expected = side;
    }

    /// Selects `side` immediately.
    pub fn select(&mut self, side: Side) {
        *self = Selector { selected: side, expected: side, ..*self };
    }

    /// Selects both sides.
    pub fn merge(&mut self) {
        self.merges = true;
    }

    /// Handles a packet from `side`. Returns whether it passes.
    pub(crate) fn accepts(&mut self, side: Side) -> bool {
        if side == self.expected {
            self.selected = side;
        }
        self.merges || side == self.selected
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// GMPLS paper, section 7.1: packets from the backup pass until the first packet on the original path, and are
    /// discarded afterwards.
    #[test]
    fn first_packet_on_working_path_deselects_backup() {
        let mut selector = Selector::default();
        selector.select(Side::Backup);
        assert!(!selector.accepts(Side::Working), "a straggler of the failed path");
        selector.expect(Side::Working);
        assert!(selector.accepts(Side::Backup));
        assert!(selector.accepts(Side::Working));
        assert!(!selector.accepts(Side::Backup));
        assert!(selector.accepts(Side::Working));
    }
}
