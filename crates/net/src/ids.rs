//! Numbers by which parts of the network name each other.

/// A number of its own kind: not mixed up with another, and no arithmetic.
macro_rules! id {
    ($(#[doc = $text:literal] $name:ident, $many:literal;)*) => {$(
        #[doc = $text]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(transparent)]
        pub struct $name(u32);

        impl $name {
            /// Of a number.
            #[inline(always)]
            #[must_use]
            pub const fn new(number: u32) -> Self {
                $name(number)
            }

            /// Of a place in a list.
            ///
            /// # Panics
            /// Beyond 2^32 of them.
            #[must_use]
            pub fn at(index: usize) -> Self {
                $name(u32::try_from(index).expect($many))
            }

            /// All from the first on.
            pub fn all() -> impl Iterator<Item = Self> + Clone {
                (0..u32::MAX).map($name)
            }

            /// The number.
            #[inline(always)]
            #[must_use]
            pub const fn number(self) -> u32 {
                self.0
            }

            /// Its place in a list.
            #[inline(always)]
            #[must_use]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

id! {
    /// Index of a flow or, behind the flows, of a source of datagrams.
    FlowId, "fewer than 2^32 flows and sources";
    /// Index of a port.
    PortId, "fewer than 2^32 ports";
}

/// Index of a bundle: one direction of parallel links between two nodes.
pub type BundleId = u32;

/// Index into the [`LabelTable`](crate::LabelTable): what a packet carries, and what the next node looks up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Label(pub u32);
