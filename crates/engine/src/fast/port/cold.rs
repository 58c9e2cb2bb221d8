//! State of a port that few packets need.

use std::collections::VecDeque;

use optcp_des::{Class, Key};
use optcp_net::{
    ArrivalState, FailedLinkQueue, Jitter, Loss, Packet, PortConfig, PortId, QueueLimit,
};
use optcp_units::{Bytes, Duration, Time};

use super::hot::Hot;
use crate::model::Model;
use crate::observe::{Observer, Record};

/// State of a port that few packets need.
#[derive(Clone, Debug)]
pub(super) struct Cold {
    pub(super) config: PortConfig,
    /// The port itself if departures are events. All other fields except the wants are unused then.
    pub(super) stepped: Option<Box<optcp_net::Port>>,
    /// Picoseconds per byte if this is an integer, otherwise 0.
    pub(super) per_byte: u32,
    /// Transmit queue while the link is out of service.
    pub(super) failed_queue: Option<Box<FailedLinkQueue>>,
    pub(super) losses: Box<[Loss]>,
    /// Queue discipline unless it is drop-tail.
    pub(super) discipline: Option<Box<ArrivalState>>,
    /// Number of packets that it has marked.
    pub(super) marked: u64,
    /// Whether packets of several sizes have arrived.
    pub(super) has_mixed_sizes: bool,
    /// Whether the delay has changed, so that arrival times no longer determine departure times.
    pub(super) delay_changed: bool,
    /// Whether bytes and times are counted.
    pub(super) tallied: bool,
    /// Whether the number of queued packets must be known.
    pub(super) counted: bool,
    /// Bytes of dropped packets.
    pub(super) dropped_bytes: u64,
    /// State of the random stream before each queued packet, if the link has jitter.
    pub(super) jitters: VecDeque<Jitter>,
    /// Latest arrival at the far end so far.
    pub(super) last_arrival: Option<Time>,
    /// Transmissions not yet reported to an observer that watches the port.
    pub(super) watched: Option<VecDeque<Watched>>,
}

impl Cold {
    pub(super) fn new(config: &PortConfig, losses: &[Loss], wants: Wants) -> Self {
        let per_byte = config.rate.per_byte().map_or(0, Duration::as_ps);
        Cold {
            // `ServiceMode::AnySize` needs a value that fits in 32 bits.
            per_byte: u32::try_from(per_byte).unwrap_or(0),
            stepped: wants.stepped.then(|| {
                Box::new(optcp_net::Port::new(config.clone()).with_losses(losses.to_vec()))
            }),
            failed_queue: None,
            losses: losses.into(),
            discipline: config.decides_on_arrival().map(Box::new),
            marked: 0,
            has_mixed_sizes: false,
            delay_changed: false,
            tallied: wants.tallied,
            counted: wants.counted,
            dropped_bytes: 0,
            jitters: VecDeque::new(),
            last_arrival: None,
            watched: wants.watched.then(VecDeque::new),
            config: config.clone(),
        }
    }

    pub(super) fn wants(&self) -> Wants {
        Wants {
            watched: self.watched.is_some(),
            tallied: self.tallied,
            counted: self.counted,
            stepped: self.stepped.is_some(),
        }
    }

    /// Returns the state of the port before its first packet.
    pub(super) fn idle(&self) -> Hot {
        Hot::new(self.config.delay, self.keeps_queue(), self.tallied)
    }

    /// Returns whether the sizes of queued packets are kept from the first packet on.
    fn keeps_queue(&self) -> bool {
        let limited = self.config.limit != QueueLimit::Unlimited;
        let more = self.watched.is_some() || self.tallied || !self.losses.is_empty();
        (limited && more)
            || self.counted
            || self.config.jitter.is_some()
            || self.discipline.is_some()
    }

    /// Returns whether packets can avoid `ServiceMode::General`.
    pub(super) fn is_plain(&self) -> bool {
        self.failed_queue.is_none()
            && self.losses.is_empty()
            && self.discipline.is_none()
            && self.config.jitter.is_none()
            && self.watched.is_none()
            && !self.delay_changed
    }

    pub(super) fn transmission(&self, size: u16) -> u64 {
        match self.per_byte {
            0 => self.config.rate.transmission_time(Bytes::new(u64::from(size))).as_ps(),
            per_byte => u64::from(per_byte) * u64::from(size),
        }
    }

    /// Adds a packet that arrives while the link is out of service.
    #[cold]
    pub(super) fn transmit_to_failed_link(&mut self, now: Time, size: u16) {
        let transmission = Duration::from_ps(self.transmission(size));
        if let Some(failed_queue) = &mut self.failed_queue {
            failed_queue.take(now, size, transmission, self.config.limit);
        }
    }

    /// Returns whether arrival times do not determine departure times.
    pub(super) fn arrivals_vary(&self) -> bool {
        self.delay_changed || self.config.jitter.is_some()
    }

    /// Returns the arrival time of a packet, `at` without jitter.
    pub(super) fn arrival(&mut self, at: Time) -> Time {
        let Some(jitter) = &mut self.config.jitter else { return at };
        self.jitters.push_back(jitter.clone());
        let arrival = jitter.arrival(at, self.last_arrival);
        self.last_arrival = self.last_arrival.max(Some(arrival));
        arrival
    }

    /// Reports transmissions before `limit` to the observer.
    pub(super) fn report_sent<O: Observer>(
        &mut self,
        model: &mut Model<O>,
        id: PortId,
        limit: u64,
    ) {
        let Some(watched) = &mut self.watched else { return };
        let event = model.event;
        while let Some(&Watched { sent, waited, packet }) = watched.front()
            && sent < limit
        {
            watched.pop_front();
            model.event = Key::new(Time::from_ps(sent), Class::TransmissionEnd, id.number(), 0);
            model.record(Record::Transmitted { port: id, packet, waited });
            let packets = length(watched);
            model.record(Record::QueueLength { port: id, packets });
        }
        model.event = event;
    }
}

/// Packet in a watched queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Watched {
    /// End of its transmission, in picoseconds.
    pub(super) sent: u64,
    /// Time until the start of its transmission.
    pub(super) waited: Duration,
    pub(super) packet: Packet,
}

/// Data of a port that the run requires.
#[derive(Clone, Copy, Debug)]
pub(in crate::fast) struct Wants {
    /// Every change of the queue length.
    pub(in crate::fast) watched: bool,
    /// Bytes and their queueing times.
    pub(in crate::fast) tallied: bool,
    /// Number of queued packets at each arrival.
    pub(in crate::fast) counted: bool,
    /// Departures as events.
    pub(in crate::fast) stepped: bool,
}

pub(super) fn length<T>(queue: &VecDeque<T>) -> u32 {
    u32::try_from(queue.len()).unwrap_or(u32::MAX)
}
