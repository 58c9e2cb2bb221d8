//! Scripts of applications on an ideal network, against closed forms.
//!
//! On the ideal network, a message takes a latency plus its size over the rate of its connection, regardless of other
//! messages. Steps are evaluated in a single pass, because each one follows the steps that it needs.

use optcp_des::{Spread, Streams};
use optcp_traffic::{Application, ApplicationKind, Draws, PageObject, Parties, Script, Volume};
use optcp_units::Duration;

const LATENCY: Duration = Duration::from_ms(10);

fn application(kind: ApplicationKind, parties: Parties) -> Application {
    Application {
        kind,
        parties,
        rounds: 1,
        request: 1000,
        size: Volume::Fixed(1_000_000),
        think: Spread::ZERO,
        service: Spread::ZERO,
        objects: Vec::new(),
        connections: 1,
        chunk: Duration::from_secs(4),
        buffer: [3, 1],
    }
}

fn draws() -> Draws {
    let streams = Streams::new(1);
    let stream = |name| streams.stream(name);
    Draws { sizes: stream("sizes"), think: stream("think"), service: stream("service") }
}

/// Time of 1 byte per microsecond.
fn transfer(bytes: u64) -> Duration {
    LATENCY + Duration::from_us(1) * bytes
}

/// Returns begin and end of each operation on the ideal network. Messages of a connection wait for each other.
fn operations(script: &Script) -> Vec<[Duration; 2]> {
    let mut complete = vec![Duration::ZERO; script.steps.len()];
    let mut free: Vec<Duration> = Vec::new();
    let mut found = vec![[None::<Duration>, None]; script.operations.len()];
    for (number, step) in script.steps.iter().enumerate() {
        let needs = script.edges.iter().filter(|edge| edge[1] as usize == number);
        let ready = needs.map(|edge| complete[edge[0] as usize]).max().unwrap_or_default();
        let at = ready + step.delay;
        complete[number] = match step.message {
            None => at,
            Some(message) => {
                let connection = message.connection as usize;
                free.resize(free.len().max(connection + 1), Duration::ZERO);
                let begin = at.max(free[connection]);
                free[connection] = begin + Duration::from_us(1) * message.bytes;
                begin + transfer(message.bytes)
            }
        };
        if let Some(operation) = step.opens {
            let begin = &mut found[operation as usize][0];
            *begin = Some(begin.map_or(at, |earlier| earlier.min(at)));
        }
        if let Some(operation) = step.closes {
            let end = &mut found[operation as usize][1];
            *end = Some(end.map_or(complete[number], |earlier| earlier.max(complete[number])));
        }
    }
    found.into_iter().map(|ends| ends.map(|end| end.expect("begins and ends"))).collect()
}

/// Checks that each step depends only on what its own host has written or received.
fn assert_local(application: &Application, script: &Script) {
    let connections = application.connections();
    // Host at which a step is complete, once it is known.
    let mut at: Vec<Option<u32>> = vec![None; script.steps.len()];
    for (number, step) in script.steps.iter().enumerate() {
        let needs = script.edges.iter().filter(|edge| edge[1] as usize == number);
        let hosts: Vec<u32> = needs.filter_map(|edge| at[edge[0] as usize]).collect();
        assert!(hosts.windows(2).all(|two| two[0] == two[1]), "step {number} joins {hosts:?}");
        at[number] = match step.message {
            None => hosts.first().copied(),
            Some(message) => {
                let [from, to] = connections[message.connection as usize].ends;
                assert!(hosts.first().is_none_or(|host| *host == from), "step {number}");
                Some(to)
            }
        };
    }
}

fn durations(application: &Application) -> Vec<Duration> {
    let script = application.script(&mut draws());
    assert_local(application, &script);
    let messages = script.steps.iter().filter(|step| step.message.is_some()).count();
    assert_eq!(application.messages(), messages as u64);
    operations(&script)
        .into_iter()
        .map(|[begin, end]| Duration::from_ps(end.as_ps() - begin.as_ps()))
        .collect()
}

#[test]
fn closed_loop_takes_a_request_and_a_response() {
    let between = Parties::Between(vec![0, 1], vec![2]);
    let mut loops = application(ApplicationKind::RequestResponse, between);
    loops.rounds = 3;
    loops.service = Spread::Fixed(Duration::from_ms(5));
    loops.think = Spread::Fixed(Duration::from_secs(1));
    let each = transfer(1000) + Duration::from_ms(5) + transfer(1_000_000);
    assert_eq!(durations(&loops), vec![each; 6]);
}

#[test]
fn barrier_waits_for_the_slowest_server() {
    let between = Parties::Between(vec![0], vec![1, 2, 3]);
    let barrier = application(ApplicationKind::PartitionAggregate, between);
    assert_eq!(durations(&barrier), vec![transfer(1000) + transfer(1_000_000)]);
}

/// 2 (n - 1) (D / (n B) + L), Patarasuk and Yuan 2009.
#[test]
fn ring_all_reduce_takes_its_closed_form() {
    let mut ring = application(ApplicationKind::RingAllReduce, Parties::Among(vec![0, 1, 2, 3, 4]));
    ring.rounds = 2;
    assert_eq!(durations(&ring), vec![transfer(200_000) * 8; 2]);
}

/// Up the three levels of a tree of seven, and down; both children of a node have separate connections.
#[test]
fn tree_all_reduce_takes_twice_the_depth() {
    let members = Parties::Among((0..7).collect());
    let tree = application(ApplicationKind::TreeAllReduce, members);
    assert_eq!(durations(&tree), vec![transfer(1_000_000) * 4]);
}

#[test]
fn all_to_all_takes_one_part_over_separate_connections() {
    let all = application(ApplicationKind::AllToAll, Parties::Among(vec![0, 1, 2, 3]));
    assert_eq!(durations(&all), vec![transfer(250_000)]);
}

/// The longest path: document, style sheet, then two images over one connection.
#[test]
fn page_takes_the_longest_path_of_its_objects() {
    let mut page = application(ApplicationKind::Page, Parties::Between(vec![0], vec![1]));
    let object =
        |bytes, needs: &[usize]| PageObject { size: Volume::Fixed(bytes), needs: needs.to_vec() };
    page.objects = vec![
        object(50_000, &[]),
        object(20_000, &[0]),
        object(100_000, &[1]),
        object(100_000, &[1]),
    ];
    page.connections = 1;
    let document = transfer(1000) + transfer(50_000);
    let style = transfer(1000) + transfer(20_000);
    // The second image follows the first on the connection.
    let images = transfer(1000) + transfer(200_000);
    assert_eq!(durations(&page), vec![document + style + images]);
}

/// Chunks of 4 s take 5 s each: the buffer never fills, and every chunk after the first stalls for 1 s.
#[test]
fn video_stalls_by_the_missing_throughput() {
    let mut video = application(ApplicationKind::Video, Parties::Between(vec![0], vec![1]));
    video.rounds = 5;
    video.size = Volume::Fixed(5_000_000 - 21_000);
    let took = durations(&video);
    let start = transfer(1000) + transfer(5_000_000 - 21_000);
    assert_eq!(start, Duration::from_secs(5));
    assert_eq!(took, [vec![start], vec![Duration::from_secs(1); 4]].concat());
}

/// Chunks that take 1 s never stall, and are requested when the buffer of three has room: every 4 s.
#[test]
fn video_waits_while_its_buffer_is_full() {
    let mut video = application(ApplicationKind::Video, Parties::Between(vec![0], vec![1]));
    video.rounds = 6;
    video.size = Volume::Fixed(1_000_000 - 21_000);
    assert_eq!(durations(&video)[1..], vec![Duration::ZERO; 5]);
    let script = video.script(&mut draws());
    let last = operations(&script)[5];
    // The first chunk plays at 1 s; the sixth is due five chunks later.
    assert_eq!(last, [Duration::from_secs(21); 2]);
}
