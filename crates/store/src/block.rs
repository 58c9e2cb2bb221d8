//! Blocks of runs: some parameter combinations of a study with some seeds, one run after the other.

use std::error::Error;
use std::fmt;

use cpu_time::{ProcessTime, ThreadTime};
use optcp_runs::{Cancel, ParquetError, Run, RunOptions, run_branches};
use optcp_scenario::Scenario;

use crate::part::{AxisValue, File, Part};

/// Number of packet transmissions after which a part is written, some tenths of a second of work. An
/// interrupted block loses at most this. A time limit would make parts irreproducible.
const HOPS_A_PART: u64 = 8_000_000;
/// Number of rows after which a part is written, because rows are held in memory.
const ROWS_A_PART: usize = 1_000_000;

/// Parameter combination of a study.
#[derive(Clone, Copy, Debug)]
pub struct Cell<'a> {
    /// Identifier.
    pub id: &'a str,
    /// Value of each swept parameter.
    pub values: &'a [AxisValue],
    /// Scenario with these values.
    pub scenario: &'a Scenario,
}

/// Runs to be made.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a> {
    /// Names of the columns of swept parameters.
    pub axes: &'a [String],
    /// Parameter combinations.
    pub cells: &'a [Cell<'a>],
    /// Seeds in the order of the runs, each with the combinations to run.
    pub todo: &'a [(u64, Vec<usize>)],
}

/// Reason why a block was not finished; parts that were written remain.
#[derive(Debug)]
pub enum Failure<E> {
    /// Cancelled by the caller.
    Cancelled,
    /// A table could not be encoded.
    Table(ParquetError),
    /// The files could not be written.
    Files(E),
}

impl<E: fmt::Display> fmt::Display for Failure<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Cancelled => f.write_str("the runs were cancelled"),
            Failure::Table(error) => write!(f, "{error}"),
            Failure::Files(error) => write!(f, "{error}"),
        }
    }
}

impl<E: Error> Error for Failure<E> {}

/// CPU time of this thread, or of the process if a run uses several threads.
enum Clock {
    Thread(ThreadTime),
    Process(ProcessTime),
}

impl Clock {
    fn now(threads: usize) -> Self {
        match threads {
            ..=1 => Clock::Thread(ThreadTime::now()),
            _ => Clock::Process(ProcessTime::now()),
        }
    }

    fn elapsed_s(&self) -> f64 {
        match self {
            Clock::Thread(began) => began.elapsed(),
            Clock::Process(began) => began.elapsed(),
        }
        .as_secs_f64()
    }
}

/// Returns the files of one finished run of the only combination of a block.
///
/// # Errors
/// If a table cannot be encoded.
pub fn files_of(
    axes: &[String],
    cell: Cell<'_>,
    run: &Run,
    cpu_s: f64,
) -> Result<Vec<File>, ParquetError> {
    let mut part = Part::default();
    part.add(0, cell.scenario, run);
    part.files(axes, &[cell], cpu_s)
}

/// Makes the runs of a block and passes its files on, part by part.
///
/// The distribution of runs to parts depends on the block alone. The same holds for the files, except for the
/// CPU time in the manifest.
///
/// # Errors
/// If it is cancelled, or if the files cannot be written.
pub fn run_block<E>(
    block: Block<'_>,
    options: RunOptions,
    cancel: &Cancel,
    write: &mut (dyn FnMut(Vec<File>) -> Result<(), E> + Send),
) -> Result<(), Failure<E>> {
    let mut part = Part::default();
    let mut cpu_s = 0.0;
    for (place, (seed, cells)) in block.todo.iter().enumerate() {
        let branches: Vec<&Scenario> =
            cells.iter().map(|&cell| block.cells[cell].scenario).collect();
        let began = Clock::now(options.threads);
        let runs =
            run_branches(&branches, *seed, options, cancel).map_err(|_| Failure::Cancelled)?;
        cpu_s += began.elapsed_s();
        for (&cell, run) in cells.iter().zip(runs) {
            part.add(cell, block.cells[cell].scenario, &run);
        }
        let last = place + 1 == block.todo.len();
        if !part.is_empty() && (last || part.hops >= HOPS_A_PART || part.rows >= ROWS_A_PART) {
            let files = part.files(block.axes, block.cells, cpu_s).map_err(Failure::Table)?;
            write(files).map_err(Failure::Files)?;
            cpu_s = 0.0;
        }
    }
    Ok(())
}
