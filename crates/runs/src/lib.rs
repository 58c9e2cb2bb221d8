//! Runs: from plan and seed to the observed series.
//!
//! Set-up values are drawn when the run is built (`build`). Branches that differ only after some time share
//! the run up to it (`run`), and so do runs that are forked explicitly (`live`). A live run can be advanced until
//! a condition holds (`until`), and changed in what does not affect its past (`past`). Observations become named
//! columns (`series`). Flows of finite size need none (`ends`). Columns are written as Parquet files (`parquet`) or captures (`pcapng`).

mod buffers;
mod build;
mod ends;
mod external;
mod live;
mod parquet;
mod past;
pub mod pcapng;
mod run;
mod series;
mod until;

pub use buffers::ResequencingBuffer;
pub use build::{Arrived, Failed, Rerouted, RoutingRecord, Switched};
pub use ends::{Ends, Lasted, SlowFlow};
pub use external::{ExternalFlow, NotExternal};
pub use live::LiveRun;
pub use optcp_engine::observe::{Column, Values};
pub use optcp_engine::{Delivery, Engine, External, FlowState, PortState};
pub use optcp_net::{DropReason, FlowId, PortId};
pub use optcp_tcp::Phase;
pub use parquet::{Data, ParquetError, Table, Texts};
pub use run::{Active, Cancel, Cancelled, CutOff, Run, RunOptions, run_branches};
pub use series::Series;
pub use until::Condition;
