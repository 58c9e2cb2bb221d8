//! temp
fn main() {
    let t = std::fs::read_to_string("/work/shared/reference/tcp/scenarios.json").unwrap();
    let f: optcp_scenario::conformance::CaseFile = serde_json::from_str(&t).unwrap();
    let (o, e) = optcp_scenario::conformance::run_all(&f);
    for e in e { eprintln!("{e}"); }
    println!("{}", serde_json::to_string(&o).unwrap());
}
