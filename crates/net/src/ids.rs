//! Numbers that identify parts of the network.

/// Declares an index type that cannot be confused with another one and has no arithmetic.
macro_rules! id {
    ($(#[doc = $text:literal] $name:ident, $many:literal;)*) => {$(
        #[doc = $text]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(transparent)]
        pub struct $name(u32);

        impl $name {
            /// Creates the index from its number.
            #[inline(always)]
            #[must_use]
            pub const fn new(number: u32) -> Self {
                $name(number)
            }

            /// Creates the index from a list position.
            ///
            /// # Panics
            /// Panics if there are more than 2^32.
            #[must_use]
            pub fn at(index: usize) -> Self {
                $name(u32::try_from(index).expect($many))
            }

            /// Returns all indices from 0 on.
            pub fn all() -> impl Iterator<Item = Self> + Clone {
                (0..u32::MAX).map($name)
            }

            /// Returns the number.
            #[inline(always)]
            #[must_use]
            pub const fn number(self) -> u32 {
                self.0
            }

            /// Returns the list position.
            #[inline(always)]
            #[must_use]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

id! {
    /// Index of a flow. Sources of datagrams are numbered after the flows.
    FlowId, "fewer than 2^32 flows and sources";
    /// Index of a port.
    PortId, "fewer than 2^32 ports";
}

/// Index of a bundle: one direction of parallel links between two nodes.
pub type BundleId = u32;

/// Index into the [`LabelTable`](crate::LabelTable), which packets carry and the next node looks up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Label(pub u32);
