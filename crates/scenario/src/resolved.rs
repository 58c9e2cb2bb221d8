//! A plan as canonical JSON: every default filled in, base units with their names in the keys.
//!
//! The text is what identifies a world: equal worlds written in the same order give equal bytes. Keys
//! are sorted because `serde_json` keeps objects in a `BTreeMap`.

mod planned;

use std::collections::{BTreeMap, BTreeSet};

use optcp_units::{Codepoint, Duration, Time};
use serde_json::{Map, Value, json};

use optcp_net::{Discipline, LossKind, QueueLimit as Length, Setting, Spoils};
use optcp_optical::burst::Assembly;
use optcp_traffic::{FractalRenewal, PacketSize, ProcessKind, SizesKind, Volume};

use crate::plan::{
    BundlePlan, BurstsPlan, Carries, DetectionPlan, DirectedLink, DrawnPlan, FailurePlan, FlowPlan,
    ForwardingPlan, LinkPlan, Loses, LossPlan, ObservePlan, Plan, PortPlan, ProcessPlan,
    ProtectionPlan, QueueLimit, RoutingPlan, Shape, Spread, TrafficPlan,
};
use crate::schema::{CodepointKind, FailedPackets, resolved_tcp};

/// The canonical text.
pub(crate) fn json(plan: &Plan) -> String {
    let tcp: Map<String, Value> =
        plan.tcp.iter().map(|(name, config)| (name.clone(), resolved_tcp(config))).collect();
    let mut resolved = json!({
        "title": plan.title,
        "stop_ps": plan.stop.as_ps(),
        "nodes": plan.nodes,
        "links": plan.links.iter().map(|entry| link(plan, entry)).collect::<Vec<_>>(),
        "flows": (0..plan.groups.len()).filter(|&i| traffic_of(plan, i).is_none())
            .flat_map(|i| entries(plan, i)).collect::<Vec<_>>(),
        "tcp": tcp,
        "failures": plan.failures.iter().enumerate().map(|(i, one)| failure(plan, i, one))
            .collect::<Vec<_>>(),
        "protection": plan.protections.iter().map(|entry| protection(plan, entry))
            .collect::<Vec<_>>(),
        "losses": plan.losses.iter().map(|entry| loss(plan, entry)).collect::<Vec<_>>(),
        "observe": plan.observe.iter().map(|entry| observation(plan, entry)).collect::<Vec<_>>(),
    });
    // Only where they are used: the digests of worlds without them hold.
    if !plan.bundles.is_empty() {
        resolved["bundles"] = plan.bundles.iter().map(|one| bundle(plan, one)).collect();
    }
    if plan.end_with_flows {
        resolved["end_with_flows"] = json!(true);
    }
    if let Some(window) = plan.measure {
        resolved["measure"] =
            json!({ "after_ps": window.after.as_ps(), "until_ps": window.until.as_ps() });
    }
    if let Some(core) = &plan.core {
        resolved["core"] = json!({
            "scheduling": core.scheduling.name(),
            "conversion": core.conversion.name(),
            "processing_ps": core.processing.as_ps(),
        });
    }
    if !plan.bursts.is_empty() {
        resolved["bursts"] = plan.bursts.iter().map(|one| bursts(plan, one)).collect();
    }
    if let Some(entry) = &plan.routing {
        resolved["routing"] = routing(plan, entry);
    }
    if let Some(written) = &plan.forwarding {
        resolved["forwarding"] = forwarding(plan, written);
    }
    if !plan.traffic.is_empty() {
        let entries = plan.traffic.iter().map(|entry| traffic(plan, entry));
        resolved["traffic"] = entries.collect();
    }
    let Value::Object(resolved) = resolved else { unreachable!("it is a table") };
    let mut texts: BTreeMap<String, String> =
        resolved.into_iter().map(|(key, value)| (key, value.to_string())).collect();
    // Step by step: as values, those of hundreds of thousands of changes take hundreds of megabytes.
    if !plan.schedules.is_empty() {
        let schedules = plan.schedules.iter().map(|one| planned::schedule(plan, one));
        texts.insert("schedules".to_owned(), planned::list(schedules));
    }
    let entries = texts.into_iter().map(|(key, text)| format!("{}:{text}", json!(key)));
    format!("{{{}}}", entries.collect::<Vec<_>>().join(","))
}

/// The traffic of a group, if it is one of sources of datagrams.
fn traffic_of(plan: &Plan, group: usize) -> Option<&TrafficPlan> {
    plan.traffic.iter().find(|traffic| traffic.group == group)
}

fn traffic(plan: &Plan, entry: &TrafficPlan) -> Value {
    let mut map = group(plan, entry.group, |_| true);
    map.remove("size_segments");
    map.insert("packets_per_s".into(), json!(entry.rate.per_second()));
    map.insert("until_ps".into(), json!(entry.until.as_ps()));
    if entry.codepoint != Codepoint::NotEct {
        map.insert("ecn".into(), json!(CodepointKind::of(entry.codepoint).name()));
    }
    map.insert(
        "sizes".into(),
        match entry.sizes {
            PacketSize::Fixed(bytes) => json!({ "fixed_bytes": bytes }),
            PacketSize::Exponential(sizes) => {
                let [mean, smallest, largest] = sizes.parameters();
                json!({ "kind": SizesKind::Exponential.name(), "mean_bytes": mean,
                        "smallest_bytes": smallest, "largest_bytes": largest })
            }
        },
    );
    map.insert(
        "process".into(),
        match entry.process {
            ProcessPlan::Constant => json!({ "kind": ProcessKind::Constant.name() }),
            ProcessPlan::Poisson => json!({ "kind": ProcessKind::Poisson.name() }),
            ProcessPlan::OnOff { superposed, times: [on, off], hurst } => json!({
                "kind": ProcessKind::OnOff.name(), "superposed": superposed,
                "on_ps": on.as_ps(), "off_ps": off.as_ps(), "hurst": hurst,
            }),
            ProcessPlan::FractalRenewal { shape, hurst } => {
                let superposed = FractalRenewal::superposed(entry.rate, hurst, shape);
                let onset = FractalRenewal::onset_of(entry.rate, hurst, superposed);
                json!({ "kind": ProcessKind::FractalRenewal.name(), "superposed": superposed,
                        "onset_ps": onset.as_ps(), "hurst": hurst })
            }
            ProcessPlan::FractionalNoise { slot, dispersion, hurst } => json!({
                "kind": ProcessKind::FractionalNoise.name(), "slot_ps": slot.as_ps(),
                "dispersion": dispersion, "hurst": hurst,
            }),
        },
    );
    Value::Object(map)
}

fn volume(volume: &Volume) -> Value {
    match volume {
        Volume::Fixed(bytes) => json!({ "fixed_bytes": bytes }),
        Volume::Exponential(mean) => {
            json!({ "kind": SizesKind::Exponential.name(), "mean_bytes": mean })
        }
        Volume::Pareto(pareto) => {
            let [shape, smallest, largest] = pareto.parameters();
            json!({ "kind": SizesKind::Pareto.name(), "shape": shape, "smallest_bytes": smallest,
                    "largest_bytes": largest, "mean_bytes": volume.mean() })
        }
        Volume::Web(web) => json!({ "kind": SizesKind::WebLike.name(),
            "largest_bytes": web.largest(), "mean_bytes": volume.mean() }),
        Volume::Measured(workload) => {
            let mut value = json!({ "kind": workload.kind().name(),
                "largest_bytes": workload.largest(), "mean_bytes": volume.mean() });
            if workload.kind() == SizesKind::Points {
                value["points_bytes_share"] = json!(workload.points()[1..]);
            }
            value
        }
    }
}

fn bundle(plan: &Plan, bundle: &BundlePlan) -> Value {
    let mut value = json!({
        "name": bundle.name,
        "ports": ports(plan, &bundle.members),
        "selection": bundle.selection.name(),
        "detection_ps": bundle.detection.as_ps(),
    });
    // Without routing the routes have the numbers that count.
    if plan.routing.is_some() && bundle.selection.numbers_destinations() {
        value["numbers"] = json!(plan.numbers);
    }
    value
}

fn bursts(plan: &Plan, bursts: &BurstsPlan) -> Value {
    let (timer, size) = match bursts.assembly {
        Assembly::Timer(timer) => (Some(timer), None),
        Assembly::Size(size) => (None, Some(size)),
        Assembly::Hybrid(hybrid) => (Some(hybrid.timer), Some(hybrid.size)),
    };
    let link = &plan.links[bursts.link];
    let mut value = json!({
        "link": link.name,
        "assembly": bursts.assembly.kind().name(),
        "timer_ps": timer.map(|timer| timer.period.as_ps()),
        "size_bytes": size.map(|size| size.threshold.count()),
        "offset_ps": bursts.offset.as_ps(),
    });
    if link.over.is_empty() {
        let [there, back] = bursts.probabilities;
        value["loss_probability"] = json!(there);
        if there.to_bits() != back.to_bits() {
            value["reverse"] = json!({ "loss_probability": back });
        }
    } else {
        value["fibres"] = ports(plan, &link.over);
    }
    value
}

/// The bundles on the way of a flow: the hop that each stands for, and the number to which it leads data
/// and ACKs.
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

/// By node and destination: from when on packets go where.
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
    let mut routing = json!({
        "costs": plan.links.iter().map(|link| link.costs).collect::<Vec<_>>(),
        "repair": entry.mechanism.name(),
        "protect": entry.protect.name(),
        "detection_ps": entry.detection.as_ps(),
        "detection_up_ps": entry.detection_up.as_ps(),
        "hold_down_ps": entry.hold_down.as_ps(),
        "converge": entry.converge.name(),
        "flooding_ps": entry.flooding.as_ps(),
        "spf_ps": entry.spf.as_ps(),
        "update_ps": spread(&entry.update),
        "ttl": entry.ttl.name(),
    });
    // Later than the others: digests of worlds without it hold.
    if entry.hold > Duration::ZERO {
        routing["hold_ps"] = json!(entry.hold.as_ps());
    }
    if let Some(hashing) = entry.ecmp {
        routing["ecmp"] = json!(hashing.name());
    }
    if let Some(seed) = entry.ecmp_seed {
        routing["ecmp_seed"] = json!(seed);
    }
    routing
}

fn failure(plan: &Plan, place: usize, failure: &FailurePlan) -> Value {
    let mut value = json!({
        "link": plan.links[failure.link].name,
        "at_ps": failure.at.as_ps(),
        "repair_ps": failure.repair.map(Time::as_ps),
    });
    if let Some(direction) = [0, 1].into_iter().find(|&way| !failure.directions[1 - way]) {
        value["port"] = json!(plan.port_name((failure.link, direction)));
    }
    if failure.later != Spread::ZERO {
        value["later_ps"] = spread(&failure.later);
        // By its entry it is drawn, and together with the others of that entry.
        if failure.entry != place {
            value["entry"] = json!(failure.entry);
        }
    }
    if let Some([works, fails]) = failure.process {
        value["mtbf_ps"] = json!(works.as_ps());
        value["mttr_ps"] = json!(fails.as_ps());
        value["entry"] = json!(failure.entry);
    }
    if failure.kept {
        value["packets"] = json!(FailedPackets::Kept.name());
    }
    value
}

fn link(plan: &Plan, link: &LinkPlan) -> Value {
    let mut value = json!({
        "name": link.name,
        "ends": names(plan, &link.ends),
        "forward": port(&link.directions[0]),
        "reverse": port(&link.directions[1]),
        "shared_delay": link.shared_delay,
    });
    if let Some(wavelengths) = link.wavelengths {
        value["wavelengths"] = json!(wavelengths);
    }
    if !link.over.is_empty() {
        value["circuit_over"] = ports(plan, &link.over);
    }
    if let Some(voq) = &link.voq {
        planned::voq(plan, voq, &mut value);
    }
    value
}

fn protection(plan: &Plan, entry: &ProtectionPlan) -> Value {
    let links = entry.links.iter().map(|&link| plan.links[link].name.as_str());
    let detection = match entry.detection {
        DetectionPlan::After([data, ack]) => json!({
            "switch_delay": { "data_ps": data.as_ps(), "ack_ps": ack.as_ps() }
        }),
        DetectionPlan::Hello { interval, multiplier } => json!({
            "hello": { "interval_ps": interval.as_ps(), "multiplier": multiplier }
        }),
    };
    let mut protection = json!({
        "flows": entry.group.map(|group| plan.groups[group].as_str()),
        "scheme": entry.scheme.name(),
        "links": links.collect::<Vec<_>>(),
        "backup": names(plan, &entry.backup),
        "ports": ports(plan, &entry.hops),
        "circuits": entry.circuits.values().map(|&link| plan.links[link].name.as_str())
            .collect::<Vec<_>>(),
        "detection": detection,
        "hold_off_ps": entry.hold_off.as_ps(),
        "signal_processing_ps": entry.signal_processing.as_ps(),
        "computation_ps": entry.computation.as_ps(),
        "revert": entry.revert.name(),
        "wait_to_restore_ps": entry.wait_to_restore.as_ps(),
    });
    // Where a backup was found for them alone.
    if entry.flows.iter().any(|&flow| plan.flows[flow].lsp.is_some()) {
        let name = |&flow: &usize| plan.flows[flow].name.as_str();
        protection["lsps"] = entry.flows.iter().map(name).collect();
    }
    protection
}

/// The flows of a group, an object for each entry of the file that has some.
fn entries(plan: &Plan, index: usize) -> Vec<Value> {
    let of_group = plan.flows.iter().filter(|flow| flow.group == index);
    let entries: BTreeSet<usize> = of_group.map(|flow| flow.entry).collect();
    let entry = |entry: &usize| Value::Object(group(plan, index, |flow| flow.entry == *entry));
    entries.iter().map(entry).collect()
}

/// Flows of a group: what they share, and each route once with its number of flows.
fn group(plan: &Plan, index: usize, among: impl Fn(&FlowPlan) -> bool) -> Map<String, Value> {
    let of_group = plan.flows.iter().filter(|flow| flow.group == index);
    let flows: Vec<&FlowPlan> = of_group.filter(|flow| among(flow)).collect();
    let routes: Vec<Value> = flows
        .chunk_by(|a, b| a.hops == b.hops && a.bundles == b.bundles)
        .map(|same| {
            let FlowPlan { path, hops, .. } = same[0];
            let mut route = json!({
                "path": names(plan, path),
                "ports": ports(plan, hops),
                "flows": same.iter().map(|flow| &flow.name).collect::<Vec<_>>(),
            });
            if !same[0].bundles.is_empty() {
                route["bundles"] = passed_bundles(plan, same[0]);
            }
            if same[0].routed {
                route["routed"] = json!(true);
            }
            route
        })
        .collect();
    let mut map = Map::new();
    map.insert("group".into(), json!(plan.groups[index]));
    if plan.classes[index] > 0 {
        map.insert("class".into(), json!(plan.classes[index]));
    }
    map.insert("routes".into(), json!(routes));
    if let Some(first) = flows.first() {
        if let Some(tcp) = first.tcp {
            map.insert("tcp".into(), json!(plan.tcp[tcp].0));
        }
        map.insert("size_segments".into(), json!(first.size));
        if !first.writes.is_empty() {
            let writes = first.writes.iter().map(|(after, n)| json!([after.as_ps(), n]));
            map.insert("written_later_ps_segments".into(), writes.collect());
        }
        map.insert("start_ps".into(), spread(&first.start));
        if let Carries::Arrivals(arrivals) = first.carries {
            let arrivals = &plan.arrivals[arrivals];
            map.insert("arrivals_per_s".into(), json!(arrivals.rate.per_second()));
            map.insert("until_ps".into(), json!(arrivals.until.as_ps()));
            map.insert("sizes".into(), volume(&arrivals.volume));
            map.remove("size_segments");
            if !arrivals.weights.is_empty() {
                map.insert("weights".into(), json!(arrivals.weights));
            }
        }
        if let Carries::Drawn(drawn) = first.carries {
            let DrawnPlan { count, per_source, weights, .. } = &plan.drawn[drawn];
            let drawn = json!({ "count": count, "per_source": per_source, "weights": weights });
            map.insert("drawn".into(), drawn);
        }
    }
    map
}

fn loss(plan: &Plan, entry: &LossPlan) -> Value {
    let port = plan.port_name(entry.hop);
    match &entry.loses {
        // Without a kind: the digests of worlds that were written before there were others hold.
        Loses::Scripted { flows, segments, transmission } => json!({
            "port": port,
            "flows": flows.iter().map(|&flow| &plan.flows[flow].name).collect::<Vec<_>>(),
            "segments": segments,
            "transmission": transmission,
        }),
        Loses::Independent { lossy, probability } => json!({
            "port": port,
            "kind": LossKind::Independent.name(),
            "packets": lossy.name(),
            "probability": probability,
        }),
        Loses::Periodic { lossy, period } => json!({
            "port": port,
            "kind": LossKind::Periodic.name(),
            "packets": lossy.name(),
            "period_packets": period,
        }),
        Loses::GilbertElliott { lossy, turns, loses } => json!({
            "port": port,
            "kind": LossKind::GilbertElliott.name(),
            "packets": lossy.name(),
            "good_to_bad": turns[0],
            "bad_to_good": turns[1],
            "loss_in_good": loses[0],
            "loss_in_bad": loses[1],
        }),
        Loses::Corruption { lossy, spoils } => {
            let (key, probability) = match spoils {
                Spoils::Packets(probability) => ("probability", probability),
                Spoils::Bits(rate) => ("bit_error_rate", rate),
            };
            json!({
                "port": port,
                "kind": LossKind::Corruption.name(),
                "packets": lossy.name(),
                key: probability,
            })
        }
        Loses::Duplication { lossy, probability } => json!({
            "port": port,
            "kind": LossKind::Duplication.name(),
            "packets": lossy.name(),
            "probability": probability,
        }),
    }
}

fn names(plan: &Plan, nodes: &[usize]) -> Value {
    nodes.iter().map(|&node| plan.nodes[node].as_str()).collect()
}

fn ports(plan: &Plan, hops: &[DirectedLink]) -> Value {
    hops.iter().map(|&hop| plan.port_name(hop)).collect()
}

/// What a queue holds, under a key with its unit.
fn queue_limit(limit: QueueLimit) -> (&'static str, Value) {
    match limit {
        QueueLimit::Packets(packets) => ("queue_packets", json!(packets)),
        QueueLimit::Bytes(bytes) => ("queue_bytes", json!(bytes.count())),
        QueueLimit::Unlimited => ("queue_packets", Value::Null),
    }
}

fn port(port: &PortPlan) -> Value {
    let (key, queue) = queue_limit(port.queue);
    let jitter = match &port.jitter {
        // As it was written while there was nothing else.
        Spread::Uniform { low: Duration::ZERO, high } => json!(high.as_ps()),
        jitter => spread(jitter),
    };
    let mut value = json!({
        "rate_bps": port.rate.bps(),
        "delay_ps": spread(&port.delay),
        "jitter_ps": jitter,
        key: queue,
    });
    if port.overtaking {
        value["overtaking"] = json!(true);
    }
    if port.is_managed() {
        value["discipline"] = discipline(&port.discipline);
    }
    value
}

/// A queue discipline with those of its parameters that are not what they are unless somebody says so.
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

/// A number of picoseconds, or a distribution with what it is made of.
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
    let mut observation = json!({ "name": entry.name, "kind": entry.kind.name() });
    if keys.groups.is_some() {
        observation["groups"] =
            entry.groups.iter().map(|&group| json!(plan.groups[group])).collect();
    }
    if let Some(links) = keys.links {
        let hops = entry.ports.as_ref().map(|hops| ports(plan, hops));
        observation[links.directions()] = hops.unwrap_or(Value::Null);
    }
    // Kinds that take an end too, took neither once: digests from then stay.
    if keys.after && (!keys.until || entry.after > Duration::ZERO) {
        observation["after_ps"] = json!(entry.after.as_ps());
    }
    if let Some(until) = entry.until {
        observation["until_ps"] = json!(until.as_ps());
    }
    if let Some(interval) = entry.interval {
        observation["interval_ps"] = json!(interval.as_ps());
    }
    observation
}
