//! A line of a repair order: what the customer says, what was found, what was done, and what it costs.

use crate::automotive::values::Money;
use crate::record::{Integer, Text};
use crate::{Record, Vocabulary};

#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum JobLineStatus { Pending, InProgress, Completed, Deferred, Declined, Cancelled, Unknown }

#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum PayType { Customer, Warranty, Internal, Sublet, ServiceContract, Unknown }

#[derive(Debug, Clone, PartialEq, Record)]
pub struct JobLine {
    /// Its number on the order, from 1; each once.
    pub line: Integer<1, 999>,
    /// The workshop's code for the operation.
    pub op_code: Text<40>,
    /// What the customer says is wrong.
    #[field(sealed)]
    pub complaint: Option<Text<2000>>,
    /// What was found.
    #[field(sealed)]
    pub cause: Option<Text<2000>>,
    /// What was done.
    #[field(sealed)]
    pub correction: Option<Text<2000>>,
    /// Who pays for it.
    #[field(known)]
    pub pay_type: PayType,
    /// How far it has come.
    #[field(known)]
    pub status: JobLineStatus,
    /// Hours sold, in hundredths: 150 is an hour and a half.
    pub labor_hours_hundredths: Option<Integer<0, 100_000>>,
    /// The employee who does it: letters A to Z, digits, _ and -.
    pub technician_id: Option<Text<64>>,
    /// What the work costs.
    pub labor_total: Option<Money>,
    /// What the parts cost.
    pub parts_total: Option<Money>,
}

impl JobLine {
    /// Whether something is still to be done or decided.
    pub fn is_open(&self) -> bool {
        match self.status {
            JobLineStatus::Pending | JobLineStatus::InProgress | JobLineStatus::Unknown => true,
            JobLineStatus::Completed | JobLineStatus::Deferred | JobLineStatus::Declined | JobLineStatus::Cancelled => {
                false
            }
        }
    }

    /// Whether it is charged.
    pub fn is_charged(&self) -> bool {
        match self.status {
            JobLineStatus::Pending | JobLineStatus::InProgress | JobLineStatus::Completed | JobLineStatus::Unknown => {
                true
            }
            JobLineStatus::Deferred | JobLineStatus::Declined | JobLineStatus::Cancelled => false,
        }
    }
}
