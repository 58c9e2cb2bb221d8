//! Runs the benchmark workload once, without Python: `dumbbell TCP FLOWS SECONDS`.

use optcp_harness::workload::{Dumbbell, Tcp};
use optcp_runs::Engine;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_default();
    let Some(tcp) = Tcp::ALL.into_iter().find(|known| known.name() == name) else {
        eprintln!("usage: dumbbell TCP FLOWS SECONDS; there is no TCP `{name}`");
        std::process::exit(2);
    };
    let mut number = |name: &str| -> u64 {
        let text = arguments.next();
        text.and_then(|text| text.parse().ok()).unwrap_or_else(|| {
            eprintln!("usage: dumbbell TCP FLOWS SECONDS; {name} is not a whole number");
            std::process::exit(2);
        })
    };
    let flows = u32::try_from(number("FLOWS")).unwrap_or(u32::MAX);
    let seconds = number("SECONDS");
    let outcome = Dumbbell::new(tcp, flows.max(1), seconds.max(1), Engine::Fast).run();
    println!(
        "{{\"packet_hops\": {}, \"utilisation\": {:.4}, \"events\": {}}}",
        outcome.packet_hops, outcome.utilisation, outcome.events
    );
}
