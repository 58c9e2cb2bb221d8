//! Conversion of a well-formed file into a plan: names become indices, groups become their members, and
//! impossible scenarios are rejected. As many problems as possible are reported at once.

mod amounts;
mod applications;
mod arrivals;
mod assembly;
mod backup_scope;
mod backups;
mod bounds;
mod buckets;
mod buffers;
mod bundles;
mod burst_routes;
mod bursts;
mod circuits;
mod draft;
mod failures;
mod fibres;
mod flow_names;
mod flows;
mod forwarding;
mod generated;
mod link_values;
mod links;
mod lists;
mod losses;
mod mahimahi;
mod measure;
mod meshes;
mod multipath;
mod network;
mod observe;
mod optical;
mod outages;
mod p_cycle;
mod pairs;
mod places;
mod protection;
mod protection_keys;
mod queue_limits;
mod queue_room;
mod queues;
mod risks;
mod route;
mod routing;
mod schedules;
mod starts;
mod switch_times;
mod switches;
mod tcp;
mod topology;
mod traced;
mod traffic;
mod two_hops;
mod voqs;
mod ways;

use optcp_units::Time;

use crate::library::Library;
use crate::plan::{Carries, Plan};
use crate::problem::Problems;
use crate::schema::File;
use crate::tree::place;

use draft::Draft;
use network::Network;
pub use pairs::pick;
pub use places::great_circle_km;
pub use tcp::TcpChoices;

/// Maximum `stop`: result tables store times as signed 64-bit picoseconds.
const LATEST_STOP: Time = Time::from_ps(i64::MAX.cast_unsigned());

/// Creates the plan of a file; `None` if there are problems.
pub(crate) fn plan(file: &File, library: &Library, problems: &mut Problems<'_>) -> Option<Plan> {
    let mut plan = Draft {
        stop: Time::ZERO + file.stop.0,
        end_with_flows: file.end_with_flows,
        ..Draft::default()
    };
    if plan.stop == Time::ZERO {
        problems.at(place!["stop"], "run length is zero").label("must be above zero");
    } else if plan.stop > LATEST_STOP {
        problems.at(place!["stop"], "run is too long").label("at most 106 days");
    }
    let mut network = Network::default();
    topology::topology(file, library, &mut network, problems);
    network.nodes(file, problems);
    network.links(file, problems);
    optical::optical(file, library, &mut plan, &mut network, problems);
    network.voqs(file, problems);
    network.bundles(file, problems);
    fibres::core(file, &mut plan, &mut network, problems);
    tcp::tables(file, library, &mut plan, problems);
    let routes = routing::routing(file, &mut plan, &mut network, problems);
    forwarding::forwarding(file, library, &mut plan, &mut network, problems);
    risks::risks(file, &mut plan, &mut network, problems);
    flows::flows(file, library, &mut plan, &mut network, routes.as_ref(), problems);
    traffic::traffic(file, library, &mut plan, &mut network, routes.as_ref(), problems);
    queue_limits::resolve(&plan, &mut network, problems);
    failures::failures(file, &mut plan, &mut network, problems);
    schedules::schedules(file, library, &mut plan, &mut network, problems);
    optical::scheduled(&plan, &network, problems);
    protection::protections(file, &mut plan, &mut network, problems);
    losses::losses(file, &mut plan, &mut network, problems);
    buckets::buckets(file, &mut plan, &mut network, problems);
    bursts::bursts(file, &mut plan, &mut network, problems);
    switches::switches(file, &mut plan, &mut network, problems);
    observe::observe(file, &mut plan, &mut network, problems);
    measure::measure(file, &mut plan, problems);
    if plan.end_with_flows {
        early_end(&plan, problems);
    }
    problems.found.is_empty().then(|| plan.finished(&file.title, network))
}

/// Reports conflicts with `end_with_flows`, for which the end of the run is not known in advance.
fn early_end(plan: &Draft, problems: &mut Problems<'_>) {
    let place = place!["end_with_flows"];
    let flows = plan.flows.iter().filter(|flow| flow.carries == Carries::Flow);
    let has_end = flows.filter(|flow| flow.size.is_some() || flow.application.is_some()).count()
        > 0
        || plan.connections.iter().any(|connection| connection.size.is_some());
    if !has_end {
        problems.at(place, "no flow of finite size").label("needs flows with `size`");
    }
    if !plan.arrivals.is_empty() {
        problems
            .at(place, "flows with random arrivals")
            .label("needs flows that are known before the run");
    }
    for (i, observed) in plan.observe.iter().enumerate() {
        if observed.kind.keys().interval {
            let message = format!("`{}` has intervals up to `stop`", observed.name);
            problems.at(place!["observe", i], message).label("not possible with `end_with_flows`");
        }
    }
}
