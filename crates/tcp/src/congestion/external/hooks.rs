//! Interface between TCP and a congestion control that another program provides.

use std::fmt::Debug;
use std::sync::Arc;

use crate::congestion::ControllerKeys;
use crate::window::Window;

/// Number of values that a congestion control may keep in [`Connection`].
pub const OWN_VALUES: usize = 32;

/// Value of a time that is unknown, in picoseconds.
pub const UNKNOWN_PS: i64 = -1;

/// State of a connection that hooks read and change. It has the layout of a C structure.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Connection {
    /// Current time in picoseconds.
    pub now_ps: i64,
    /// Smoothed RTT in picoseconds, or [`UNKNOWN_PS`].
    pub srtt_ps: i64,
    /// Maximum segment size in bytes.
    pub mss: f64,
    /// Congestion window in bytes. Hooks may set it.
    pub cwnd: f64,
    /// Slow-start threshold in bytes. Hooks may set it.
    pub ssthresh: f64,
    /// Pacing rate in bytes per second; zero for the default. Hooks may set it.
    pub pacing_rate: f64,
    /// Values of the congestion control itself. They are zero at the start.
    pub own: [f64; OWN_VALUES],
}

impl Default for Connection {
    fn default() -> Self {
        Connection {
            now_ps: 0,
            srtt_ps: UNKNOWN_PS,
            mss: 0.0,
            cwnd: 0.0,
            ssthresh: f64::INFINITY,
            pacing_rate: 0.0,
            own: [0.0; OWN_VALUES],
        }
    }
}

impl Connection {
    pub(super) fn load(&mut self, window: &Window, mss: f64) {
        (self.mss, self.cwnd, self.ssthresh) = (mss, window.cwnd, window.ssthresh);
    }

    pub(super) fn window(&self) -> (Window, f64) {
        (Window { cwnd: self.cwnd, ssthresh: self.ssthresh }, self.mss)
    }
}

/// ACK of new data outside recovery, with the layout of a C structure. Counts are in segments.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct Ack {
    /// Newly acknowledged segments.
    pub acked: i64,
    /// Newly reported segments, cumulatively or by SACK.
    pub delivered: i64,
    /// Newly reported segments that were marked.
    pub marked: i64,
    /// Segments that count for congestion avoidance, after slow start.
    pub counted: f64,
    /// RTT sample in picoseconds, or [`UNKNOWN_PS`].
    pub rtt_ps: i64,
    /// Cumulative ACK: number of the first unacknowledged segment.
    pub una: i64,
    /// Number of the next new segment.
    pub next: i64,
    /// 1 if the window limits sending, so that it may grow, otherwise 0.
    pub limited: i64,
}

/// Delivery reported by any ACK, with the layout of a C structure. Counts are in segments.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct Delivery {
    /// Newly delivered segments.
    pub delivered: i64,
    /// Segments newly detected as lost.
    pub lost: i64,
    /// Segments in flight before the ACK.
    pub prior_in_flight: i64,
    /// Segments in flight after the ACK.
    pub in_flight: i64,
    /// Latest RTT sample in picoseconds, or [`UNKNOWN_PS`].
    pub rtt_ps: i64,
    /// Delivery rate in bytes per second; NaN without a sample.
    pub rate: f64,
    /// Segments delivered before the interval of the rate; -1 without a sample.
    pub prior_delivered: i64,
    /// Segments delivered on this connection.
    pub total_delivered: i64,
    /// 1 if something other than the network limited the rate, otherwise 0.
    pub app_limited: i64,
    /// 0 without a recovery, 1 during a recovery, 2 after an RTO.
    pub recovery: i64,
}

/// Hook that a class can override.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each has the name of a method of `Hooks`")]
pub enum Hook {
    OnAck,
    OnDelivery,
    OnLoss,
    OnEcn,
    OnRto,
    OnRecovered,
    OnRestart,
    OnSave,
    OnUndo,
}

impl Hook {
    /// All hooks, with their names.
    pub const ALL: [(Hook, &'static str); 9] = [
        (Hook::OnAck, "on_ack"),
        (Hook::OnDelivery, "on_delivery"),
        (Hook::OnLoss, "on_loss"),
        (Hook::OnEcn, "on_ecn"),
        (Hook::OnRto, "on_rto"),
        (Hook::OnRecovered, "on_recovered"),
        (Hook::OnRestart, "on_restart"),
        (Hook::OnSave, "on_save"),
        (Hook::OnUndo, "on_undo"),
    ];
}

/// Set of hooks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HookSet(u16);

impl HookSet {
    /// Adds a hook.
    pub fn insert(&mut self, hook: Hook) {
        self.0 |= 1 << hook as u16;
    }

    /// Returns whether it contains a hook.
    #[must_use]
    pub const fn contains(self, hook: Hook) -> bool {
        self.0 >> hook as u16 & 1 == 1
    }
}

/// Congestion control of one connection. Only overridden hooks are called.
pub trait Hooks: Debug + Send + Sync {
    /// Returns a copy, for a fork of the run.
    fn fork(&self) -> Box<dyn Hooks>;

    /// Called for an ACK of new data outside recovery.
    fn on_ack(&mut self, connection: &mut Connection, ack: &Ack);

    /// Called for any ACK after all its effects, if the connection is paced.
    fn on_delivery(&mut self, connection: &mut Connection, delivery: &Delivery);

    /// Called when a recovery starts or the RTO fires, with the reduction basis in bytes. Returns the new ssthresh;
    /// `None` keeps ssthresh, and in a recovery also cwnd.
    fn on_loss(&mut self, connection: &mut Connection, basis: f64) -> Option<f64>;

    /// Called for the first reported mark in a window of data. Otherwise as [`Self::on_loss`].
    fn on_ecn(&mut self, connection: &mut Connection, basis: f64) -> Option<f64>;

    /// Called when the RTO has fired, after `on_loss`. The window then falls to one segment.
    fn on_rto(&mut self, connection: &mut Connection);

    /// Called at the end of a recovery.
    fn on_recovered(&mut self, connection: &mut Connection);

    /// Called when data are sent with nothing outstanding, `idle_ps` after the last segment. The window is kept.
    fn on_restart(&mut self, connection: &mut Connection, idle_ps: i64);

    /// Called before a reduction that may be undone. The window is kept.
    fn on_save(&mut self, connection: &mut Connection);

    /// Called when the last reduction is undone; cwnd and ssthresh are restored.
    fn on_undo(&mut self, connection: &mut Connection);
}

/// Class of congestion controls.
pub trait Class: Debug + Send + Sync {
    /// Name as in scenarios, without the prefix of the language.
    fn name(&self) -> &str;

    /// Digest of its source. Two classes with the same name and digest are equal.
    fn digest(&self) -> &str;

    /// Returns the overridden hooks.
    fn overridden(&self) -> HookSet;

    /// Returns whether the slow start of the connection applies.
    fn has_slow_start(&self) -> bool;

    /// Returns a controller for a new connection.
    fn connect(self: Arc<Self>) -> Box<dyn Hooks>;
}

/// Parameters of an external congestion control: its class.
#[derive(Clone, Debug, Default)]
pub struct ExternalKeys {
    /// Name as in the scenario.
    pub name: String,
    /// Class with this name.
    pub class: Option<Arc<dyn Class>>,
}

impl PartialEq for ExternalKeys {
    fn eq(&self, other: &Self) -> bool {
        let digest = |keys: &Self| keys.class.as_ref().map(|class| class.digest().to_owned());
        self.name == other.name && digest(self) == digest(other)
    }
}

impl ControllerKeys {
    /// Names the class of the congestion control.
    pub fn name_class(&mut self, name: &str) {
        let keys = ExternalKeys { name: name.to_owned(), class: None };
        self.external.clone_from(&keys);
        self.external_paced = keys;
    }

    /// Returns the name of the class, if any.
    #[must_use]
    pub fn class_name(&self) -> Option<&str> {
        Some(self.external.name.as_str()).filter(|name| !name.is_empty())
    }

    /// Sets the class.
    pub fn set_class(&mut self, class: &Arc<dyn Class>) {
        self.external.class = Some(class.clone());
        self.external_paced.class = Some(class.clone());
    }

    /// Returns the class, if any.
    #[must_use]
    pub fn class(&self) -> Option<&dyn Class> {
        self.external.class.as_deref()
    }
}

impl crate::congestion::controller::Keys for ExternalKeys {
    const ALL: &'static [crate::congestion::controller::OwnKey] = &[];
}
