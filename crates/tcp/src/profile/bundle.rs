//! Notation of profiles: groups of parameters, each with its reason.

use crate::config::Config;

/// Set of parameters with reasons.
pub(super) struct Bundle {
    /// Returns all parameters, including the base set's.
    pub config: fn() -> Config,
    /// Parameters that this set defines itself.
    pub groups: &'static [Group],
}

/// Parameters with a common reason.
pub(super) struct Group {
    pub why: &'static str,
    pub fields: &'static [&'static str],
}

/// Declares a set once: the values define the [`Config`], the reasons belong to the field names. A
/// set without a base names every parameter except the individual controllers'.
macro_rules! bundle {
    (
        $(#[$doc:meta])*
        $NAME:ident;
        $( $why:literal => $( $field:ident : $value:expr ),+ ; )+
    ) => {
        $(#[$doc])*
        pub(super) const $NAME: $crate::profile::bundle::Bundle = $crate::profile::bundle::Bundle {
            config: || $crate::config::Config {
                $( $( $field: $value, )+ )+
                controllers: $crate::config::ControllerKeys::default(),
            },
            groups: &[ $( $crate::profile::bundle::Group {
                why: $why,
                fields: &[ $( stringify!($field) ),+ ],
            } ),+ ],
        };
    };
    (
        $(#[$doc:meta])*
        $NAME:ident from $BASE:path;
        $( $why:literal => $( $field:ident $(. $inner:ident)* : $value:expr ),+ ; )+
    ) => {
        $(#[$doc])*
        pub(super) const $NAME: $crate::profile::bundle::Bundle = $crate::profile::bundle::Bundle {
            config: || {
                let mut config = ($BASE.config)();
                $( $( config.$field $(. $inner)* = $value; )+ )+
                config
            },
            groups: &[ $( $crate::profile::bundle::Group {
                why: $why,
                fields: &[ $( $crate::profile::bundle::key!($field $(. $inner)*) ),+ ],
            } ),+ ],
        };
    };
}

/// Returns the last key of a path through [`Config`].
macro_rules! key {
    ($field:ident) => { stringify!($field) };
    ($field:ident . $($inner:tt)+) => { $crate::profile::bundle::key!($($inner)+) };
}

pub(super) use {bundle, key};
