//! Policy for windows, and the reasons for not using them.

use std::fmt;

use crate::engine::Engine;

/// Policy for windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WindowPolicy {
    /// Use windows where they save time.
    WherePaying,
    /// Never use windows.
    Never,
    /// Use windows wherever possible, of 2^n ps (n at least 6), or as for several threads.
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

/// Reason for not using windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoWindowsReason {
    /// Selectors and bridges depend on the order of packets that arrive over different paths.
    Special,
    /// Bursts share the wavelengths of a core.
    Bursts,
    /// Applications let what one host receives decide what it sends.
    Applications,
    /// All inputs of a switch affect all of its ports.
    Crossbars,
    /// A connection may use any path of equal cost.
    Repathing,
    /// Schedules and queues with several paths affect many ports at the same time.
    Schedules,
    /// The subflows of a connection have endpoints in several parts.
    Connections,
    /// A path forms a loop in which no packet ever waits.
    Endless,
    /// Every vertex can affect every other within the shortest window.
    Near,
    /// Too few packets move within a window.
    Few,
    /// All waiting packets fit in the cache, and there is one thread.
    Small,
    /// The next control action, reading or stop is too close.
    Brief,
    /// The policy is [`WindowPolicy::Never`].
    Unwanted,
}

impl fmt::Display for NoWindowsReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NoWindowsReason::Special => "selectors or bridges",
            NoWindowsReason::Bursts => "bursts",
            NoWindowsReason::Applications => "applications",
            NoWindowsReason::Crossbars => "switches with queues at their inputs",
            NoWindowsReason::Repathing => "connections that repath",
            NoWindowsReason::Schedules => "schedules, or queues with several paths",
            NoWindowsReason::Connections => "connections over several subflows",
            NoWindowsReason::Endless => "a loop without a queue",
            NoWindowsReason::Near => "no delay between its parts",
            NoWindowsReason::Few => "too few packets",
            NoWindowsReason::Small => "few packets in flight, and one thread",
            NoWindowsReason::Unwanted => "not wanted",
            NoWindowsReason::Brief => "actions or readings too close to each other",
        })
    }
}
