//! Arrival processes, one per file.

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
    /// Arrival process.
    pub enum ProcessKind ("processes") {
        "constant" => Constant: "at even distances", "ns-2, CBR";
        "poisson" => Poisson: "independently of each other", "Poisson process";
        "on-off" => OnOff: "from sources that are on and off for heavy-tailed times: self-similar", "Taqqu, Willinger, Sherman 1997";
        "fractal-renewal" => FractalRenewal: "from superposed fractal renewal processes (Sup-FRP): self-similar", "Ryu and Lowen 1996";
        "fractional-noise" => FractionalNoise: "as many a slot as fractional Gaussian noise says: self-similar", "Davies and Harte 1987; Norros 1995";
    }
}

/// Arrival process with its state.
#[derive(Clone, Debug, PartialEq)]
pub enum Process {
    /// Arrivals by [`Constant`].
    Constant(Constant),
    /// Arrivals by [`Poisson`].
    Poisson(Poisson),
    /// Arrivals by [`OnOff`].
    OnOff(OnOff),
    /// Arrivals by [`FractalRenewal`].
    FractalRenewal(FractalRenewal),
    /// Arrivals by [`FractionalNoise`].
    FractionalNoise(FractionalNoise),
}

impl Process {
    /// Returns the time of the next packet since the start of the process, never before the previous one; `None` after
    /// the last packet.
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
