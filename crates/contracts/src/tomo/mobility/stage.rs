//! How far a ride has come. It only goes forward; a final stage ends it.

use crate::Vocabulary;
use crate::tomo::booking::BookingStatus;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
#[vocabulary(closed)]
pub enum RideStage {
    DriverAssigned,
    DriverArriving,
    DriverArrived,
    InProgress,
    Completed,
    Cancelled,
    /// Nobody was at the pickup: a cancellation that costs the fee for it.
    NoShow,
    Failed,
}

/// Steps of a ride until it is over.
pub(super) const STEPS: u32 = 5;

impl RideStage {
    /// How many of the steps are done. It never becomes less, because a ride goes forward only.
    pub(super) fn step(self) -> u32 {
        match self {
            RideStage::DriverAssigned => 1,
            RideStage::DriverArriving => 2,
            RideStage::DriverArrived => 3,
            RideStage::InProgress => 4,
            RideStage::Completed | RideStage::Cancelled | RideStage::NoShow | RideStage::Failed => STEPS,
        }
    }

    pub(super) fn progress_percent(self) -> u32 {
        self.step() * 100 / STEPS
    }

    /// The status of a booking at this stage.
    pub(super) fn status(self) -> BookingStatus {
        match self {
            RideStage::DriverAssigned
            | RideStage::DriverArriving
            | RideStage::DriverArrived
            | RideStage::InProgress => BookingStatus::Confirmed,
            RideStage::Completed => BookingStatus::Completed,
            RideStage::Cancelled | RideStage::NoShow => BookingStatus::Cancelled,
            RideStage::Failed => BookingStatus::Failed,
        }
    }

    /// For people who follow the ride.
    pub(super) fn message(self) -> &'static str {
        match self {
            RideStage::DriverAssigned => "A driver was assigned.",
            RideStage::DriverArriving => "The driver is on the way to the pickup.",
            RideStage::DriverArrived => "The driver is at the pickup.",
            RideStage::InProgress => "The ride is under way.",
            RideStage::Completed => "The ride is complete.",
            RideStage::Cancelled => "The ride was cancelled.",
            RideStage::NoShow => "Nobody was at the pickup.",
            RideStage::Failed => "The ride could not be carried out.",
        }
    }
}
