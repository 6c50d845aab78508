//! Masked forms of names, e-mail addresses and telephone numbers.

use frontdesk_contracts::record::mask;

#[test]
fn a_name_is_masked_to_its_initials() {
    assert_eq!(mask::name("Dana Rivera"), "D. R.");
    assert_eq!(mask::name("  Émile   de la Cruz-O'Neil "), "É. D. L. C.");
    assert_eq!(mask::name("Cher"), "C.");
    assert_eq!(mask::name("«»"), "*");
}

#[test]
fn a_word_of_one_letter_is_masked_entirely() {
    assert_eq!(mask::name("李 明"), "*. *.");
    assert_eq!(mask::name("X"), "*.");
    assert_eq!(mask::name("Dana J. Rivera"), "D. *. R.");
    assert_eq!(mask::name("E\u{301} Cruz"), "*. C.");
    assert_eq!(mask::name("O'Neil"), "O.");
}

#[test]
fn a_masked_email_keeps_two_letters_and_its_top_level_domain() {
    assert_eq!(mask::email("dana.rivera@example.com"), "d***@e***.com");
    assert_eq!(mask::email("zoë@mail.example.org"), "z***@m***.org");
    assert_eq!(mask::email("nonsense"), "***");
}

#[test]
fn an_email_part_of_one_letter_is_not_shown() {
    assert_eq!(mask::email("d@e.com"), "***@***.com");
    assert_eq!(mask::email("d@example.com"), "***@e***.com");
    assert_eq!(mask::email("dana@x.com"), "d***@***.com");
    assert_eq!(mask::email("_d_@x.example.com"), "***@***.com");
}

#[test]
fn a_number_keeps_its_first_and_its_last_digits() {
    assert_eq!(mask::phone("+15125550123"), "+1******0123");
    assert_eq!(mask::phone("+491701234567890"), "+4******7890");
}

#[test]
fn six_digits_of_a_number_stay_hidden_however_short_it_is() {
    assert_eq!(mask::phone("+4930901820"), "+4******820");
    assert_eq!(mask::phone("+247123456"), "+2******56");
    assert_eq!(mask::phone("+24712345"), "+2******5");
    assert_eq!(mask::phone("+2471234"), "+2******");
    assert_eq!(mask::phone("+247123"), "+******");
    assert_eq!(mask::phone("+1"), "+******");
}
