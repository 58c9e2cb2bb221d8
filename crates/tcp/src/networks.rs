//! Per-network state of a sender whose data use several networks in turn (TDTCP).
//!
//! # Model
//! A switch serves a queue over one network at a time and notifies senders of changes. A sender
//! keeps congestion window, losses and RTT per network. Data belong to the network that was active
//! when they were sent. Their ACKs grow the window of that network, and their losses reduce it.
//! Only data in flight on the active network count against the active window. An RTT is measured if
//! the network did not change since the segment was sent. The RTO is the mean of the active
//! network's RTO and the maximum of all measured ones, because the ACK may take the slowest
//! network.
//!
//! # References
//! S. Chen and others, *Time-division TCP for Reconfigurable Data Center Networks*, SIGCOMM 2022.
//! Behaviour of the authors' kernel: segments that count against a window, the window that an ACK
//! changes, assignment of RTOs to the active network. As there, a change of networks sends nothing
//! until the next ACK, timer or write.
//!
//! # Parameters
//! `path_state`. `notify` of `[[voqs]]` sets the time until senders are notified.
//!
//! # Limitations
//! - Needs `recovery = "sack"`, `ecn = "off"` as in that kernel, and a congestion control that does not use
//!   delivery rates.
//! - The options that carry the network of data and ACK take no space. ACKs are assumed to use the network
//!   that the sender considers active.
//! - The paper compares the numbers of two networks; here a network that became active again in the meantime
//!   counts as different.
//! - The receive window, the retransmission timer and its backoff, and the idle times of `idle_restart` and
//!   `restart_after_idle` belong to the connection.

use optcp_units::{Duration, Time};

use crate::congestion::{CongestionControl, WindowUse};
use crate::rtt::Estimator;
use crate::seq::Seq;
use crate::window::Window;

/// State of a network that is not active.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    pub(crate) congestion: CongestionControl,
    pub(crate) window: Window,
    pub(crate) window_use: WindowUse,
    pub(crate) estimator: Estimator,
    pub(crate) recover: Option<Seq>,
    pub(crate) loss_until: Seq,
}

/// States of all networks of a sender.
#[derive(Clone, Debug)]
pub(crate) struct Networks {
    /// States by network; the entry of the active network is a placeholder.
    pub(crate) inactive: Vec<Path>,
    /// Network whose state is in the control block.
    pub(crate) at: usize,
    /// Number of outstanding segments sent on it.
    pub(crate) outstanding: u32,
    /// Time at which the sender was notified of the active network.
    pub(crate) since: Time,
}

impl Networks {
    /// Notifies inactive networks of a pause of length `idle` without outstanding data on any network.
    pub(crate) fn on_resume(&mut self, now: Time, idle: Duration) {
        let others = self.inactive.iter_mut().enumerate().filter(|&(number, _)| number != self.at);
        others.for_each(|(_, path)| path.congestion.on_resume(now, idle));
    }
}
