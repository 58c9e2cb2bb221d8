//! Whether a world has windows, and why it has none.

use std::fmt;

/// Whether there are windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// Where they pay.
    Chosen,
    /// Nowhere.
    Never,
    /// Wherever they can be: of 2^n ps, n being at least 6, or as several threads would have them.
    Always(Option<u32>),
}

/// Why a world has no windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoWindows {
    /// Gates and bridges see the order of packets that come by different ways.
    Special,
    /// Bursts share the wavelengths of a core.
    Bursts,
    /// Schedules and queues of several ways concern many ports at one instant.
    Planned,
    /// A way that leads in a circle without a turn.
    Endless,
    /// Everything can reach everything within the shortest window.
    Near,
    /// Too little happens in a window.
    Few,
    /// All that waits lies in near memory, and there is one thread.
    Small,
    /// The next control action, reading or stop is too near.
    Brief,
    /// Nobody wants any.
    Unwanted,
}

impl fmt::Display for NoWindows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NoWindows::Special => "gates or bridges",
            NoWindows::Bursts => "bursts",
            NoWindows::Planned => "schedules, or queues of several ways",
            NoWindows::Endless => "a circle without a queue",
            NoWindows::Near => "no delay between its parts",
            NoWindows::Few => "too few packets",
            NoWindows::Small => "few packets under way, and one thread",
            NoWindows::Unwanted => "not wanted",
            NoWindows::Brief => "actions or readings too close to each other",
        })
    }
}
