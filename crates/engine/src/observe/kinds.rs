//! Macro that combines all kinds of observations in one type.

/// Declares the kinds in catalogue order: name, implementation, summary and source.
macro_rules! kinds {
    ($d:tt $( $name:literal => $Kind:ident ( $Type:ty ) : $summary:literal, $source:literal; )+) => {
        optcp_units::registry! {
            /// Kind of observation.
            pub enum ObserveKind ("observations") {
                $( $name => $Kind : $summary, $source; )+
            }
        }

        impl ObserveKind {
            /// Returns the keys that the kind accepts.
            #[must_use]
            pub const fn keys(self) -> Keys {
                match self {
                    $( Self::$Kind => <$Type as Observed>::KEYS, )+
                }
            }

            /// Returns the kinds of records that the kind needs.
            pub(crate) const fn takes(self) -> &'static [RecordKind] {
                match self {
                    $( Self::$Kind => <$Type as Observed>::TAKES, )+
                }
            }

            /// Returns whether the kind reads the tallies of its ports, which the blueprint must then list.
            #[must_use]
            pub const fn tallies(self) -> bool {
                match self {
                    $( Self::$Kind => <$Type as Observed>::TALLIES, )+
                }
            }
        }

        optcp_units::states! {
            $d
            /// Observation of any kind, statically dispatched. Clones are plain data.
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
