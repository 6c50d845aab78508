//! The arithmetic of deals in whole minor units: rates, instalments and leases. Nothing here is a float, and no amount
//! gets lost: what rounding leaves over is in the last payment.

/// Rounds to the nearest whole number, a half up. Neither argument may be negative.
pub fn half_up(numerator: i128, denominator: i128) -> i128 {
    (2 * numerator + denominator) / (2 * denominator)
}

/// A rate of an amount, rounded half up.
pub fn rate_of(amount: i128, basis_points: i64) -> i128 {
    half_up(amount * i128::from(basis_points), 10_000)
}

/// What a customer pays month by month.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaymentPlan {
    /// The payment that was agreed; the last one may differ.
    pub regular: i128,
    /// Every payment in its order. Fewer than agreed if rounding up pays a small amount off sooner.
    pub payments: Vec<i128>,
    /// Interest or rent that is in the payments.
    pub charge: i128,
}

impl PaymentPlan {
    pub fn total(&self) -> i128 {
        self.payments.iter().sum()
    }
}

/// Fractions are counted in this unit. With it, 120 months at 99.99 percent fit into an `i128`.
const SCALE: i128 = 1_000_000_000_000_000;
/// Basis points of a year in a month: a twelfth of a ten-thousandth.
const MONTHLY: i128 = 120_000;

/// Equal payments at the end of each month that pay `principal` down to `balloon`, which is due with the last one.
/// Interest of a month is taken of what is still owed and rounded half up.
pub fn amortise(principal: i64, apr_basis_points: i64, months: i64, balloon: i64) -> PaymentPlan {
    let (principal, balloon, apr) = (i128::from(principal), i128::from(balloon), i128::from(apr_basis_points));
    let interest_of = |balance: i128| half_up(balance * apr, MONTHLY);
    let rounded = match annuity(apr, months) {
        Some((rate, factor)) => half_up((principal * factor - balloon * (factor - rate)).max(0), SCALE),
        None => half_up((principal - balloon).max(0), i128::from(months.max(1))),
    };
    // A payment below the first interest would let the debt grow.
    let regular = rounded.max(interest_of(principal));
    let (mut balance, mut charge, mut payments) = (principal, 0, Vec::new());
    for month in 1..=months {
        let interest = interest_of(balance);
        let owed = balance + interest;
        let payment = if month == months { owed } else { regular.min(owed) };
        charge += interest;
        balance = owed - payment;
        payments.push(payment);
        if balance == 0 {
            break;
        }
    }
    PaymentPlan { regular, payments, charge }
}

/// The monthly rate, and the payment for each unit of principal, in `SCALE`. None without interest.
fn annuity(apr: i128, months: i64) -> Option<(i128, i128)> {
    let rate = half_up(apr * SCALE, MONTHLY);
    let mut growth = SCALE;
    for _ in 0..months {
        growth = half_up(growth * (SCALE + rate), SCALE);
    }
    let gained = growth - SCALE;
    (gained > 0).then(|| (rate, half_up(growth * rate, gained)))
}

/// Hundred-thousandths in the unit of a money factor: 125 is 0.00125.
const MONEY_FACTOR: i128 = 100_000;

/// A lease: each month a part of what the car loses, and rent on the cost and the residual together. Both lines are
/// rounded half up; the last month has what is left of the loss.
pub fn lease(cost: i64, residual: i64, money_factor: i64, months: i64) -> PaymentPlan {
    let (cost, residual) = (i128::from(cost), i128::from(residual));
    let rent = half_up((cost + residual) * i128::from(money_factor), MONEY_FACTOR);
    let mut left = (cost - residual).max(0);
    let part = half_up(left, i128::from(months.max(1)));
    let mut payments = Vec::new();
    for month in 1..=months {
        let share = if month == months { left } else { part.min(left) };
        left -= share;
        payments.push(share + rent);
    }
    PaymentPlan { regular: part + rent, charge: rent * i128::from(months), payments }
}
