//! Macros for families of names in files, messages and catalogues.

/// Entry of `optcp list`: name in scenario files, description and source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Name in scenario files.
    pub name: &'static str,
    /// One-line description.
    pub summary: &'static str,
    /// RFC section, paper or program that it follows.
    pub source: &'static str,
}

/// Family of names in `optcp list`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Family {
    /// Name of the family.
    pub name: &'static str,
    /// Members in the order of registration.
    pub members: &'static [Entry],
}

/// Declares a closed family of named options: an enum, its names for files and the JSON Schema, and its catalogue
/// entries. To add a member, write its file and add one line.
///
/// If members are modules (`"name" => Member in module: ...`), functions that all modules share are listed after the
/// enum. The enum gets a method for each, which calls the function of the member's module.
///
/// The calling crate must depend on `serde` and `schemars`.
#[macro_export]
macro_rules! registry {
    (
        $(#[$doc:meta])*
        $vis:vis enum $Kind:ident ($family:literal) {
            $(
                $(#[$attr:meta])*
                $name:literal => $Variant:ident $(in $module:ident)?
                    : $summary:literal, $source:literal;
            )+
        }
        $( $(#[$of:meta])* $access:vis fn $method:ident($($argument:ident: $Type:ty),*) $(-> $Out:ty)?; )*
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
            /// All members in the order of registration.
            pub const ALL: &'static [Self] = &[ $( $(#[$attr])* Self::$Variant, )+ ];

            /// Catalogue entry for `optcp list`.
            pub const FAMILY: $crate::registry::Family = $crate::registry::Family {
                name: $family,
                members: &[
                    $(
                        $(#[$attr])*
                        $crate::registry::Entry { name: $name, summary: $summary, source: $source },
                    )+
                ],
            };

            /// Returns the name in scenario files.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $( $(#[$attr])* Self::$Variant => $name, )+ }
            }
        }

        $crate::registry!(
            @methods $Kind [$( $(#[$attr])* $Variant $($module)? ),+]
            { $( $(#[$of])* $access fn $method($($argument: $Type),*) $(-> $Out)?; )* }
        );
    };
    (@methods $Kind:ident $members:tt {
        $( $(#[$of:meta])* $access:vis fn $method:ident($($argument:ident: $Type:ty),*) $(-> $Out:ty)?; )*
    }) => {
        $( $crate::registry!(
            @method $Kind $members
            $(#[$of])* $access fn $method($($argument: $Type),*) $(-> $Out)?, ($($argument),*)
        ); )*
    };
    (
        @method $Kind:ident [$( $(#[$attr:meta])* $Variant:ident $module:ident ),+]
        $(#[$of:meta])* $access:vis fn $method:ident($($argument:ident: $Type:ty),*) $(-> $Out:ty)?,
        $arguments:tt
    ) => {
        impl $Kind {
            $(#[$of])*
            $access fn $method(self, $($argument: $Type),*) $(-> $Out)? {
                match self { $( $(#[$attr])* Self::$Variant => $module::$method $arguments, )+ }
            }
        }
    };
}

/// Declares the states of a [`registry!`] family: an enum with the state of the chosen member, and a macro that
/// dispatches over the members. Each variant has the name of the type that it contains, boxed or not. The leading `$`
/// is the prefix of the inner macro's variables.
#[macro_export]
macro_rules! states {
    (
        $d:tt
        $(#[$doc:meta])*
        $vis:vis enum $States:ident, $each:ident! {
            $( $(#[$attr:meta])* $Member:ident : $Held:ty, )+
        }
    ) => {
        $(#[$doc])*
        $vis enum $States {
            $(
                $(#[$attr])*
                #[doc = concat!("See [`", stringify!($Member), "`].")]
                $Member($Held),
            )+
        }

        macro_rules! $each {
            ($d states:expr, $d member:ident => $d then:expr) => {
                match $d states { $( $(#[$attr])* $States::$Member($d member) => $d then, )+ }
            };
        }
    };
}
