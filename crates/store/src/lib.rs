//! Studies on disk: runs as tidy tables, many of them a file.
//!
//! A study is a grid of cells, each a scenario, and seeds. Its runs are made in blocks (`block`): some
//! cells, some seeds, one after the other. What a block has made becomes a part (`part`): for each table a
//! Parquet file whose rows say which cell and seed they are of, and a manifest with their checksums, which comes
//! last (`write`). Scalars of a run are defined in `metrics`, each in one
//! place; `survival` is the estimator for those that the end of a run cuts. `read` reads tables back.

mod block;
mod metrics;
mod part;
mod read;
mod survival;
mod write;

pub use block::{Block, Cell, Failure, run_block};
pub use metrics::{Bounds, METRICS, Metric, Scalar, scalars};
pub use part::{AxisValue, File, TABLES, columns, table};
pub use read::{ReadError, check, read};
pub use survival::{Observation, product_limit};
pub use write::write;
