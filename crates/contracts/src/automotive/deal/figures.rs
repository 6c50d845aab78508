//! What the terms of a deal come to: lines of the dealership's own table, totals and payments. The same for a quote and
//! for a deal, and never taken from a caller.

use frontdesk_engine::Fault;
use frontdesk_engine::model::fault::Problem;

use super::arithmetic::{PaymentPlan, amortise, lease, rate_of};
use super::{DealLine, DealTotals, DealTrade, DealType, Incentive, PaymentGroup};
use crate::automotive::fee::{Fee, FeeKind, TaxBasis};
use crate::automotive::values::{MAX_SAFE_INTEGER, Money};
use crate::automotive::vin::Vin;
use crate::record::{Integer, List};

/// What was agreed.
pub(super) struct Terms<'a> {
    pub(super) deal_type: DealType,
    pub(super) selling_price: &'a Money,
    pub(super) incentives: &'a [Incentive],
    pub(super) trades: &'a [DealTrade],
    pub(super) down_payment: Option<&'a Money>,
    pub(super) term_months: Option<i64>,
    pub(super) apr_basis_points: Option<i64>,
    pub(super) money_factor: Option<i64>,
    pub(super) residual: Option<&'a Money>,
}

/// What it comes to.
#[derive(Debug)]
pub(super) struct Figures {
    pub(super) fees: List<DealLine, 200>,
    pub(super) taxes: List<DealLine, 200>,
    pub(super) totals: DealTotals,
    pub(super) amount_financed: Option<Money>,
    pub(super) monthly_payment: Option<Money>,
    pub(super) payments: List<PaymentGroup, 120>,
}

/// How a type of deal is paid.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Settlement {
    AtOnce,
    Instalments,
    InstalmentsAndBalloon,
    Lease,
}

impl Settlement {
    fn of(deal_type: DealType) -> Settlement {
        match deal_type {
            DealType::RetailFinance => Settlement::Instalments,
            DealType::Balloon => Settlement::InstalmentsAndBalloon,
            DealType::Lease => Settlement::Lease,
            DealType::Cash | DealType::Fleet | DealType::Wholesale | DealType::Unknown => Settlement::AtOnce,
        }
    }
}

impl Terms<'_> {
    /// Fails with everything that is wrong with the terms.
    pub(super) fn figures(&self, table: &[Fee]) -> Result<Figures, Fault> {
        let mut problems = Problems::default();
        self.check_currencies(&mut problems);
        self.check_trades(&mut problems);
        self.check_settlement(&mut problems);
        problems.into_result()?;
        let sums = self.sums(table);
        let paid = self.payment_plan(sums.due)?;
        let money = |amount: i128| self.money(amount);
        let (amount_financed, monthly_payment) = match &paid {
            Some(plan) => (Some(money(sums.due)?), Some(money(plan.regular)?)),
            None => (None, None),
        };
        Ok(Figures {
            totals: DealTotals {
                fees: money(sums.fees)?,
                taxes: money(sums.taxes)?,
                incentives: money(sums.incentives)?,
                trade_allowance: money(sums.allowance)?,
                trade_payoff: money(sums.payoff)?,
                total_price: money(sums.total)?,
                amount_due: money(sums.due.max(0))?,
                due_to_customer: (sums.due < 0).then(|| money(-sums.due)).transpose()?,
                finance_charge: paid.as_ref().map(|plan| money(plan.charge)).transpose()?,
                total_of_payments: paid.as_ref().map(|plan| money(plan.total())).transpose()?,
            },
            payments: self.groups(paid.map(|plan| plan.payments).unwrap_or_default())?,
            fees: List(sums.fee_lines.into_iter().map(|line| self.line(line)).collect::<Result<_, _>>()?),
            taxes: List(sums.tax_lines.into_iter().map(|line| self.line(line)).collect::<Result<_, _>>()?),
            amount_financed,
            monthly_payment,
        })
    }

    /// Amounts of one deal are added up, so they have one currency.
    fn check_currencies(&self, problems: &mut Problems) {
        let mut check = |pointer: String, money: &Money| {
            if money.currency != self.selling_price.currency {
                problems.add(format!("{pointer}/currency"), "const", "the currency of the selling price is expected");
            }
        };
        for (place, incentive) in self.incentives.iter().enumerate() {
            check(format!("/incentives/{place}/amount"), &incentive.amount);
        }
        for (place, trade) in self.trades.iter().enumerate() {
            check(format!("/trades/{place}/allowance"), &trade.allowance);
            if let Some(payoff) = &trade.payoff {
                check(format!("/trades/{place}/payoff"), payoff);
            }
        }
        if let Some(down_payment) = self.down_payment {
            check("/down_payment".to_owned(), down_payment);
        }
        if let Some(residual) = self.residual {
            check("/residual".to_owned(), residual);
        }
    }

    fn check_trades(&self, problems: &mut Problems) {
        for (place, trade) in self.trades.iter().enumerate() {
            if let Some(Err(error)) = trade.vin.as_ref().map(|vin| Vin::parse(vin)) {
                problems.add(format!("/trades/{place}/vin"), "pattern", &error.to_string());
            }
        }
    }

    /// Each way to pay needs some of the terms, and has no use for the others.
    fn check_settlement(&self, problems: &mut Problems) {
        use Settlement::{AtOnce, Instalments, InstalmentsAndBalloon, Lease};
        let settlement = Settlement::of(self.deal_type);
        let terms = [
            ("/term_months", self.term_months.is_some(), &[Instalments, InstalmentsAndBalloon, Lease][..]),
            ("/apr_basis_points", self.apr_basis_points.is_some(), &[Instalments, InstalmentsAndBalloon]),
            ("/money_factor", self.money_factor.is_some(), &[Lease]),
            ("/residual", self.residual.is_some(), &[InstalmentsAndBalloon, Lease]),
        ];
        for (pointer, is_given, needed_by) in terms {
            match (needed_by.contains(&settlement), is_given) {
                (true, false) => problems.add(pointer.to_owned(), "required", "this type of deal needs it"),
                (false, true) if settlement == AtOnce => {
                    problems.add(pointer.to_owned(), "const", "this type of deal is paid at once; leave it out");
                }
                (false, true) => problems.add(pointer.to_owned(), "const", "not a term of this type of deal"),
                (true, true) | (false, false) => {}
            }
        }
    }

    fn sums(&self, table: &[Fee]) -> Sums {
        let amount = |money: &Money| i128::from(money.amount.get());
        let price = amount(self.selling_price);
        let incentives: i128 = self.incentives.iter().map(|incentive| amount(&incentive.amount)).sum();
        let allowance: i128 = self.trades.iter().map(|trade| amount(&trade.allowance)).sum();
        let payoff: i128 = self.trades.iter().filter_map(|trade| trade.payoff.as_ref()).map(amount).sum();
        let mut lines: Vec<&Fee> = table.iter().filter(|fee| fee.applies_to(self.deal_type)).collect();
        lines.sort_by(|one, other| (one.order, &*one.code).cmp(&(other.order, &*other.code)));
        let charge = |fee: &Fee, base: i128| match (&fee.amount, fee.rate_basis_points) {
            (Some(fixed), _) => (fixed.currency == self.selling_price.currency).then(|| amount(fixed)),
            (None, rate) => rate.map(|rate| rate_of(base, rate.get())),
        };
        let (mut fee_lines, mut tax_lines, mut taxable) = (Vec::new(), Vec::new(), 0);
        for fee in lines.iter().filter(|fee| fee.kind == FeeKind::Fee) {
            let Some(amount) = charge(fee, price) else { continue };
            taxable += if fee.taxable { amount } else { 0 };
            fee_lines.push(ChargedLine { code: fee.code.to_string(), name: fee.name.to_string(), amount });
        }
        for tax in lines.iter().filter(|fee| fee.kind == FeeKind::Tax) {
            let reduction = match tax.basis {
                TaxBasis::SellingPrice | TaxBasis::Unknown => 0,
                TaxBasis::LessIncentives => incentives,
                TaxBasis::LessTrade => allowance,
                TaxBasis::LessIncentivesAndTrade => incentives + allowance,
            };
            let Some(amount) = charge(tax, (price - reduction).max(0) + taxable) else { continue };
            tax_lines.push(ChargedLine { code: tax.code.to_string(), name: tax.name.to_string(), amount });
        }
        let total_of = |lines: &[ChargedLine]| lines.iter().map(|line| line.amount).sum::<i128>();
        let (fees, taxes) = (total_of(&fee_lines), total_of(&tax_lines));
        let total = price + fees + taxes;
        let down_payment = self.down_payment.map_or(0, amount);
        let due = total - incentives - allowance + payoff - down_payment;
        Sums { fee_lines, tax_lines, fees, taxes, incentives, allowance, payoff, total, due }
    }

    fn payment_plan(&self, due: i128) -> Result<Option<PaymentPlan>, Fault> {
        let settlement = Settlement::of(self.deal_type);
        if settlement == Settlement::AtOnce {
            return Ok(None);
        }
        if due <= 0 {
            return Err(Fault::invalid_argument(
                "/deal_type",
                "const",
                "nothing is left to pay in instalments: choose cash, or lower down_payment, incentives or trades",
            ));
        }
        let principal = self.money(due)?.amount.get();
        let residual = self.residual.map_or(0, |residual| residual.amount.get());
        if residual > principal {
            return Err(Fault::invalid_argument("/residual", "maximum", "it must not exceed what is financed"));
        }
        let months = self.term_months.unwrap_or(1);
        let apr = self.apr_basis_points.unwrap_or(0);
        Ok(Some(match settlement {
            Settlement::Lease => lease(principal, residual, self.money_factor.unwrap_or(0), months),
            Settlement::InstalmentsAndBalloon => amortise(principal, apr, months, residual),
            Settlement::Instalments | Settlement::AtOnce => amortise(principal, apr, months, 0),
        }))
    }

    /// Equal payments in a row are one group.
    fn groups(&self, payments: Vec<i128>) -> Result<List<PaymentGroup, 120>, Fault> {
        let mut runs: Vec<(i64, i128)> = Vec::new();
        for payment in payments {
            match runs.last_mut() {
                Some((count, amount)) if *amount == payment => *count += 1,
                Some(_) | None => runs.push((1, payment)),
            }
        }
        let group = |(count, amount)| -> Result<PaymentGroup, Fault> {
            Ok(PaymentGroup { count: Integer::clamped(count), amount: self.money(amount)? })
        };
        runs.into_iter().map(group).collect::<Result<Vec<_>, _>>().map(List)
    }

    fn line(&self, line: ChargedLine) -> Result<DealLine, Fault> {
        let ChargedLine { code, name, amount } = line;
        Ok(DealLine { code: code.as_str().into(), name: name.as_str().into(), amount: self.money(amount)? })
    }

    /// An amount that JSON cannot carry exactly is refused, not cut off.
    fn money(&self, amount: i128) -> Result<Money, Fault> {
        match i64::try_from(amount) {
            Ok(amount) if amount <= MAX_SAFE_INTEGER => Ok(Money::new(amount, &self.selling_price.currency)),
            Ok(_) | Err(_) => {
                Err(Fault::invalid_argument("/selling_price/amount", "maximum", "the amounts add up to too much"))
            }
        }
    }
}

struct Sums {
    fee_lines: Vec<ChargedLine>,
    tax_lines: Vec<ChargedLine>,
    fees: i128,
    taxes: i128,
    incentives: i128,
    allowance: i128,
    payoff: i128,
    total: i128,
    /// Negative if the customer gets money back.
    due: i128,
}

struct ChargedLine {
    code: String,
    name: String,
    amount: i128,
}

#[derive(Default)]
struct Problems(Vec<Problem>);

impl Problems {
    fn add(&mut self, pointer: String, keyword: &'static str, expected: &str) {
        self.0.push(Problem { pointer, keyword, expected: expected.to_owned() });
    }

    fn into_result(self) -> Result<(), Fault> {
        if self.0.is_empty() { Ok(()) } else { Err(Fault::invalid(self.0)) }
    }
}
