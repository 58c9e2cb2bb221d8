//! Where nodes are on earth, and which links pass near a place.

use std::f64::consts::PI;

/// Mean radius of the earth in km, as lengths of links are reckoned with.
const EARTH_KM: f64 = 6371.0;

/// Longitude and latitude in millionths of a degree.
pub(crate) type Place = [i64; 2];

/// A point of the unit sphere.
#[derive(Clone, Copy)]
struct Point([f64; 3]);

impl Point {
    fn of(place: Place) -> Point {
        let [longitude, latitude] = place.map(|micro| micro as f64 / 1e6 * PI / 180.0);
        let across = libm::cos(latitude);
        Point([across * libm::cos(longitude), across * libm::sin(longitude), libm::sin(latitude)])
    }

    fn dot(self, other: Point) -> f64 {
        (0..3).map(|i| self.0[i] * other.0[i]).sum()
    }

    fn cross(self, other: Point) -> Point {
        let ([a, b, c], [x, y, z]) = (self.0, other.0);
        Point([b * z - c * y, c * x - a * z, a * y - b * x])
    }

    fn length(self) -> f64 {
        libm::sqrt(self.dot(self))
    }

    /// The angle between two, exact also where it is small.
    fn angle(self, other: Point) -> f64 {
        libm::atan2(self.cross(other).length(), self.dot(other))
    }
}

/// How far a place is from the great circle between two others, in km.
pub(crate) fn distance_km(from: Place, ends: [Place; 2]) -> f64 {
    let [p, a, b] = [from, ends[0], ends[1]].map(Point::of);
    let normal = a.cross(b);
    let beside = normal.cross(a).dot(p) >= 0.0 && b.cross(normal).dot(p) >= 0.0;
    let angle = match beside && normal.length() > 0.0 {
        true => libm::fabs(libm::asin(normal.dot(p) / normal.length())),
        false => p.angle(a).min(p.angle(b)),
    };
    EARTH_KM * angle
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(longitude: f64, latitude: f64) -> Place {
        #[expect(clippy::cast_possible_truncation, reason = "degrees")]
        [longitude, latitude].map(|degrees| (degrees * 1e6).round() as i64)
    }

    /// One degree of a great circle is 6371 km * pi / 180 = 111.195 km.
    #[test]
    fn distances_are_those_of_the_sphere() {
        let equator = [place(0.0, 0.0), place(10.0, 0.0)];
        for (from, degrees) in [
            (place(5.0, 2.0), 2.0),
            (place(5.0, -3.0), 3.0),
            (place(-1.0, 0.0), 1.0),
            (place(12.0, 0.0), 2.0),
            (place(3.0, 0.0), 0.0),
        ] {
            let found = distance_km(from, equator);
            assert!((found - degrees * 111.194_93).abs() < 1e-3, "{from:?}: {found}");
        }
        // A link of no length, and one across the line of dates.
        assert!(distance_km(place(1.0, 0.0), [place(0.0, 0.0); 2]) - 111.195 < 1e-3);
        let across = [place(179.0, 0.0), place(-179.0, 0.0)];
        assert!((distance_km(place(180.0, 1.0), across) - 111.194_93).abs() < 1e-3);
    }
}
