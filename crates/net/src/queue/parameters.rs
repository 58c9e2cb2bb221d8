//! What may be said of a discipline in a scenario file: its parameters, with their defaults and why they are these.

use optcp_units::{Bytes, Duration};

use super::QueueLimit;

/// What a parameter is set to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Setting {
    /// A time.
    Time(Duration),
    /// A number without a unit.
    Number(f64),
    /// A whole number.
    Count(u32),
    /// A size.
    Size(Bytes),
    /// A length of the queue.
    Length(QueueLimit),
    /// Yes or no.
    Flag(bool),
}

/// A parameter of a discipline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameter {
    /// Its key in scenario files.
    pub name: &'static str,
    /// Why it is what it is unless a scenario says otherwise.
    pub why: &'static str,
}

/// A value that a parameter may have.
pub(super) trait Settable: Copy {
    /// What is shown; `None` of what is left out.
    fn setting(self) -> Option<Setting>;
    /// The value, if it is one of this kind.
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

/// The parameters of one discipline. `Default` is what they are unless a scenario says otherwise.
pub trait Parameters: Clone + Default + PartialEq + std::fmt::Debug {
    /// All of them.
    const ALL: &'static [Parameter];

    /// What the parameter with this name is; `None` of what is left out, or not there.
    fn get(&self, name: &str) -> Option<Setting>;

    /// Sets a parameter; whether there is one with this name and of this kind.
    fn set(&mut self, name: &str, setting: Setting) -> bool;

    /// What is wrong with them, if something is: of which parameter, and what belongs there.
    fn fault(&self) -> Option<(&'static str, &'static str)> {
        None
    }
}

/// A discipline without parameters.
impl Parameters for () {
    const ALL: &'static [Parameter] = &[];

    fn get(&self, _: &str) -> Option<Setting> {
        None
    }

    fn set(&mut self, _: &str, _: Setting) -> bool {
        false
    }
}

/// Declares the parameters of a discipline: of each its key, type, default, and the reason for that. What is wrong with
/// them is found in the order of the conditions at the end.
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
