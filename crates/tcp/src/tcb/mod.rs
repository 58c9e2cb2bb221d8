//! Transmission control block: the sender state common to all policies (sequence space, window, timer,
//! permission to send).

mod acknowledgments;
mod departures;
mod reduction;

use std::sync::Arc;

use optcp_units::{Duration, Time};

use crate::config::{Config, FirstLoss, Pacing, RecoveryKind};
use crate::congestion::controller::Start;
use crate::congestion::event::Stamps;
use crate::congestion::{CongestionControl, SlowStart, WindowUse};
use crate::delivery::DeliveryRate;
use crate::marks::EcnSender;
use crate::networks::Networks;
use crate::pacing::Pacer;
use crate::rtt::RetransmissionTimer;
use crate::seq::Seq;
use crate::window::Window;

/// Transmission control block of a sender (RFC 9293 section 3.3.1), independent of its policies.
#[derive(Clone, Debug)]
pub struct Tcb {
    pub(crate) config: Arc<Config>,
    pub(crate) congestion: CongestionControl,
    /// Delivery-rate estimator, for congestion controls that use it.
    pub(crate) delivery: Option<Box<DeliveryRate>>,
    /// ECN state, if ECN is requested.
    pub(crate) ecn: Option<Box<EcnSender>>,
    pub(crate) timer: RetransmissionTimer,
    pub(crate) pacer: Pacer,
    /// `true`: departure times matter, for pacing or delivery rates.
    pub(crate) times_departures: bool,
    /// `true`: congestion control needs the time of each input.
    tells_time: bool,
    /// Value of the sender's clock at time zero.
    pub(crate) clock_phase: Duration,
    pub(crate) window: Window,
    /// `mss` in bytes, in the type of windows.
    mss: f64,
    /// Receive window in segments.
    window_limit: u32,
    /// Timestamps of the latest ACK, if congestion control uses one-way delays.
    stamps: Option<Stamps>,
    /// `true`: the latest ACK has the ECE flag.
    ece: bool,
    /// Segments that duplicate ACKs add to the window during fast recovery.
    pub(crate) inflation: u32,
    /// Time at which the window last allowed a segment, or the timer fired.
    pub(crate) last_sent: Time,
    /// Time at which a segment left last, new or retransmitted.
    pub(crate) last_departure: Time,
    /// Oldest unacknowledged segment.
    pub(crate) una: Seq,
    /// Next segment to send; an RTO resets it to `una`.
    pub(crate) nxt: Seq,
    /// One past the highest segment sent.
    pub(crate) max: Seq,
    /// One past the last segment of the transfer.
    pub(crate) end: Seq,
    /// Use of the window, which may decide its growth.
    pub(crate) window_use: WindowUse,
    /// Number of consecutive duplicate ACKs.
    pub(crate) duplicates: u32,
    /// `max` when the window was last reduced: RFC 6582's `recover`, plus one.
    pub(crate) recover: Option<Seq>,
    /// Oldest segment at the last RTO (RFC 5681 section 3.1 on repeated timeouts).
    pub(crate) timed_out: Option<Seq>,
    /// End of the losses of the last RTO that ACKs still repair.
    pub(crate) loss_until: Seq,
    /// Segment to retransmit before anything else.
    pub(crate) retransmit: Option<Seq>,
    /// Number of segments beyond the window that limited transmit still allows.
    pub(crate) limited: u32,
    /// Number of segments sent by limited transmit since the last new ACK; they do not count as flight.
    pub(crate) limited_sent: u32,
    /// Number of segments within the window that may still be sent before the next input.
    pub(crate) allowance: u32,
    /// State per network, if separate; the fields above then belong to the selected network.
    pub(crate) networks: Option<Box<Networks>>,
}

impl Tcb {
    pub(crate) fn new(config: Arc<Config>, segments: Option<u32>, clock_phase: Duration) -> Self {
        let mss = config.mss.count() as f64;
        let alone = config.handshake && config.recovery != RecoveryKind::Quic;
        let initial = if alone { 1 } else { config.initial_window };
        let window = Window { cwnd: f64::from(initial) * mss, ssthresh: initial_ssthresh(&config) };
        let end = segments.map_or(Seq::MAX, |s| Seq::new(s) + u32::from(config.handshake));
        let start = start(&config, clock_phase);
        let mut tcb = Tcb {
            congestion: CongestionControl::new(config.congestion, &config.controllers, start),
            delivery: config.congestion.wants_rates().then(Box::default),
            ecn: EcnSender::new(&config).map(Box::new),
            timer: RetransmissionTimer::new(&config, clock_phase),
            times_departures: config.pacing != Pacing::None || config.congestion.wants_rates(),
            pacer: Pacer::new(config.pacing, config.pacing_burst),
            tells_time: config.congestion.wants_times(),
            clock_phase,
            window,
            mss,
            window_limit: config.window_segments(),
            stamps: None,
            ece: false,
            inflation: 0,
            last_sent: Time::ZERO,
            last_departure: Time::ZERO,
            una: Seq::ZERO,
            nxt: Seq::ZERO,
            max: Seq::ZERO,
            end,
            window_use: WindowUse::default(),
            duplicates: 0,
            timed_out: None,
            recover: None,
            loss_until: Seq::ZERO,
            retransmit: None,
            limited: 0,
            limited_sent: 0,
            allowance: 0,
            networks: None,
            config,
        };
        if !tcb.config.handshake {
            tcb.tell_feedback();
        }
        tcb
    }

    pub(crate) fn mss(&self) -> f64 {
        self.mss
    }

    /// Returns whether any sent data are unacknowledged.
    pub(crate) fn outstanding(&self) -> bool {
        self.max > self.una
    }

    /// Returns whether the SYN is unanswered.
    pub(crate) fn opens(&self) -> bool {
        self.config.handshake && self.una == Seq::ZERO
    }

    /// Undoes the effects of a lost SYN, which does not indicate the path's capacity.
    #[cold]
    pub(crate) fn forget_lost_syn(&mut self) {
        if self.config.first_loss != FirstLoss::Ns2 {
            self.window.ssthresh = initial_ssthresh(&self.config);
        }
        let start = start(&self.config, self.clock_phase);
        self.congestion.on_lost_syn(&self.config.controllers, start);
        self.timer.begin_behind_lost_syn();
    }

    /// Returns the unacknowledged data in bytes (RFC 5681's FlightSize); with per-network state, of one
    /// network.
    pub(crate) fn flight(&self) -> f64 {
        let segments = match &self.networks {
            None => self.max - self.una,
            Some(networks) => networks.outstanding,
        };
        f64::from(segments) * self.mss()
    }

    /// Returns the number of segments that the receive window allows beyond the highest sent.
    pub(crate) fn room(&self) -> u32 {
        self.window_limit.saturating_sub(self.max - self.una)
    }

    /// Sets the receive window to `segments`.
    pub(crate) fn set_receiver_window(&mut self, segments: u32) {
        self.window_limit = segments;
    }

    /// Returns ssthresh in whole segments.
    pub(crate) fn ssthresh_segments(&self) -> u32 {
        Window { cwnd: self.window.ssthresh, ..self.window }.segments(self.mss())
    }

    /// Returns the smaller of cwnd and the receive window in bytes, without inflation.
    pub(crate) fn usable_window(&self) -> f64 {
        self.window.cwnd.min(self.receiver_window())
    }

    /// Returns cwnd in bytes, including the inflation of fast recovery.
    pub(crate) fn inflated_window(&self) -> f64 {
        self.window.cwnd + f64::from(self.inflation) * self.mss()
    }

    /// Returns the receive window in bytes.
    pub(crate) fn receiver_window(&self) -> f64 {
        f64::from(self.window_limit) * self.mss()
    }

    /// Notifies congestion control of the current time, if it needs it.
    #[inline(always)]
    pub(crate) fn tell_time(&mut self, now: Time) {
        if self.tells_time {
            self.congestion.at(now, &self.window, self.mss);
        }
    }
}

/// Returns the initial slow-start threshold in bytes.
pub(crate) fn initial_ssthresh(config: &Config) -> f64 {
    let mss = config.mss.count() as f64;
    config.initial_ssthresh.map_or(f64::INFINITY, |segments| f64::from(segments) * mss)
}

/// Returns the initial state of congestion control.
pub(crate) fn start(config: &Config, clock_phase: Duration) -> Start {
    let paced = config.pacing != Pacing::None;
    let slow_start = SlowStart::new(config.slow_start, config.ack_counting, paced);
    Start { slow_start, clock_phase }
}
