//! Sans-I/O TCP: sender and receiver as deterministic state machines.
//!
//! The crate does not depend on a network, an engine or a clock. The caller passes the current time,
//! transmits the returned segments, and queries the next timer deadline.

pub mod acknowledgment;
pub mod config;
pub mod congestion;
pub mod delivery;
mod divided;
mod ecn;
mod giving_up;
mod idle;
mod info;
mod marks;
pub mod multipath;
mod networks;
mod pacing;
pub mod profile;
mod ranges;
mod receiver;
pub mod recovery;
mod repathing;
pub mod rtt;
mod sender;
mod seq;
mod tcb;
mod window;

pub use acknowledgment::{Ack, SackBlocks, Timestamp};
pub use config::Config;
pub use ecn::{ByteCounters, EcnCounters, Feedback, PacketCounts};
pub use giving_up::time_of as time_of_retries;
pub use info::{CongestionState, TcpInfo};
pub use profile::Profile;
pub use receiver::{Arrival, Receiver};
pub use sender::{Phase, Sender, SenderCounts, Snapshot, Transmission};
pub use seq::Seq;
pub use window::Window;

/// Families of names registered in this crate, for `optcp list`.
pub const FAMILIES: &[optcp_units::registry::Family] = &[
    profile::Profile::FAMILY,
    config::RecoveryKind::FAMILY,
    config::LossDetectionKind::FAMILY,
    config::RateReduction::FAMILY,
    config::AfterTimeout::FAMILY,
    config::CongestionKind::FAMILY,
    config::PathState::FAMILY,
    config::Repath::FAMILY,
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
    multipath::SchedulerKind::FAMILY,
];
