//! Random queries: the three databases return the same rows.

use frontdesk_engine::model::page::Direction;
use frontdesk_engine::ports::site_db::{
    Comparison, Expr, Join, JoinKind, Like, Literal, Number, Operand, Predicate, Select, TableAlias,
};
use frontdesk_testkit::sites::SiteDatabases;
use frontdesk_testkit::sites::query::{all, column, of, same, value_of};

const QUERIES: usize = 2_000;

/// SplitMix64, with a fixed seed, so that a failure can be repeated.
struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, most: usize) -> usize {
        usize::try_from(self.next() % most as u64).unwrap()
    }

    fn one<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())].clone()
    }
}

/// Texts that the collations of all three sort in the same order: no mixed case, no trailing blanks, little punctuation.
const TEXTS: [&str; 12] = ["", "0", "111", "500", "99.95", "-115", "n/a", "red", "blue", "1.7", "київ", "東京"];
const PATTERNS: [&str; 10] = ["", "1", "9", ".", "-1", "%", "_", "!", "\\", "ї"];
/// For comparisons with integers, which ignore blanks.
const SPACED: [&str; 6] = [" 2", "4 ", "\t9\n", " 1.5 ", "x ", "2 ї"];
const WHOLE: [&str; 7] = ["id", "parent", "menuindex", "template", "pub_date", "hidemenu", "isfolder"];

fn number(rng: &mut Rng) -> Number {
    match rng.below(4) {
        0 => Number::Signed,
        1 => Number::Unsigned,
        _ => Number::Decimal { digits: rng.below(70) as u8, places: rng.below(40) as u8 },
    }
}

fn expr(rng: &mut Rng) -> Expr {
    match rng.below(9) {
        0..=2 => column(rng.one(&WHOLE)),
        3 | 4 => of(1, "value"),
        5 => Expr::Coalesce(Box::new(of(1, "value")), rng.one(&TEXTS).to_owned()),
        6 => Expr::Number(number(rng), Box::new(expr(rng))),
        7 => Expr::NonZero(Box::new(expr(rng)), Box::new(expr(rng))),
        _ => column("no_such_column"),
    }
}

fn value(rng: &mut Rng) -> Literal {
    match rng.below(3) {
        0 => Literal::Integer(rng.one(&[0, 1, 2, 4, 9, 99, 500, -115, i64::MAX, i64::MIN])),
        1 => Literal::Text(rng.one(&TEXTS).to_owned()),
        _ => Literal::Decimal(rng.one(&["0", "-115", "99.95", "500", "0.5", "18446744073709551501"]).to_owned()),
    }
}

fn comparison(rng: &mut Rng) -> Comparison {
    rng.one(&[
        Comparison::Equal,
        Comparison::NotEqual,
        Comparison::Greater,
        Comparison::AtLeast,
        Comparison::Less,
        Comparison::AtMost,
    ])
}

fn test(rng: &mut Rng) -> Predicate {
    match rng.below(10) {
        9 => {
            let spaced = Literal::Text(rng.one(&SPACED).to_owned());
            Predicate::Compare(column(rng.one(&WHOLE)), comparison(rng), Operand::Literal(spaced))
        }
        0..=2 => Predicate::Compare(expr(rng), comparison(rng), Operand::Literal(value(rng))),
        3 => Predicate::Compare(expr(rng), comparison(rng), Operand::Expr(expr(rng))),
        4 => Predicate::AnyOf(expr(rng), (0..rng.below(4)).map(|_| value(rng)).collect()),
        5 => Predicate::NoneOf(expr(rng), (0..rng.below(4)).map(|_| value(rng)).collect()),
        6 => {
            let like = rng.one(&[Like::Contains, Like::StartsWith, Like::EndsWith]);
            Predicate::Like(expr(rng), like, rng.one(&PATTERNS).to_owned())
        }
        7 if rng.below(2) == 0 => Predicate::IsNull(expr(rng)),
        7 => Predicate::IsNotNull(expr(rng)),
        _ => {
            let mut inner = all("site_content_closure", &[]);
            inner.from.0 = TableAlias(5);
            inner.order.clear();
            inner.filter = vec![same(of(5, "descendant"), column("id"))];
            let depth = Operand::Literal(Literal::Integer(rng.below(5) as i64));
            inner.filter.push(Predicate::Compare(of(5, "depth"), comparison(rng), depth));
            Predicate::Exists(Box::new(inner))
        }
    }
}

fn query(rng: &mut Rng) -> Select {
    let mut select = all("site_content", &["id"]);
    let variable = rng.one(&[1, 4, 5, 6]);
    select.joins =
        vec![Join { kind: rng.one(&[JoinKind::Left, JoinKind::Left, JoinKind::Inner]), ..value_of(variable, 1) }];
    select.columns.extend((0..rng.below(3)).map(|_| expr(rng)));
    select.filter = (0..rng.below(3)).map(|_| test(rng)).collect();
    select.order =
        (0..rng.below(3)).map(|_| (expr(rng), rng.one(&[Direction::Ascending, Direction::Descending]))).collect();
    select.order.push((column("id"), Direction::Ascending));
    select.offset = rng.one(&[0, 0, 1, 10, 300]);
    select.limit = rng.one(&[1, 5, 20, 100]);
    select
}

#[tokio::test]
async fn random_queries_give_the_same_rows_on_all_databases() {
    let three = SiteDatabases::small().await;
    let mut rng = Rng(20_261_116);
    let mut found = 0;
    for _ in 0..QUERIES {
        found += usize::from(!three.rows(&query(&mut rng)).await.is_empty());
    }
    // Queries without rows would prove little.
    assert!(found > QUERIES / 3, "only {found} of {QUERIES} queries returned rows");
}
