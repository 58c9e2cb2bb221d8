//! What few packets need of a port.

use std::collections::VecDeque;

use optcp_des::{Class, Key};
use optcp_net::{
    ArrivalState, FailedLinkQueue, Jitter, Loss, Packet, PortConfig, PortId, QueueLimit,
};
use optcp_units::{Bytes, Duration, Time};

use super::hot::Hot;
use crate::model::Model;
use crate::observe::{Observer, Record};

/// What few packets need.
#[derive(Clone, Debug)]
pub(super) struct Cold {
    pub(super) config: PortConfig,
    /// The port itself, where departures are events; then nothing else here is used but what is wanted.
    pub(super) stepped: Option<Box<optcp_net::Port>>,
    /// Picoseconds for a byte where that is a whole number, else 0.
    pub(super) per_byte: u32,
    /// What the transmitter does while the link is out of service.
    pub(super) dark: Option<Box<FailedLinkQueue>>,
    pub(super) losses: Box<[Loss]>,
    /// The queue discipline, if it is not drop-tail.
    pub(super) discipline: Option<Box<ArrivalState>>,
    /// Packets that it has marked.
    pub(super) marked: u64,
    /// Packets of several sizes have come.
    pub(super) mixed: bool,
    /// Whether the delay has been changed: it no longer tells arrivals from ends of transmissions.
    pub(super) moved: bool,
    /// Whether bytes and times are counted.
    pub(super) tallied: bool,
    /// Whether the number of packets in the queue must be known.
    pub(super) counted: bool,
    /// The bytes of packets that were dropped.
    pub(super) dropped_bytes: u64,
    /// What each packet of the queue found of the random stream, where there is one.
    pub(super) jitters: VecDeque<Jitter>,
    /// The latest arrival at the far end so far.
    pub(super) last_arrival: Option<Time>,
    /// Transmissions that are still to be told to the observer, if it watches the port.
    pub(super) watched: Option<VecDeque<Watched>>,
}

impl Cold {
    pub(super) fn new(config: &PortConfig, losses: &[Loss], wants: Wants) -> Self {
        let per_byte = config.rate.per_byte().map_or(0, Duration::as_ps);
        Cold {
            // The lane for packets of any size must be able to hold it.
            per_byte: u32::try_from(per_byte).unwrap_or(0),
            stepped: wants.stepped.then(|| {
                Box::new(optcp_net::Port::new(config.clone()).with_losses(losses.to_vec()))
            }),
            dark: None,
            losses: losses.into(),
            discipline: config.decides_on_arrival().map(Box::new),
            marked: 0,
            mixed: false,
            moved: false,
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

    /// The rest of a port to which nothing has come yet.
    pub(super) fn idle(&self) -> Hot {
        Hot::new(self.config.delay, self.keeps(), self.tallied)
    }

    /// Whether the sizes of the packets in the queue are kept from the first one on.
    fn keeps(&self) -> bool {
        let limited = self.config.limit != QueueLimit::Unlimited;
        let more = self.watched.is_some() || self.tallied || !self.losses.is_empty();
        (limited && more)
            || self.counted
            || self.config.jitter.is_some()
            || self.discipline.is_some()
    }

    /// Whether packets need not take the lane for what is rare.
    pub(super) fn is_plain(&self) -> bool {
        self.dark.is_none()
            && self.losses.is_empty()
            && self.discipline.is_none()
            && self.config.jitter.is_none()
            && self.watched.is_none()
            && !self.moved
    }

    pub(super) fn transmission(&self, size: u16) -> u64 {
        match self.per_byte {
            0 => self.config.rate.transmission_time(Bytes::new(u64::from(size))).as_ps(),
            per_byte => u64::from(per_byte) * u64::from(size),
        }
    }

    /// A packet comes while the link is out of service.
    #[cold]
    pub(super) fn transmit_to_failed_link(&mut self, now: Time, size: u16) {
        let transmission = Duration::from_ps(self.transmission(size));
        if let Some(dark) = &mut self.dark {
            dark.take(now, size, transmission, self.config.limit);
        }
    }

    /// Whether arrivals do not tell when packets were sent.
    pub(super) fn arrivals_vary(&self) -> bool {
        self.moved || self.config.jitter.is_some()
    }

    /// When a packet arrives that would do so at `at` but for jitter.
    pub(super) fn arrival(&mut self, at: Time) -> Time {
        let Some(jitter) = &mut self.config.jitter else { return at };
        self.jitters.push_back(jitter.clone());
        let arrival = jitter.arrival(at, self.last_arrival);
        self.last_arrival = self.last_arrival.max(Some(arrival));
        arrival
    }

    /// Tells the observer of what has been sent before `limit`.
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

/// A packet in a queue that is watched.
#[derive(Clone, Copy, Debug)]
pub(super) struct Watched {
    /// When its last bit is sent.
    pub(super) sent: u64,
    /// How long it waits for its first one to be.
    pub(super) waited: Duration,
    pub(super) packet: Packet,
}

/// What somebody wants of a port.
#[derive(Clone, Copy, Debug)]
pub(in crate::fast) struct Wants {
    /// To know every change of its queue.
    pub(in crate::fast) watched: bool,
    /// To know how many bytes come, and how long they stay.
    pub(in crate::fast) tallied: bool,
    /// To know how many packets are in its queue when another one comes.
    pub(in crate::fast) counted: bool,
    /// That its departures are events of the calendar.
    pub(in crate::fast) stepped: bool,
}

pub(super) fn length<T>(queue: &VecDeque<T>) -> u32 {
    u32::try_from(queue.len()).unwrap_or(u32::MAX)
}
