use optcp_units::Rate;

use super::*;

/// Returns a fibre at 8 Mb/s, where a byte takes 1 us.
fn fibre(wavelengths: u32, delay_us: u64) -> Fibre {
    let rate = Rate::from_bps(8_000_000).expect("a rate above zero");
    Fibre::new(wavelengths, rate, Duration::from_us(delay_us))
}

fn us(us: u64) -> Time {
    Time::ZERO + Duration::from_us(us)
}

/// Returns a burst of class 0 at the edge.
fn crossing(now: Time, start: Time, bytes: u64) -> Crossing {
    Crossing::new(BurstId { port: PortId::new(0), number: 0, class: 0 }, now, start, bytes)
}

/// Requests the next fibre of a route in a core without preemption.
fn cross(core: &mut BurstCore, route: &[FibreId], burst: Crossing) -> Crossed {
    let mut preempted = Vec::new();
    let crossed = core.cross(route, burst, &mut preempted);
    assert_eq!(preempted, []);
    crossed
}

/// Returns a core of one fibre.
fn single_fibre(wavelengths: u32, scheduling: Scheduling) -> BurstCore {
    BurstCore::new(vec![fibre(wavelengths, 100)], scheduling, Conversion::Full, Duration::ZERO)
}

/// Requests a wavelength at the edge, at `now`, for a burst of `length` microseconds that starts at `start`.
fn request(core: &mut BurstCore, now: u64, start: u64, length: u64) -> Option<u32> {
    let (control_arrival, start) = (us(now), us(start));
    let burst = crossing(control_arrival, start, length);
    match cross(core, &[0], burst) {
        Crossed::Through(burst, arrival) => {
            assert_eq!(arrival, start + Duration::from_us(length + 100));
            burst.wavelength
        }
        Crossed::Blocked => None,
        Crossed::Onward(_) => panic!("the route has one fibre"),
    }
}

/// A reservation may begin when another ends, but not a microsecond earlier.
#[test]
fn wavelength_carries_one_burst_at_a_time() {
    for &scheduling in Scheduling::ALL {
        let mut core = single_fibre(1, scheduling);
        assert_eq!(request(&mut core, 0, 10, 50), Some(0));
        assert_eq!(request(&mut core, 1, 59, 10), None);
        assert_eq!(request(&mut core, 2, 60, 10), Some(0));
        // Busy from 10 to 70: the full time at 70, half of it at 40.
        assert_eq!(core.tally(0, us(70)).busy_ps, 60_000_000);
        assert_eq!(core.tally(0, us(40)).busy_ps, 30_000_000);
        let tally = core.tally(0, us(5));
        let expected = FibreTally { bursts: 3, bytes: 70, lost: 1, lost_bytes: 10, busy_ps: 0 };
        assert_eq!(tally, expected);
    }
}

/// Two wavelengths, reserved from 100 to 200 and from 150 to 250. A burst of 40 us fits before both reservations. From
/// 90 it overlaps the first; horizons are 200 and 250.
#[test]
fn only_void_filling_uses_gaps_before_reservations() {
    let reserved = |scheduling| {
        let mut core = single_fibre(2, scheduling);
        assert_eq!(request(&mut core, 0, 100, 100), Some(0));
        assert_eq!(request(&mut core, 0, 150, 100), Some(1));
        core
    };
    let mut horizon = reserved(Scheduling::Horizon);
    assert_eq!(request(&mut horizon, 1, 60, 40), None);
    assert_eq!(request(&mut horizon, 1, 200, 40), Some(0));
    let mut filling = reserved(Scheduling::LaucVf);
    assert_eq!(request(&mut filling, 1, 60, 40), Some(0));
    assert_eq!(request(&mut filling, 1, 90, 40), Some(1));
    assert_eq!(request(&mut filling, 1, 110, 50), None);
}

/// Wavelengths 0, 1, 2 are reserved until 100, 130 and 120 us. For 125, wavelength 2 has the latest
/// earlier horizon; for 135, wavelength 1. Wavelength 3 has never been used.
#[test]
fn wavelength_with_smallest_gap_is_reserved() {
    for &scheduling in Scheduling::ALL {
        let mut core = single_fibre(4, scheduling);
        for (wavelength, end) in [(0, 100), (1, 130), (2, 120)] {
            assert_eq!(request(&mut core, 0, 0, end), Some(wavelength));
        }
        assert_eq!(request(&mut core, 0, 125, 5), Some(2));
        assert_eq!(request(&mut core, 0, 135, 5), Some(1));
        assert_eq!(request(&mut core, 0, 99, 5), Some(3));
    }
}

/// Two voids of different length before the burst: on wavelength 0 from 100, on wavelength 1 from 120 to 300.
#[test]
fn void_filling_prefers_shorter_gap_before_burst() {
    let mut core = single_fibre(2, Scheduling::LaucVf);
    assert_eq!(request(&mut core, 0, 0, 100), Some(0));
    assert_eq!(request(&mut core, 0, 10, 110), Some(1));
    assert_eq!(request(&mut core, 0, 300, 10), Some(1));
    // Both are free from 130 to 300; the gap on wavelength 1 is shorter.
    assert_eq!(request(&mut core, 0, 130, 50), Some(1));
    // Between 180 and 300 there is no room for 130 us.
    assert_eq!(request(&mut core, 0, 190, 130), Some(0));
}

/// Past reservations are removed, but the end of the last one is kept.
#[test]
fn idle_time_is_known_after_reservations_are_removed() {
    for &scheduling in Scheduling::ALL {
        let mut core = single_fibre(2, scheduling);
        assert_eq!(request(&mut core, 0, 0, 10), Some(0));
        assert_eq!(request(&mut core, 0, 0, 20), Some(1));
        assert_eq!(request(&mut core, 1000, 1000, 10), Some(1));
        assert_eq!(request(&mut core, 1000, 1005, 10), Some(0));
    }
}

/// Route of three fibres of 100, 200 and 300 us; switches take 10 us. The burst starts 50 us after its control packet,
/// and each switch after the edge reduces this offset by 10 us.
#[test]
fn processing_at_switches_reduces_offset() {
    let fibres = vec![fibre(2, 100), fibre(2, 200), fibre(2, 300)];
    let processing = Duration::from_us(10);
    let mut core = BurstCore::new(fibres, Scheduling::LaucVf, Conversion::Full, processing);
    let burst = crossing(us(0), us(50), 30);
    let Crossed::Onward(second) = cross(&mut core, &[0, 1, 2], burst) else {
        panic!("nothing is reserved")
    };
    assert_eq!((second.reserved, second.control_arrival, second.start), (1, us(110), us(150)));
    let Crossed::Onward(third) = cross(&mut core, &[0, 1, 2], second) else {
        panic!("nothing is reserved")
    };
    assert_eq!((third.reserved, third.control_arrival, third.start), (2, us(320), us(350)));
    // Arrival at 350 + 30 + 300.
    assert!(
        matches!(cross(&mut core, &[0, 1, 2], third), Crossed::Through(_, at) if at == us(680))
    );
    assert_eq!(BurstCore::least_offset(processing, 3), Duration::from_us(20));
    assert_eq!(BurstCore::least_offset(processing, 1), Duration::ZERO);
}

/// Wavelength 0 of the second fibre is busy. A burst on wavelength 0 of the first fibre changes to 1, or is lost; its
/// reservation on the first fibre remains.
#[test]
fn burst_without_conversion_keeps_its_wavelength() {
    for (conversion, converts) in [(Conversion::Full, true), (Conversion::None, false)] {
        let fibres = vec![fibre(2, 0), fibre(2, 0)];
        let mut core = BurstCore::new(fibres, Scheduling::LaucVf, conversion, Duration::ZERO);
        let burst = |length| crossing(us(0), us(0), length);
        let through = |crossed| match crossed {
            Crossed::Through(burst, at) => Some((burst.wavelength, at)),
            _ => None,
        };
        assert_eq!(through(cross(&mut core, &[1], burst(100))), Some((Some(0), us(100))));
        let Crossed::Onward(second) = cross(&mut core, &[0, 1], burst(10)) else {
            panic!("the first fibre is free")
        };
        assert_eq!(second.wavelength, Some(0));
        let expected = converts.then_some((Some(1), us(10)));
        assert_eq!(through(cross(&mut core, &[0, 1], second)), expected);
        assert_eq!(core.tally(0, us(10)).busy_ps, 10_000_000);
        assert_eq!(core.tally(1, us(10)).lost, u64::from(!converts));
    }
}
