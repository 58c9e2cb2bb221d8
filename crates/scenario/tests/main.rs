//! All test files of the crate in one binary, because each binary links all its dependencies.

mod bad;
mod buffers;
mod changes;
mod circuits;
mod found;
mod known;
mod lists;
mod overridden;
mod sample;
mod schema;
mod warnings;
