//! What is sold with a car: service contracts, GAP and the like. The list comes in by import.

use serde_json::{Map, Value};

use super::DUPLICATE;
use crate::automotive::codes::CodeSpec;
use crate::automotive::domains::{self, Domain};
use crate::automotive::resource::{Resource, ResourceApi, ResourceParts, Withdrawal};
use crate::automotive::values::{Distance, Money};
use crate::record::filter::equals;
use crate::record::{FilterArgument, Integer, Text};
use crate::{Record, Vocabulary};

#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum FniProductType {
    VehicleServiceContract, Gap, TireWheel, PrepaidMaintenance, PaintlessDentRepair, AppearanceProtection, KeyReplacement,
    TheftProtection, CreditInsurance, LeaseWear, Unknown,
}

#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum FniProductStatus { Active, Retired, Unknown }

#[derive(Debug, Clone, PartialEq, Record)]
#[table("fni_product", prefix = "fip", not_found = "fni.not_found", noun = "product")]
pub struct FniProduct {
    /// The dealership's own short name for it.
    #[field(create, unique)]
    pub code: Text<40>,
    /// What customers call it.
    #[field(create, update)]
    pub name: Text<120>,
    /// What it is.
    #[field(create, update, known, indexed)]
    pub product_type: FniProductType,
    /// Who stands behind it.
    #[field(create, update)]
    pub provider: Option<Text<120>>,
    /// What a customer pays for it.
    #[field(create, update)]
    pub price: Option<Money>,
    /// How many months it lasts.
    #[field(create, update)]
    pub term_months: Option<Integer<1, 240>>,
    /// Up to which odometer reading it lasts.
    #[field(create, update)]
    pub max_mileage: Option<Distance>,
    /// What the customer pays of each claim.
    #[field(create, update)]
    pub deductible: Option<Money>,
    /// What it covers, for customers.
    #[field(create, update)]
    pub description: Option<Text<1000>>,
    /// Only active products are sold.
    #[field(create, update, known, indexed, receipt)]
    #[default(FniProductStatus::Active)]
    pub status: FniProductStatus,
}

impl Resource for FniProduct {
    const DOMAIN: &'static Domain = &domains::FNI;
    const DUPLICATE: CodeSpec = DUPLICATE;
    const WITHDRAWAL: Option<Withdrawal> =
        Some(Withdrawal { field: "status", listed: &["active"], withdrawn: "retired" });

    /// What the list names again is sold again.
    fn on_listed(product: &FniProduct, arguments: &mut Map<String, Value>) {
        if product.status == FniProductStatus::Retired && !arguments.contains_key("status") {
            arguments.insert("status".to_owned(), Value::from("active"));
        }
    }
}

const LISTED_BY: &[FilterArgument] = &[
    equals("product_type", "Only this kind."),
    equals("status", "Only products with this status."),
    equals("code", "The product with this code."),
];

pub fn resource() -> ResourceParts {
    ResourceApi::<FniProduct>::new("fni_products", "The product's id, as lists give it; not its code.")
        .list(
            "fni.list_products",
            "List F&I products",
            "Lists what the dealership sells with a car (service contracts, GAP and so on), newest first.",
            LISTED_BY,
            ("F&I products", "Finance and insurance products, newest first."),
        )
        .get(
            "fni.get_product",
            "Get an F&I product",
            "Reads one finance or insurance product by its id.",
            ("F&I product", "One finance or insurance product by its id."),
        )
        .parts()
}
