//! Reader for files of a study.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::thread;

use optcp_runs::{Data, Table};
use sha2::{Digest, Sha256};

/// Unusable file.
#[derive(Debug)]
pub struct ReadError {
    /// Path.
    pub path: PathBuf,
    /// Problem.
    pub what: String,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.what)
    }
}

impl std::error::Error for ReadError {}

/// Block size for reading a file to compute its checksum.
const BUFFER: usize = 1 << 18;

/// Message for a file whose content does not match its checksum.
const CHANGED: &str = "changed since it was written: its checksum does not fit";

/// Compares files with their SHA-256 on all processors. Returns the index of the first mismatch with the
/// problem.
#[must_use]
pub fn check(files: &[(PathBuf, String)]) -> Option<(usize, String)> {
    let threads = thread::available_parallelism().map_or(1, usize::from).min(files.len());
    let first_mismatch = |first: usize| {
        let places = (first..files.len()).step_by(threads);
        places.filter_map(|at| wrong_with(&files[at].0, &files[at].1).map(|what| (at, what))).next()
    };
    thread::scope(|scope| {
        let others: Vec<_> =
            (1..threads).map(|first| scope.spawn(move || first_mismatch(first))).collect();
        let found = (threads > 0).then(|| first_mismatch(0)).flatten();
        found.into_iter().chain(others.into_iter().filter_map(|other| other.join().ok()?)).min()
    })
}

#[expect(clippy::disallowed_methods, reason = "what is read here has been simulated")]
fn wrong_with(path: &Path, sha256: &str) -> Option<String> {
    match File::open(path).and_then(digest) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Some("missing".to_owned()),
        Err(error) => Some(format!("cannot be read ({error})")),
        Ok(found) => (found != sha256).then(|| CHANGED.to_owned()),
    }
}

fn digest(mut file: File) -> io::Result<String> {
    let mut sha = Sha256::new();
    let mut some = vec![0; BUFFER];
    loop {
        match file.read(&mut some)? {
            0 => return Ok(hexadecimal(sha)),
            length => sha.update(&some[..length]),
        }
    }
}

fn hexadecimal(sha: Sha256) -> String {
    sha.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Reads one table from several files with given checksums, or only the named columns. The metadata
/// come from the first file.
///
/// # Errors
/// If a file cannot be read, does not match its checksum, or has other columns than the first.
#[expect(clippy::disallowed_methods, reason = "what is read here has been simulated")]
pub fn read(files: &[(PathBuf, String)], columns: Option<&[String]>) -> Result<Table, ReadError> {
    let mut whole: Option<Table> = None;
    for (path, sha256) in files {
        let wrong = |what: String| ReadError { path: path.clone(), what };
        let bytes =
            std::fs::read(path).map_err(|error| wrong(format!("cannot be read ({error})")))?;
        if hexadecimal(Sha256::new_with_prefix(&bytes)) != *sha256 {
            return Err(wrong(CHANGED.to_owned()));
        }
        let table = Table::some_from_parquet(bytes, columns)
            .map_err(|error| wrong(format!("cannot be read ({error})")))?;
        match &mut whole {
            None => whole = Some(table),
            Some(all) => {
                let fits = all.columns.len() == table.columns.len()
                    && all.columns.iter().zip(&table.columns).all(|((a, one), (b, other))| {
                        a == b
                            && std::mem::discriminant::<Data>(one) == std::mem::discriminant(other)
                    });
                if !fits {
                    return Err(wrong("columns differ from the other files".to_owned()));
                }
                for ((_, all), (_, data)) in all.columns.iter_mut().zip(table.columns) {
                    all.append(data);
                }
            }
        }
    }
    Ok(whole.unwrap_or_default())
}
