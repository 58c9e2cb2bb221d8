//! Dependence of the estimated Hurst parameter on the slot length and on a process's time scale: the table of
//! `docs/reference/scenarios/traffic.md`. Takes two minutes with `cargo run --release -p optcp-traffic --example
//! hurst`.

use optcp_des::Streams;
use optcp_traffic::hurst::local_whittle;
use optcp_traffic::{FractalRenewal, OnOff, PacketRate, Process, RenewalShape};
use optcp_units::Duration;

const SLOTS: usize = 1 << 15;
const SEEDS: u64 = 4;
const HURST: f64 = 0.7;
const SLOTS_MS: [u64; 3] = [10, 100, 1000];

fn main() {
    // Packets per second of the obs paper.
    let rate = PacketRate::new(900, 1_000_000_000_000).expect("a rate above zero");
    for onset_ms in [10, 100, 1000] {
        print(&format!("fractal-renewal, onset {onset_ms} ms"), |streams| {
            let shape = RenewalShape::Onset(Duration::from_ms(onset_ms));
            let stream = streams.stream("hurst");
            Process::FractalRenewal(FractalRenewal::new(rate, HURST, shape, stream))
        });
    }
    for on_ms in [10, 100, 1000] {
        print(&format!("on-off, {on_ms} and {} ms", 2 * on_ms), |streams| {
            let times = [on_ms, 2 * on_ms].map(Duration::from_ms);
            Process::OnOff(OnOff::new(rate, 50, times, HURST, streams.stream("hurst")))
        });
    }
}

/// Prints the mean estimate over the seeds for each slot length.
fn print(name: &str, process: impl Fn(&Streams) -> Process) {
    for slot_ms in SLOTS_MS {
        let slot = Duration::from_ms(slot_ms);
        let sum: f64 = (0..SEEDS)
            .map(|seed| {
                let counts = counts(process(&Streams::new(seed)), slot);
                local_whittle(&counts).expect("enough slots").hurst
            })
            .sum();
        println!("{name}, slots of {slot_ms} ms: {:.2}", sum / SEEDS as f64);
    }
}

/// Returns the packets per slot.
fn counts(mut process: Process, slot: Duration) -> Vec<f64> {
    let mut counts = vec![0.0; SLOTS];
    while let Some(at) = process.next_arrival()
        && let Ok(index) = usize::try_from(at.as_ps() / slot.as_ps())
        && index < SLOTS
    {
        counts[index] += 1.0;
    }
    counts
}
