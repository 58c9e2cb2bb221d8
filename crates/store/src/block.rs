//! Blocks of runs: some cells of a study, some seeds, one after the other.

use std::error::Error;
use std::fmt;

use cpu_time::{ProcessTime, ThreadTime};
use optcp_runs::{Cancel, ParquetError, RunOptions, run_branches};
use optcp_scenario::Scenario;

use crate::part::{AxisValue, File, Part};

/// After so many transmissions of packets, some tenths of a second of work, a part is written: what ends in the
/// middle of a block loses no more. Time would cut parts otherwise each time.
const HOPS_A_PART: u64 = 8_000_000;
/// So is one with so many rows: they are held in memory.
const ROWS_A_PART: usize = 1_000_000;

/// A cell of a study's grid.
#[derive(Clone, Copy, Debug)]
pub struct Cell<'a> {
    /// What it is called.
    pub id: &'a str,
    /// Its value on each axis.
    pub values: &'a [AxisValue],
    /// The world with these values in it.
    pub scenario: &'a Scenario,
}

/// Runs to be made.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a> {
    /// What the columns of the axes are called.
    pub axes: &'a [String],
    /// The cells.
    pub cells: &'a [Cell<'a>],
    /// In the order of the runs: a seed, and which cells are to be run with it.
    pub todo: &'a [(u64, Vec<usize>)],
}

/// Why a block was not finished; parts that were written stay.
#[derive(Debug)]
pub enum Failure<E> {
    /// Somebody asked for it.
    Cancelled,
    /// A table could not be written down.
    Table(ParquetError),
    /// Whoever takes the files could not.
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

/// CPU time: of this thread, or, as a run on several has the process to itself, of all.
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

/// Makes the runs of a block and hands its files out, part by part.
///
/// Which runs share a part depends on the block alone, and so do the files but for the manifest's CPU time.
///
/// # Errors
/// If it is cancelled, or the files cannot be written.
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
