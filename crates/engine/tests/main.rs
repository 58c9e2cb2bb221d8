//! All test files of the crate in one binary, because every binary is linked separately.

mod bbr_shares;
mod common;
mod engines;
mod external;
mod interrupts;
mod path_outages;
mod physics;
mod queueing;
mod random_scenarios;
mod schedules;
