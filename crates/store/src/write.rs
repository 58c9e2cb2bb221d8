//! Writer for files of a study. Readers never see partially written files.

use std::fs::File as Open;
use std::io::{self, Write};
use std::path::Path;

use crate::part::File;

/// Writes files below a directory in order, each completely or not at all. Leftovers of a killed
/// process are overwritten when the same runs are repeated.
///
/// # Errors
/// Errors of the operating system, with the path.
pub fn write(root: &Path, files: &[File]) -> io::Result<()> {
    for file in files {
        let path = root.join(&file.path);
        let named = |error: io::Error| {
            io::Error::new(error.kind(), format!("{}: cannot be written ({error})", path.display()))
        };
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let temporary = path.with_file_name(format!(".{name}.tmp"));
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(named)?;
        }
        // A symbolic link in its place is removed, never followed.
        match std::fs::remove_file(&temporary) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(named(error)),
            _ => {}
        }
        let mut open = Open::create_new(&temporary).map_err(named)?;
        open.write_all(&file.content).map_err(named)?;
        std::fs::rename(&temporary, &path).map_err(named)?;
    }
    Ok(())
}
