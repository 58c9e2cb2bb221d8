//! Per-network state in the control block: see [`crate::networks`].

use optcp_units::Time;

use crate::congestion::{CongestionControl, WindowUse};
use crate::networks::{Networks, Path};
use crate::rtt::Estimator;
use crate::seq::Seq;
use crate::tcb::{Tcb, initial_ssthresh, start};
use crate::window::Window;

impl Tcb {
    /// Enables separate state for `networks` networks, of which `present` is active.
    pub(crate) fn enable_per_network_state(&mut self, networks: u8, present: u8) {
        let path = self.path();
        self.networks = Some(Box::new(Networks {
            inactive: vec![path; usize::from(networks)],
            at: usize::from(present),
            outstanding: 0,
            since: Time::ZERO,
        }));
    }

    /// Returns the initial state of a network.
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

    /// Loads the state of a network with its number of outstanding segments, and stores the state of the
    /// previous one.
    pub(crate) fn select(&mut self, network: usize, outstanding: u32) {
        let Some(mut networks) = self.networks.take() else { return };
        if network != networks.at {
            self.exchange(&mut networks.inactive[networks.at]);
            self.exchange(&mut networks.inactive[network]);
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

    /// Activates the network whose state is loaded.
    pub(crate) fn on_network(&mut self, now: Time) {
        let Some(networks) = &mut self.networks else { return };
        networks.since = now;
        let others =
            networks.inactive.iter().enumerate().filter(|&(number, _)| number != networks.at);
        let slowest = others.filter_map(|(_, path)| path.estimator.measured()).max();
        self.timer.forget();
        self.timer.set_slowest(slowest.unwrap_or_default());
    }

    /// Sets the window of all networks when the connection opens.
    pub(crate) fn open_networks(&mut self, window: f64) {
        if let Some(networks) = &mut self.networks {
            networks.inactive.iter_mut().for_each(|path| path.window.cwnd = window);
        }
    }
}
