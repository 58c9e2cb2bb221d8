//! The macro behind families whose members have a state beside their name.

/// Declares the states of a family of which `registry!` has the names: the enum that holds the state of the chosen
/// member, and a macro that does something with whichever member that is. Each variant is called like the type that it
/// holds, boxed or not. The `$` in front is what the inner macro's own variables begin with.
macro_rules! states {
    (
        $d:tt
        $(#[$doc:meta])*
        $vis:vis enum $States:ident, $each:ident! {
            $( $(#[$attr:meta])* $Member:ident : $Held:ty, )+
        }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug)]
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

pub(crate) use states;
