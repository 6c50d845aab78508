//! What masking leaves, letter by letter.

use frontdesk_contracts::automotive::mask;

#[test]
fn a_name_is_masked_to_its_initials() {
    assert_eq!(mask::name("Dana Rivera"), "D. R.");
    assert_eq!(mask::name("  Émile   de la Cruz-O'Neil "), "É. D. L. C.");
    assert_eq!(mask::name("Cher"), "C.");
    assert_eq!(mask::name("«»"), "*");
}

#[test]
fn an_email_keeps_two_letters_and_its_ending_whatever_its_length() {
    assert_eq!(mask::email("dana.rivera@example.com"), "d***@e***.com");
    assert_eq!(mask::email("d@e.com"), "d***@e***.com");
    assert_eq!(mask::email("zoë@mail.example.org"), "z***@m***.org");
    assert_eq!(mask::email("nonsense"), "***");
}

#[test]
fn a_number_keeps_its_first_and_its_last_digits() {
    assert_eq!(mask::phone("+15125550123"), "+1******0123");
    assert_eq!(mask::phone("+4930901820"), "+4******1820");
    assert_eq!(mask::phone("+2471234"), "+2******34");
}
