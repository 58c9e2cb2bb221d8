//! Engines that can execute a run.

/// Simulation engine. All engines produce the same records and therefore the same results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// One event for every step of every packet. Simple; serves as the reference for the other engines.
    Reference,
    /// Departure times by arithmetic; steps that no other event can affect are executed early.
    #[default]
    Fast,
    /// [`Engine::Fast`] with departures as events at port n if bit n modulo 64 is set. For tests.
    Stepped(u64),
    /// [`Engine::Fast`] with a single event queue. For comparison.
    Calendar,
    /// [`Engine::Fast`] in windows of 2^length ps wherever they are possible, with ports as in [`Engine::Stepped`]. For
    /// tests and comparison.
    Windows {
        /// Exponent from 6 to 32; `None` for the window length that several threads would use.
        length: Option<u32>,
        /// Ports whose departures are events: port n if bit n modulo 64 is set.
        stepped: u64,
    },
}

impl Engine {
    /// Engines offered to users.
    pub const ALL: [Engine; 2] = [Engine::Reference, Engine::Fast];

    /// Returns the name of the engine.
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

    /// Returns the ports whose departures are always events: port n if bit n modulo 64 is set.
    pub(crate) const fn stepped_ports(self) -> u64 {
        match self {
            Engine::Reference | Engine::Fast | Engine::Calendar => 0,
            Engine::Stepped(ports) | Engine::Windows { stepped: ports, .. } => ports,
        }
    }
}
