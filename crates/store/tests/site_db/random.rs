//! Random queries: the three databases return the same rows.

use std::cell::Cell;

use frontdesk_engine::model::page::Direction;
use frontdesk_engine::ports::site_db::{
    Comparison, Expr, Join, JoinKind, Like, Literal, Number, Operand, Predicate, Select, TableAlias,
};

use frontdesk_testkit::sites::SiteDatabases;
use frontdesk_testkit::sites::query::{all, column, of, same, value_of};
use frontdesk_testkit::test_scale;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// `FRONTDESK_TEST_SCALE` multiplies them; `cargo xtask test --long` sets it to 10.
const QUERIES: u32 = 400;

/// Texts that the collations of all three sort in the same order: no mixed case, no trailing blanks, little punctuation.
const TEXTS: [&str; 12] = ["", "0", "111", "500", "99.95", "-115", "n/a", "red", "blue", "1.7", "київ", "東京"];
const PATTERNS: [&str; 10] = ["", "1", "9", ".", "-1", "%", "_", "!", "\\", "ї"];
/// For comparisons with integers, which ignore blanks.
const SPACED: [&str; 6] = [" 2", "4 ", "\t9\n", " 1.5 ", "x ", "2 ї"];
const WHOLE: [&str; 7] = ["id", "parent", "menuindex", "template", "pub_date", "hidemenu", "isfolder"];

fn number() -> impl Strategy<Value = Number> {
    prop_oneof![
        1 => Just(Number::Signed),
        1 => Just(Number::Unsigned),
        2 => (0..70_u8, 0..40_u8).prop_map(|(digits, places)| Number::Decimal { digits, places }),
    ]
}

fn expr() -> impl Strategy<Value = Expr> {
    let leaf = prop_oneof![
        3 => select(&WHOLE[..]).prop_map(column),
        2 => Just(of(1, "value")),
        1 => select(&TEXTS[..]).prop_map(|text| Expr::Coalesce(Box::new(of(1, "value")), text.to_owned())),
        1 => Just(column("no_such_column")),
    ];
    leaf.prop_recursive(3, 8, 2, |inner| {
        let inner = inner.boxed();
        prop_oneof![
            (number(), inner.clone()).prop_map(|(number, expr)| Expr::Number(number, Box::new(expr))),
            (inner.clone(), inner).prop_map(|(one, other)| Expr::NonZero(Box::new(one), Box::new(other))),
        ]
    })
}

fn value() -> impl Strategy<Value = Literal> {
    prop_oneof![
        select(&[0, 1, 2, 4, 9, 99, 500, -115, i64::MAX, i64::MIN][..]).prop_map(Literal::Integer),
        select(&TEXTS[..]).prop_map(|text| Literal::Text(text.to_owned())),
        select(&["0", "-115", "99.95", "500", "0.5", "18446744073709551501"][..])
            .prop_map(|decimal| Literal::Decimal(decimal.to_owned())),
    ]
}

fn comparison() -> impl Strategy<Value = Comparison> {
    select(
        &[
            Comparison::Equal,
            Comparison::NotEqual,
            Comparison::Greater,
            Comparison::AtLeast,
            Comparison::Less,
            Comparison::AtMost,
        ][..],
    )
}

fn predicate() -> impl Strategy<Value = Predicate> {
    let literal = (expr(), comparison(), value());
    let spaced = (select(&WHOLE[..]), comparison(), select(&SPACED[..]));
    let like = (expr(), select(&[Like::Contains, Like::StartsWith, Like::EndsWith][..]), select(&PATTERNS[..]));
    prop_oneof![
        3 => literal.prop_map(|(expr, by, value)| Predicate::Compare(expr, by, Operand::Literal(value))),
        1 => (expr(), comparison(), expr()).prop_map(|(one, by, other)| Predicate::Compare(one, by, Operand::Expr(other))),
        1 => (expr(), vec(value(), 0..4)).prop_map(|(expr, values)| Predicate::AnyOf(expr, values)),
        1 => (expr(), vec(value(), 0..4)).prop_map(|(expr, values)| Predicate::NoneOf(expr, values)),
        1 => like.prop_map(|(expr, like, pattern)| Predicate::Like(expr, like, pattern.to_owned())),
        1 => expr().prop_map(Predicate::IsNull),
        1 => expr().prop_map(Predicate::IsNotNull),
        1 => (comparison(), 0..5_i64).prop_map(|(by, depth)| has_ancestor(by, depth)),
        1 => spaced.prop_map(|(name, by, text)| {
            Predicate::Compare(column(name), by, Operand::Literal(Literal::Text(text.to_owned())))
        }),
    ]
}

fn has_ancestor(comparison: Comparison, depth: i64) -> Predicate {
    let mut inner = all("site_content_closure", &[]);
    inner.from.0 = TableAlias(5);
    inner.order.clear();
    inner.filter = vec![same(of(5, "descendant"), column("id"))];
    inner.filter.push(Predicate::Compare(of(5, "depth"), comparison, Operand::Literal(Literal::Integer(depth))));
    Predicate::Exists(Box::new(inner))
}

fn query() -> impl Strategy<Value = Select> {
    let join = (select(&[JoinKind::Left, JoinKind::Left, JoinKind::Inner][..]), select(&[1, 4, 5, 6][..]));
    let direction = select(&[Direction::Ascending, Direction::Descending][..]);
    let window = (select(&[0, 0, 1, 10, 300][..]), select(&[1, 5, 20, 100][..]));
    let parts = (join, vec(expr(), 0..3), vec(predicate(), 0..3), vec((expr(), direction), 0..3), window);
    parts.prop_map(|((kind, variable), columns, filter, order, (offset, limit))| {
        let mut select = all("site_content", &["id"]);
        select.joins = vec![Join { kind, ..value_of(variable, 1) }];
        select.columns.extend(columns);
        select.filter = filter;
        select.order = order;
        select.order.push((column("id"), Direction::Ascending));
        Select { offset, limit, ..select }
    })
}

#[test]
fn random_queries_give_the_same_rows_on_all_databases() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let three = runtime.block_on(SiteDatabases::small());
    let queries = QUERIES * u32::try_from(test_scale()).unwrap();
    let found = Cell::new(0);
    // Always the same cases, so that a failure comes back on every run.
    let config = Config { cases: queries, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let checked = runner.run(&query(), |select| {
        let rows = runtime.block_on(three.rows(&select));
        found.set(found.get() + u32::from(!rows.is_empty()));
        Ok(())
    });
    checked.unwrap_or_else(|failure| panic!("{failure}"));
    // Queries without rows would prove little.
    assert!(found.get() > queries / 3, "only {} of {queries} queries returned rows", found.get());
}
