//! Runs the benchmark workload once, without Python: `dumbbell FLOWS SECONDS`.

use optcp_scenario::workload::Dumbbell;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut number = |name: &str| -> u64 {
        let text = arguments.next();
        text.and_then(|text| text.parse().ok()).unwrap_or_else(|| {
            eprintln!("usage: dumbbell FLOWS SECONDS; {name} is not a whole number");
            std::process::exit(2);
        })
    };
    let flows = u32::try_from(number("FLOWS")).unwrap_or(u32::MAX);
    let seconds = number("SECONDS");
    let outcome = Dumbbell::new(flows.max(1), seconds.max(1)).run();
    println!(
        "{{\"packet_hops\": {}, \"utilisation\": {:.4}, \"events\": {}}}",
        outcome.packet_hops, outcome.utilisation, outcome.events
    );
}
