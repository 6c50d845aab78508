//! The parts of the demo: numbers in the form of their manufacturers, prices and stock made up.

use crate::automotive::parts::order::PartOrderStatus;
use crate::automotive::parts::part::{PartCondition, PartStatus};

#[derive(Clone, Copy)]
pub(super) struct DemoPart {
    pub(super) number: &'static str,
    pub(super) maker: &'static str,
    pub(super) description: &'static str,
    /// In minor units, as the core charge.
    pub(super) price: i64,
    pub(super) core_charge: i64,
    pub(super) on_hand: i64,
    pub(super) on_order: i64,
    pub(super) reorder_point: i64,
    pub(super) lead_time_days: i64,
    pub(super) status: PartStatus,
    pub(super) condition: PartCondition,
    pub(super) superseded_by: Option<&'static str>,
    /// Make, model, first and last year.
    pub(super) fits: &'static [(&'static str, &'static str, i64, i64)],
}

const fn part(
    number: &'static str,
    maker: &'static str,
    description: &'static str,
    price: i64,
    on_hand: i64,
    fits: &'static [(&'static str, &'static str, i64, i64)],
) -> DemoPart {
    DemoPart {
        number,
        maker,
        description,
        price,
        core_charge: 0,
        on_hand,
        on_order: 0,
        reorder_point: 2,
        lead_time_days: 3,
        status: PartStatus::Active,
        condition: PartCondition::New,
        superseded_by: None,
        fits,
    }
}

const fn superseded(
    number: &'static str,
    maker: &'static str,
    description: &'static str,
    by: &'static str,
) -> DemoPart {
    DemoPart { superseded_by: Some(by), ..part(number, maker, description, 0, 0, &[]) }
}

/// Number, status, how many days ago, the place of its customer, whether it is for the first repair order, and the lines:
/// place of the part in the catalogue, quantity.
pub(super) struct DemoPartOrder(
    pub(super) &'static str,
    pub(super) PartOrderStatus,
    pub(super) i64,
    pub(super) Option<usize>,
    pub(super) bool,
    pub(super) &'static [(usize, i64)],
);

pub(super) struct PartsSpec {
    pub(super) parts: &'static [DemoPart],
    pub(super) orders: &'static [DemoPartOrder],
}

impl PartsSpec {
    pub(super) fn of(country: &str) -> &'static PartsSpec {
        if country == super::super::market::INDIA { &IN_INDIA } else { &IN_AMERICA }
    }
}

#[rustfmt::skip]
const IN_AMERICA: PartsSpec = PartsSpec {
    parts: &[
        part("04152-YZZA1", "TOY", "Oil filter element", 679, 48, &[("Toyota", "RAV4", 2006, 2018), ("Toyota", "Camry", 2007, 2017), ("Toyota", "Highlander", 2008, 2024)]),
        part("90915-YZZF2", "TOY", "Oil filter", 589, 31, &[("Toyota", "Corolla", 2000, 2008)]),
        part("90430-12031", "TOY", "Gasket, oil drain plug", 185, 120, &[("Toyota", "RAV4", 1996, 2024), ("Toyota", "Camry", 1992, 2024)]),
        part("17801-0P051", "TOY", "Air filter element", 2_684, 6, &[("Toyota", "Highlander", 2008, 2019)]),
        part("87139-YZZ20", "TOY", "Cabin air filter", 2_215, 2, &[("Toyota", "RAV4", 2006, 2018), ("Toyota", "Camry", 2007, 2017)]),
        part("04465-42160", "TOY", "Brake pad set, front", 8_460, 4, &[("Toyota", "RAV4", 2006, 2018)]),
        superseded("15400-PLM-A01", "HON", "Oil filter", "15400-PLM-A02"),
        part("15400-PLM-A02", "HON", "Oil filter", 896, 62, &[("Honda", "Accord", 2003, 2022), ("Honda", "CR-V", 2002, 2024), ("Honda", "Civic", 2001, 2024)]),
        part("94109-14000", "HON", "Washer, drain plug", 52, 200, &[("Honda", "Accord", 1990, 2022), ("Honda", "Civic", 1992, 2024)]),
        part("80292-SDA-A01", "HON", "Cabin air filter", 3_077, 1, &[("Honda", "Accord", 2003, 2022)]),
        part("45022-TVA-A00", "HON", "Brake pad set, front", 7_918, 3, &[("Honda", "Accord", 2018, 2022)]),
        DemoPart { core_charge: 7_500, condition: PartCondition::Remanufactured, status: PartStatus::SpecialOrder, lead_time_days: 8, ..part("06312-5A2-505RM", "HON", "Starter, remanufactured", 31_240, 0, &[("Honda", "Accord", 2013, 2017)]) },
        part("FL-500-S", "FOR", "Oil filter, Motorcraft", 722, 40, &[("Ford", "F-150", 2011, 2024), ("Ford", "Explorer", 2011, 2024)]),
        part("FA-1883", "FOR", "Air filter, Motorcraft", 2_399, 7, &[("Ford", "F-150", 2009, 2020)]),
        DemoPart { core_charge: 2_200, on_order: 4, lead_time_days: 5, ..part("BXT-65-750", "FOR", "Battery, Motorcraft, 750 CCA", 18_995, 1, &[("Ford", "F-150", 2004, 2024)]) },
        superseded("PF48", "ACD", "Oil filter", "PF48E"),
        superseded("PF48E", "ACD", "Oil filter", "PF63E"),
        part("PF63E", "ACD", "Oil filter, ACDelco", 811, 25, &[("Chevrolet", "Silverado 1500", 2007, 2018)]),
        superseded("15208-65F0C", "NIS", "Oil filter", "15208-65F0E"),
        part("15208-65F0E", "NIS", "Oil filter", 741, 18, &[("Nissan", "Altima", 2002, 2024), ("Nissan", "Rogue", 2008, 2024)]),
        part("26300-35505", "HYU", "Oil filter", 764, 22, &[("Hyundai", "Tucson", 2010, 2021), ("Kia", "Sportage", 2011, 2022)]),
        DemoPart { status: PartStatus::Discontinued, ..part("86861-SAA-003", "HON", "Tape deck, dealer option", 14_900, 0, &[]) },
        part("68191349AC", "MOP", "Oil filter, Mopar", 1_045, 15, &[("Jeep", "Grand Cherokee", 2014, 2021), ("Jeep", "Wrangler", 2014, 2024)]),
        part("11427566327", "BMW", "Oil filter element", 1_890, 9, &[("BMW", "330i", 2007, 2013)]),
    ],
    orders: &[
        DemoPartOrder("P-30112", PartOrderStatus::Received, 21, Some(9), false, &[(7, 2), (8, 2)]),
        DemoPartOrder("P-30131", PartOrderStatus::Cancelled, 12, Some(14), false, &[(23, 1)]),
        DemoPartOrder("P-30140", PartOrderStatus::Shipped, 4, None, true, &[(0, 1), (2, 1)]),
        DemoPartOrder("P-30144", PartOrderStatus::Backordered, 2, Some(5), false, &[(14, 2)]),
        DemoPartOrder("P-30147", PartOrderStatus::Confirmed, 1, Some(3), false, &[(5, 1)]),
        DemoPartOrder("P-30150", PartOrderStatus::Requested, 0, Some(11), false, &[(12, 1), (13, 1)]),
    ],
};

#[rustfmt::skip]
const IN_INDIA: PartsSpec = PartsSpec {
    parts: &[
        superseded("16510M68K00", "MSIL", "Oil filter", "16510M68K10"),
        part("16510M68K10", "MSIL", "Oil filter", 12_500, 40, &[("Maruti Suzuki", "Swift", 2011, 2024), ("Maruti Suzuki", "Baleno", 2015, 2024)]),
        part("13780M74L00", "MSIL", "Air filter element", 32_000, 12, &[("Maruti Suzuki", "Swift", 2011, 2017)]),
        part("26300-02503", "HMIL", "Oil filter", 14_900, 22, &[("Hyundai", "i20", 2008, 2024), ("Kia", "Sonet", 2020, 2024)]),
        part("97133-D1000", "HMIL", "Cabin air filter", 51_500, 2, &[("Hyundai", "Creta", 2015, 2024), ("Kia", "Seltos", 2019, 2024)]),
        DemoPart { on_order: 10, lead_time_days: 6, ..part("58101-A0A35", "HMIL", "Brake pad set, front", 289_000, 0, &[("Hyundai", "Creta", 2015, 2024)]) },
    ],
    orders: &[
        DemoPartOrder("P-70031", PartOrderStatus::Received, 9, None, true, &[(3, 1)]),
        DemoPartOrder("P-70033", PartOrderStatus::Backordered, 2, Some(2), false, &[(5, 1)]),
        DemoPartOrder("P-70034", PartOrderStatus::Requested, 0, Some(5), false, &[(1, 1), (2, 1)]),
    ],
};
