//! All test files of the crate in one binary, because each binary links all its dependencies.

mod backups;
mod distances;
mod marked;
mod mechanisms;
mod random_graphs;
mod timeline;
