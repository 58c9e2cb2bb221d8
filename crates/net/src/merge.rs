//! Where a working path and its backup meet: a node that takes packets of one of them only.
//!
//! # Models
//! A non-merging node, such as an optical switch: what comes from the side that is not selected is
//! discarded. The selection follows the light: it changes with the first packet from the side that the
//! sending end has switched to.
//! # Source
//! GMPLS paper, section 2, Fig. 3, and section 7.1 ("optical").
//! # Parameters
//! None: `expect` says which side the sending end uses now, `select` chooses at once.
//! # Limits
//! The change takes no time.

/// Index into the selectors of a [`crate::LabelTable`].
pub type SelectorId = u32;

/// Where a packet comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The working path.
    Working,
    /// The backup.
    Backup,
}

/// See the module's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selector {
    selected: Side,
    expected: Side,
}

impl Default for Selector {
    fn default() -> Self {
        Selector { selected: Side::Working, expected: Side::Working }
    }
}

impl Selector {
    /// From now on the first packet from `side` selects it.
    pub fn expect(&mut self, side: Side) {
        self.expected = side;
    }

    /// `side` is selected from now on.
    pub fn select(&mut self, side: Side) {
        *self = Selector { selected: side, expected: side };
    }

    /// A packet comes from `side`; whether it goes on.
    pub(crate) fn admits(&mut self, side: Side) -> bool {
        if side == self.expected {
            self.selected = side;
        }
        side == self.selected
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// GMPLS paper, section 7.1: from the first packet along the original path on, packets from the
    /// backup are discarded; until then they go on.
    #[test]
    fn the_first_packet_on_the_restored_path_ends_the_backup() {
        let mut selector = Selector::default();
        selector.select(Side::Backup);
        assert!(!selector.admits(Side::Working), "a straggler of the failed path");
        selector.expect(Side::Working);
        assert!(selector.admits(Side::Backup));
        assert!(selector.admits(Side::Working));
        assert!(!selector.admits(Side::Backup));
        assert!(selector.admits(Side::Working));
    }
}
