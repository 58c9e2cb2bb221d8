//! When packets come: one arrival process a file.

mod constant;
mod noise;
mod on_off;
mod poisson;
mod renewal;

use optcp_units::{Duration, registry};

pub use constant::Constant;
#[cfg(test)]
pub(crate) use noise::noise;
pub use noise::{FractionalNoise, NoiseError};
pub use on_off::OnOff;
pub use poisson::Poisson;
pub use renewal::{FractalRenewal, RenewalShape};

registry! {
    /// When packets come.
    pub enum ProcessKind ("processes") {
        "constant" => Constant: "at even distances", "ns-2, CBR";
        "poisson" => Poisson: "independently of each other", "Poisson process";
        "on-off" => OnOff: "from sources that are on and off for heavy-tailed times: self-similar", "Taqqu, Willinger, Sherman 1997";
        "fractal-renewal" => FractalRenewal: "from superposed fractal renewal processes (Sup-FRP): self-similar", "Ryu and Lowen 1996";
        "fractional-noise" => FractionalNoise: "as many a slot as fractional Gaussian noise says: self-similar", "Davies and Harte 1987; Norros 1995";
    }
}

/// A sequence of arrivals, and how far it has come.
#[derive(Clone, Debug, PartialEq)]
pub enum Process {
    /// See [`Constant`].
    Constant(Constant),
    /// See [`Poisson`].
    Poisson(Poisson),
    /// See [`OnOff`].
    OnOff(OnOff),
    /// See [`FractalRenewal`].
    FractalRenewal(FractalRenewal),
    /// See [`FractionalNoise`].
    FractionalNoise(FractionalNoise),
}

impl Process {
    /// When the next packet comes, since the process began; `None` if none does any more. Never before
    /// the one before it.
    pub fn next_arrival(&mut self) -> Option<Duration> {
        match self {
            Process::Constant(process) => Some(process.next_arrival()),
            Process::Poisson(process) => Some(process.next_arrival()),
            Process::OnOff(process) => Some(process.next_arrival()),
            Process::FractalRenewal(process) => Some(process.next_arrival()),
            Process::FractionalNoise(process) => process.next_arrival(),
        }
    }
}
