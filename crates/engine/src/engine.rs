//! The engines that can drive a run.

/// Drives a run. The records are the same with every engine, and so is everything made of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// An event for every step of every packet: plain, and what the other is checked against.
    Reference,
    /// Departures by arithmetic; steps that nothing else can disturb are taken at once.
    #[default]
    Fast,
    /// The same, with departures as events where a queue does not tell them; for tests. Port number n is such a
    /// one where bit n modulo 64 is set.
    Stepped(u64),
    /// The same as fast, with all that waits in one calendar; for comparison.
    Calendar,
    /// The same, in windows of 2^length ps wherever there can be any, and with ports as in [`Engine::Stepped`]; for tests
    /// and comparison.
    Windows {
        /// From 6 to 32; `None` for the one that several threads would have.
        length: Option<u32>,
        /// Ports whose departures are events.
        stepped: u64,
    },
}

impl Engine {
    /// Those that users choose from.
    pub const ALL: [Engine; 2] = [Engine::Reference, Engine::Fast];

    /// Its name for users.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Engine::Reference => "reference",
            Engine::Fast => "fast",
            Engine::Stepped(_) => "stepped",
            Engine::Calendar => "calendar",
            Engine::Windows { .. } => "windows",
        }
    }

    /// The ports whose departures are events in any case: port n where bit n modulo 64 is set.
    pub(crate) const fn stepped_ports(self) -> u64 {
        match self {
            Engine::Reference | Engine::Fast | Engine::Calendar => 0,
            Engine::Stepped(ports) | Engine::Windows { stepped: ports, .. } => ports,
        }
    }
}
