//! The one macro behind every family of named policies.

/// One line of `optcp list`: a policy's name in scenario files, what it is, and where it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The name in scenario files.
    pub name: &'static str,
    /// One line: what it does.
    pub summary: &'static str,
    /// The RFC section, paper or program that it follows.
    pub source: &'static str,
}

/// Declares a closed family of named choices: the enum, its names for files and schema, and its
/// catalogue. To add a member: write its file and add one line.
#[macro_export]
macro_rules! registry {
    (
        $(#[$doc:meta])*
        $vis:vis enum $Kind:ident ($family:literal) {
            $( $(#[$attr:meta])* $name:literal => $Variant:ident : $summary:literal, $source:literal; )+
        }
    ) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, Hash,
            serde::Serialize, serde::Deserialize, schemars::JsonSchema,
        )]
        $vis enum $Kind {
            $(
                $(#[$attr])*
                #[doc = concat!($summary, " (", $source, ")")]
                #[serde(rename = $name)]
                $Variant,
            )+
        }

        impl $Kind {
            /// The family's name in `optcp list`.
            pub const FAMILY: &'static str = $family;
            /// Every member, in the order of registration.
            pub const CATALOGUE: &'static [$crate::registry::Entry] = &[
                $( $(#[$attr])* $crate::registry::Entry { name: $name, summary: $summary, source: $source }, )+
            ];

            /// Every member, in the same order.
            pub const ALL: &'static [Self] = &[ $( $(#[$attr])* Self::$Variant, )+ ];

            /// The name in scenario files.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $( $(#[$attr])* Self::$Variant => $name, )+ }
            }
        }
    };
}
