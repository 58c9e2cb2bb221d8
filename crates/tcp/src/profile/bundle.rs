//! How a profile is written down: choices in groups, each group with its reason.

use crate::config::Config;

/// Choices, and why they are so.
pub(super) struct Bundle {
    /// Every choice, those of the bundle that it starts from included.
    pub config: fn() -> Config,
    /// The choices that it makes itself.
    pub groups: &'static [Group],
}

/// Choices with one reason.
pub(super) struct Group {
    pub why: &'static str,
    pub fields: &'static [&'static str],
}

/// Declares a bundle once: the values make the [`Config`], the reasons go with the names of the fields. One that
/// starts from no other names every choice but those that controllers have for themselves.
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

/// The key that a path through [`Config`] ends with.
macro_rules! key {
    ($field:ident) => { stringify!($field) };
    ($field:ident . $($inner:tt)+) => { $crate::profile::bundle::key!($($inner)+) };
}

pub(super) use {bundle, key};
