//! The macros behind every family of names that files, messages and catalogues have.

/// One line of `optcp list`: a member's name in scenario files, what it is, and where it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The name in scenario files.
    pub name: &'static str,
    /// One line: what it does.
    pub summary: &'static str,
    /// The RFC section, paper or program that it follows.
    pub source: &'static str,
}

/// A family of `optcp list`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Family {
    /// Its name.
    pub name: &'static str,
    /// Every member, in the order of registration.
    pub members: &'static [Entry],
}

/// Declares a closed family of named choices: the enum, its names for files and JSON Schema, and its
/// entries for catalogues. To add a member: write its file and add one line.
///
/// Where members are modules (`"name" => Member in module: ...`), functions that every one of these modules
/// has are listed behind the enum; the enum gets a method for each, which calls that of the member's module.
///
/// The crate that uses it depends on `serde` and `schemars`.
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
            /// Every member, in the order of registration.
            pub const ALL: &'static [Self] = &[ $( $(#[$attr])* Self::$Variant, )+ ];

            /// What `optcp list` says of it.
            pub const FAMILY: $crate::registry::Family = $crate::registry::Family {
                name: $family,
                members: &[
                    $(
                        $(#[$attr])*
                        $crate::registry::Entry { name: $name, summary: $summary, source: $source },
                    )+
                ],
            };

            /// The name in scenario files.
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

/// Declares the states of a family of which [`registry!`] has the names: the enum that holds the state of the chosen
/// member, and a macro that does something with whichever member that is. Each variant is called like the type that it
/// holds, boxed or not. The `$` in front is what the inner macro's own variables begin with.
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
