//! Words a row can be found by: both sides of a search must agree on them.

use frontdesk_engine::model::table::search_terms;

#[test]
fn words_are_folded_so_that_both_sides_of_a_search_agree() {
    for (text, folded) in [
        ("", &[][..]),
        ("  -- ,", &[]),
        ("Pride and Prejudice", &["pride", "and", "prejudice"]),
        ("PRIDE, pride; Pride!", &["pride"]),
        ("Čapek Škvorecký", &["capek", "skvorecky"]),
        ("Ångström ÉTÉ", &["angstrom", "ete"]),
        ("C\u{327}a e\u{301}te\u{301}", &["ca", "ete"]),
        ("Straße STRASSE", &["strasse"]),
        ("Ærø Œuvre Þór", &["aero", "oeuvre", "thor"]),
        ("İstanbul ISTANBUL ıstanbul", &["istanbul"]),
        ("O'Brien O\u{2019}Brien OBrien", &["obrien"]),
        ("F-150 4x4", &["f", "150", "4x4"]),
        ("Война и мир", &["война", "и", "мир"]),
        ("戦争 と 平和", &["戦争", "と", "平和"]),
    ] {
        assert_eq!(search_terms(text), folded, "{text}");
    }
}

#[test]
fn folding_what_is_folded_changes_nothing() {
    for text in ["Čapek", "Straße", "İstanbul", "O'Brien", "Ærø", "e\u{301}", "ﬁn", "Ⅷ", "½", "ǅ"] {
        let once = search_terms(text).join(" ");
        assert_eq!(search_terms(&once).join(" "), once, "{text}");
    }
}
