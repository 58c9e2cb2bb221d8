//! The ports of the fast engine.
//!
//! When a packet comes to a port it is known at once when it will have been sent, so what waits in the queue
//! is never listed. The transmitter is busy until an instant, which tells how much waits; where that is not
//! enough (packets of several sizes under a limit, a delay that varies), their sizes are kept beside. There are
//! three lanes of this kind: one for packets of the port's only size, one for packets of any size, and one for
//! what is rare: losses, jitter, queues that are watched, links that are down.
//!
//! In the fourth lane, the stepped one, a port is an [`optcp_net::Port`] and each departure an event of the
//! calendar, as in the reference engine; when a packet may come there [`super::eager`] says. So a queue discipline that decides only when
//! a packet leaves needs nothing but its file in `net/src/queue/`.
//!
//! A port lies in three places: what every packet needs in one cache line ([`Hot`]), what many need in a second
//! one ([`Backlog`]), the rest apart ([`Cold`]). [`PortRef`] and [`PortMut`] are the three together.

mod actions;
mod backlog;
mod cold;
mod hot;
mod lanes;
mod reports;
mod sizes;

use optcp_net::{Loss, Packet, PortConfig, PortCounts, PortId, QueueLimit};
use optcp_units::{Duration, Rate, Time};

use backlog::Backlog;
use cold::Cold;
pub(super) use cold::Wants;
use hot::{Hot, ServiceMode};

/// All ports, by number.
#[derive(Clone, Debug)]
pub(super) struct Ports {
    hot: Vec<Hot>,
    backlogs: Vec<Backlog>,
    cold: Vec<Cold>,
}

/// One port.
#[derive(Clone, Copy, Debug)]
pub(super) struct PortRef<'a> {
    hot: &'a Hot,
    backlog: &'a Backlog,
    cold: &'a Cold,
}

/// One port, to be changed.
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

    /// As many, to which nothing comes.
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

    /// Exchanges a port for that of another list.
    pub(super) fn exchange(&mut self, other: &mut Ports, id: PortId) {
        let index = id.index();
        std::mem::swap(&mut self.hot[index], &mut other.hot[index]);
        std::mem::swap(&mut self.backlogs[index], &mut other.backlogs[index]);
        std::mem::swap(&mut self.cold[index], &mut other.cold[index]);
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.hot.len()
    }

    /// All of them.
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

    /// Those that take the stepped lane.
    pub(super) fn stepped(&self) -> impl Iterator<Item = (PortId, &optcp_net::Port)> + Clone {
        PortId::all().zip(&self.cold).filter_map(|(id, cold)| Some((id, cold.stepped.as_deref()?)))
    }

    /// A packet of this size comes to a port: when it arrives at the far end, if that is easily told.
    #[inline(always)]
    pub(super) fn try_accept_fast(&mut self, id: PortId, now: Time, size: u16) -> Option<Time> {
        let now = now.as_ps();
        let port = &mut self.hot[id.index()];
        let waits = port.waits(now);
        if !port.fits_fast(size, waits) {
            return None;
        }
        let sent = port.sent(size, now, waits);
        if port.fills_backlog {
            self.backlogs[id.index()].accept(port, size, now, sent);
        }
        Some(Time::from_ps(port.accept(sent)))
    }

    /// The ordinal of the packet that a port has accepted last.
    #[inline(always)]
    pub(super) fn last_ordinal(&self, id: PortId) -> u32 {
        self.hot[id.index()].last_ordinal()
    }

    /// The same; `None` of what is no port.
    #[inline(always)]
    pub(super) fn try_last_ordinal(&self, id: PortId) -> Option<u32> {
        self.hot.get(id.index()).map(Hot::last_ordinal)
    }

    /// When everything in a port's queue will have been sent, as the node sees it; see
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

    /// Whether its departures are events.
    pub(super) fn is_stepped(&self) -> bool {
        self.cold.stepped.is_some()
    }

    pub(super) fn rate(&self) -> Rate {
        self.cold.config.rate
    }

    /// How long packets are under way behind it at least.
    pub(super) fn delay(&self) -> Duration {
        let stepped = self.cold.stepped.as_ref();
        stepped.map_or(Duration::from_ps(self.hot.delay), |stepped| stepped.least_delay())
    }

    pub(super) fn is_untouched(&self) -> bool {
        self.counts() == PortCounts::default()
    }

    fn busy_until(&self) -> Time {
        match (&self.cold.stepped, &self.cold.dark) {
            (Some(stepped), _) => stepped.busy_until(),
            (None, Some(dark)) => dark.busy_until(),
            (None, None) => Time::from_ps(self.hot.free_at),
        }
    }
}

impl<'a> PortMut<'a> {
    fn as_ref(&self) -> PortRef<'_> {
        PortRef { hot: self.hot, backlog: self.backlog, cold: self.cold }
    }

    /// Makes it another port, to which nothing has come yet.
    pub(super) fn replace(&mut self, config: &PortConfig, losses: &[Loss]) {
        *self.cold = Cold::new(config, losses, self.cold.wants());
        *self.hot = self.cold.idle();
        *self.backlog = Backlog::default();
    }

    /// The port itself, if it takes the stepped lane.
    pub(super) fn stepped(self) -> Option<&'a mut optcp_net::Port> {
        self.cold.stepped.as_deref_mut()
    }

    /// A packet of a burst is under way: its ordinal.
    pub(super) fn launch(&mut self, packet: Packet) -> u32 {
        match &mut self.cold.stepped {
            Some(stepped) => stepped.launch(packet),
            None => {
                self.hot.counts.accepted += 1;
                self.hot.last_ordinal()
            }
        }
    }

    /// A packet of a burst is lost on the way.
    pub(super) fn drop_burst(&mut self, packet: Packet) {
        match &mut self.cold.stepped {
            Some(stepped) => stepped.drop_burst(packet),
            None => self.hot.counts.dropped += 1,
        }
    }
}
