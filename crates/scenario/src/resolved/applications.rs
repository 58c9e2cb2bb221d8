//! Applications as JSON.

use optcp_traffic::{Application, ApplicationKind, PageObject, Parties};
use optcp_units::Duration;
use serde_json::{Value, json};

use crate::plan::{ApplicationPlan, Plan, Spread};

use super::{spread, volume, with_optional};

/// Returns an application with the parameters that its kind uses.
pub(super) fn application(plan: &Plan, entry: &ApplicationPlan) -> Value {
    let Application {
        kind,
        parties,
        rounds,
        request,
        size,
        think,
        service,
        objects,
        connections,
        chunk,
        buffer,
    } = &entry.application;
    let hosts = |hosts: &[u32]| -> Value {
        hosts.iter().map(|&host| plan.nodes[host as usize].as_str()).collect()
    };
    let drawn = |time: &Spread| (*time != Spread::Fixed(Duration::ZERO)).then(|| spread(time));
    let object = |object: &PageObject| {
        with_optional(json!({ "size": volume(&object.size) }), json!({ "after": object.needs }))
    };
    let parties = match parties {
        Parties::Between(clients, servers) => json!({
            "from": hosts(clients), "to": hosts(servers), "request_bytes": request,
            "service_ps": drawn(service),
        }),
        Parties::Among(members) => json!({ "among": hosts(members) }),
    };
    let page = *kind == ApplicationKind::Page;
    let of_kind = match kind {
        ApplicationKind::Page => json!({
            "connections": connections,
            "objects": objects.iter().map(object).collect::<Value>(),
        }),
        ApplicationKind::Video => {
            json!({ "chunk_ps": chunk.as_ps(), "buffer_chunks": buffer[0], "startup_chunks": buffer[1] })
        }
        _ => json!({}),
    };
    let always = json!({ "group": plan.groups[entry.group], "kind": kind, "rounds": rounds });
    let optional = json!({
        "start_ps": drawn(&entry.start),
        "think_ps": drawn(think),
        "size": (!page).then(|| volume(size)),
    });
    with_optional(with_optional(with_optional(always, optional), parties), of_kind)
}
