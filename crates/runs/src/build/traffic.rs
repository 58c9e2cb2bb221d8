//! Sources of datagrams with their random streams.

use optcp_des::Streams;
use optcp_engine::DatagramSpec;
use optcp_net::Paths;
use optcp_traffic::{Constant, FractalRenewal, FractionalNoise, OnOff, Poisson, Process};
use optcp_units::Time;

use super::bundles::Entrances;
use super::places::draw;
use super::routing::Entries;
use optcp_scenario::plan::{Carries, FlowPlan, Plan, ProcessPlan, TrafficPlan};

/// Creates the sources of a plan in the order of their numbers. Calls `go_on` before each, which may take a
/// Fourier transform; `None` if cancelled.
pub(super) fn datagrams<'p>(
    plan: &'p Plan,
    streams: Streams,
    paths: &mut Paths,
    entrances: &mut Entrances,
    tables: Option<&Entries>,
    go_on: &mut dyn FnMut() -> bool,
) -> Option<Vec<DatagramSpec>> {
    let spec = |(flow, traffic): (&FlowPlan, usize)| {
        if !go_on() {
            return None;
        }
        let traffic = &plan.traffic[traffic];
        let data = match tables.filter(|_| flow.routed) {
            Some(tables) => tables.at(flow.path[0], flow.path[flow.path.len() - 1]),
            None => {
                let [data, _] = entrances.entries(plan, flow, paths);
                data
            }
        };
        let start = draw(&flow.start, streams, || format!("traffic/{}/start", flow.name));
        let start = Time::ZERO + start;
        Some(DatagramSpec {
            process: process(traffic, start, &flow.name, streams),
            sizes: traffic.sizes,
            stream: streams.stream(&format!("traffic/{}/sizes", flow.name)),
            start,
            until: traffic.until,
            bytes: flow.datagram_bytes,
            data,
            codepoint: traffic.codepoint,
        })
    };
    let source = |flow: &'p FlowPlan| match flow.carries {
        Carries::Datagrams(traffic) => Some((flow, traffic)),
        _ => None,
    };
    plan.flows.iter().filter_map(source).map(spec).collect()
}

fn process(traffic: &TrafficPlan, start: Time, name: &str, streams: Streams) -> Process {
    let rate = traffic.rate;
    let stream = streams.stream(&format!("traffic/{name}/arrivals"));
    match traffic.process {
        ProcessPlan::Constant => Process::Constant(Constant::new(rate)),
        ProcessPlan::Poisson => Process::Poisson(Poisson::new(rate, stream)),
        ProcessPlan::OnOff { superposed, times, hurst } => {
            Process::OnOff(OnOff::new(rate, superposed, times, hurst, stream))
        }
        ProcessPlan::FractalRenewal { shape, hurst } => {
            Process::FractalRenewal(FractalRenewal::new(rate, hurst, shape, stream))
        }
        ProcessPlan::FractionalNoise { slot, dispersion, hurst } => {
            let span = traffic.until.saturating_since(start);
            let noise = FractionalNoise::new(rate, hurst, (slot, dispersion), span, stream);
            Process::FractionalNoise(noise)
        }
    }
}
