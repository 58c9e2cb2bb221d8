//! Slot by slot: against a separate program, and against published limits and closed forms.

use std::collections::VecDeque;

use optcp_des::{Stream, Streams};
use optcp_units::{Duration, Time};

use super::{Crossbar, CrossbarConfig};
use crate::{DropReason, FlowId, Label, Packet, PortId, QueueLimit};

const CELL: u16 = 64;
const SLOT_PS: u64 = 1000;

fn config(ports: u32, fifo: bool, iterations: u32) -> CrossbarConfig {
    let numbers = |from: u32| (from..from + ports).map(PortId::new).collect();
    CrossbarConfig {
        inputs: numbers(0),
        outputs: numbers(100),
        fifo,
        iterations,
        cell: CELL.into(),
        slot: Duration::from_ps(SLOT_PS),
        limit: QueueLimit::Unlimited,
    }
}

fn packet(seq: u32, size: u16) -> Packet {
    Packet::data(FlowId::new(0), Label(0), seq, size, 0)
}

fn input(number: usize) -> PortId {
    PortId::at(number)
}

fn output(number: usize) -> PortId {
    PortId::at(100 + number)
}

fn stream(name: &str) -> Stream {
    Streams::new(1).stream(name)
}

/// Returns, by input, the output of a cell that arrives in a slot with probability `permille`, uniform over outputs.
fn arrivals(stream: &mut Stream, ports: u64, permille: u64) -> Vec<Option<usize>> {
    let mut draw = |_| {
        let arrives = stream.below(1000) < permille;
        let to = usize::try_from(stream.below(ports)).expect("a port");
        arrives.then_some(to)
    };
    (0..ports).map(&mut draw).collect()
}

/// Lets packets arrive shortly before the slots that `feed` fills, and returns what crosses in each slot.
fn run(
    config: CrossbarConfig,
    slots: u64,
    mut feed: impl FnMut(u64) -> Vec<(usize, usize, Packet)>,
) -> Vec<Vec<(PortId, Packet)>> {
    let mut crossbar = Crossbar::new(config);
    let mut next = None;
    let mut found = Vec::new();
    for slot in 0..slots {
        let now = Time::from_ps((slot + 1) * SLOT_PS);
        for (from, to, packet) in feed(slot) {
            let early = Time::from_ps(slot * SLOT_PS + 1);
            let begins = crossbar.admit(early, input(from), output(to), packet);
            next = begins.expect("unlimited").or(next);
        }
        let mut crossed = Vec::new();
        if next == Some(now) {
            next = crossbar.advance(now, &mut crossed);
        }
        found.push(crossed);
    }
    found
}

/// iSLIP by its three steps, with a matrix of cells and pointers that are counted modulo the ports.
struct ByHand {
    ports: usize,
    iterations: usize,
    queues: Vec<Vec<VecDeque<(Packet, u64)>>>,
    grant: Vec<usize>,
    accept: Vec<usize>,
}

impl ByHand {
    fn slot(&mut self) -> Vec<(usize, Packet)> {
        let ports = self.ports;
        let (mut to_input, mut to_output) = (vec![None; ports], vec![None; ports]);
        for iteration in 0..self.iterations {
            let mut grants = vec![None; ports];
            for to in (0..ports).filter(|&to| to_output[to].is_none()) {
                let mut order = (0..ports).map(|step| (self.grant[to] + step) % ports);
                let wants =
                    |from: &usize| to_input[*from].is_none() && !self.queues[*from][to].is_empty();
                grants[to] = order.find(wants);
            }
            for (from, matched) in to_input.iter_mut().enumerate() {
                if matched.is_some() {
                    continue;
                }
                let mut order = (0..ports).map(|step| (self.accept[from] + step) % ports);
                let Some(to) = order.find(|&to| grants[to] == Some(from)) else { continue };
                *matched = Some(to);
                to_output[to] = Some(from);
                if iteration == 0 {
                    self.grant[to] = (from + 1) % ports;
                    self.accept[from] = (to + 1) % ports;
                }
            }
        }
        let mut crossed = Vec::new();
        for (from, to) in to_input.into_iter().enumerate().filter_map(|(i, to)| Some((i, to?))) {
            let queue = &mut self.queues[from][to];
            queue[0].1 -= 1;
            if queue[0].1 == 0 {
                crossed.push((to, queue.pop_front().expect("a packet").0));
            }
        }
        crossed.sort_by_key(|&(to, _)| to);
        crossed
    }
}

#[test]
fn cells_cross_as_in_a_program_that_follows_the_paper() {
    for (ports, iterations, permille) in
        [(2, 1, 900), (3, 1, 500), (4, 2, 600), (5, 4, 450), (7, 3, 300)]
    {
        let mut by_hand = ByHand {
            ports,
            iterations,
            queues: vec![vec![VecDeque::new(); ports]; ports],
            grant: vec![0; ports],
            accept: vec![0; ports],
        };
        let mut stream = stream("cells");
        let mut seq = 0;
        let mut expected = Vec::new();
        let of = u32::try_from(ports).expect("few");
        let crossed = run(config(of, false, u32::try_from(iterations).expect("few")), 3000, |_| {
            let arrived = arrivals(&mut stream, ports as u64, permille);
            let sizes = [48, 64, 65, 150];
            let fed: Vec<_> = (arrived.into_iter().enumerate())
                .filter_map(|(from, to)| {
                    let size = sizes[usize::try_from(stream.below(4)).expect("few")];
                    seq += 1;
                    Some((from, to?, packet(seq, size)))
                })
                .collect();
            for &(from, to, packet) in &fed {
                let cells = [1, 1, 2, 3]
                    [sizes.iter().position(|&size| size == packet.size()).expect("a size")];
                by_hand.queues[from][to].push_back((packet, cells));
            }
            expected.push(by_hand.slot());
            fed
        });
        // A cell that crosses in a slot has crossed when the next one begins.
        for (slot, expected) in expected.iter().enumerate().take(2999) {
            let mut seen: Vec<_> =
                crossed[slot + 1].iter().map(|&(to, packet)| (to.index() - 100, packet)).collect();
            seen.sort_by_key(|&(to, _)| to);
            assert_eq!(&seen, expected, "{ports} ports, slot {slot}");
        }
        assert!(expected.iter().map(Vec::len).sum::<usize>() > 2000);
    }
}

/// Returns the cells that cross per slot and output when every input always has cells for random outputs.
fn saturated(ports: u32, fifo: bool) -> f64 {
    let (slots, warm_up) = (20_000_u64, 2000);
    let mut stream = stream("saturated");
    let crossed = run(config(ports, fifo, 1), slots, |slot| {
        // A backlog at the start, and one more cell per slot than can leave.
        let cells = if slot == 0 { 200 } else { 1 };
        let mut fed = Vec::new();
        for from in 0..ports as usize {
            for _ in 0..cells {
                let to = usize::try_from(stream.below(ports.into())).expect("a port");
                fed.push((from, to, packet(0, CELL)));
            }
        }
        fed
    });
    let sum: usize = crossed[warm_up..].iter().map(Vec::len).sum();
    sum as f64 / f64::from(ports) / (slots - warm_up as u64) as f64
}

/// Karol, Hluchyj and Morgan 1987, table I; for many ports 2 - sqrt(2) = 0.586.
#[test]
fn fifo_queues_saturate_as_published() {
    for (ports, published) in [(2, 0.7500), (3, 0.6825), (4, 0.6553), (8, 0.6184)] {
        let found = saturated(ports, true);
        assert!((found - published).abs() < 0.008, "{ports} ports: {found}, published {published}");
    }
    let found = saturated(64, true);
    assert!((found - (2.0 - 2_f64.sqrt())).abs() < 0.012, "64 ports: {found}");
}

/// McKeown 1999, section III: 100 % throughput for independent uniform arrivals with one iteration, against 60 % with
/// FIFO queues of 16 ports.
#[test]
fn islip_carries_all_uniform_traffic() {
    let (ports, permille, slots) = (16, 950, 40_000);
    // After a first half, in which queues fill.
    let carried = |fifo| {
        let (mut stream, mut offered) = (stream("uniform"), 0);
        let crossed = run(config(ports, fifo, 1), slots, |slot| {
            let arrived = arrivals(&mut stream, ports.into(), permille);
            let arrived = arrived.into_iter().enumerate();
            let fed: Vec<_> =
                arrived.filter_map(|(from, to)| Some((from, to?, packet(0, CELL)))).collect();
            offered += if slot < slots / 2 { 0 } else { fed.len() };
            fed
        });
        let late = &crossed[crossed.len() / 2..];
        late.iter().map(Vec::len).sum::<usize>() as f64 / offered as f64
    };
    let (islip, fifo) = (carried(false), carried(true));
    assert!((islip - 1.0).abs() < 0.005, "{islip}");
    assert!((fifo * 0.95 - 0.6).abs() < 0.02, "{fifo}");
}

/// Karol, Hluchyj and Morgan 1987, equation 1: mean wait of output queueing, (N - 1) / N p / (2 (1 - p)) slots.
#[test]
fn speed_up_of_all_inputs_waits_as_output_queueing() {
    let (ports, permille, times) = (4_u64, 800, 60_000);
    let mut stream = stream("output queueing");
    let mut queues = vec![VecDeque::new(); 4];
    let (mut waited, mut left) = (0_u64, 0_u64);
    // Cells arrive in every fourth slot, and an output sends one in every fourth.
    let crossed = run(config(4, false, 4), 4 * times, |slot| match slot % 4 {
        0 => (arrivals(&mut stream, ports, permille).into_iter().enumerate())
            .filter_map(|(from, to)| {
                Some((from, to?, packet(u32::try_from(slot / 4).expect("fits"), CELL)))
            })
            .collect(),
        _ => Vec::new(),
    });
    for time in 0..times - 1 {
        let first = usize::try_from(4 * time + 1).expect("fits");
        for &(to, packet) in crossed[first..first + 4].iter().flatten() {
            assert_eq!(u64::from(packet.seq), time, "crosses within a cell time");
            queues[to.index() - 100].push_back(time);
        }
        for queue in &mut queues {
            if let Some(since) = queue.pop_front() {
                waited += time - since;
                left += 1;
            }
        }
    }
    let (mean, p) = (waited as f64 / left as f64, permille as f64 / 1000.0);
    let expected = 3.0 / 4.0 * p / (2.0 * (1.0 - p));
    assert!((mean / expected - 1.0).abs() < 0.03, "{mean}, expected {expected}");
}

#[test]
fn full_queue_refuses_packets_until_the_last_cell_has_crossed() {
    let limited = CrossbarConfig { limit: QueueLimit::Bytes(200), ..config(2, false, 1) };
    let mut crossbar = Crossbar::new(limited);
    let admit = |crossbar: &mut Crossbar, at, to, size| {
        crossbar.admit(Time::from_ps(at), input(0), output(to), packet(0, size))
    };
    assert_eq!(admit(&mut crossbar, 10, 0, 128), Ok(Some(Time::from_ps(1000))));
    assert_eq!(admit(&mut crossbar, 20, 0, 72), Ok(None));
    assert_eq!(admit(&mut crossbar, 30, 0, 40), Err(DropReason::QueueFull));
    assert_eq!(admit(&mut crossbar, 40, 1, 40), Ok(None));
    assert_eq!((crossbar.packets(), crossbar.backlog(output(0))), (3, (2, 200)));
    let mut crossed = Vec::new();
    let mut times = Vec::new();
    let mut next = Some(Time::from_ps(1000));
    while let Some(now) = next {
        next = crossbar.advance(now, &mut crossed);
        times.push(crossed.len());
    }
    // Input 0 alternates between its outputs: 0 at 1000, 1 at 2000, 0 at 3000 (crossed at 4000), and twice 0.
    assert_eq!(times, [0, 0, 1, 2, 2, 3]);
    assert_eq!(crossbar.packets(), 0);
    // A packet at the start of a slot takes part in the next one.
    assert_eq!(admit(&mut crossbar, 7000, 0, 40), Ok(Some(Time::from_ps(8000))));
}
