//! Sans-I/O TCP: a sender and a receiver as deterministic functions of what they are told.
//!
//! Nothing here knows a network, a kernel or a clock: the owner passes instants in, sends what
//! comes out, and asks when the next timer is due.

pub mod acknowledgment;
pub mod config;
pub mod congestion;
pub mod delivery;
mod divided;
mod ecn;
mod idle;
mod info;
mod marks;
mod networks;
mod pacing;
pub mod profile;
mod ranges;
mod receiver;
pub mod recovery;
pub mod rtt;
mod sender;
mod seq;
mod tcb;
mod window;

pub use acknowledgment::{Ack, SackBlocks, Timestamp};
pub use config::Config;
pub use ecn::{ByteCounters, Feedback};
pub use info::{CongestionState, TcpInfo};
pub use profile::Profile;
pub use receiver::{Arrival, Receiver};
pub use sender::{Phase, Sender, SenderCounts, Snapshot, Transmission};
pub use seq::Seq;
pub use window::Window;

/// The families of names that are registered here, as `optcp list` has them.
pub const FAMILIES: &[optcp_units::registry::Family] = &[
    profile::Profile::FAMILY,
    config::RecoveryKind::FAMILY,
    config::LossDetectionKind::FAMILY,
    config::RateReduction::FAMILY,
    config::AfterTimeout::FAMILY,
    config::CongestionKind::FAMILY,
    config::PathState::FAMILY,
    config::Increase::FAMILY,
    config::CubicVersion::FAMILY,
    config::AckCounting::FAMILY,
    config::SlowStartKind::FAMILY,
    config::WindowValidation::FAMILY,
    config::Pacing::FAMILY,
    config::RttKind::FAMILY,
    config::Measurement::FAMILY,
    config::Expiry::FAMILY,
    config::NewRenoTimer::FAMILY,
    config::PartialAck::FAMILY,
    config::RecoveryExit::FAMILY,
    config::ReductionBasis::FAMILY,
    config::TimeoutBasis::FAMILY,
    config::Halving::FAMILY,
    config::Backoff::FAMILY,
    config::FirstLoss::FAMILY,
    config::AckKind::FAMILY,
    config::DuplicateAckKind::FAMILY,
    config::DctcpLoss::FAMILY,
    config::PragueRttScaling::FAMILY,
    config::Ecn::FAMILY,
    config::ReceiverEcn::FAMILY,
    config::EctPackets::FAMILY,
];
