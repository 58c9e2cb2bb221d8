//! Geography: distances, bearings, and links that pass near a place.

use std::f64::consts::PI;

/// Mean radius of the Earth in km, also used for link lengths.
const EARTH_KM: f64 = 6371.0;

/// Longitude and latitude in 10^-6 degrees.
pub(crate) type Place = [i64; 2];

/// Returns the great-circle distance of two places in km; `a` and `b` are longitude and latitude in degrees.
#[must_use]
pub fn great_circle_km(a: [f64; 2], b: [f64; 2]) -> f64 {
    EARTH_KM * Point::at(a).angle(Point::at(b))
}

/// Point of the unit sphere.
#[derive(Clone, Copy)]
struct Point([f64; 3]);

impl Point {
    fn of(place: Place) -> Point {
        Point::at(place.map(|micro| micro as f64 / 1e6))
    }

    fn at(degrees: [f64; 2]) -> Point {
        let [longitude, latitude] = degrees.map(|degrees| degrees * PI / 180.0);
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

    /// Returns the angle between two points, accurate also for small angles.
    fn angle(self, other: Point) -> f64 {
        libm::atan2(self.cross(other).length(), self.dot(other))
    }
}

/// Returns the distance in km from a place to the great-circle segment between two others.
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

/// Returns the initial bearing of the great circle to a place, in degrees clockwise from north (0 to 360).
pub(crate) fn bearing_degrees(from: Place, to: Place) -> f64 {
    let radians = |micro: i64| micro as f64 / 1e6 * PI / 180.0;
    let east = radians(to[0] - from[0]);
    let [here, there] = [from, to].map(|place| radians(place[1]));
    let to_east = libm::sin(east) * libm::cos(there);
    let to_north =
        libm::cos(here) * libm::sin(there) - libm::sin(here) * libm::cos(there) * libm::cos(east);
    let degrees = libm::atan2(to_east, to_north) * 180.0 / PI;
    if degrees < 0.0 { degrees + 360.0 } else { degrees }
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
    fn distances_match_spherical_geometry() {
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
        // Link of length zero, and link across the date line.
        assert!(distance_km(place(1.0, 0.0), [place(0.0, 0.0); 2]) - 111.195 < 1e-3);
        let across = [place(179.0, 0.0), place(-179.0, 0.0)];
        assert!((distance_km(place(180.0, 1.0), across) - 111.194_93).abs() < 1e-3);
    }
    /// From 50 N, the great circle to a place 10 degrees further east at the same latitude starts slightly
    /// northwards. With latitudes p and q and longitude difference l, tan b = sin l cos q / (cos p sin q -
    /// sin p cos q cos l). Here: 0.173648 x 0.642788 / (0.642788 x 0.766044 - 0.766044 x 0.642788 x 0.984808)
    /// = 0.111619 / 0.007481, so b = 86.166.
    #[test]
    fn bearings_match_spherical_geometry() {
        let from = place(10.0, 0.0);
        for (to, degrees) in [
            (place(10.0, 5.0), 0.0),
            (place(15.0, 0.0), 90.0),
            (place(10.0, -5.0), 180.0),
            (place(5.0, 0.0), 270.0),
        ] {
            let found = bearing_degrees(from, to);
            assert!((found - degrees).abs() < 1e-9, "{to:?}: {found}");
        }
        let found = bearing_degrees(place(0.0, 50.0), place(10.0, 50.0));
        assert!((found - 86.166).abs() < 1e-3, "{found}");
        // Across the date line.
        let found = bearing_degrees(place(179.0, 0.0), place(-179.0, 0.0));
        assert!((found - 90.0).abs() < 1e-9, "{found}");
    }
}
