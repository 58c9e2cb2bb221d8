//! Plan as canonical JSON: base units with their names in the keys, and sorted keys, because `serde_json`
//! keeps objects in a `BTreeMap`. Equal scenarios written in the same order give equal bytes.
//!
//! New keys must not change existing digests: a key with its default value (null, false or empty) is omitted,
//! see [`with_optional`].

mod applications;
mod buckets;
mod bursts;
mod optical;
mod planned;

use std::collections::{BTreeMap, BTreeSet};

use optcp_engine::observe::hex;
use optcp_units::{Codepoint, Duration, Time};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use optcp_net::{Discipline, LossKind, QueueLimit as Length, Setting, Spoils};
use optcp_optical::protection::CommandAt;
use optcp_tcp::{Config, profile::Profile};
use optcp_traffic::{FractalRenewal, PacketSize, ProcessKind, SizesKind, Volume};

use crate::plan::{
    BundlePlan, Carries, ConnectionPlan, DetectionPlan, DirectedLink, FailurePlan, FlowPlan,
    ForwardingPlan, LinkPlan, Loses, LossPlan, ObservePlan, Plan, PortPlan, ProcessPlan,
    ProtectionPlan, QueueLimit, RoutingPlan, Shape, Spread, SwitchPlan, TrafficPlan,
};
use crate::schema::{CodepointKind, FailedPackets, resolved_tcp};

/// Returns the scenario with all TCP parameters as JSON.
pub(crate) fn json(plan: &Plan) -> String {
    text(plan, &plan.title, resolved_tcp)
}

/// Returns the SHA-256 of the scenario in hexadecimal. The title is omitted, and so are TCP
/// parameters equal to profile `rfc`.
pub(crate) fn sha256(plan: &Plan) -> String {
    let defaults = resolved_tcp(&Profile::Rfc.config());
    let changed = |config: &Config| {
        let mut choices = resolved_tcp(config);
        choices.retain(|key, value| defaults.get(key) != Some(value));
        choices
    };
    hex(&Sha256::digest(text(plan, "", changed)))
}

/// Adds the keys of `optional` that do not have their default value (null, false or empty) to `table`.
fn with_optional(table: Value, optional: Value) -> Value {
    let (Value::Object(mut table), Value::Object(optional)) = (table, optional) else {
        unreachable!("both are tables")
    };
    table.extend(optional.into_iter().filter(|(_, value)| match value {
        Value::Null | Value::Bool(false) => false,
        Value::Array(list) => !list.is_empty(),
        _ => true,
    }));
    Value::Object(table)
}

fn text(plan: &Plan, title: &str, tcp: impl Fn(&Config) -> Map<String, Value>) -> String {
    let is_traffic = |group: usize| plan.traffic.iter().any(|traffic| traffic.group == group);
    let tcp: Map<String, Value> =
        plan.tcp.iter().map(|(name, config)| (name.clone(), tcp(config).into())).collect();
    let always = json!({
        "title": title,
        "stop_ps": plan.stop.as_ps(),
        "nodes": plan.nodes,
        "links": plan.links.iter().map(|entry| link(plan, entry)).collect::<Value>(),
        "flows": (0..plan.groups.len()).filter(|&group| !is_traffic(group))
            .flat_map(|group| entries(plan, group)).collect::<Value>(),
        "tcp": tcp,
        "failures": plan.failures.iter().map(|entry| failure(plan, entry)).collect::<Value>(),
        "protection": plan.protections.iter().map(|entry| protection(plan, entry)).collect::<Value>(),
        "losses": plan.losses.iter().map(|entry| loss(plan, entry)).collect::<Value>(),
        "observe": plan.observe.iter().map(|entry| observation(plan, entry)).collect::<Value>(),
    });
    let optional = json!({
        "buckets": plan.buckets.iter().map(|entry| buckets::bucket(plan, entry)).collect::<Value>(),
        "bundles": plan.bundles.iter().map(|entry| bundle(plan, entry)).collect::<Value>(),
        "end_with_flows": plan.end_with_flows,
        "measure": plan.measure.map(|window| json!({
            "after_ps": window.after.as_ps(),
            "until_ps": window.until.as_ps(),
        })),
        "core": plan.core.map(bursts::core),
        "bursts": plan.bursts.iter().map(|entry| bursts::bursts(plan, entry)).collect::<Value>(),
        "switches": plan.switches.iter().map(|entry| switch(plan, entry)).collect::<Value>(),
        "optical": plan.optical.as_ref().map(|layer| optical::layer(plan, layer)),
        "routing": plan.routing.as_ref().map(|entry| routing(plan, entry)),
        "connections": plan.connections.iter().map(|one| connection(plan, one)).collect::<Value>(),
        "forwarding": plan.forwarding.as_ref().map(|written| forwarding(plan, written)),
        "traffic": plan.traffic.iter().map(|entry| traffic(plan, entry)).collect::<Value>(),
        "applications": plan.applications.iter().map(|entry| applications::application(plan, entry)).collect::<Value>(),
    });
    let Value::Object(sections) = with_optional(always, optional) else { unreachable!("a table") };
    let mut texts: BTreeMap<String, String> =
        sections.into_iter().map(|(key, value)| (key, value.to_string())).collect();
    // Schedules are written as text step by step: as values, hundreds of thousands of changes need hundreds
    // of megabytes.
    if !plan.schedules.is_empty() {
        let schedules = plan.schedules.iter().map(|one| planned::schedule(plan, one));
        texts.insert("schedules".to_owned(), planned::list(schedules));
    }
    let entries = texts.into_iter().map(|(key, text)| format!("{}:{text}", json!(key)));
    format!("{{{}}}", entries.collect::<Vec<_>>().join(","))
}

fn connection(plan: &Plan, entry: &ConnectionPlan) -> Value {
    let subflows = plan.flows[entry.subflows.clone()].iter().map(|flow| flow.name.as_str());
    let always = json!({
        "name": entry.name,
        "subflows": subflows.collect::<Value>(),
        "scheduler": entry.config.scheduler,
        "size_segments": entry.size,
    });
    let writes = entry.writes.iter().map(|(after, segments)| json!([after.as_ps(), segments]));
    let optional = json!({
        "opportunistic_retransmission": entry.config.opportunistic_retransmission,
        "written_later_ps_segments": writes.collect::<Value>(),
    });
    with_optional(always, optional)
}

fn traffic(plan: &Plan, entry: &TrafficPlan) -> Value {
    let sizes = match entry.sizes {
        PacketSize::Fixed(bytes) => json!({ "fixed_bytes": bytes }),
        PacketSize::Exponential(sizes) => {
            let [mean, smallest, largest] = sizes.parameters();
            json!({ "kind": SizesKind::Exponential, "mean_bytes": mean, "smallest_bytes": smallest,
                    "largest_bytes": largest })
        }
    };
    let process = match entry.process {
        ProcessPlan::Constant => json!({ "kind": ProcessKind::Constant }),
        ProcessPlan::Poisson => json!({ "kind": ProcessKind::Poisson }),
        ProcessPlan::OnOff { superposed, times: [on, off], hurst } => json!({
            "kind": ProcessKind::OnOff, "superposed": superposed, "on_ps": on.as_ps(),
            "off_ps": off.as_ps(), "hurst": hurst,
        }),
        ProcessPlan::FractalRenewal { shape, hurst } => {
            let superposed = FractalRenewal::superposed(entry.rate, hurst, shape);
            let onset = FractalRenewal::onset_of(entry.rate, hurst, superposed);
            json!({ "kind": ProcessKind::FractalRenewal, "superposed": superposed,
                    "onset_ps": onset.as_ps(), "hurst": hurst })
        }
        ProcessPlan::FractionalNoise { slot, dispersion, hurst } => json!({
            "kind": ProcessKind::FractionalNoise, "slot_ps": slot.as_ps(),
            "dispersion": dispersion, "hurst": hurst,
        }),
    };
    let marked = entry.codepoint != Codepoint::NotEct;
    let optional = json!({
        "packets_per_s": entry.rate.per_second(),
        "until_ps": entry.until.as_ps(),
        "ecn": marked.then(|| CodepointKind::of(entry.codepoint)),
        "sizes": sizes,
        "process": process,
    });
    with_optional(group(plan, entry.group, |_| true), optional)
}

fn volume(volume: &Volume) -> Value {
    match volume {
        Volume::Fixed(bytes) => json!({ "fixed_bytes": bytes }),
        Volume::Exponential(mean) => json!({ "kind": SizesKind::Exponential, "mean_bytes": mean }),
        Volume::Pareto(pareto) => {
            let [shape, smallest, largest] = pareto.parameters();
            json!({ "kind": SizesKind::Pareto, "shape": shape, "smallest_bytes": smallest,
                    "largest_bytes": largest, "mean_bytes": volume.mean() })
        }
        Volume::Web(web) => json!({ "kind": SizesKind::WebLike, "largest_bytes": web.largest(),
            "mean_bytes": volume.mean() }),
        Volume::Measured(workload) => {
            let points = (workload.kind() == SizesKind::Points).then(|| &workload.points()[1..]);
            let always = json!({ "kind": workload.kind(), "largest_bytes": workload.largest(),
                "mean_bytes": volume.mean() });
            with_optional(always, json!({ "points_bytes_share": points }))
        }
    }
}

fn bundle(plan: &Plan, bundle: &BundlePlan) -> Value {
    // Without routing, the numbers of the routes count.
    let numbers = plan.routing.is_some() && bundle.selection.numbers_destinations();
    let always = json!({
        "name": bundle.name,
        "ports": ports(plan, &bundle.members),
        "selection": bundle.selection,
        "detection_ps": bundle.detection.as_ps(),
    });
    with_optional(always, json!({ "numbers": numbers.then_some(&plan.numbers) }))
}

fn switch(plan: &Plan, switch: &SwitchPlan) -> Value {
    let (key, queue) = queue_limit(switch.queue);
    let always = json!({
        "node": plan.nodes[switch.node],
        "iterations": switch.iterations,
        "cell_bytes": switch.cell.count(),
        "crossbar_bps": switch.crossbar.bps(),
        key: queue,
    });
    with_optional(always, json!({ "fifo": switch.fifo }))
}

/// Returns the bundles on the path of a flow: their hops, and the destination numbers for data and ACKs.
fn passed_bundles(plan: &Plan, flow: &FlowPlan) -> Value {
    let one = |(&place, &bundle): (&usize, &usize)| {
        let destinations = [0, 1].map(|direction| plan.destination(flow, place, direction));
        json!({
            "bundle": plan.bundles[bundle].name,
            "hop": place,
            "destinations": destinations,
        })
    };
    flow.bundles.iter().map(one).collect()
}

/// Returns the static forwarding entries by node and destination, with the times at which they take effect.
fn forwarding(plan: &Plan, written: &ForwardingPlan) -> Value {
    let mut tables: BTreeMap<[usize; 2], Vec<Value>> = BTreeMap::new();
    for step in &written.entries {
        let at_ps = step.at.as_ps();
        let hops = written.hops(step.way);
        tables.entry([step.node, step.to]).or_default().push(json!([at_ps, ports(plan, hops)]));
    }
    let table = |([node, to], next): ([usize; 2], Vec<Value>)| json!({ "node": plan.nodes[node], "to": plan.nodes[to], "next": next });
    tables.into_iter().map(table).collect()
}

fn routing(plan: &Plan, entry: &RoutingPlan) -> Value {
    let always = json!({
        "costs": plan.links.iter().map(|link| link.costs).collect::<Vec<_>>(),
        "repair": entry.mechanism,
        "protect": entry.protect,
        "detection_ps": entry.detection.as_ps(),
        "detection_up_ps": entry.detection_up.as_ps(),
        "hold_down_ps": entry.hold_down.as_ps(),
        "converge": entry.converge,
        "flooding_ps": entry.flooding.as_ps(),
        "spf_ps": entry.spf.as_ps(),
        "update_ps": spread(&entry.update),
        "hold_ps": entry.hold.as_ps(),
        "ttl": entry.ttl,
    });
    with_optional(always, json!({ "ecmp": entry.ecmp, "ecmp_seed": entry.ecmp_seed }))
}

fn failure(plan: &Plan, failure: &FailurePlan) -> Value {
    let mut written = failure_of(failure, "link", &plan.links[failure.link].name);
    if let (Some(way), Value::Object(written)) =
        ([0, 1].into_iter().find(|&way| !failure.directions[1 - way]), &mut written)
    {
        written.insert("port".to_owned(), plan.port_name((failure.link, way)).into());
    }
    written
}

/// Returns the failure of an element of the network.
fn failure_of(failure: &FailurePlan, kind: &str, name: &str) -> Value {
    let later = (failure.later != Spread::ZERO).then(|| spread(&failure.later));
    let [mtbf, mttr] = [0, 1].map(|turn| failure.process.map(|means| means[turn].as_ps()));
    // Random delays and failures are drawn per entry.
    let drawn = later.is_some() || failure.process.is_some();
    let always = json!({
        kind: name,
        "at_ps": failure.at.as_ps(),
        "repair_ps": failure.repair.map(Time::as_ps),
    });
    let optional = json!({
        "later_ps": later,
        "mtbf_ps": mtbf,
        "mttr_ps": mttr,
        "entry": drawn.then_some(failure.entry),
        "packets": failure.kept.then_some(FailedPackets::Kept),
    });
    with_optional(always, optional)
}

fn link(plan: &Plan, link: &LinkPlan) -> Value {
    let voq = link.voq.as_ref();
    let always = json!({
        "name": link.name,
        "ends": names(plan, &link.ends),
        "forward": port(&link.directions[0]),
        "reverse": port(&link.directions[1]),
        "shared_delay": link.shared_delay,
    });
    let optional = json!({
        "wavelengths": link.wavelengths,
        "circuit_over": ports(plan, &link.over),
        "ways": voq.map(|voq| planned::ways(plan, voq)),
        "served": voq.map(|voq| voq.served.map(|way| planned::served(voq, way))),
        "notify_ps": voq.and_then(|voq| voq.notify).map(Duration::as_ps),
    });
    with_optional(always, optional)
}

fn protection(plan: &Plan, entry: &ProtectionPlan) -> Value {
    let link = |&link: &usize| plan.links[link].name.as_str();
    let detection = match entry.detection {
        DetectionPlan::After([data, ack]) => json!({
            "switch_delay": { "data_ps": data.as_ps(), "ack_ps": ack.as_ps() }
        }),
        DetectionPlan::Hello { interval, multiplier } => json!({
            "hello": { "interval_ps": interval.as_ps(), "multiplier": multiplier }
        }),
    };
    // The backup was computed for these flows only.
    let own = entry.flows.iter().any(|&flow| plan.flows[flow].lsp.is_some());
    let flows = entry.flows.iter().filter(|_| own).map(|&flow| plan.flows[flow].name.as_str());
    let always = json!({
        "flows": entry.group.map(|group| plan.groups[group].as_str()),
        "scheme": entry.scheme,
        "links": entry.links.iter().map(link).collect::<Value>(),
        "backup": names(plan, &entry.backup),
        "ports": ports(plan, &entry.hops),
        "circuits": entry.circuits.values().map(link).collect::<Value>(),
        "detection": detection,
        "hold_off_ps": entry.hold_off.as_ps(),
        "signal_processing_ps": entry.signal_processing.as_ps(),
        "computation_ps": entry.computation.as_ps(),
        "revert": entry.revert,
        "wait_to_restore_ps": entry.wait_to_restore.as_ps(),
    });
    let command =
        |given: &CommandAt| json!({ "at_ps": given.at.as_ps(), "command": given.command });
    let commands = entry.commands.iter().map(command);
    let optional = json!({
        "lsps": flows.collect::<Value>(),
        "commands": commands.collect::<Value>(),
        "resequencing_ps": entry.resequencing.map(Duration::as_ps),
    });
    with_optional(always, optional)
}

fn entries(plan: &Plan, index: usize) -> Vec<Value> {
    let of_group = plan.flows.iter().filter(|flow| flow.group == index);
    let entries: BTreeSet<usize> = of_group.map(|flow| flow.entry).collect();
    entries.iter().map(|&entry| group(plan, index, |flow| flow.entry == entry)).collect()
}

fn group(plan: &Plan, index: usize, among: impl Fn(&FlowPlan) -> bool) -> Value {
    let of_group = plan.flows.iter().filter(|flow| flow.group == index);
    let flows: Vec<&FlowPlan> = of_group.filter(|flow| among(flow)).collect();
    let amount = |flow: &&FlowPlan| (flow.start.clone(), flow.size);
    // Only the flows of a list differ.
    let is_list = flows.windows(2).any(|two| amount(&two[0]) != amount(&two[1]));
    let same_route = |a: &&FlowPlan, b: &&FlowPlan| a.hops == b.hops && a.bundles == b.bundles;
    let routes = flows.chunk_by(same_route).map(|same| {
        let always = json!({
            "path": names(plan, &same[0].path),
            "ports": ports(plan, &same[0].hops),
            "flows": same.iter().map(|flow| flow.name.as_str()).collect::<Value>(),
        });
        let amounts = same.iter().filter(|flow| flow.datagram_bytes.is_some());
        let amounts = amounts.map(|flow| json!([spread(&flow.start), flow.datagram_bytes]));
        let is_listed = |flow: &&&FlowPlan| is_list && flow.datagram_bytes.is_none();
        let listed = same.iter().filter(is_listed);
        let listed = listed.map(|flow| json!([spread(&flow.start), flow.size]));
        let optional = json!({
            "bundles": passed_bundles(plan, same[0]),
            "routed": same[0].routed,
            "listed_start_ps_segments": listed.collect::<Value>(),
            "listed_start_ps_bytes": amounts.collect::<Value>(),
        });
        with_optional(always, optional)
    });
    let mut always = json!({
        "group": plan.groups[index],
        "class": plan.classes[index],
        "routes": routes.collect::<Value>(),
    });
    let Some(first) = flows.first() else { return always };
    if matches!(first.carries, Carries::Flow | Carries::Drawn(_)) {
        always["size_segments"] = json!(first.size);
    }
    let writes = first.writes.iter().map(|(after, segments)| json!([after.as_ps(), segments]));
    let carried = match first.carries {
        Carries::Flow | Carries::Datagrams(_) => json!({}),
        Carries::Arrivals(arrivals) => {
            let arrivals = &plan.arrivals[arrivals];
            json!({
                "arrivals_per_s": arrivals.rate.per_second(),
                "until_ps": arrivals.until.as_ps(),
                "sizes": volume(&arrivals.volume),
                "weights": arrivals.weights,
            })
        }
        Carries::Drawn(drawn) => {
            let drawn = &plan.drawn[drawn];
            json!({ "drawn": {
                "count": drawn.count, "per_source": drawn.per_source, "weights": drawn.weights,
            } })
        }
    };
    let optional = json!({
        "tcp": first.tcp.map(|tcp| &plan.tcp[tcp].0),
        "written_later_ps_segments": writes.collect::<Value>(),
        "start_ps": spread(&first.start),
    });
    with_optional(with_optional(always, optional), carried)
}

fn loss(plan: &Plan, entry: &LossPlan) -> Value {
    let (kind, lossy, keys) = match &entry.loses {
        Loses::Scripted { flows, segments, transmission } => {
            let flows = flows.iter().map(|&flow| plan.flows[flow].name.as_str()).collect::<Value>();
            let keys =
                json!({ "flows": flows, "segments": segments, "transmission": transmission });
            (LossKind::Scripted, None, keys)
        }
        Loses::Independent { lossy, probability } => {
            (LossKind::Independent, Some(lossy), json!({ "probability": probability }))
        }
        Loses::Periodic { lossy, period } => {
            (LossKind::Periodic, Some(lossy), json!({ "period_packets": period }))
        }
        Loses::GilbertElliott { lossy, turns, loses } => {
            let keys = json!({ "good_to_bad": turns[0], "bad_to_good": turns[1],
                "loss_in_good": loses[0], "loss_in_bad": loses[1] });
            (LossKind::GilbertElliott, Some(lossy), keys)
        }
        Loses::Corruption { lossy, spoils } => {
            let keys = match spoils {
                Spoils::Packets(probability) => json!({ "probability": probability }),
                Spoils::Bits(rate) => json!({ "bit_error_rate": rate }),
            };
            (LossKind::Corruption, Some(lossy), keys)
        }
        Loses::Duplication { lossy, probability } => {
            (LossKind::Duplication, Some(lossy), json!({ "probability": probability }))
        }
    };
    let always = json!({ "port": plan.port_name(entry.hop), "kind": kind });
    with_optional(with_optional(always, json!({ "packets": lossy })), keys)
}

fn names(plan: &Plan, nodes: &[usize]) -> Value {
    nodes.iter().map(|&node| plan.nodes[node].as_str()).collect()
}

fn ports(plan: &Plan, hops: &[DirectedLink]) -> Value {
    hops.iter().map(|&hop| plan.port_name(hop)).collect()
}

/// Returns a queue limit under a key with its unit.
fn queue_limit(limit: QueueLimit) -> (&'static str, Value) {
    match limit {
        QueueLimit::Packets(packets) => ("queue_packets", json!(packets)),
        QueueLimit::Bytes(bytes) => ("queue_bytes", json!(bytes.count())),
        QueueLimit::Unlimited => ("queue_packets", Value::Null),
    }
}

fn port(port: &PortPlan) -> Value {
    let (key, queue) = queue_limit(port.queue);
    let always = json!({
        "rate_bps": port.rate.bps(),
        "delay_ps": spread(&port.delay),
        "jitter_ps": spread(&port.jitter),
        key: queue,
    });
    let discipline = port.is_managed().then(|| discipline(&port.discipline));
    with_optional(always, json!({ "overtaking": port.overtaking, "discipline": discipline }))
}

/// Returns a queue discipline with the parameters that differ from their defaults.
fn discipline(discipline: &Discipline) -> Value {
    let kind = discipline.kind();
    let usual = Discipline::of(kind);
    let mut value = json!({ "kind": kind.name() });
    for parameter in kind.parameters() {
        let setting = discipline.get(parameter.name);
        if setting != usual.get(parameter.name) {
            let (unit, set) = match setting {
                Some(Setting::Time(time)) => ("_ps", json!(time.as_ps())),
                Some(Setting::Number(number)) => ("", json!(number)),
                Some(Setting::Count(count)) => ("", json!(count)),
                Some(Setting::Size(size)) => ("_bytes", json!(size.count())),
                Some(Setting::Length(Length::Packets(count))) => ("_packets", json!(count)),
                Some(Setting::Length(Length::Bytes(bytes))) => ("_bytes", json!(bytes)),
                Some(Setting::Length(Length::Unlimited)) | None => ("", Value::Null),
                Some(Setting::Flag(flag)) => ("", json!(flag)),
            };
            value[format!("{}{unit}", parameter.name)] = set;
        }
    }
    value
}

/// Returns a number of picoseconds, or a distribution with its parameters.
fn spread(spread: &Spread) -> Value {
    let ps = Duration::as_ps;
    match spread {
        Spread::Fixed(value) => json!(value.as_ps()),
        Spread::Uniform { low, high } => json!({ "uniform": [low.as_ps(), high.as_ps()] }),
        Spread::Choice(values) => {
            json!({ "choice": values.iter().copied().map(ps).collect::<Vec<_>>() })
        }
        Spread::Cut { shape, mean, most } => {
            let mut inner = json!({ "mean": mean.as_ps() });
            if let Some(most) = most {
                inner["most"] = json!(most.as_ps());
            }
            let name = match shape {
                Shape::Exponential => "exponential",
                Shape::Normal(deviation) => {
                    inner["deviation"] = json!(deviation.as_ps());
                    "normal"
                }
                Shape::Lognormal(deviation) => {
                    inner["deviation"] = json!(deviation.as_ps());
                    "lognormal"
                }
                Shape::Pareto(shape) => {
                    inner["shape"] = json!(shape);
                    "pareto"
                }
            };
            json!({ name: inner })
        }
    }
}

fn observation(plan: &Plan, entry: &ObservePlan) -> Value {
    let keys = entry.kind.keys();
    let mut always = json!({ "name": entry.name, "kind": entry.kind });
    if keys.groups.is_some() {
        always["groups"] = entry.groups.iter().map(|&group| json!(plan.groups[group])).collect();
    }
    if let Some(links) = keys.links {
        always[links.directions()] = json!(entry.ports.as_ref().map(|hops| ports(plan, hops)));
    }
    let optional = json!({
        "after_ps": keys.after.then_some(entry.after.as_ps()),
        "until_ps": entry.until.map(Duration::as_ps),
        "interval_ps": entry.interval.map(Duration::as_ps),
    });
    with_optional(always, optional)
}
