//! Studies on disk: runs as tidy tables, with many runs per file.
//!
//! A study is a grid of parameter combinations, each a scenario, and seeds. Its runs are made in
//! blocks (`block`): some combinations and seeds, in order. The results of a block become parts
//! (`part`). A part has one Parquet file per table, with combination and seed in each row, and a
//! manifest with checksums, which is written last (`write`). `metrics` defines the scalars of a
//! run. `survival` estimates scalars that the end of a run censors. `read` reads tables.

mod block;
mod metrics;
mod part;
mod read;
mod survival;
mod write;

pub use block::{Block, Cell, Failure, files_of, run_block};
pub use metrics::{Bounds, METRICS, Metric, Scalar, scalars};
pub use part::{AxisValue, File, TABLES, columns, table};
pub use read::{ReadError, check, read};
pub use survival::{Observation, product_limit};
pub use write::write;
