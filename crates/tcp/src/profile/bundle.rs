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

/// Declares a bundle once: the values make the [`Config`], the reasons go with the names of the fields.
macro_rules! bundle {
    (
        $(#[$doc:meta])*
        $NAME:ident $(from $BASE:path)?;
        $( $why:literal => $( $field:ident : $value:expr ),+ ; )+
    ) => {
        $(#[$doc])*
        pub(super) const $NAME: $crate::profile::bundle::Bundle = $crate::profile::bundle::Bundle {
            config: || $crate::config::Config {
                $( $( $field: $value, )+ )+
                $( ..($BASE.config)() )?
            },
            groups: &[ $( $crate::profile::bundle::Group {
                why: $why,
                fields: &[ $( stringify!($field) ),+ ],
            } ),+ ],
        };
    };
}

pub(super) use bundle;
