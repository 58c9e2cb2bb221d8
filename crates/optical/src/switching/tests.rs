use optcp_units::Rate;

use super::*;

/// At 8 Mb/s a byte takes 1 us.
fn fibre(wavelengths: u32, delay_us: u64) -> Fibre {
    let rate = Rate::from_bps(8_000_000).expect("a rate above zero");
    Fibre::new(wavelengths, rate, Duration::from_us(delay_us))
}

fn us(us: u64) -> Time {
    Time::ZERO + Duration::from_us(us)
}

/// One fibre of so many wavelengths.
fn one(wavelengths: u32, scheduling: Scheduling) -> BurstCore {
    BurstCore::new(vec![fibre(wavelengths, 100)], scheduling, Conversion::Full, Duration::ZERO)
}

/// A burst of `length` microseconds that starts at `start` asks at the edge, at `now`: its wavelength.
fn ask(core: &mut BurstCore, now: u64, start: u64, length: u64) -> Option<u32> {
    let (asks_at, start) = (us(now), us(start));
    let burst = Crossing { reserved: 0, wavelength: None, asks_at, start, bytes: length };
    match core.cross(&[0], burst) {
        Crossed::Through(wavelength, arrival) => {
            assert_eq!(arrival, start + Duration::from_us(length + 100));
            Some(wavelength)
        }
        Crossed::Blocked => None,
        Crossed::Onward(_) => panic!("the route has one fibre"),
    }
}

/// A reservation ends before the next begins at the same instant, and not a microsecond later.
#[test]
fn one_wavelength_takes_one_burst_at_a_time() {
    for &scheduling in Scheduling::ALL {
        let mut core = one(1, scheduling);
        assert_eq!(ask(&mut core, 0, 10, 50), Some(0));
        assert_eq!(ask(&mut core, 1, 59, 10), None);
        assert_eq!(ask(&mut core, 2, 60, 10), Some(0));
        // Busy from 10 to 70: all of it, half of it.
        assert_eq!(core.tally(0, us(70)).busy_ps, 60_000_000);
        assert_eq!(core.tally(0, us(40)).busy_ps, 30_000_000);
        let tally = core.tally(0, us(5));
        let expected = FibreTally { bursts: 3, bytes: 70, lost: 1, lost_bytes: 10, busy_ps: 0 };
        assert_eq!(tally, expected);
    }
}

/// Two wavelengths, reserved from 100 to 200 and from 150 to 250. A burst of 40 us fits in front of both.
/// From 90 it overlaps the first; horizons end at 200 and 250.
#[test]
fn only_void_filling_uses_what_is_in_front_of_a_reservation() {
    let laid = |scheduling| {
        let mut core = one(2, scheduling);
        assert_eq!(ask(&mut core, 0, 100, 100), Some(0));
        assert_eq!(ask(&mut core, 0, 150, 100), Some(1));
        core
    };
    let mut horizon = laid(Scheduling::Horizon);
    assert_eq!(ask(&mut horizon, 1, 60, 40), None);
    assert_eq!(ask(&mut horizon, 1, 200, 40), Some(0));
    let mut filling = laid(Scheduling::LaucVf);
    assert_eq!(ask(&mut filling, 1, 60, 40), Some(0));
    assert_eq!(ask(&mut filling, 1, 90, 40), Some(1));
    assert_eq!(ask(&mut filling, 1, 110, 50), None);
}

/// Wavelengths 0, 1, 2 are reserved up to 100, 130 and 120 us. For 125 the latest horizon before it is that
/// of wavelength 2; for 135 it is that of 1. Wavelength 3 has never been used.
#[test]
fn the_smallest_gap_in_front_is_taken() {
    for &scheduling in Scheduling::ALL {
        let mut core = one(4, scheduling);
        for (wavelength, end) in [(0, 100), (1, 130), (2, 120)] {
            assert_eq!(ask(&mut core, 0, 0, end), Some(wavelength));
        }
        assert_eq!(ask(&mut core, 0, 125, 5), Some(2));
        assert_eq!(ask(&mut core, 0, 135, 5), Some(1));
        assert_eq!(ask(&mut core, 0, 99, 5), Some(3));
    }
}

/// Two voids of different length in front: of wavelength 0 from 100, of wavelength 1 from 120 to 300.
#[test]
fn void_filling_prefers_the_later_end_before_the_burst() {
    let mut core = one(2, Scheduling::LaucVf);
    assert_eq!(ask(&mut core, 0, 0, 100), Some(0));
    assert_eq!(ask(&mut core, 0, 10, 110), Some(1));
    assert_eq!(ask(&mut core, 0, 300, 10), Some(1));
    // Both have nothing from 130 to 300: wavelength 1 has been unused for the shorter time.
    assert_eq!(ask(&mut core, 0, 130, 50), Some(1));
    // Between 180 and 300 there is no place for 130 us.
    assert_eq!(ask(&mut core, 0, 190, 130), Some(0));
}

/// What is over is forgotten, but not when it was over.
#[test]
fn the_past_still_says_since_when_a_wavelength_is_unused() {
    for &scheduling in Scheduling::ALL {
        let mut core = one(2, scheduling);
        assert_eq!(ask(&mut core, 0, 0, 10), Some(0));
        assert_eq!(ask(&mut core, 0, 0, 20), Some(1));
        assert_eq!(ask(&mut core, 1000, 1000, 10), Some(1));
        assert_eq!(ask(&mut core, 1000, 1005, 10), Some(0));
    }
}

/// A route of three fibres of 100, 200 and 300 us; switches work 10 us. The burst starts 50 us behind its
/// control packet, and each switch behind the edge takes 10 us of that.
#[test]
fn the_control_packet_stays_ahead_by_what_switches_leave_of_the_offset() {
    let fibres = vec![fibre(2, 100), fibre(2, 200), fibre(2, 300)];
    let processing = Duration::from_us(10);
    let mut core = BurstCore::new(fibres, Scheduling::LaucVf, Conversion::Full, processing);
    let burst =
        Crossing { reserved: 0, wavelength: None, asks_at: us(0), start: us(50), bytes: 30 };
    let Crossed::Onward(second) = core.cross(&[0, 1, 2], burst) else {
        panic!("nothing is reserved")
    };
    assert_eq!((second.reserved, second.asks_at, second.start), (1, us(110), us(150)));
    let Crossed::Onward(third) = core.cross(&[0, 1, 2], second) else {
        panic!("nothing is reserved")
    };
    assert_eq!((third.reserved, third.asks_at, third.start), (2, us(320), us(350)));
    // 350 + 30 + 300.
    assert_eq!(core.cross(&[0, 1, 2], third), Crossed::Through(0, us(680)));
    assert_eq!(BurstCore::least_offset(processing, 3), Duration::from_us(20));
    assert_eq!(BurstCore::least_offset(processing, 1), Duration::ZERO);
}

/// Wavelength 0 of the second fibre is taken. A burst on wavelength 0 of the first one changes to 1, or is
/// lost; what it has reserved on the first stays.
#[test]
fn without_conversion_a_burst_keeps_its_wavelength() {
    for (conversion, through) in [(Conversion::Full, true), (Conversion::None, false)] {
        let fibres = vec![fibre(2, 0), fibre(2, 0)];
        let mut core = BurstCore::new(fibres, Scheduling::LaucVf, conversion, Duration::ZERO);
        let burst = |length| Crossing {
            reserved: 0,
            wavelength: None,
            asks_at: us(0),
            start: us(0),
            bytes: length,
        };
        assert_eq!(core.cross(&[1], burst(100)), Crossed::Through(0, us(100)));
        let Crossed::Onward(second) = core.cross(&[0, 1], burst(10)) else {
            panic!("the first fibre is free")
        };
        assert_eq!(second.wavelength, Some(0));
        let expected = if through { Crossed::Through(1, us(10)) } else { Crossed::Blocked };
        assert_eq!(core.cross(&[0, 1], second), expected);
        assert_eq!(core.tally(0, us(10)).busy_ps, 10_000_000);
        assert_eq!(core.tally(1, us(10)).lost, u64::from(!through));
    }
}
