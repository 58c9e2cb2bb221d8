//! Congestion control: window growth, and reductions after losses and ECN marks.
//!
//! A controller is a file with an `impl` of [`Controller`], and one line below.

mod ack_counting;
mod balia;
mod bbr;
mod bbr3;
mod bic;
mod cdg;
mod clock;
pub mod controller;
mod cubic;
mod dctcp;
pub(crate) mod draw;
pub mod event;
pub mod external;
mod external_paced;
mod growth;
mod highspeed;
mod htcp;
mod hybla;
mod hystart;
mod hystart_plus_plus;
mod illinois;
mod lia;
mod lp;
mod nscc;
mod nv;
mod olia;
#[cfg(test)]
mod one_link;
mod phase;
mod prague;
#[cfg(test)]
mod recorder;
mod reno;
mod retcp;
mod scalable;
mod slow_start;
mod vegas;
mod veno;
mod westwood;
mod window_validation;
mod yeah;

use optcp_units::{Duration, Time};

use crate::delivery::DeliveryRate;
use crate::ecn::Feedback;
use crate::seq::Seq;
use crate::window::Window;
use optcp_units::{registry, states};

pub use controller::NeedsEcn;
use controller::{Controller, Keys, OwnKey, Start};
use event::{AckEvent, DeliveryEvent, SubflowState};

pub use ack_counting::AckCounting;
pub use cubic::CubicVersion;
pub use dctcp::DctcpLoss;
pub use prague::PragueRttScaling;
pub use reno::Increase;
pub use slow_start::{SlowStart, SlowStartKind};
pub(crate) use window_validation::WindowUse;
pub use window_validation::WindowValidation;

/// Declares the controllers, each with the module of its parameters.
macro_rules! controllers {
    (
        $d:tt
        $( $(#[$attr:meta])* $name:literal => $module:ident :: $Controller:ident in $Held:ty :
            $summary:literal, $source:literal; )+
    ) => {
        $( $(#[$attr])* pub use $module::$Controller; )+

        registry! {
            /// Congestion control.
            pub enum CongestionKind ("congestion") {
                $( $(#[$attr])* $name => $Controller : $summary, $source; )+
            }
        }

        states! {
            $d
            /// State of the selected congestion control.
            #[derive(Clone, Debug)]
            pub enum CongestionControl, each! {
                $( $(#[$attr])* $Controller : $Held, )+
            }
        }

        /// Parameters of all individual controllers, selected or not.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct ControllerKeys {
            $(
                $(#[$attr])*
                #[doc = concat!("Those of [`", stringify!($Controller), "`].")]
                pub $module: <$Controller as Controller>::Keys,
            )+
        }

        impl ControllerKeys {
            /// Parameters of each controller.
            pub const ALL: &'static [&'static [OwnKey]] =
                &[ $( $(#[$attr])* <$Controller as Controller>::Keys::ALL, )+ ];
        }

        impl CongestionKind {
            /// Returns whether it uses delivery rates.
            #[must_use]
            pub const fn wants_rates(self) -> bool {
                match self { $( $(#[$attr])* Self::$Controller => $Controller::WANTS_RATES, )+ }
            }

            /// Returns whether it uses one-way delays.
            #[must_use]
            pub const fn wants_delays(self) -> bool {
                match self { $( $(#[$attr])* Self::$Controller => $Controller::WANTS_DELAYS, )+ }
            }

            /// Returns whether it uses the time of each input.
            #[must_use]
            pub const fn wants_times(self) -> bool {
                match self { $( $(#[$attr])* Self::$Controller => $Controller::WANTS_TIMES, )+ }
            }

            /// Returns whether it depends on the other subflows of a connection.
            #[must_use]
            pub const fn is_coupled(self) -> bool {
                match self { $( $(#[$attr])* Self::$Controller => $Controller::COUPLED, )+ }
            }

            /// Returns the ECN feedback that it needs.
            #[must_use]
            pub const fn needs_ecn(self) -> NeedsEcn {
                match self { $( $(#[$attr])* Self::$Controller => $Controller::ECN, )+ }
            }

            /// Returns whether it reacts to marks as L4S requires.
            #[must_use]
            pub const fn is_l4s(self) -> bool {
                match self { $( $(#[$attr])* Self::$Controller => $Controller::L4S, )+ }
            }

            /// Returns the factor after a mark with ABE, if defined.
            #[must_use]
            pub const fn abe(self) -> Option<f64> {
                match self { $( $(#[$attr])* Self::$Controller => $Controller::ABE, )+ }
            }

            /// Returns whether it computes a pacing rate.
            #[must_use]
            pub const fn paces(self) -> bool {
                match self { $( $(#[$attr])* Self::$Controller => $Controller::PACES, )+ }
            }
        }

        impl CongestionControl {
            /// Returns the state at the start of a connection.
            #[must_use]
            pub fn new(kind: CongestionKind, keys: &ControllerKeys, start: Start) -> Self {
                match kind {
                    $( $(#[$attr])* CongestionKind::$Controller =>
                        Self::$Controller($Controller::new(&keys.$module, start).into()), )+
                }
            }

            /// See [`Controller::MARKS_ARE_LOSSES`].
            #[must_use]
            pub const fn marks_are_losses(&self) -> bool {
                match self { $( $(#[$attr])* Self::$Controller(_) => $Controller::MARKS_ARE_LOSSES, )+ }
            }

            /// See [`Controller::GROWS_WITH_MARKS`].
            #[must_use]
            pub const fn grows_with_marks(&self) -> bool {
                match self { $( $(#[$attr])* Self::$Controller(_) => $Controller::GROWS_WITH_MARKS, )+ }
            }

            /// See [`Controller::MARKS_EXACT`].
            #[must_use]
            pub const fn marks_exact(&self) -> bool {
                match self { $( $(#[$attr])* Self::$Controller(_) => $Controller::MARKS_EXACT, )+ }
            }

            /// See [`Controller::PACES_HEADERS`].
            #[must_use]
            pub const fn paces_headers(&self) -> bool {
                match self { $( $(#[$attr])* Self::$Controller(_) => $Controller::PACES_HEADERS, )+ }
            }

            /// See [`Controller::on_lost_syn`].
            pub fn on_lost_syn(&mut self, keys: &ControllerKeys, start: Start) {
                match self { $( $(#[$attr])* Self::$Controller(it) => it.on_lost_syn(&keys.$module, start), )+ }
            }
        }
    };
}

controllers! { $
    "reno" => reno::Reno in Reno: "slow start, then one segment per RTT; window halved after a loss", "RFC 5681 section 3.1";
    "cubic" => cubic::Cubic in Box<Cubic>: "cubic function of the time since the last loss, or Reno if larger; factor 0.7 after a loss", "RFC 9438";
    "bbr" => bbr::Bbr in Box<Bbr>: "paces at the maximum delivery rate and keeps maximum rate times minimum RTT in flight", "draft-cardwell-iccrg-bbr-congestion-control-00; Linux";
    "scalable" => scalable::Scalable in Scalable: "one hundredth of the window per RTT; factor 7/8 after a loss", "Kelly 2003; Linux";
    "highspeed" => highspeed::HighSpeed in HighSpeed: "Reno up to 38 segments; beyond, faster growth and smaller reductions with larger windows", "RFC 3649; Linux";
    "illinois" => illinois::Illinois in Box<Illinois>: "slower growth and larger reductions with increasing queueing delay", "Liu, Basar and Srikant 2008; Linux";
    "vegas" => vegas::Vegas in Box<Vegas>: "keeps two to four segments in queues", "Brakmo and Peterson 1995; Linux";
    "westwood" => westwood::Westwood in Box<Westwood>: "Reno, but a loss reduces the window to the recent bandwidth times the minimum RTT", "Grieco and Mascolo 2004; Linux";
    "bbr3" => bbr3::Bbr3 in Box<Bbr3>: "BBR version 3: probes for bandwidth every 2 to 3 s or after at most 63 RTTs, and reacts to losses above 2 %", "draft-ietf-ccwg-bbr-06";
    "htcp" => htcp::HTcp in Box<HTcp>: "faster growth with the time since the last loss; a loss scales the window by minimum RTT / maximum RTT", "Leith and Shorten 2004; Linux";
    "hybla" => hybla::Hybla in Hybla: "growth as with an RTT of 25 ms; window halved after a loss", "Caini and Firrincieli 2004; Linux, but recorded runs differ in 5 of 12 figures";
    "veno" => veno::Veno in Veno: "Reno, but factor 4/5 after a loss with fewer than three segments in queues", "Fu and Liew 2003; Linux";
    "bic" => bic::Bic in Bic: "binary search for the window before the last loss, in steps of a quarter of the distance; factor 4/5 after a loss", "Xu, Harfoush and Rhee 2004; Linux";
    "yeah" => yeah::Yeah in Box<Yeah>: "Scalable TCP while few segments are queued, else Reno; removes queues above 80 segments", "Baiocchi, Castellani and Vacirca 2007; Linux";
    "nv" => nv::Nv in Box<Nv>: "keeps ten segments more than rate times minimum RTT; factor 4/5 after a loss", "Brakmo 2010; Linux";
    "lp" => lp::Lp in Box<Lp>: "Reno that yields when one-way delays increase", "Kuzmanovic and Knightly 2003; recorded runs of Linux differ in all figures";
    "cdg" => cdg::Cdg in Box<Cdg>: "random backoff, more likely with increasing RTT gradient; else Reno", "Hayes and Armitage 2011; Linux";
    "dctcp" => dctcp::Dctcp in Box<Dctcp>: "Reno, but marks reduce the window by half the smoothed share of marked segments", "RFC 8257; Linux";
    "prague" => prague::Prague in Box<Prague>: "DCTCP with fractional segments, pacing, and growth as with RTTs of at least 25 ms", "draft-briscoe-iccrg-prague-congestion-control-04; Linux's tcp_prague";
    "retcp" => retcp::Retcp in Retcp: "Reno, but multiplies its window when ACKs announce a circuit and divides it when they stop", "Mukerjee et al. 2020; their module for Linux";
    "nscc" => nscc::Nscc in Box<Nscc>: "window by queueing delay, marks and trimmed segments, for spraying in data centres", "Ultra Ethernet specification 1.0 section 3.6.13";
    "lia" => lia::Lia in Lia: "Reno whose growth is coupled over the subflows of a connection: together at most as aggressive as one flow", "RFC 6356 section 3";
    "olia" => olia::Olia in Olia: "coupled growth that also moves window to subflows with few losses and small windows", "draft-khalili-mptcp-congestion-control-05";
    "balia" => balia::Balia in Balia: "coupled growth and reduction, balanced between friendliness and responsiveness", "draft-walid-mptcp-congestion-control-04";
    "python" => external::Python in Box<Python>: "class in Python, written `python:MODULE.CLASS`", "docs/details/python-congestion.md";
    "python-paced" => external_paced::PythonPaced in Box<PythonPaced>: "class in Python that paces, written `python-paced:MODULE.CLASS`", "docs/details/python-congestion.md";
    #[cfg(test)]
    "recorder" => recorder::Recorder in Box<Recorder>: "Reno that records its inputs", "tests of this crate";
}

/// [`Controller`] methods of the selected control.
impl CongestionControl {
    /// See [`Controller::at`].
    #[inline(never)]
    pub fn at(&mut self, now: Time, window: &Window, mss: f64) {
        each!(self, it => it.at(now, window, mss));
    }

    /// See [`Controller::couple`].
    pub fn couple(&mut self, subflows: &[SubflowState], own: usize) {
        each!(self, it => it.couple(subflows, own));
    }

    /// See [`Controller::between_losses`].
    #[must_use]
    pub fn between_losses(&self) -> f64 {
        each!(self, it => it.between_losses())
    }

    /// See [`Controller::on_open`].
    pub fn on_open(&mut self) {
        each!(self, it => it.on_open());
    }

    /// See [`Controller::on_handshake`].
    pub fn on_handshake(&mut self, window: &mut Window, mss: f64, now: Time, rtt: Duration) {
        each!(self, it => it.on_handshake(window, mss, now, rtt));
    }

    /// See [`Controller::observe`].
    #[inline]
    pub fn observe(&mut self, ack: &AckEvent) {
        each!(self, it => it.observe(ack));
    }

    /// See [`Controller::on_ack`].
    #[inline]
    pub fn on_ack(&mut self, window: &mut Window, mss: f64, ack: &AckEvent) {
        each!(self, it => it.on_ack(window, mss, ack));
    }

    /// See [`Controller::on_delivery`].
    pub fn on_delivery(
        &mut self,
        window: &mut Window,
        mss: f64,
        ack: &DeliveryEvent,
        rate: &mut DeliveryRate,
    ) {
        each!(self, it => it.on_delivery(window, mss, ack, rate));
    }

    /// See [`Controller::on_sent`].
    #[inline]
    pub fn on_sent(&mut self, seq: Seq, in_flight: u32, rate: &DeliveryRate) {
        each!(self, it => it.on_sent(seq, in_flight, rate));
    }

    /// See [`Controller::on_lost`].
    pub fn on_lost(&mut self, window: &Window, mss: f64, seq: Seq, now: Time, rate: &DeliveryRate) {
        each!(self, it => it.on_lost(window, mss, seq, now, rate));
    }

    /// See [`Controller::on_restart`].
    pub fn on_restart(&mut self, window: &mut Window, mss: f64, now: Time, rate: &DeliveryRate) {
        each!(self, it => it.on_restart(window, mss, now, rate));
    }

    /// See [`Controller::on_loss`].
    #[must_use]
    pub fn on_loss(&mut self, window: &Window, mss: f64, amount: f64) -> Option<f64> {
        each!(self, it => it.on_loss(window, mss, amount))
    }

    /// See [`Controller::on_mark`].
    #[must_use]
    pub fn on_mark(&mut self, window: &Window, mss: f64, amount: f64) -> Option<f64> {
        each!(self, it => it.on_mark(window, mss, amount))
    }

    /// See [`Controller::on_feedback`].
    pub fn on_feedback(&mut self, feedback: Feedback) {
        each!(self, it => it.on_feedback(feedback));
    }

    /// See [`Controller::on_timeout`].
    pub fn on_timeout(&mut self, window: &mut Window, mss: f64) {
        each!(self, it => it.on_timeout(window, mss));
    }

    /// See [`Controller::on_recovered`].
    #[inline]
    pub fn on_recovered(&mut self, window: &mut Window, mss: f64) {
        each!(self, it => it.on_recovered(window, mss));
    }

    /// See [`Controller::save`].
    pub fn save(&mut self) {
        each!(self, it => it.save());
    }

    /// See [`Controller::on_undo`].
    pub fn on_undo(&mut self, window: &mut Window, before: Window) {
        each!(self, it => it.on_undo(window, before));
    }

    /// See [`Controller::on_idle`].
    pub fn on_idle(&mut self, window: &mut Window, mss: f64, restart: f64) {
        each!(self, it => it.on_idle(window, mss, restart));
    }

    /// See [`Controller::on_resume`].
    pub fn on_resume(&mut self, now: Time, idle: Duration) {
        each!(self, it => it.on_resume(now, idle));
    }

    /// See [`Controller::interval`].
    #[must_use]
    pub fn interval(&self, window: u32, srtt: Option<Duration>) -> Option<Duration> {
        each!(self, it => it.interval(window, srtt))
    }
}
