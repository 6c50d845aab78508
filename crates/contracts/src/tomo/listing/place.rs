//! Where something is: cities by their old and new names, and distances on the globe.

use frontdesk_engine::model::table::search_terms;

/// Cities that people still call by another name, in the form in which names are compared.
const RENAMED: [(&str, &str); 14] = [
    ("bangalore", "bengaluru"),
    ("belgaum", "belagavi"),
    ("bombay", "mumbai"),
    ("calcutta", "kolkata"),
    ("cochin", "kochi"),
    ("gurgaon", "gurugram"),
    ("madras", "chennai"),
    ("mangalore", "mangaluru"),
    ("mysore", "mysuru"),
    ("poona", "pune"),
    ("pondicherry", "puducherry"),
    ("simla", "shimla"),
    ("trivandrum", "thiruvananthapuram"),
    ("vizag", "visakhapatnam"),
];

/// Every way in which the name of a city may be stored.
pub(in crate::tomo) fn city_keys(city: &str) -> Vec<String> {
    let key = search_terms(city).join(" ");
    let also = RENAMED.iter().filter_map(|(old, new)| match () {
        () if *old == key => Some((*new).to_owned()),
        () if *new == key => Some((*old).to_owned()),
        () => None,
    });
    let also: Vec<String> = also.collect();
    std::iter::once(key).chain(also).collect()
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::tomo) struct Point {
    /// Millionths of a degree.
    pub(in crate::tomo) latitude: i64,
    pub(in crate::tomo) longitude: i64,
}

/// On a sphere, which is off by half a percent at most.
const EARTH_RADIUS_METRES: f64 = 6_371_000.0;
/// How many metres a degree of latitude has at least.
const METRES_PER_DEGREE: i64 = 111_000;

impl Point {
    pub(in crate::tomo) fn from_degrees(latitude: f64, longitude: f64) -> Point {
        let scaled = |degrees: f64| (degrees * 1e6).round() as i64;
        Point { latitude: scaled(latitude), longitude: scaled(longitude) }
    }

    /// The great-circle distance in whole metres.
    pub(in crate::tomo) fn metres_to(self, other: Point) -> i64 {
        let radians = |millionths: i64| (millionths as f64 / 1e6).to_radians();
        let half_chord = |difference: i64| (radians(difference) / 2.0).sin().powi(2);
        let across = radians(self.latitude).cos() * radians(other.latitude).cos();
        let square = half_chord(other.latitude.saturating_sub(self.latitude))
            + across * half_chord(other.longitude.saturating_sub(self.longitude));
        (2.0 * EARTH_RADIUS_METRES * square.clamp(0.0, 1.0).sqrt().asin()).round() as i64
    }

    /// Latitudes outside of which nothing is that near.
    pub(in crate::tomo) fn latitudes_within(self, metres: i64) -> (i64, i64) {
        let span = metres.saturating_mul(1_000_000) / METRES_PER_DEGREE + 1;
        (self.latitude.saturating_sub(span), self.latitude.saturating_add(span))
    }

    /// Longitudes outside of which nothing is that near. Near a pole or the date line that is all of them.
    pub(in crate::tomo) fn longitudes_within(self, metres: i64) -> (i64, i64) {
        let (south, north) = self.latitudes_within(metres);
        let narrowest = (south.abs().max(north.abs()) as f64 / 1e6).to_radians().cos();
        let span = metres as f64 * 1e6 / (METRES_PER_DEGREE as f64 * narrowest.max(1e-6)) + 1.0;
        let (west, east) = (self.longitude as f64 - span, self.longitude as f64 + span);
        if west < -180e6 || east > 180e6 { (-180_000_000, 180_000_000) } else { (west as i64 - 1, east as i64 + 1) }
    }
}

#[cfg(test)]
mod tests {
    use super::{Point, city_keys};

    #[test]
    fn distances_are_those_of_the_globe() {
        let bengaluru = Point::from_degrees(12.9716, 77.5946);
        let mumbai = Point::from_degrees(19.0760, 72.8777);
        assert_eq!(bengaluru.metres_to(mumbai) / 1_000, 845);
        assert_eq!(bengaluru.metres_to(bengaluru), 0);
        let across_the_date_line = Point::from_degrees(0.0, 179.5).metres_to(Point::from_degrees(0.0, -179.5));
        assert_eq!(across_the_date_line / 1_000, 111);
        let nowhere = Point::from_degrees(-1e15, 1e15);
        assert!(nowhere.metres_to(bengaluru) >= 0, "numbers that are no coordinates do no harm");
        let (south, north) = bengaluru.latitudes_within(10_000);
        assert!(south < 12_881_600 + 1_000 && north > 13_061_500, "{south} {north}");
        let (west, east) = bengaluru.longitudes_within(10_000);
        for edge in [west, east] {
            let metres = bengaluru.metres_to(Point { longitude: edge, ..bengaluru });
            assert!((10_000..10_050).contains(&metres), "{metres}");
        }
        let all = (-180_000_000, 180_000_000);
        assert_eq!(Point::from_degrees(0.0, 179.99).longitudes_within(10_000), all);
        assert_eq!(Point::from_degrees(90.0, 0.0).longitudes_within(10_000), all);
    }

    #[test]
    fn cities_are_found_by_old_and_new_names() {
        assert_eq!(city_keys(" BANGALORE "), ["bangalore", "bengaluru"]);
        assert_eq!(city_keys("Bengaluru"), ["bengaluru", "bangalore"]);
        assert_eq!(city_keys("New Delhi"), ["new delhi"]);
    }
}
