//! Payments of random deals add up exactly, in currencies with no, two and three decimals.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use frontdesk_contracts::automotive::deal::arithmetic::{PaymentPlan, amortise, half_up, lease, rate_of};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

/// Of a currency with so many decimals, up to ten million of its units, with many small ones.
fn amount(decimals: u32) -> impl Strategy<Value = i64> {
    let most = 10_000_000 * 10_i64.pow(decimals);
    prop_oneof![1..=most, 1..=1_000_i64]
}

#[derive(Debug, Clone)]
struct RandomDeal {
    principal: i64,
    residual: i64,
    apr: i64,
    money_factor: i64,
    months: i64,
}

fn deal() -> impl Strategy<Value = RandomDeal> {
    let decimals = prop_oneof![Just(0), Just(2), Just(3)];
    (decimals.prop_flat_map(amount), 0..=100_i64, 0..=9_999_i64, 0..=2_000_i64, 1..=120_i64).prop_map(
        |(principal, percent, apr, money_factor, months)| {
            let residual = i64::try_from(i128::from(principal) * i128::from(percent) / 100).unwrap();
            RandomDeal { principal, residual, apr, money_factor, months }
        },
    )
}

fn check(plan: &PaymentPlan, owed: i64, months: i64) -> Result<(), TestCaseError> {
    prop_assert_eq!(plan.total(), i128::from(owed) + plan.charge);
    prop_assert!(plan.payments.iter().all(|payment| *payment >= 0), "{plan:?}");
    prop_assert!(plan.charge >= 0);
    let count = i64::try_from(plan.payments.len()).unwrap();
    prop_assert!((1..=months).contains(&count));
    // All but the last two are the regular payment.
    let regular = plan.payments.iter().rev().skip(2);
    prop_assert!(regular.clone().all(|payment| *payment == plan.regular || *payment == 0 || plan.regular == 0));
    Ok(())
}

#[test]
fn payments_of_ten_thousand_random_deals_add_up() {
    let mut runner = TestRunner::new(Config { cases: 10_000, ..Config::default() });
    runner
        .run(&deal(), |deal| {
            let RandomDeal { principal, residual, apr, money_factor, months } = deal;
            check(&amortise(principal, apr, months, 0), principal, months)?;
            check(&amortise(principal, apr, months, residual), principal, months)?;
            let leased = lease(principal, residual, money_factor, months);
            prop_assert_eq!(leased.total(), i128::from(principal - residual) + leased.charge);
            prop_assert!(leased.payments.iter().all(|payment| *payment >= 0));
            prop_assert_eq!(i64::try_from(leased.payments.len()).unwrap(), months);
            Ok(())
        })
        .unwrap();
}

/// The payment is that of the annuity formula, computed here in another way: the smallest whole payment with which the
/// debt is paid at the end differs from it by rounding only.
#[test]
fn a_payment_is_that_of_the_formula() {
    let mut runner = TestRunner::new(Config { cases: 2_000, ..Config::default() });
    let cases = (100_000..=10_000_000_i64, 1..=3_000_i64, 6..=96_i64);
    runner
        .run(&cases, |(principal, apr, months)| {
            let plan = amortise(principal, apr, months, 0);
            let left = |payment: i128| {
                let mut balance = i128::from(principal) * 1_000_000;
                for _ in 0..months {
                    balance += half_up(balance.max(0) * i128::from(apr), 120_000) - payment * 1_000_000;
                }
                balance
            };
            prop_assert!(left(plan.regular - 1) > 0, "a smaller payment would do: {}", plan.regular);
            prop_assert!(left(plan.regular + 1) < 0, "the payment is too small: {}", plan.regular);
            Ok(())
        })
        .unwrap();
}

#[test]
fn the_largest_amounts_do_not_overflow() {
    let most = 9_007_199_254_740_991;
    for (apr, months) in [(0, 1), (1, 120), (9_999, 1), (9_999, 120)] {
        let plan = amortise(most, apr, months, 0);
        assert_eq!(plan.total(), i128::from(most) + plan.charge, "{apr} {months}");
        let plan = amortise(most, apr, months, most);
        assert_eq!(plan.total(), i128::from(most) + plan.charge, "{apr} {months}");
    }
    let plan = lease(most, most, 2_000, 120);
    assert_eq!(plan.total(), plan.charge);
}

#[test]
fn halves_are_rounded_up() {
    assert_eq!([half_up(5, 10), half_up(4, 10), half_up(15, 10), half_up(0, 10)], [1, 0, 2, 0]);
    assert_eq!([rate_of(100, 50), rate_of(99, 50), rate_of(100, 1_250)], [1, 0, 13]);
}

/// The example of docs/guides/deals.md.
#[test]
fn a_small_amount_is_paid_off_sooner() {
    let plan = amortise(100, 0, 60, 0);
    assert_eq!((plan.regular, plan.payments.len(), plan.total()), (2, 50, 100));
    let plan = amortise(10, 0, 60, 0);
    assert_eq!((plan.regular, plan.payments.len(), plan.payments[59]), (0, 60, 10));
}
