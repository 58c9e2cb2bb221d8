//! Slow start: growth below ssthresh, and methods that end it without a loss.
//!
//! # Model
//! Below ssthresh, each ACK increases the window by the amount that it counts for. Some methods set
//! ssthresh, and so end slow start, without a loss.
//!
//! # References
//! RFC 5681 section 3.1; further references at the options.
//!
//! # Parameters
//! `slow_start`, `ack_counting`; `pacing` for HyStart.
//!
//! # Limitations
//! ACKs during loss recovery are ignored.

use super::ack_counting::AckCounting;
use super::event::AckEvent;
use super::hystart::HyStart;
use super::hystart_plus_plus::HyStartPlusPlus;
use crate::window::Window;
use optcp_units::registry;

registry! {
    /// Method that may end slow start without a loss.
    pub enum SlowStartKind ("slow_start") {
        "standard" => Standard: "only ssthresh", "RFC 5681 section 3.1";
        "hystart" => HyStart: "a long ACK train or increased RTTs, from 16 segments on", "Ha and Rhee 2011, as in Linux's CUBIC";
        "hystart++" => HyStartPlusPlus: "increased RTTs, after five rounds of slower growth", "RFC 9406";
    }
}

/// State of slow start.
#[derive(Clone, Debug)]
pub struct SlowStart {
    counting: AckCounting,
    /// `true`: an RTO started the current slow start.
    after_timeout: bool,
    end: End,
}

/// State of the method that may end slow start without a loss.
#[derive(Clone, Debug)]
enum End {
    Loss,
    HyStart(Box<HyStart>),
    HyStartPlusPlus(Box<HyStartPlusPlus>),
}

impl SlowStart {
    /// The slow start of a connection, in which `paced` segments are spread over time.
    pub(crate) fn new(kind: SlowStartKind, counting: AckCounting, paced: bool) -> Self {
        SlowStart {
            counting,
            after_timeout: false,
            end: match kind {
                SlowStartKind::Standard => End::Loss,
                SlowStartKind::HyStart => End::HyStart(Box::new(HyStart::new(paced))),
                SlowStartKind::HyStartPlusPlus => End::HyStartPlusPlus(Box::default()),
            },
        }
    }

    /// Grows the window below ssthresh for an ACK of new data. Returns the segments that count for
    /// congestion avoidance. It is inlined because it runs once per ACK, and a call would cost more
    /// than the work.
    #[inline(always)]
    pub(super) fn on_ack(&mut self, window: &mut Window, mss: f64, ack: &AckEvent) -> f64 {
        if !matches!(self.end, End::Loss) {
            self.look_for_end(window, mss, ack);
        }
        if !ack.limited {
            return 0.0;
        }
        if !window.in_slow_start() {
            self.after_timeout = false;
            return f64::from(self.counting.in_avoidance(ack));
        }
        let count = self.counting.in_slow_start(ack, self.after_timeout);
        let growth = match &self.end {
            End::Loss | End::HyStart(_) => f64::from(count),
            End::HyStartPlusPlus(hystart) => hystart.growth(count),
        };
        let grown = window.cwnd + growth * mss;
        if self.counting == AckCounting::Segments && grown > window.ssthresh {
            window.cwnd = window.ssthresh;
            return (grown - window.ssthresh) / mss;
        }
        window.cwnd = grown;
        0.0
    }

    fn look_for_end(&mut self, window: &mut Window, mss: f64, ack: &AckEvent) {
        match &mut self.end {
            End::Loss => {}
            End::HyStart(hystart) => hystart.on_ack(window, mss, ack),
            End::HyStartPlusPlus(hystart) => hystart.on_ack(window, mss, ack),
        }
    }

    /// Data begin.
    pub(super) fn on_open(&mut self) {
        if let End::HyStartPlusPlus(hystart) = &mut self.end {
            **hystart = HyStartPlusPlus::default();
        }
    }

    /// A loss ends it.
    pub(super) fn on_loss(&mut self) {
        if let End::HyStartPlusPlus(hystart) = &mut self.end {
            hystart.stop();
        }
    }

    /// A timeout begins it anew.
    pub(super) fn on_timeout(&mut self) {
        self.after_timeout = true;
        match &mut self.end {
            End::Loss => {}
            End::HyStart(hystart) => hystart.on_timeout(),
            End::HyStartPlusPlus(hystart) => hystart.stop(),
        }
    }
}
