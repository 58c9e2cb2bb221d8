//! Ports of the fast engine.
//!
//! # Model
//! The departure time of a packet is known when it arrives, so queued packets need no list. The end of the busy period
//! determines the queue length. Where that is not sufficient (several packet sizes under a limit, a variable delay),
//! packet sizes are stored as well. [`ServiceMode`] has three modes: packets of one size, packets of any size, and
//! general mode for losses, jitter, watched queues and failed links.
//!
//! A stepped port is an [`optcp_net::Port`] instead, with one event per departure, as in the reference engine. Packets
//! enter it at their arrival time ([`super::eager`]). A queue discipline that decides at departure therefore needs no
//! code outside its file in `net/src/queue/`.
//!
//! The state of a port has three parts. [`Hot`] is for every packet, in one cache line. [`Backlog`]
//! is for many packets, in a second one. [`Cold`] is for the rest. [`PortRef`] and [`PortMut`]
//! combine them.

mod actions;
mod admission;
mod backlog;
mod cold;
mod hot;
mod reports;
mod sizes;

use optcp_net::{Loss, Packet, PortConfig, PortCounts, PortId, QueueLimit};
use optcp_units::{Duration, Rate, Time};

use backlog::Backlog;
use cold::Cold;
pub(super) use cold::Wants;
use hot::{Hot, ServiceMode};

/// All ports by number.
#[derive(Clone, Debug)]
pub(super) struct Ports {
    hot: Vec<Hot>,
    backlogs: Vec<Backlog>,
    cold: Vec<Cold>,
}

/// Shared view of one port.
#[derive(Clone, Copy, Debug)]
pub(super) struct PortRef<'a> {
    hot: &'a Hot,
    backlog: &'a Backlog,
    cold: &'a Cold,
}

/// Mutable view of one port.
#[derive(Debug)]
pub(super) struct PortMut<'a> {
    hot: &'a mut Hot,
    backlog: &'a mut Backlog,
    cold: &'a mut Cold,
}

impl Ports {
    pub(super) fn new(configs: &[(PortConfig, Vec<Loss>)], wants: Vec<Wants>) -> Self {
        let cold: Vec<Cold> = (configs.iter().zip(wants))
            .map(|((config, losses), wants)| Cold::new(config, losses, wants))
            .collect();
        Ports {
            hot: cold.iter().map(Cold::idle).collect(),
            backlogs: cold.iter().map(|_| Backlog::default()).collect(),
            cold,
        }
    }

    /// Returns as many ports that receive no packets.
    pub(super) fn placeholders(&self) -> Ports {
        let rate = Rate::from_bps(1).expect("above zero");
        let config = PortConfig::new(rate, Duration::ZERO, QueueLimit::Packets(0));
        let none = Wants { watched: false, tallied: false, counted: false, stepped: false };
        let cold = Cold::new(&config, &[], none);
        Ports {
            hot: vec![cold.idle(); self.len()],
            backlogs: vec![Backlog::default(); self.len()],
            cold: vec![cold; self.len()],
        }
    }

    /// Exchanges a port with another list.
    pub(super) fn exchange(&mut self, other: &mut Ports, id: PortId) {
        let index = id.index();
        std::mem::swap(&mut self.hot[index], &mut other.hot[index]);
        std::mem::swap(&mut self.backlogs[index], &mut other.backlogs[index]);
        std::mem::swap(&mut self.cold[index], &mut other.cold[index]);
    }

    /// Returns the number of ports.
    pub(super) fn len(&self) -> usize {
        self.hot.len()
    }

    /// Returns the numbers of all ports.
    pub(super) fn ids(&self) -> impl Iterator<Item = PortId> + use<> {
        PortId::all().take(self.hot.len())
    }

    pub(super) fn get(&self, id: PortId) -> PortRef<'_> {
        let index = id.index();
        PortRef { hot: &self.hot[index], backlog: &self.backlogs[index], cold: &self.cold[index] }
    }

    pub(super) fn get_mut(&mut self, id: PortId) -> PortMut<'_> {
        let index = id.index();
        PortMut {
            hot: &mut self.hot[index],
            backlog: &mut self.backlogs[index],
            cold: &mut self.cold[index],
        }
    }

    /// Returns the stepped ports.
    pub(super) fn stepped(&self) -> impl Iterator<Item = (PortId, &optcp_net::Port)> + Clone {
        PortId::all().zip(&self.cold).filter_map(|(id, cold)| Some((id, cold.stepped.as_deref()?)))
    }

    /// Accepts a packet if no further checks are needed. Returns its arrival time at the far end.
    #[inline(always)]
    pub(super) fn try_accept_fast(&mut self, id: PortId, now: Time, size: u16) -> Option<Time> {
        let now = now.as_ps();
        let port = &mut self.hot[id.index()];
        let wait = port.wait(now);
        if !port.fits_fast(size, wait) {
            return None;
        }
        let sent = port.sent(size, now, wait);
        if port.fills_backlog {
            self.backlogs[id.index()].accept(port, size, now, sent);
        }
        Some(Time::from_ps(port.accept(sent)))
    }

    /// Returns the ordinal of the packet that a port accepted last.
    #[inline(always)]
    pub(super) fn last_ordinal(&self, id: PortId) -> u32 {
        self.hot[id.index()].last_ordinal()
    }

    /// Returns [`Ports::last_ordinal`], or `None` if `id` is not a port.
    #[inline(always)]
    pub(super) fn try_last_ordinal(&self, id: PortId) -> Option<u32> {
        self.hot.get(id.index()).map(Hot::last_ordinal)
    }

    /// Returns the time at which a port's queue will be empty, from the node's view; see
    /// [`optcp_net::Port::busy_until`].
    #[inline]
    pub(super) fn busy_until(&self, id: PortId) -> Time {
        let port = &self.hot[id.index()];
        match port.service_mode {
            ServiceMode::OneSize | ServiceMode::AnySize => Time::from_ps(port.free_at),
            ServiceMode::General => self.get(id).busy_until(),
        }
    }
}

impl PortRef<'_> {
    pub(super) fn counts(&self) -> PortCounts {
        self.cold.stepped.as_ref().map_or(self.hot.counts, |stepped| stepped.counts())
    }

    /// Returns whether departures are events.
    pub(super) fn is_stepped(&self) -> bool {
        self.cold.stepped.is_some()
    }

    pub(super) fn rate(&self) -> Rate {
        self.cold.config.rate
    }

    /// Returns the rate at present, which schedules may change.
    pub(super) fn current_rate(&self) -> Rate {
        self.cold.stepped.as_ref().map_or(self.cold.config.rate, |stepped| stepped.rate())
    }

    /// Returns the minimum propagation delay behind the port.
    pub(super) fn delay(&self) -> Duration {
        let stepped = self.cold.stepped.as_ref();
        stepped.map_or(Duration::from_ps(self.hot.delay), |stepped| stepped.min_delay())
    }

    pub(super) fn is_untouched(&self) -> bool {
        self.counts() == PortCounts::default()
    }

    fn busy_until(&self) -> Time {
        match (&self.cold.stepped, &self.cold.failed_queue) {
            (Some(stepped), _) => stepped.busy_until(),
            (None, Some(failed_queue)) => failed_queue.busy_until(),
            (None, None) => Time::from_ps(self.hot.free_at),
        }
    }
}

impl<'a> PortMut<'a> {
    fn as_ref(&self) -> PortRef<'_> {
        PortRef { hot: self.hot, backlog: self.backlog, cold: self.cold }
    }

    /// Replaces the port by a new one without packets.
    pub(super) fn replace(&mut self, config: &PortConfig, losses: &[Loss]) {
        *self.cold = Cold::new(config, losses, self.cold.wants());
        *self.hot = self.cold.idle();
        *self.backlog = Backlog::default();
    }

    /// Returns the port itself if it is stepped.
    pub(super) fn stepped(self) -> Option<&'a mut optcp_net::Port> {
        self.cold.stepped.as_deref_mut()
    }

    /// Registers a packet of a burst in flight. Returns its ordinal.
    pub(super) fn launch(&mut self, packet: Packet) -> u32 {
        match &mut self.cold.stepped {
            Some(stepped) => stepped.launch(packet),
            None => {
                self.hot.counts.accepted += 1;
                self.hot.last_ordinal()
            }
        }
    }

    /// Registers the loss of a packet of a burst.
    pub(super) fn drop_burst(&mut self, packet: Packet) {
        match &mut self.cold.stepped {
            Some(stepped) => stepped.drop_burst(packet),
            None => self.hot.counts.dropped += 1,
        }
    }
}
