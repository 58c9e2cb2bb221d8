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

use optcp_units::{Duration, Time};

use crate::congestion::{CongestionControl, WindowUse};
use crate::rtt::Estimator;
use crate::seq::Seq;
use crate::window::Window;

/// What is known of a network while another one's is in the control block.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    pub(crate) congestion: CongestionControl,
    pub(crate) window: Window,
    pub(crate) window_use: WindowUse,
    pub(crate) estimator: Estimator,
    pub(crate) recover: Option<Seq>,
    pub(crate) loss_until: Seq,
}

/// See the module's text.
#[derive(Clone, Debug)]
pub(crate) struct Networks {
    /// By network; nothing in the place of the one that is in the control block.
    pub(crate) inactive: Vec<Path>,
    /// The network whose state is in the control block.
    pub(crate) at: usize,
    /// Segments outstanding that were sent on it.
    pub(crate) outstanding: u32,
    /// Since when the present network is known to be it.
    pub(crate) since: Time,
}

impl Networks {
    /// Data is sent with nothing outstanding on any network, `idle` after the last segment: those that are not in use learn of
    /// the pause too.
    pub(crate) fn on_resume(&mut self, now: Time, idle: Duration) {
        let others = self.inactive.iter_mut().enumerate().filter(|&(number, _)| number != self.at);
        others.for_each(|(_, path)| path.congestion.on_resume(now, idle));
    }
}
