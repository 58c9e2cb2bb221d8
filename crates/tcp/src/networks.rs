//! What a sender knows of each of several networks that carry its data by turns.
//!
//! # Models
//! A switch serves a queue over one network at a time, and tells senders over which. A sender keeps a window with its congestion
//! control, losses and round trips for each of them. What it sends belongs to the network of which it was told last, and so
//! does what becomes of that: ACKs grow the window of the network on which the data were sent, losses reduce it, and only what
//! is under way on the present network counts against the present window. A round trip is measured if the network has not
//! changed since the segment was sent. The timeout assumes that the ACK comes by the slowest network: it is the mean of the
//! present network's and the greatest of all that were measured.
//! # Source
//! S. Chen and others, *Time-division TCP for Reconfigurable Data Center Networks*, SIGCOMM 2022; behaviour of the authors'
//! kernel: which segments count against a window, whose window an ACK moves, that a timeout is one of the present network, and
//! that nothing leaves for a change of networks alone, but with the next ACK, timer or data.
//! # Parameters
//! `path_state`. Who tells senders, and when, is `notify` of `[[voqs]]`.
//! # Limits
//! It needs `recovery = "sack"`, `ecn = "off"` as in that kernel, and a control that does not go by the rate of delivery. Both
//! ends have options for the network of data and ACK there, which take no room here; ACKs are taken to come by the network
//! that the sender knows of. The paper compares the two networks' numbers; here a network that came back meanwhile is another
//! one. The receiver's window, the retransmission timer and its back-off, and what `idle_restart` and `restart_after_idle` go
//! by, are those of the connection.

use optcp_units::Time;

use crate::congestion::{CongestionControl, WindowUse};
use crate::rtt::Estimator;
use crate::seq::Seq;
use crate::tcb::{Tcb, initial_ssthresh, start};
use crate::window::Window;

/// What is known of a network while another one's is in the [`Tcb`].
#[derive(Clone, Debug)]
struct Path {
    congestion: CongestionControl,
    window: Window,
    window_use: WindowUse,
    estimator: Estimator,
    recover: Option<Seq>,
    loss_until: Seq,
}

/// See the module's text.
#[derive(Clone, Debug)]
pub(crate) struct Networks {
    /// By network; nothing in the place of the one that is in the [`Tcb`].
    parked: Vec<Path>,
    /// The network whose state is in the [`Tcb`].
    at: usize,
    /// Segments outstanding that were sent on it.
    pub(crate) outstanding: u32,
    /// Since when the present network is known to be it.
    pub(crate) since: Time,
}

impl Tcb {
    /// From now on `networks` networks are kept apart, of which `present` is in use.
    pub(crate) fn divide(&mut self, networks: u8, present: u8) {
        let path = self.path();
        self.networks = Some(Box::new(Networks {
            parked: vec![path; usize::from(networks)],
            at: usize::from(present),
            outstanding: 0,
            since: Time::ZERO,
        }));
    }

    /// What a network begins with.
    fn path(&self) -> Path {
        let config = &self.config;
        let start = start(config, self.clock_phase);
        let initial = f64::from(config.initial_window) * self.mss();
        Path {
            congestion: CongestionControl::new(config.congestion, &config.controllers, start),
            window: Window { cwnd: initial, ssthresh: initial_ssthresh(config) },
            window_use: WindowUse::default(),
            estimator: Estimator::new(config, self.clock_phase),
            recover: None,
            loss_until: Seq::ZERO,
        }
    }

    /// Takes the state of a network, with so many segments outstanding on it, and puts that of the one before away.
    pub(crate) fn select(&mut self, network: usize, outstanding: u32) {
        let Some(mut networks) = self.networks.take() else { return };
        if network != networks.at {
            self.exchange(&mut networks.parked[networks.at]);
            self.exchange(&mut networks.parked[network]);
            networks.at = network;
        }
        networks.outstanding = outstanding;
        self.networks = Some(networks);
    }

    fn exchange(&mut self, path: &mut Path) {
        std::mem::swap(&mut self.congestion, &mut path.congestion);
        std::mem::swap(&mut self.window, &mut path.window);
        std::mem::swap(&mut self.window_use, &mut path.window_use);
        std::mem::swap(&mut self.recover, &mut path.recover);
        std::mem::swap(&mut self.loss_until, &mut path.loss_until);
        self.timer.exchange(&mut path.estimator);
    }

    /// The network whose state it has has come into use.
    pub(crate) fn on_network(&mut self, now: Time) {
        let Some(networks) = &mut self.networks else { return };
        networks.since = now;
        let others =
            networks.parked.iter().enumerate().filter(|&(number, _)| number != networks.at);
        let slowest = others.filter_map(|(_, path)| path.estimator.measured()).max();
        self.timer.forget();
        self.timer.set_slowest(slowest.unwrap_or_default());
    }

    /// The connection is open: all networks begin with this window.
    pub(crate) fn open_networks(&mut self, window: f64) {
        if let Some(networks) = &mut self.networks {
            networks.parked.iter_mut().for_each(|path| path.window.cwnd = window);
        }
    }
}
