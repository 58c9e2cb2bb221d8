//! Estimated Hurst parameters of the generators' counts per slot.

use optcp_des::Streams;
use optcp_traffic::hurst::{aggregated_variance, local_whittle};
use optcp_traffic::{FractalRenewal, FractionalNoise, OnOff, PacketRate, Process, RenewalShape};
use optcp_units::Duration;

const SLOTS: usize = 1 << 15;
const HURST: f64 = 0.7;

/// Returns the packets per second of the obs paper.
fn rate() -> PacketRate {
    PacketRate::new(900, 1_000_000_000_000).expect("a rate above zero")
}

/// Returns the counts per slot.
fn counts(mut process: Process, slot: Duration, slots: usize) -> Vec<f64> {
    let mut counts = vec![0.0; slots];
    while let Some(at) = process.next_arrival()
        && let Ok(index) = usize::try_from(at.as_ps() / slot.as_ps())
        && index < slots
    {
        counts[index] += 1.0;
    }
    counts
}

/// Returns mean and standard deviation over seeds of the local Whittle estimate, and the mean of the other estimate.
fn estimates(
    name: &str,
    slot: Duration,
    slots: usize,
    seeds: u64,
    process: impl Fn(u64) -> Process,
) -> [f64; 3] {
    let (mut whittle, mut variance) = (Vec::new(), Vec::new());
    for seed in 0..seeds {
        let counts = counts(process(seed), slot, slots);
        whittle.push(local_whittle(&counts).expect("enough slots").hurst);
        variance.push(aggregated_variance(&counts).expect("enough slots"));
    }
    let n = seeds as f64;
    let mean = |x: &[f64]| x.iter().sum::<f64>() / n;
    let m = mean(&whittle);
    let scatter = (whittle.iter().map(|x| (x - m).powi(2)).sum::<f64>() / (n - 1.0)).sqrt();
    println!("{name}: Whittle {m:.3} +- {scatter:.3}, variance {:.3}", mean(&variance));
    [m, scatter, mean(&variance)]
}

fn renewal(onset: Duration) -> impl Fn(u64) -> Process {
    move |seed| {
        let stream = Streams::new(seed).stream("hurst");
        Process::FractalRenewal(FractalRenewal::new(
            rate(),
            HURST,
            RenewalShape::Onset(onset),
            stream,
        ))
    }
}

#[test]
fn superposed_fractal_renewal_processes_have_the_nominal_hurst_parameter() {
    let slot = Duration::from_ms(50);
    let [whittle, ..] = estimates("Sup-FRP", slot, SLOTS, 4, renewal(Duration::from_ms(10)));
    assert!((whittle - HURST).abs() < 0.05, "{whittle}");
}

#[test]
fn superposed_on_off_sources_have_the_nominal_hurst_parameter() {
    // Convergence is slow: slots must be long compared with the on and off times.
    let times = [Duration::from_ms(10), Duration::from_ms(20)];
    let slot = Duration::from_secs(1);
    let [whittle, ..] = estimates("Pareto on-off", slot, SLOTS / 2, 4, |seed| {
        let stream = Streams::new(seed).stream("hurst");
        let rate = PacketRate::new(200, 1_000_000_000_000).expect("a rate above zero");
        Process::OnOff(OnOff::new(rate, 50, times, HURST, stream))
    });
    assert!((whittle - HURST).abs() < 0.05, "{whittle}");
}

#[test]
fn packets_from_fractional_noise_have_the_nominal_hurst_parameter() {
    let slot = Duration::from_ms(100);
    let span = slot * SLOTS as u64;
    let [whittle, ..] = estimates("fGn", slot, SLOTS, 4, |seed| {
        let stream = Streams::new(seed).stream("hurst");
        Process::FractionalNoise(FractionalNoise::new(rate(), HURST, (slot, 4.0), span, stream))
    });
    assert!((whittle - HURST).abs() < 0.05, "{whittle}");
}
