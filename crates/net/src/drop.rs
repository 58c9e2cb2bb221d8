//! Why packets drop.

/// Every way in which a packet can be lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum DropReason {
    /// The queue had no place left.
    QueueFull = 0,
    /// It came to the port of a link that is down.
    LinkDown = 1,
    /// It waited in the queue, or was being sent, when the link failed.
    QueueFlushed = 2,
    /// It was on its way along the link when the link failed.
    LostInFlight = 3,
    /// The scenario asked for its loss, by name.
    Scripted = 4,
    /// The scenario asked for losses at random.
    RandomLoss = 5,
    /// The scenario asked for losses at even distances.
    PeriodicLoss = 6,
    /// It came to a non-merging node from the side that is not selected.
    NotSelected = 7,
    /// A router had to forward it whose time to live was used up.
    TtlExpired = 8,
    /// It was in a burst that was lost on its way between edge nodes.
    BurstLost = 9,
    /// It was in a burst for which a burst switch had no wavelength.
    Contention = 10,
    /// The line spoilt it.
    Corrupted = 11,
    /// A queue discipline dropped it to hold its queue short, although there was a place.
    Aqm = 12,
    /// A queue discipline drops everything: its queue is beyond what it can hold short by chance.
    AqmForced = 13,
    /// It waited in the queue, and made room for another packet.
    PushedOut = 14,
    /// It waited in a queue that became shorter than what it held.
    QueueShrunk = 15,
    /// It came to a node that has no route for it.
    NoRoute = 16,
}

impl DropReason {
    /// Every reason, in the order of their numbers.
    pub const ALL: [DropReason; 17] = [
        DropReason::QueueFull,
        DropReason::LinkDown,
        DropReason::QueueFlushed,
        DropReason::LostInFlight,
        DropReason::Scripted,
        DropReason::RandomLoss,
        DropReason::PeriodicLoss,
        DropReason::NotSelected,
        DropReason::TtlExpired,
        DropReason::BurstLost,
        DropReason::Contention,
        DropReason::Corrupted,
        DropReason::Aqm,
        DropReason::AqmForced,
        DropReason::PushedOut,
        DropReason::QueueShrunk,
        DropReason::NoRoute,
    ];

    /// The name in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            DropReason::QueueFull => "queue-full",
            DropReason::LinkDown => "link-down",
            DropReason::QueueFlushed => "queue-flushed",
            DropReason::LostInFlight => "lost-in-flight",
            DropReason::Scripted => "scripted",
            DropReason::RandomLoss => "random-loss",
            DropReason::PeriodicLoss => "periodic-loss",
            DropReason::NotSelected => "not-selected",
            DropReason::TtlExpired => "ttl-expired",
            DropReason::BurstLost => "burst-lost",
            DropReason::Contention => "contention",
            DropReason::Corrupted => "corrupted",
            DropReason::Aqm => "aqm",
            DropReason::AqmForced => "aqm-forced",
            DropReason::PushedOut => "pushed-out",
            DropReason::QueueShrunk => "queue-shrunk",
            DropReason::NoRoute => "no-route",
        }
    }
}
