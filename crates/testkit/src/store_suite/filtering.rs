//! Filters and words: each keeps exactly the rows it says.

use frontdesk_engine::model::page::Filter;
use frontdesk_engine::model::plan::OnConflict;
use frontdesk_engine::model::table::{Cell, Row};

use super::boats::{BOAT, add, boat, done, ids, personal, plain, plan, query, update, with};
use super::{StoreUnderTest, north};

pub async fn each_filter_keeps_exactly_what_it_says(subject: &StoreUnderTest) {
    fleet(subject).await;
    let text = |text: &str| Cell::Text(text.to_owned());
    let digest = |text: &str| Cell::Digest(text.to_owned());
    let cases: Vec<(Filter, &[&str])> = vec![
        (Filter::Equals("harbour", text("kiel")), &["b1", "b3"]),
        (Filter::Equals("harbour", text("Kiel")), &[]),
        (Filter::Equals("length", Cell::Integer(8)), &["b2"]),
        (Filter::Equals("owner", digest("bob@example.com")), &["b2"]),
        (Filter::Equals("owner", text("bob@example.com")), &[]),
        (Filter::Equals("owner", Cell::Null), &[]),
        (Filter::AnyOf("harbour", vec![text("kiel"), text("bergen")]), &["b1", "b2", "b3"]),
        (Filter::AnyOf("length", vec![Cell::Integer(9), Cell::Integer(10)]), &["b3", "b4"]),
        (Filter::AnyOf("owner", vec![digest("bob@example.com"), digest("nobody")]), &["b2"]),
        (Filter::AnyOf("harbour", Vec::new()), &[]),
        (Filter::AtLeast("length", 9), &["b3", "b4"]),
        (Filter::AtMost("length", 8), &["b1", "b2"]),
        (Filter::AbsentOrAbove("berths", 3), &["b1", "b2", "b3", "b4"]),
        (Filter::AbsentOrAbove("berths", 4), &["b2", "b4"]),
        (Filter::AbsentOrAbove("berths", 6), &["b4"]),
        (Filter::AtLeast("created_at", 1_001), &["b4"]),
        (Filter::Either(Vec::new()), &[]),
        (Filter::Either(vec![Vec::new()]), &["b1", "b2", "b3", "b4"]),
        (
            Filter::Either(vec![
                vec![Filter::Equals("harbour", text("kiel")), Filter::AtLeast("length", 9)],
                vec![Filter::Equals("owner", digest("bob@example.com"))],
            ]),
            &["b2", "b3"],
        ),
        (Filter::SearchTerms(Vec::new()), &["b1", "b2", "b3", "b4"]),
    ];
    for (filter, expected) in cases {
        assert_eq!(ids(&*subject.store, &north(), vec![filter.clone()]).await, expected, "{filter:?}");
    }
}

pub async fn filters_are_joined_by_and(subject: &StoreUnderTest) {
    fleet(subject).await;
    let filters = vec![
        Filter::AnyOf("harbour", vec![Cell::Text("kiel".to_owned()), Cell::Text("bergen".to_owned())]),
        Filter::AtLeast("length", 8),
        Filter::AtMost("length", 9),
        Filter::SearchTerms(vec![plain("red")]),
        Filter::Equals("owner", Cell::Digest("ada@example.com".to_owned())),
    ];
    assert_eq!(ids(&*subject.store, &north(), filters).await, ["b3"]);
}

pub async fn values_are_never_read_as_sql(subject: &StoreUnderTest) {
    fleet(subject).await;
    for nasty in ["' OR '1'='1", "kiel'; DROP TABLE boat; --", "$1", "?1", "%", "\u{0}"] {
        let text = || Cell::Text(nasty.to_owned());
        let found = ids(&*subject.store, &north(), vec![Filter::Equals("harbour", text())]).await;
        assert_eq!(found, [""; 0], "{nasty:?}");
        let found = ids(&*subject.store, &north(), vec![Filter::SearchTerms(vec![plain(nasty)])]).await;
        assert_eq!(found, [""; 0], "{nasty:?}");
        assert!(subject.store.find(&north(), &BOAT, "hull", text()).await.unwrap().is_none());
    }
    assert_eq!(subject.store.page(&north(), query(Vec::new())).await.unwrap().rows.len(), 4);
}

pub async fn words_are_found_whole_and_all_of_them(subject: &StoreUnderTest) {
    fleet(subject).await;
    let cases: [(&[&str], &[&str]); 5] = [
        (&["red"], &["b2", "b3"]),
        (&["red", "sail"], &["b3"]),
        (&["sail", "red"], &["b3"]),
        (&["re"], &[]),
        (&["red", "blue"], &[]),
    ];
    for (words, expected) in cases {
        let filter = Filter::SearchTerms(words.iter().map(|word| plain(word)).collect());
        assert_eq!(ids(&*subject.store, &north(), vec![filter]).await, expected, "{words:?}");
    }
}

pub async fn personal_words_are_found_only_as_personal_words(subject: &StoreUnderTest) {
    fleet(subject).await;
    let found = async |words| ids(&*subject.store, &north(), vec![Filter::SearchTerms(words)]).await;
    assert_eq!(found(vec![personal("lovelace")]).await, ["b1", "b3", "b4"]);
    assert_eq!(found(vec![personal("lovelace"), plain("red")]).await, ["b3"]);
    assert_eq!(found(vec![plain("lovelace")]).await, [""; 0]);
    assert_eq!(found(vec![personal("red")]).await, [""; 0]);
}

pub async fn a_row_has_as_many_words_as_it_likes_and_may_say_one_twice(subject: &StoreUnderTest) {
    let many: Vec<String> = (0..21).map(|number| format!("w{number}")).collect();
    // The same within what is written together, and far from it.
    let said = many.iter().chain([&many[0], &many[20], &many[20]]).map(|word| plain(word)).collect();
    add(&*subject.store, &north(), [Row { search_terms: said, ..boat("b1", 7) }]).await;
    for word in &many {
        let filter = Filter::SearchTerms(vec![plain(word)]);
        assert_eq!(ids(&*subject.store, &north(), vec![filter]).await, ["b1"], "{word}");
    }
    let all = Filter::SearchTerms(many.iter().map(|word| plain(word)).collect());
    assert_eq!(ids(&*subject.store, &north(), vec![all]).await, ["b1"]);
}

pub async fn an_update_replaces_the_words(subject: &StoreUnderTest) {
    fleet(subject).await;
    let row = Row { version: 2, search_terms: vec![plain("blue"), personal("byron")], ..boat("b1", 7) };
    let step = update(row, 1, OnConflict::Retry);
    done(&*subject.store, plan("repaint", &north(), vec![step])).await;
    let found = async |words| ids(&*subject.store, &north(), vec![Filter::SearchTerms(words)]).await;
    assert_eq!(found(vec![plain("blue"), personal("byron")]).await, ["b1"]);
    assert_eq!(found(vec![plain("sail")]).await, ["b3", "b4"]);
    assert_eq!(found(vec![personal("lovelace")]).await, ["b3", "b4"]);
}

pub async fn a_word_given_twice_counts_once(subject: &StoreUnderTest) {
    let words = vec![plain("red"), plain("red"), personal("ada"), personal("ada")];
    let row = Row { search_terms: words, ..boat("b1", 7) };
    add(&*subject.store, &north(), [row.clone()]).await;
    assert_eq!(ids(&*subject.store, &north(), vec![Filter::SearchTerms(vec![plain("red")])]).await, ["b1"]);
    let step = update(Row { version: 2, ..row }, 1, OnConflict::Retry);
    done(&*subject.store, plan("again", &north(), vec![step])).await;
}

/// Four boats: b1 and b3 in Kiel, b2 of Bob in Bergen with six berths, b4 without a harbour and berths and younger.
async fn fleet(subject: &StoreUnderTest) {
    let bergen = with(boat("b2", 8), "harbour", Cell::Text("bergen".to_owned()));
    let large = with(bergen, "berths", Cell::Integer(6));
    let bobs = with(large, "owner", Cell::Digest("bob@example.com".to_owned()));
    let bare = with(boat("b4", 10), "berths", Cell::Null);
    let rows = [
        boat("b1", 7),
        Row { search_terms: vec![plain("red"), plain("motor"), personal("bob")], ..bobs },
        Row { search_terms: vec![plain("red"), plain("sail"), personal("lovelace")], ..boat("b3", 9) },
        Row { created_at: 2_000, ..with(bare, "harbour", Cell::Null) },
    ];
    add(&*subject.store, &north(), rows).await;
}
