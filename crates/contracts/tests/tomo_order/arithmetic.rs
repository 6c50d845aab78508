//! What an order comes to, computed a second time in another way: in paise and with nothing but additions.

use frontdesk_contracts::tomo::order::{CartTotal, Charges};
use proptest::prelude::*;

/// Half up, by counting hundredths of a rupee.
fn tax_by_counting(taxed_inr: i64, percent: i64) -> i64 {
    let mut paise: i64 = 0;
    for _ in 0..percent {
        paise += taxed_inr;
    }
    let (whole, rest) = (paise / 100, paise % 100);
    if rest >= 50 { whole + 1 } else { whole }
}

proptest! {
    #[test]
    fn totals_are_the_sum_of_their_parts(
        lines in prop::collection::vec((0..100_000_i64, 1..=50_i64), 1..=20),
        packaging_inr in 0..5_000_i64,
        delivery_fee_inr in 0..5_000_i64,
        tax_percent in 0..=100_i64,
    ) {
        let total = CartTotal::of(lines.iter().copied(), Charges { packaging_inr, delivery_fee_inr, tax_percent });
        let mut subtotal = 0;
        for (price, quantity) in &lines {
            for _ in 0..*quantity {
                subtotal += price;
            }
        }
        let tax_inr = tax_by_counting(subtotal + packaging_inr, tax_percent);
        prop_assert_eq!(total, CartTotal {
            subtotal_inr: subtotal,
            packaging_inr,
            delivery_fee_inr,
            tax_percent,
            tax_inr,
            total_inr: subtotal + packaging_inr + tax_inr + delivery_fee_inr,
        });
    }
}

#[test]
fn tax_is_rounded_half_up_once() {
    let tax = |subtotal, packaging_inr| {
        let charges = Charges { packaging_inr, delivery_fee_inr: 1_000, tax_percent: 5 };
        CartTotal::of([(subtotal, 1)], charges).tax_inr
    };
    assert_eq!(tax(100, 10), 6, "5.50, and nothing of the delivery");
    assert_eq!(tax(100, 9), 5, "5.45");
    assert_eq!(tax(5, 5), 1, "0.50 together; apart it would be nothing");
    assert_eq!(tax(0, 0), 0);
}
