//! Reasons for packet drops.

/// Reason for which a packet is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum DropReason {
    /// The queue was full.
    QueueFull = 0,
    /// The packet arrived at the port of a failed link.
    LinkDown = 1,
    /// The packet was queued or in transmission when the link failed.
    QueueFlushed = 2,
    /// The packet was on the link when it failed.
    LostInFlight = 3,
    /// The scenario drops this packet explicitly.
    Scripted = 4,
    /// The scenario drops packets at random.
    RandomLoss = 5,
    /// The scenario drops packets periodically.
    PeriodicLoss = 6,
    /// A non-merging node received the packet from the side that is not selected.
    NotSelected = 7,
    /// The time to live expired at a router.
    TtlExpired = 8,
    /// The packet was in a burst that was lost between edge nodes.
    BurstLost = 9,
    /// The packet was in a burst for which a burst switch had no free wavelength.
    Contention = 10,
    /// The line corrupted the packet.
    Corrupted = 11,
    /// A queue discipline dropped the packet to keep its queue short, although the queue was not full.
    Aqm = 12,
    /// A queue discipline drops every packet, because its queue is too long for random drops.
    AqmForced = 13,
    /// The packet was removed from the queue in favour of another packet.
    PushedOut = 14,
    /// The packet exceeded a queue limit that was reduced.
    QueueShrunk = 15,
    /// A node has no route for the packet.
    NoRoute = 16,
    /// The packet was in a burst whose wavelength a burst of a higher class has taken.
    Preempted = 17,
    /// A policer or marker before the queue dropped the packet.
    Policed = 18,
    /// A policer or marker behind the queue dropped the packet.
    PolicedEgress = 19,
}

impl DropReason {
    /// All reasons, by number.
    pub const ALL: [DropReason; 20] = [
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
        DropReason::Preempted,
        DropReason::Policed,
        DropReason::PolicedEgress,
    ];

    /// Returns the name in results.
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
            DropReason::Preempted => "preempted",
            DropReason::Policed => "policed",
            DropReason::PolicedEgress => "policed-egress",
        }
    }
}
