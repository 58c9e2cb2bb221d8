//! Runs: from a plan and a seed to what was observed.
//!
//! Every random choice is made when the world is built (`build`); branches that differ only after an
//! instant share the run up to it (`run`), and so does a run that is forked by hand (`live`); what was observed becomes named columns
//! (`series`), which are written as Parquet files (`parquet`), and captures (`pcapng`).

mod build;
mod live;
mod parquet;
pub mod pcapng;
mod run;
mod series;

pub use build::{Arrived, Failed, Rerouted, RoutingRecord, Switched};
pub use live::LiveRun;
pub use optcp_engine::Engine;
pub use optcp_engine::observe::{Column, Values};
pub use optcp_net::DropReason;
pub use parquet::{Data, ParquetError, Table, Texts};
pub use run::{Active, Cancel, Cancelled, CutOff, Run, RunOptions, run_branches};
pub use series::Series;
