//! The macro that makes one type of all kinds of observations.

/// Declares the kinds: names for files with what implements them, in the order of the catalogue.
macro_rules! kinds {
    ($d:tt $( $name:literal => $Kind:ident ( $Type:ty ) : $summary:literal, $source:literal; )+) => {
        optcp_units::registry! {
            /// What can be measured.
            pub enum ObserveKind ("observations") {
                $( $name => $Kind : $summary, $source; )+
            }
        }

        impl ObserveKind {
            /// The keys that it takes.
            #[must_use]
            pub const fn keys(self) -> Keys {
                match self {
                    $( Self::$Kind => <$Type as Observed>::KEYS, )+
                }
            }

            /// The kinds of records that it takes.
            pub(crate) const fn takes(self) -> &'static [RecordKind] {
                match self {
                    $( Self::$Kind => <$Type as Observed>::TAKES, )+
                }
            }

            /// Whether it reads the tallies of its ports, which the blueprint must then name.
            #[must_use]
            pub const fn tallies(self) -> bool {
                match self {
                    $( Self::$Kind => <$Type as Observed>::TALLIES, )+
                }
            }
        }

        optcp_units::states! {
            $d
            /// An observation of any kind. Dispatch is static, and a copy is plain data.
            #[derive(Clone, Debug)]
            enum Observation, each! {
                $( $Kind: $Type, )+
            }
        }

        impl Observation {
            fn new(kind: ObserveKind, watched: &Watched<'_>) -> Self {
                match kind {
                    $( ObserveKind::$Kind => Self::$Kind(Observed::new(watched)), )+
                }
            }
        }
    };
}
