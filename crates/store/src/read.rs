//! Files of a study, read back.

use std::fmt;
use std::path::PathBuf;

use optcp_runs::{Data, Table};
use sha2::{Digest, Sha256};

/// A file that cannot be used.
#[derive(Debug)]
pub struct ReadError {
    /// Which.
    pub path: PathBuf,
    /// What is wrong with it.
    pub what: String,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.what)
    }
}

impl std::error::Error for ReadError {}

/// One table out of several files, whose checksums are given; of some columns only if they are named. The
/// metadata are those of the first file.
///
/// # Errors
/// If a file cannot be read, is not as it was written, or has other columns than the first.
#[expect(clippy::disallowed_methods, reason = "what is read here has been simulated")]
pub fn read(files: &[(PathBuf, String)], columns: Option<&[String]>) -> Result<Table, ReadError> {
    let mut whole: Option<Table> = None;
    for (path, sha256) in files {
        let wrong = |what: String| ReadError { path: path.clone(), what };
        let bytes =
            std::fs::read(path).map_err(|error| wrong(format!("cannot be read ({error})")))?;
        let found: String =
            Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        if found != *sha256 {
            return Err(wrong(
                "changed since it was written: its checksum does not fit".to_owned(),
            ));
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
                    return Err(wrong("other columns than in the files beside it".to_owned()));
                }
                for ((_, all), (_, data)) in all.columns.iter_mut().zip(table.columns) {
                    all.append(data);
                }
            }
        }
    }
    Ok(whole.unwrap_or_default())
}
