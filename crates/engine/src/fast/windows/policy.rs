//! Where a run uses windows, and the reasons for which it does not.

use std::fmt;

use crate::engine::Engine;

/// Where a run uses windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WindowPolicy {
    /// Where they pay.
    WherePaying,
    /// Nowhere.
    Never,
    /// Wherever they are possible: of 2^n ps, n being at least 6, or as several threads would have them.
    WherePossible(Option<u32>),
}

impl From<Engine> for WindowPolicy {
    fn from(engine: Engine) -> Self {
        match engine {
            Engine::Reference | Engine::Fast | Engine::Stepped(_) => WindowPolicy::WherePaying,
            Engine::Calendar => WindowPolicy::Never,
            Engine::Windows { length, .. } => WindowPolicy::WherePossible(length),
        }
    }
}

/// Why a run has no windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoWindowsReason {
    /// Gates and bridges depend on the order of packets that arrive over different paths.
    Special,
    /// Bursts share the wavelengths of a core.
    Bursts,
    /// Schedules and queues of several paths concern many ports at the same time.
    Schedules,
    /// A path leads in a circle in which no packet ever waits.
    Endless,
    /// Everything can reach everything within the shortest window.
    Near,
    /// Too few packets move in a window.
    Few,
    /// All waiting packets fit into near memory, and there is one thread.
    Small,
    /// The next control action, reading or stop is too near.
    Brief,
    /// The policy is [`WindowPolicy::Never`].
    Unwanted,
}

impl fmt::Display for NoWindowsReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NoWindowsReason::Special => "gates or bridges",
            NoWindowsReason::Bursts => "bursts",
            NoWindowsReason::Schedules => "schedules, or queues of several ways",
            NoWindowsReason::Endless => "a circle without a queue",
            NoWindowsReason::Near => "no delay between its parts",
            NoWindowsReason::Few => "too few packets",
            NoWindowsReason::Small => "few packets under way, and one thread",
            NoWindowsReason::Unwanted => "not wanted",
            NoWindowsReason::Brief => "actions or readings too close to each other",
        })
    }
}
