//! Ten thousand random deals, quoted by the tool: their figures are compared with what the documents say, computed here in
//! another way. The currencies have no, two and three decimals.

use frontdesk_engine::import::{ImportRow, ImportSession, RowVerdict};
use frontdesk_testkit::TestRandom;
use serde_json::{Value, json};

use super::support::TestDesk;

const SCOPES: &str = "amcp:deals:read amcp:deals:write amcp:inventory:read amcp:leads:read";
const DEALS: usize = 10_000;

/// With the number of decimals.
const CURRENCIES: [(&str, u32); 4] = [("JPY", 0), ("USD", 2), ("INR", 2), ("KWD", 3)];
const TYPES: [&str; 6] = ["cash", "fleet", "wholesale", "retail_finance", "balloon", "lease"];

/// A line of the table, as it is imported and as it is charged here.
struct TableLine {
    code: &'static str,
    is_tax: bool,
    /// Of a currency.
    fixed: Option<(i128, &'static str)>,
    basis_points: i128,
    taxable: bool,
    basis: &'static str,
    /// Empty for all.
    applies_to: &'static [&'static str],
}

const FEE: TableLine = TableLine {
    code: "",
    is_tax: false,
    fixed: None,
    basis_points: 0,
    taxable: false,
    basis: "selling_price",
    applies_to: &[],
};
const TAX: TableLine = TableLine { is_tax: true, ..FEE };

const TABLE: [TableLine; 10] = [
    TableLine { code: "YEN", fixed: Some((31_415, "JPY")), taxable: true, ..FEE },
    TableLine { code: "DOLLAR", fixed: Some((17_501, "USD")), taxable: true, ..FEE },
    TableLine { code: "RUPEE", fixed: Some((999_999, "INR")), ..FEE },
    TableLine { code: "DINAR", fixed: Some((12_345, "KWD")), taxable: true, ..FEE },
    TableLine { code: "PREP", basis_points: 137, taxable: true, applies_to: &["lease", "balloon"], ..FEE },
    TableLine { code: "SERVICE", basis_points: 3, ..FEE },
    TableLine { code: "WHOLE", basis_points: 825, applies_to: &["cash", "fleet"], ..TAX },
    TableLine { code: "LESS_TRADE", basis_points: 1_999, basis: "less_trade", applies_to: &["retail_finance"], ..TAX },
    TableLine {
        code: "LESS_BOTH",
        basis_points: 705,
        basis: "less_incentives_and_trade",
        applies_to: &["lease"],
        ..TAX
    },
    TableLine { code: "LEVY", basis_points: 33, basis: "less_incentives", ..TAX },
];

fn desk() -> TestDesk {
    let desk = TestDesk::open();
    let mut rows: Vec<Value> = Vec::new();
    for (line, order) in TABLE.iter().zip(1..) {
        let kind = if line.is_tax { "tax" } else { "fee" };
        let mut row = json!({"code": line.code, "name": line.code, "kind": kind, "taxable": line.taxable,
            "basis": line.basis, "applies_to": line.applies_to, "order": order});
        match line.fixed {
            Some((amount, currency)) => row["amount"] = json!({"amount": amount as i64, "currency": currency}),
            None => row["rate_basis_points"] = json!(line.basis_points as i64),
        }
        rows.push(row);
    }
    // The demo's own lines are not charged here.
    for code in ["DOC", "TITLE", "ACQ", "SALES", "RECON"] {
        rows.push(json!({"code": code, "status": "retired"}));
    }
    let row = |(row, line): (Value, u64)| ImportRow {
        line,
        arguments: row.as_object().unwrap().clone(),
        key: None,
        is_new: false,
    };
    let rows: Vec<ImportRow> = rows.into_iter().zip(2..).map(row).collect();
    let results = desk.import("fees", async |session: &ImportSession<'_>| session.apply(&rows).await.unwrap());
    let accepted = |verdict: &RowVerdict| matches!(verdict, RowVerdict::Created | RowVerdict::Updated);
    assert!(results.iter().all(|result| accepted(&result.verdict)), "{results:?}");
    desk
}

/// Codes and amounts.
type ChargedLines = Vec<(&'static str, i128)>;

#[derive(Debug)]
struct RandomDeal {
    deal_type: &'static str,
    currency: &'static str,
    price: i128,
    incentives: Vec<i128>,
    /// Allowance and payoff.
    trades: Vec<(i128, Option<i128>)>,
    down_payment: Option<i128>,
    months: i128,
    apr: i128,
    money_factor: i128,
    residual: i128,
}

impl RandomDeal {
    fn new(random: &TestRandom) -> RandomDeal {
        let (currency, decimals) = *random.pick(&CURRENCIES);
        let up_to = |most: i128| (u128::from(random.number()) % (most.unsigned_abs() + 1)) as i128;
        let price = 1 + up_to(if random.percent(10) { 999 } else { 10_000_000 * 10_i128.pow(decimals) });
        let share = |percent: i128| up_to(price * percent / 100);
        let trade = |_: usize| {
            let allowance = share(50);
            (allowance, random.percent(50).then(|| up_to(allowance * 12 / 10)))
        };
        RandomDeal {
            deal_type: TYPES[random.below(TYPES.len())],
            currency,
            price,
            incentives: (0..random.below(4)).map(|_| share(10)).collect(),
            trades: (0..random.below(3)).map(trade).collect(),
            down_payment: random.percent(60).then(|| share(30)),
            months: 1 + up_to(119),
            apr: if random.percent(25) { 0 } else { up_to(9_999) },
            money_factor: if random.percent(25) { 0 } else { up_to(2_000) },
            residual: share(60),
        }
    }

    fn is_paid_at_once(&self) -> bool {
        ["cash", "fleet", "wholesale"].contains(&self.deal_type)
    }

    fn terms(&self) -> Value {
        let money = |amount: i128| json!({"amount": amount as i64, "currency": self.currency});
        let trade = |(allowance, payoff): &(i128, Option<i128>)| {
            let mut trade = json!({"make": "Honda", "model": "Fit", "year": 2012, "allowance": money(*allowance)});
            if let Some(payoff) = payoff {
                trade["payoff"] = money(*payoff);
            }
            trade
        };
        let incentive = |amount: &i128| json!({"name": "Bonus", "amount": money(*amount)});
        let mut terms = json!({
            "deal_type": self.deal_type,
            "selling_price": money(self.price),
            "incentives": self.incentives.iter().map(incentive).collect::<Vec<Value>>(),
            "trades": self.trades.iter().map(trade).collect::<Vec<Value>>(),
        });
        if let Some(amount) = self.down_payment {
            terms["down_payment"] = money(amount);
        }
        if !self.is_paid_at_once() {
            terms["term_months"] = json!(self.months as i64);
        }
        match self.deal_type {
            "retail_finance" | "balloon" => terms["apr_basis_points"] = json!(self.apr as i64),
            "lease" => terms["money_factor"] = json!(self.money_factor as i64),
            _ => {}
        }
        if ["balloon", "lease"].contains(&self.deal_type) {
            terms["residual"] = money(self.residual);
        }
        terms
    }

    /// Code and amount of every line, by the rules of docs/guides/deals.md.
    fn lines(&self) -> (ChargedLines, ChargedLines) {
        let incentives: i128 = self.incentives.iter().sum();
        let allowance: i128 = self.trades.iter().map(|trade| trade.0).sum();
        let (mut fees, mut taxes, mut taxable) = (Vec::new(), Vec::new(), 0);
        for line in TABLE.iter().filter(|line| line.applies_to.is_empty() || line.applies_to.contains(&self.deal_type))
        {
            let less = match line.basis {
                "selling_price" => 0,
                "less_trade" => allowance,
                "less_incentives" => incentives,
                "less_incentives_and_trade" => incentives + allowance,
                other => panic!("{other}"),
            };
            let base = if line.is_tax { (self.price - less).max(0) + taxable } else { self.price };
            let amount = match line.fixed {
                Some((_, currency)) if currency != self.currency => continue,
                Some((amount, _)) => amount,
                None => (base * line.basis_points + 5_000) / 10_000,
            };
            if line.is_tax {
                taxes.push((line.code, amount));
            } else {
                taxable += if line.taxable { amount } else { 0 };
                fees.push((line.code, amount));
            }
        }
        (fees, taxes)
    }
}

fn amount(value: &Value) -> i128 {
    i128::from(value["amount"].as_i64().unwrap_or_else(|| panic!("no amount in {value}")))
}

/// Every number is whole and not negative, and every amount has the one currency.
fn check_numbers(value: &Value, currency: &str) {
    match value {
        Value::Number(number) => assert!(number.as_u64().is_some(), "{number}"),
        Value::Array(values) => values.iter().for_each(|value| check_numbers(value, currency)),
        Value::Object(members) => {
            assert!(members.get("currency").is_none_or(|known| known == currency), "{value}");
            members.values().for_each(|value| check_numbers(value, currency));
        }
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

fn check_lines(lines: &Value, expected: &[(&str, i128)]) -> i128 {
    let line = |line: &Value| (line["code"].as_str().unwrap().to_owned(), amount(&line["amount"]));
    let found: Vec<(String, i128)> = lines.as_array().unwrap().iter().map(line).collect();
    let expected: Vec<(String, i128)> = expected.iter().map(|(code, amount)| ((*code).to_owned(), *amount)).collect();
    assert_eq!(found, expected);
    found.iter().map(|(_, amount)| amount).sum()
}

/// Pays month by month, with the interest that the documents say, until nothing is owed.
fn check_schedule(deal: &RandomDeal, answer: &Value, due: i128) {
    let groups = answer["payments"].as_array().unwrap();
    let payments: Vec<i128> = groups
        .iter()
        .flat_map(|group| vec![amount(&group["amount"]); usize::try_from(group["count"].as_u64().unwrap()).unwrap()])
        .collect();
    let charge = amount(&answer["totals"]["finance_charge"]);
    let total: i128 = payments.iter().sum();
    assert_eq!(total, amount(&answer["totals"]["total_of_payments"]));
    assert_eq!(amount(&answer["amount_financed"]), due);
    assert!((1..=deal.months).contains(&(payments.len() as i128)));
    let half_up = |numerator: i128, denominator: i128| (2 * numerator + denominator) / (2 * denominator);
    if deal.deal_type == "lease" {
        assert_eq!(total, due - deal.residual + charge);
        assert_eq!(charge, half_up((due + deal.residual) * deal.money_factor, 100_000) * deal.months);
        assert_eq!(payments.len() as i128, deal.months);
        return;
    }
    assert_eq!(total, due + charge);
    let (mut owed, mut interest) = (due, 0);
    for payment in &payments {
        let of_month = half_up(owed * deal.apr, 120_000);
        interest += of_month;
        owed += of_month - payment;
        assert!(owed >= 0, "paid too much: {owed}");
    }
    assert_eq!((owed, interest), (0, charge));
    if deal.deal_type == "balloon" && payments.len() as i128 == deal.months {
        // What rounding of the payments leaves is a minor unit a month at most, with its interest.
        let last = *payments.last().unwrap();
        assert!(deal.apr > 0 || last + deal.months >= deal.residual, "{last} of {}", deal.residual);
    }
}

fn check(deal: &RandomDeal, answer: &Value) {
    check_numbers(answer, deal.currency);
    let (fees, taxes) = deal.lines();
    let (fees, taxes) = (check_lines(&answer["fees"], &fees), check_lines(&answer["taxes"], &taxes));
    let totals = &answer["totals"];
    let incentives: i128 = deal.incentives.iter().sum();
    let allowance: i128 = deal.trades.iter().map(|trade| trade.0).sum();
    let payoff: i128 = deal.trades.iter().filter_map(|trade| trade.1).sum();
    let total = deal.price + fees + taxes;
    let due = total - incentives - allowance + payoff - deal.down_payment.unwrap_or(0);
    let names = ["fees", "taxes", "incentives", "trade_allowance", "trade_payoff", "total_price", "amount_due"];
    let expected = [fees, taxes, incentives, allowance, payoff, total, due.max(0)];
    assert_eq!(names.map(|name| amount(&totals[name])), expected);
    let back = totals.get("due_to_customer").map(amount);
    assert_eq!(back, (due < 0).then_some(-due));
    if deal.is_paid_at_once() {
        assert_eq!(answer["payments"], json!([]));
        assert_eq!((answer.get("amount_financed"), totals.get("finance_charge")), (None, None));
    } else {
        check_schedule(deal, answer, due);
    }
}

/// Where the terms cannot be, the pointer of the argument that is refused.
fn refusal(deal: &RandomDeal) -> Option<&'static str> {
    let (fees, taxes) = deal.lines();
    let lines: i128 = fees.iter().chain(&taxes).map(|line| line.1).sum();
    let reductions = deal.incentives.iter().sum::<i128>() + deal.down_payment.unwrap_or(0);
    let trades: i128 = deal.trades.iter().map(|(allowance, payoff)| allowance - payoff.unwrap_or(0)).sum();
    let due = deal.price + lines - reductions - trades;
    match deal.deal_type {
        "retail_finance" | "balloon" | "lease" if due <= 0 => Some("/deal_type"),
        "balloon" | "lease" if deal.residual > due => Some("/residual"),
        _ => None,
    }
}

#[test]
fn ten_thousand_random_deals_add_up_to_the_last_minor_unit() {
    let desk = desk();
    let vehicle = desk.call_ok(SCOPES, "inventory.list", json!({"status": "available", "limit": 1}));
    let vehicle = vehicle["items"][0]["id"].clone();
    let customer = desk.call_ok(SCOPES, "customers.list", json!({"limit": 1}))["items"][0]["id"].clone();
    let random = TestRandom::seeded(15);
    let (mut quoted, mut refused, mut recorded) = (0, 0, 0);
    while quoted < DEALS {
        // No faster than the rate limit.
        desk.clock.advance(20);
        let deal = RandomDeal::new(&random);
        let mut terms = deal.terms();
        terms["vehicle_id"] = vehicle.clone();
        let (failed, answer) = desk.call(SCOPES, "deals.request_quote", terms.clone());
        match refusal(&deal) {
            Some(pointer) => {
                assert!(failed, "{deal:?}");
                assert_eq!(answer["error"]["details"]["errors"][0]["pointer"], pointer, "{deal:?}");
                refused += 1;
                continue;
            }
            None => assert!(!failed, "{deal:?}: {answer}"),
        }
        let checked = std::panic::catch_unwind(|| check(&deal, &answer));
        assert!(checked.is_ok(), "{deal:?}");
        quoted += 1;
        // What is recorded has the same figures.
        if quoted % 100 == 0 {
            terms["customer_id"] = customer.clone();
            let made = desk.call_ok(SCOPES, "deals.create", terms);
            for name in ["fees", "taxes", "totals", "payments", "amount_financed", "monthly_payment"] {
                assert_eq!(made.get(name), answer.get(name), "{name} of {deal:?}");
            }
            recorded += 1;
        }
    }
    assert_eq!(recorded, DEALS / 100);
    assert!(refused < DEALS / 4, "{refused} of the random deals could not be");
}
