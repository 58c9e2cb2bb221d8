//! Congestion control by a class of another program, with delivery rates and pacing: see [`super::external`].

pub use super::external::PythonPaced;
