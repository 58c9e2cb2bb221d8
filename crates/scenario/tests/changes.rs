//! What schedules change, worked by hand.

use optcp_scenario::Scenario;
use optcp_scenario::plan::ChangePlan;

const WORLD: &str = r#"
stop = "1 s"
[[nodes]]
names = ["tor", "core"]
[[nodes]]
group = "hosts"
count = 3
[[links]]
chains = [["tor", "hosts"], ["tor", "core"]]
rate = "10 Mbps"
delay = "1 ms"
queue = "50 packets"
[[schedules]]
changes = [{ at = "5 ms", "#;

/// The ports that a change is of, in order.
fn changed(change: &str, expected: &[ChangePlan]) -> Vec<String> {
    let text = format!("{WORLD}{change} }}]");
    let scenario = Scenario::parse(&text, "changes.toml", &[])
        .unwrap_or_else(|problem| panic!("{}", problem.render(false)));
    let plan = scenario.plan();
    let changes = &plan.schedules[0].steps[0].changes;
    assert!(changes.iter().all(|(_, change)| expected.contains(change)), "{changes:?}");
    changes.iter().map(|&(hop, _)| plan.port_name(hop)).collect()
}

#[test]
fn a_change_is_of_every_link_that_it_names() {
    let set = [ChangePlan::Ece(true)];
    let forward = r#"link = ["tor", "hosts"], direction = "forward", ece = "set""#;
    assert_eq!(changed(forward, &set), ["tor->hosts0", "tor->hosts1", "tor->hosts2"]);
    let kept = r#"link = ["hosts", "tor"], direction = "backward", ece = "kept""#;
    let ports = ["tor->hosts0", "tor->hosts1", "tor->hosts2"];
    assert_eq!(changed(kept, &[ChangePlan::Ece(false)]), ports);
    let both = r#"link = ["tor", "core"], transmitter = "holds", ece = "set""#;
    let ports = ["tor->core", "tor->core", "core->tor", "core->tor"];
    assert_eq!(changed(both, &[ChangePlan::Sends(false), ChangePlan::Ece(true)]), ports);
}
