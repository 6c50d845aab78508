//! Questions made by chance: whatever is asked, the three databases answer alike.

use frontdesk_engine::model::page::Direction;
use frontdesk_engine::ports::site_db::{
    Comparison, Expr, Join, JoinKind, Like, Literal, Number, Operand, Predicate, Select, TableAlias,
};

use crate::three::{Three, all, column, of, same, value_of};

const QUESTIONS: usize = 2_000;

/// A small generator (SplitMix64), so that a seed says it all.
struct Chance(u64);

impl Chance {
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

/// Texts that the collations of all three put in the same order: no capitals beside small letters, no blanks at the end,
/// few signs.
const TEXTS: [&str; 12] = ["", "0", "111", "500", "99.95", "-115", "n/a", "red", "blue", "1.7", "київ", "東京"];
const PATTERNS: [&str; 10] = ["", "1", "9", ".", "-1", "%", "_", "!", "\\", "ї"];
/// Beside whole numbers, where blanks do not count.
const SPACED: [&str; 6] = [" 2", "4 ", "\t9\n", " 1.5 ", "x ", "2 ї"];
const WHOLE: [&str; 7] = ["id", "parent", "menuindex", "template", "pub_date", "hidemenu", "isfolder"];

fn number(chance: &mut Chance) -> Number {
    match chance.below(4) {
        0 => Number::Signed,
        1 => Number::Unsigned,
        _ => Number::Decimal { digits: chance.below(70) as u8, places: chance.below(40) as u8 },
    }
}

fn term(chance: &mut Chance) -> Expr {
    match chance.below(9) {
        0..=2 => column(chance.one(&WHOLE)),
        3 | 4 => of(1, "value"),
        5 => Expr::Coalesce(Box::new(of(1, "value")), chance.one(&TEXTS).to_owned()),
        6 => Expr::Number(number(chance), Box::new(term(chance))),
        7 => Expr::NonZero(Box::new(term(chance)), Box::new(term(chance))),
        _ => column("no_such_column"),
    }
}

fn value(chance: &mut Chance) -> Literal {
    match chance.below(3) {
        0 => Literal::Integer(chance.one(&[0, 1, 2, 4, 9, 99, 500, -115, i64::MAX, i64::MIN])),
        1 => Literal::Text(chance.one(&TEXTS).to_owned()),
        _ => Literal::Decimal(chance.one(&["0", "-115", "99.95", "500", "0.5", "18446744073709551501"]).to_owned()),
    }
}

fn comparison(chance: &mut Chance) -> Comparison {
    chance.one(&[
        Comparison::Equal,
        Comparison::NotEqual,
        Comparison::Greater,
        Comparison::AtLeast,
        Comparison::Less,
        Comparison::AtMost,
    ])
}

fn test(chance: &mut Chance) -> Predicate {
    match chance.below(10) {
        9 => {
            let spaced = Literal::Text(chance.one(&SPACED).to_owned());
            Predicate::Compare(column(chance.one(&WHOLE)), comparison(chance), Operand::Literal(spaced))
        }
        0..=2 => Predicate::Compare(term(chance), comparison(chance), Operand::Literal(value(chance))),
        3 => Predicate::Compare(term(chance), comparison(chance), Operand::Expr(term(chance))),
        4 => Predicate::AnyOf(term(chance), (0..chance.below(4)).map(|_| value(chance)).collect()),
        5 => Predicate::NoneOf(term(chance), (0..chance.below(4)).map(|_| value(chance)).collect()),
        6 => {
            let likeness = chance.one(&[Like::Contains, Like::StartsWith, Like::EndsWith]);
            Predicate::Like(term(chance), likeness, chance.one(&PATTERNS).to_owned())
        }
        7 if chance.below(2) == 0 => Predicate::IsNull(term(chance)),
        7 => Predicate::IsNotNull(term(chance)),
        _ => {
            let mut inner = all("site_content_closure", &[]);
            inner.from.0 = TableAlias(5);
            inner.order.clear();
            inner.filter = vec![same(of(5, "descendant"), column("id"))];
            let depth = Operand::Literal(Literal::Integer(chance.below(5) as i64));
            inner.filter.push(Predicate::Compare(of(5, "depth"), comparison(chance), depth));
            Predicate::Exists(Box::new(inner))
        }
    }
}

fn question(chance: &mut Chance) -> Select {
    let mut select = all("site_content", &["id"]);
    let variable = chance.one(&[1, 4, 5, 6]);
    select.joins =
        vec![Join { kind: chance.one(&[JoinKind::Left, JoinKind::Left, JoinKind::Inner]), ..value_of(variable, 1) }];
    select.columns.extend((0..chance.below(3)).map(|_| term(chance)));
    select.filter = (0..chance.below(3)).map(|_| test(chance)).collect();
    select.order = (0..chance.below(3))
        .map(|_| (term(chance), chance.one(&[Direction::Ascending, Direction::Descending])))
        .collect();
    select.order.push((column("id"), Direction::Ascending));
    select.offset = chance.one(&[0, 0, 1, 10, 300]);
    select.limit = chance.one(&[1, 5, 20, 100]);
    select
}

#[tokio::test]
async fn whatever_is_asked_the_three_databases_answer_alike() {
    let three = Three::with_the_site().await;
    let mut chance = Chance(20_261_116);
    let mut found = 0;
    for _ in 0..QUESTIONS {
        found += usize::from(!three.rows(&question(&mut chance)).await.is_empty());
    }
    // Questions that find nothing would all be answered alike.
    assert!(found > QUESTIONS / 3, "only {found} of {QUESTIONS} questions found something");
}
