//! Parameters of a discipline in scenario files, with their defaults and the sources of these.

use optcp_units::{Bytes, Duration};

use super::QueueLimit;

/// Value of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Setting {
    /// Time.
    Time(Duration),
    /// Number without a unit.
    Number(f64),
    /// Integer.
    Count(u32),
    /// Size.
    Size(Bytes),
    /// Queue length.
    Length(QueueLimit),
    /// Boolean.
    Flag(bool),
}

/// Parameter of a discipline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameter {
    /// Key in scenario files.
    pub name: &'static str,
    /// Source of the default value.
    pub why: &'static str,
}

/// Type of a parameter's value.
pub(super) trait Settable: Copy {
    /// Returns the setting; `None` if it is unset.
    fn setting(self) -> Option<Setting>;
    /// Converts a setting, if it has this type.
    fn of(setting: Setting) -> Option<Self>;
}

macro_rules! settable {
    ($($Type:ty => $Kind:ident;)+) => {
        $(
            impl Settable for $Type {
                fn setting(self) -> Option<Setting> {
                    Some(Setting::$Kind(self))
                }
                fn of(setting: Setting) -> Option<Self> {
                    match setting {
                        Setting::$Kind(value) => Some(value),
                        _ => None,
                    }
                }
            }
        )+
    };
}

settable! {
    Duration => Time;
    f64 => Number;
    u32 => Count;
    Bytes => Size;
    QueueLimit => Length;
    bool => Flag;
}

impl<T: Settable> Settable for Option<T> {
    fn setting(self) -> Option<Setting> {
        self.and_then(Settable::setting)
    }
    fn of(setting: Setting) -> Option<Self> {
        T::of(setting).map(Some)
    }
}

/// Parameters of one discipline. `Default` returns their default values.
pub trait Parameters: Clone + Default + PartialEq + std::fmt::Debug {
    /// All parameters.
    const ALL: &'static [Parameter];

    /// Returns the value of a parameter; `None` if it is unset or unknown.
    fn get(&self, name: &str) -> Option<Setting>;

    /// Sets a parameter. Returns whether it exists and has this type.
    fn set(&mut self, name: &str, setting: Setting) -> bool;

    /// Returns the first invalid parameter and its valid range, if any.
    fn fault(&self) -> Option<(&'static str, &'static str)> {
        None
    }
}

/// Parameters of a discipline without any.
impl Parameters for () {
    const ALL: &'static [Parameter] = &[];

    fn get(&self, _: &str) -> Option<Setting> {
        None
    }

    fn set(&mut self, _: &str, _: Setting) -> bool {
        false
    }
}

/// Declares the parameters of a discipline: key, type, default and source of each. The conditions at the end are
/// checked in order to find invalid values.
macro_rules! parameters {
    (
        $(#[$doc:meta])*
        $vis:vis struct $Name:ident {
            $( $(#[$field_doc:meta])* $field:ident : $Type:ty = $default:expr, $why:literal; )+
        }
        $( wrong |$of:ident| { $( $key:literal if $wrong:expr => $expected:literal; )+ } )?
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq)]
        $vis struct $Name {
            $( $(#[$field_doc])* pub $field: $Type, )+
        }

        impl Default for $Name {
            fn default() -> Self {
                $Name { $( $field: $default, )+ }
            }
        }

        impl $crate::queue::parameters::Parameters for $Name {
            const ALL: &'static [$crate::queue::parameters::Parameter] = &[
                $( $crate::queue::parameters::Parameter {
                    name: stringify!($field),
                    why: $why,
                }, )+
            ];

            fn get(&self, name: &str) -> Option<$crate::queue::parameters::Setting> {
                use $crate::queue::parameters::Settable;
                match name {
                    $( stringify!($field) => self.$field.setting(), )+
                    _ => None,
                }
            }

            fn set(&mut self, name: &str, setting: $crate::queue::parameters::Setting) -> bool {
                use $crate::queue::parameters::Settable;
                match name {
                    $( stringify!($field) => {
                        <$Type>::of(setting).map(|value| self.$field = value).is_some()
                    } )+
                    _ => false,
                }
            }

            $( fn fault(&self) -> Option<(&'static str, &'static str)> {
                let $of = self;
                $( if $wrong { return Some(($key, $expected)); } )+
                None
            } )?
        }
    };
}

pub(super) use parameters;
