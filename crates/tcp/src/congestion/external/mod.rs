//! Congestion control by a class of another program, such as one in Python.
//!
//! # Model
//! The class overrides hooks, which correspond to the methods of [`Controller`]. Without an override, Reno applies. A
//! paced connection also reports deliveries to its class, which may set the pacing rate.
//!
//! # References
//! RFC 5681 section 3.1 for all that is not overridden.
//!
//! # Parameters
//! The class, after the prefix of `congestion`; `slow_start`, `ack_counting`.
//!
//! # Limitations
//! Events of single segments ([`Controller::on_sent`], [`Controller::on_lost`]) are not reported.

mod hooks;

use optcp_units::{Duration, Time};

use super::controller::{Controller, Start};
use super::event::{AckEvent, DeliveryEvent, Repair};
use super::reno::{Reno, RenoKeys};
use crate::delivery::DeliveryRate;
use crate::pacing;
use crate::window::Window;

pub use hooks::{
    Ack, Class, Connection, Delivery, ExternalKeys, Hook, HookSet, Hooks, OWN_VALUES, UNKNOWN_PS,
};

/// External congestion control. `PACED`: it receives deliveries and computes a pacing rate.
#[derive(Debug)]
pub struct External<const PACED: bool> {
    reno: Reno,
    slow_start: bool,
    overridden: HookSet,
    hooks: Option<Box<dyn Hooks>>,
    connection: Connection,
}

/// External congestion control that only sets windows.
pub type Python = External<false>;
/// External congestion control that receives deliveries and computes a pacing rate.
pub type PythonPaced = External<true>;

impl<const PACED: bool> Clone for External<PACED> {
    fn clone(&self) -> Self {
        External {
            reno: self.reno.clone(),
            hooks: self.hooks.as_ref().map(|hooks| hooks.fork()),
            slow_start: self.slow_start,
            overridden: self.overridden,
            connection: self.connection,
        }
    }
}

impl<const PACED: bool> External<PACED> {
    /// Calls a hook if it is overridden, with the window in the connection.
    fn call<T>(
        &mut self,
        hook: Hook,
        window: &Window,
        mss: f64,
        call: impl FnOnce(&mut dyn Hooks, &mut Connection) -> T,
    ) -> Option<T> {
        if !self.overridden.contains(hook) {
            return None;
        }
        self.connection.load(window, mss);
        self.hooks.as_mut().map(|hooks| call(hooks.as_mut(), &mut self.connection))
    }

    /// Calls a hook that may set the window. Returns whether it is overridden.
    fn set(
        &mut self,
        hook: Hook,
        window: &mut Window,
        mss: f64,
        call: impl FnOnce(&mut dyn Hooks, &mut Connection),
    ) -> bool {
        if self.call(hook, window, mss, call).is_none() {
            return false;
        }
        let Connection { cwnd, ssthresh, .. } = self.connection;
        // A window that is not a number would stop the sender without a message.
        window.cwnd = if cwnd >= mss { cwnd } else { mss };
        window.ssthresh = if ssthresh >= 2.0 * mss { ssthresh } else { 2.0 * mss };
        true
    }

    fn measured(&mut self, srtt: Option<Duration>) {
        self.connection.srtt_ps = ps(srtt);
    }
}

impl<const PACED: bool> Controller for External<PACED> {
    type Keys = ExternalKeys;

    const WANTS_RATES: bool = PACED;
    const PACES: bool = PACED;
    const WANTS_TIMES: bool = true;

    fn new(keys: &ExternalKeys, start: Start) -> Self {
        let class = keys.class.as_ref();
        External {
            reno: Reno::new(&RenoKeys::default(), start),
            slow_start: class.is_none_or(|class| class.has_slow_start()),
            overridden: class.map(|class| class.overridden()).unwrap_or_default(),
            hooks: class.map(|class| class.clone().connect()),
            connection: Connection::default(),
        }
    }

    fn at(&mut self, now: Time, window: &Window, mss: f64) {
        self.connection.now_ps = now.as_ps().cast_signed();
        self.connection.load(window, mss);
    }

    fn on_open(&mut self) {
        self.reno.on_open();
    }

    fn on_ack(&mut self, window: &mut Window, mss: f64, ack: &AckEvent) {
        if !self.overridden.contains(Hook::OnAck) {
            // A class that sets the window after deliveries does not expect another to grow it.
            if !self.overridden.contains(Hook::OnDelivery) {
                self.reno.on_ack(window, mss, ack);
            }
            return;
        }
        let counted = match self.slow_start {
            true => self.reno.slow_start.on_ack(window, mss, ack),
            false => f64::from(ack.acked),
        };
        self.measured(ack.srtt);
        let event = Ack {
            acked: ack.acked.into(),
            delivered: ack.delivered.into(),
            marked: ack.marked.into(),
            counted,
            rtt_ps: ps(ack.rtt),
            una: ack.una.number().into(),
            next: ack.max.number().into(),
            limited: ack.limited.into(),
        };
        self.set(Hook::OnAck, window, mss, |hooks, connection| hooks.on_ack(connection, &event));
    }

    fn on_delivery(
        &mut self,
        window: &mut Window,
        mss: f64,
        ack: &DeliveryEvent,
        rate: &mut DeliveryRate,
    ) {
        self.measured(ack.srtt);
        let sampled = ack.sample;
        let event = Delivery {
            delivered: ack.delivered.into(),
            lost: ack.lost.into(),
            prior_in_flight: ack.prior_in_flight.into(),
            in_flight: ack.in_flight.into(),
            rtt_ps: ps(ack.rtt),
            rate: sampled.map_or(f64::NAN, |sample| {
                sample.delivered as f64 * mss / sample.interval.as_secs_f64()
            }),
            prior_delivered: sampled.map_or(-1, |sample| sample.prior_delivered.cast_signed()),
            total_delivered: rate.delivered().cast_signed(),
            app_limited: sampled.is_some_and(|sample| sample.limited).into(),
            recovery: match ack.repair {
                Repair::Nothing => 0,
                Repair::Losses => 1,
                Repair::Timeout => 2,
            },
        };
        self.set(Hook::OnDelivery, window, mss, |hooks, connection| {
            hooks.on_delivery(connection, &event);
        });
    }

    fn on_loss(&mut self, window: &Window, mss: f64, amount: f64) -> Option<f64> {
        let halved = self.reno.on_loss(window, mss, amount);
        let set = self
            .call(Hook::OnLoss, window, mss, |hooks, connection| hooks.on_loss(connection, amount));
        set.unwrap_or(halved)
    }

    fn on_mark(&mut self, window: &Window, mss: f64, amount: f64) -> Option<f64> {
        if !self.overridden.contains(Hook::OnEcn) {
            return self.on_loss(window, mss, amount);
        }
        let halved = self.reno.on_loss(window, mss, amount);
        let set = self
            .call(Hook::OnEcn, window, mss, |hooks, connection| hooks.on_ecn(connection, amount));
        set.unwrap_or(halved)
    }

    fn on_timeout(&mut self, window: &mut Window, mss: f64) {
        self.reno.on_timeout(window, mss);
        self.set(Hook::OnRto, window, mss, |hooks, connection| hooks.on_rto(connection));
    }

    fn on_recovered(&mut self, window: &mut Window, mss: f64) {
        self.set(Hook::OnRecovered, window, mss, |hooks, connection| {
            hooks.on_recovered(connection)
        });
    }

    fn save(&mut self) {
        let (window, mss) = self.connection.window();
        self.call(Hook::OnSave, &window, mss, |hooks, connection| hooks.on_save(connection));
    }

    fn on_undo(&mut self, window: &mut Window, before: Window) {
        window.restore(before);
        let mss = self.connection.mss;
        self.set(Hook::OnUndo, window, mss, |hooks, connection| hooks.on_undo(connection));
    }

    fn on_resume(&mut self, _now: Time, idle: Duration) {
        let (window, mss) = self.connection.window();
        let idle_ps = idle.as_ps().cast_signed();
        self.call(Hook::OnRestart, &window, mss, |hooks, connection| {
            hooks.on_restart(connection, idle_ps);
        });
    }

    fn interval(&self, window: u32, srtt: Option<Duration>) -> Option<Duration> {
        if !PACED {
            return None;
        }
        let Connection { pacing_rate, mss, cwnd, ssthresh, .. } = self.connection;
        let set = if pacing_rate > 0.0 { Duration::from_secs_f64(mss / pacing_rate) } else { None };
        Some(
            set.unwrap_or_else(|| {
                pacing::window_interval(window.max(1), cwnd < ssthresh / 2.0, srtt)
            }),
        )
    }
}

/// Returns a time in picoseconds, or [`UNKNOWN_PS`].
fn ps(time: Option<Duration>) -> i64 {
    time.map_or(UNKNOWN_PS, |time| time.as_ps().cast_signed())
}
