use super::*;

const MS: fn(u64) -> Duration = Duration::from_ms;

fn connection(scheduler: SchedulerKind, window: u32, segments: Option<u32>) -> Connection {
    let config = MultipathConfig { scheduler, opportunistic_retransmission: true };
    Connection::new(config, window, segments, 0, Seq::ZERO, 2)
}

fn at(ms: u64) -> Time {
    Time::ZERO + MS(ms)
}

fn send(connection: &mut Connection, subflow: usize, ms: u64) -> u32 {
    connection.assign(subflow, at(ms), &[Some(MS(10)), Some(MS(100))]).data
}

/// Subflow 0 carries data 0 and 2, subflow 1 data 1. Data 1 arrive last: 0 at once, then 1 and 2 together.
#[test]
fn data_are_put_in_order_across_subflows() {
    let mut connection = connection(SchedulerKind::RoundRobin, 10, None);
    let sent = [0, 1, 0].map(|subflow| send(&mut connection, subflow, 0));
    assert_eq!(sent, [0, 1, 2]);
    assert_eq!(connection.receive(0, Seq::new(0), Seq::new(1)), 1);
    assert_eq!(connection.receive(0, Seq::new(1), Seq::new(2)), 0);
    assert_eq!(connection.data_ack(), 1);
    assert_eq!(connection.receive(1, Seq::new(0), Seq::new(1)), 2);
    assert_eq!(connection.data_ack(), 3);
}

/// The window starts at the data ACK, not at ACKs of subflows.
#[test]
fn data_ack_moves_the_receive_window() {
    let mut connection = connection(SchedulerKind::MinRtt, 2, None);
    connection.config.opportunistic_retransmission = false;
    assert_eq!([0, 1].map(|subflow| send(&mut connection, subflow, 0)), [0, 1]);
    connection.on_ack(1, Seq::new(1), Some(0));
    assert_eq!(connection.offer(1), None);
    connection.on_ack(0, Seq::new(1), Some(2));
    assert_eq!(connection.offer(1), Some(2));
}

/// An RTO of subflow 0 reinjects its data 0 and 2 on subflow 1, before new data 4, and never on subflow 0.
#[test]
fn timeout_reinjects_data_on_other_subflows() {
    let mut connection = connection(SchedulerKind::MinRtt, 10, None);
    let sent = [0, 1, 0, 1].map(|subflow| send(&mut connection, subflow, 0));
    assert_eq!(sent, [0, 1, 2, 3]);
    connection.on_timeout(0);
    assert_eq!(connection.offer(0), Some(4));
    assert_eq!([1, 1, 1].map(|subflow| send(&mut connection, subflow, 1)), [0, 2, 4]);
    // A repeated RTO does not send again what subflow 1 carries.
    connection.on_timeout(0);
    assert_eq!(connection.offer(1), Some(5));
    // The reinjected data arrive, then the copies of subflow 0, which count once.
    assert_eq!(connection.receive(1, Seq::new(0), Seq::new(5)), 5);
    assert_eq!(connection.receive(0, Seq::new(0), Seq::new(2)), 0);
}

/// Data that the data ACK covers are not reinjected.
#[test]
fn acknowledged_data_are_not_reinjected() {
    let mut connection = connection(SchedulerKind::MinRtt, 10, Some(3));
    assert_eq!([0, 0, 1].map(|subflow| send(&mut connection, subflow, 0)), [0, 1, 2]);
    connection.on_ack(1, Seq::new(0), Some(1));
    connection.on_timeout(0);
    assert_eq!(send(&mut connection, 1, 0), 1);
    connection.on_ack(1, Seq::new(2), Some(3));
    assert_eq!(connection.offer(1), None);
    assert!(connection.is_finished());
}

/// If both subflows have stalled, the first one that returns gets the data of the other.
#[test]
fn returning_subflow_gets_data_of_stalled_subflow() {
    let mut connection = connection(SchedulerKind::MinRtt, 10, None);
    assert_eq!([0, 1].map(|subflow| send(&mut connection, subflow, 0)), [0, 1]);
    connection.on_timeout(0);
    connection.on_timeout(1);
    connection.on_ack(0, Seq::new(1), Some(1));
    assert_eq!(send(&mut connection, 0, 5), 1);
}

/// A window of two: subflow 1 blocks subflow 0. Subflow 0 sends data 0 once. It penalises subflow 1, at most once per
/// RTT of 100 ms.
#[test]
fn blocked_subflow_retransmits_opportunistically() {
    let mut connection = connection(SchedulerKind::MinRtt, 2, None);
    let srtt = [Some(MS(10)), Some(MS(100))];
    assert_eq!(connection.assign(1, at(0), &srtt).data, 0);
    assert_eq!(connection.assign(0, at(0), &srtt).data, 1);
    let penalised = |data| Assigned { data, penalised: vec![1] };
    assert_eq!(connection.assign(0, at(1), &srtt), penalised(0));
    assert_eq!(connection.offer(0), None);
    connection.on_ack(0, Seq::new(2), Some(2));
    for (ms, expected) in [(50, Assigned { data: 2, penalised: vec![] }), (101, penalised(4))] {
        assert!(connection.assign(1, at(ms), &srtt).penalised.is_empty());
        assert!(connection.assign(0, at(ms), &srtt).penalised.is_empty());
        assert_eq!(connection.assign(0, at(ms), &srtt), expected);
        let end = connection.next;
        connection.on_ack(0, Seq::new(end), Some(end));
    }
}

/// Each subflow sends all data; a data ACK moves both.
#[test]
fn redundant_scheduler_sends_all_data_on_each_subflow() {
    let mut connection = connection(SchedulerKind::Redundant, 10, Some(4));
    assert_eq!([0, 0, 1, 0].map(|subflow| send(&mut connection, subflow, 0)), [0, 1, 0, 2]);
    connection.on_ack(0, Seq::new(2), Some(2));
    assert_eq!([1, 1].map(|subflow| send(&mut connection, subflow, 0)), [2, 3]);
    assert_eq!(connection.offer(1), None);
    assert_eq!(send(&mut connection, 0, 0), 3);
}
