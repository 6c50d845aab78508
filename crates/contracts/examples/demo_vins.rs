//! Prints the VINs of the demo stock with what they must decode to, for `scripts/interop/vins.py`.
#![expect(clippy::print_stdout, reason = "printing is all it does")]

use frontdesk_contracts::automotive::demo;
use time::OffsetDateTime;

fn main() {
    for dealership in demo::dealerships(OffsetDateTime::UNIX_EPOCH) {
        for car in dealership.vehicles {
            println!("{}\t{}\t{}\t{}", car.vin, car.year, car.make, car.model);
        }
    }
}
