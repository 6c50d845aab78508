//! The structure of a token: parts, header, encoding.

use serde_json::json;

use crate::support::{
    HEADER, SECRET, base64url, claims, identify, refusal_cause, settings, signed, signed_text, token, verifier, with,
};

const PARTS: &str = "the token does not have three parts";
const BAD_HEADER: &str = "the token's header is not base64url of one strict JSON object";
const ALGORITHM: &str = "the token's alg is not HS256";
const TYPE: &str = "the token's typ is neither JWT nor at+jwt";
const EXTENSION: &str = "the token's header has members other than alg and typ";
const ENCODING: &str = "the token's signature is not base64url";
const SIGNATURE: &str = "the token's signature does not match any of the mount's secrets";
const BAD_CLAIMS: &str = "the token's claims are not base64url of one strict JSON object";

#[tokio::test]
async fn both_token_types_are_accepted() {
    let verifier = verifier(settings());
    for header in [HEADER, r#"{"alg":"HS256","typ":"at+jwt"}"#, "{ \"alg\" : \"HS256\",\r\n\"typ\":\"JWT\" }"] {
        assert!(identify(&verifier, &signed(header, &claims().to_string(), SECRET)).await.is_ok(), "{header}");
    }
}

/// [K1, K2, K3, K16] Even with a valid signature.
#[tokio::test]
async fn the_header_must_name_hs256() {
    let verifier = verifier(settings());
    for algorithm in [
        "none",
        "nOnE",
        "NONE",
        "",
        "hs256",
        "HS256 ",
        "HS256\\u0000",
        "HS384",
        "HS512",
        "RS256",
        "ES256",
        "EdDSA",
        "A256GCM",
    ] {
        let header = format!(r#"{{"alg":"{algorithm}","typ":"JWT"}}"#);
        assert_eq!(
            refusal_cause(&verifier, &signed(&header, &claims().to_string(), SECRET)).await,
            ALGORITHM,
            "{header}"
        );
    }
    for header in [
        r#"{"typ":"JWT"}"#,
        "{}",
        r#"{"alg":null,"typ":"JWT"}"#,
        r#"{"alg":["HS256"],"typ":"JWT"}"#,
        r#"{"alg":256,"typ":"JWT"}"#,
        r#"{"ALG":"HS256","typ":"JWT"}"#,
    ] {
        assert_eq!(
            refusal_cause(&verifier, &signed(header, &claims().to_string(), SECRET)).await,
            ALGORITHM,
            "{header}"
        );
    }
}

/// [K35]
#[tokio::test]
async fn a_token_without_a_known_typ_is_refused() {
    let verifier = verifier(settings());
    for header in [
        r#"{"alg":"HS256"}"#,
        r#"{"alg":"HS256","typ":""}"#,
        r#"{"alg":"HS256","typ":null}"#,
        r#"{"alg":"HS256","typ":["JWT"]}"#,
        r#"{"alg":"HS256","typ":"jwt"}"#,
        r#"{"alg":"HS256","typ":"JWT "}"#,
        r#"{"alg":"HS256","typ":"JOSE"}"#,
        r#"{"alg":"HS256","typ":"logout+jwt"}"#,
        r#"{"alg":"HS256","typ":"secevent+jwt"}"#,
        r#"{"alg":"HS256","typ":"dpop+jwt"}"#,
    ] {
        assert_eq!(refusal_cause(&verifier, &signed(header, &claims().to_string(), SECRET)).await, TYPE, "{header}");
    }
}

/// [K9, K10, K11, K12, K13, K14, K18] A header never causes a lookup, a request or an extension.
#[tokio::test]
async fn a_header_with_further_members_is_refused() {
    let verifier = verifier(settings());
    for (name, value) in [
        ("kid", json!("main")),
        ("kid", json!("")),
        ("kid", json!("../../../../dev/null")),
        ("kid", json!("x' UNION SELECT 'AA' --")),
        ("kid", json!("k".repeat(4000))),
        ("jwk", json!({"kty": "oct", "k": "AAAA"})),
        ("jku", json!("http://127.0.0.1:1/keys.json")),
        ("x5u", json!("http://127.0.0.1:1/keys.pem")),
        ("x5c", json!(["AAAA"])),
        ("x5t#S256", json!("AAAA")),
        ("crit", json!(["unknown"])),
        ("crit", json!([])),
        ("b64", json!(false)),
        ("zip", json!("DEF")),
        ("enc", json!("A256GCM")),
        ("cty", json!("JWT")),
        ("unheard-of", json!(null)),
    ] {
        let header = json!({"alg": "HS256", "typ": "JWT", name: value}).to_string();
        assert_eq!(
            refusal_cause(&verifier, &signed(&header, &claims().to_string(), SECRET)).await,
            EXTENSION,
            "{name}"
        );
    }
    let both = r#"{"alg":"HS256","typ":"JWT","crit":["b64"],"b64":false}"#;
    assert_eq!(refusal_cause(&verifier, &signed(both, &claims().to_string(), SECRET)).await, EXTENSION);
}

/// [K39] Two parsers could read different headers or claims.
#[tokio::test]
async fn ambiguous_json_is_refused() {
    let verifier = verifier(settings());
    for header in [
        r#"{"alg":"none","alg":"HS256","typ":"JWT"}"#,
        r#"{"alg":"HS256","typ":"JWT","alg":"HS256"}"#,
        r#"{"alg":"HS256","typ":"JWT","\u0061lg":"HS256"}"#,
        r#"{"alg":"HS256","typ":"JWT"} "x""#,
        r#"["HS256","JWT"]"#,
        r#""HS256""#,
        "null",
        "",
        "\u{feff}{\"alg\":\"HS256\",\"typ\":\"JWT\"}",
    ] {
        assert_eq!(
            refusal_cause(&verifier, &signed(header, &claims().to_string(), SECRET)).await,
            BAD_HEADER,
            "{header}"
        );
    }
    let valid = claims().to_string();
    let inside = valid.trim_matches(['{', '}']);
    for claims in [
        format!(r#"{{{inside},"exp":9999999999}}"#),
        format!(r#"{{{inside},"s\u0075b":"root"}}"#),
        format!(r#"{{{inside},"more":{{"a":1,"a":2}}}}"#),
        format!("{valid}{valid}"),
        format!("{valid}\0"),
        format!("{{{inside},}}"),
        format!("[{valid}]"),
        format!("{{{inside},\"deep\":{}{}}}", "[".repeat(70), "]".repeat(70)),
        // A nested token.
        token(&with("sub", json!("root"))),
        json!(token(&with("sub", json!("root")))).to_string(),
        "null".to_owned(),
        String::new(),
    ] {
        assert_eq!(refusal_cause(&verifier, &signed(HEADER, &claims, SECRET)).await, BAD_CLAIMS, "{claims}");
    }
    let latin1 = [valid.trim_end_matches('}').as_bytes(), b",\"x\":\"\xe9\"}"].concat();
    let text = format!("{}.{}", base64url(HEADER.as_bytes()), base64url(&latin1));
    assert_eq!(refusal_cause(&verifier, &signed_text(&text, SECRET)).await, BAD_CLAIMS);
}

/// [K4, K15, K17]
#[tokio::test]
async fn a_wrong_signature_is_refused() {
    let verifier = verifier(settings());
    let valid = token(&claims());
    let (text, signature) = valid.rsplit_once('.').unwrap();
    let other = token(&with("sub", json!("root")));
    let (other, _) = other.rsplit_once('.').unwrap();
    let doubled = base64url(&[7; 64]);
    for signature in ["", "AA", &"A".repeat(43), &signature[..40], &format!("{signature}A"), &doubled] {
        assert_eq!(refusal_cause(&verifier, &format!("{text}.{signature}")).await, SIGNATURE, "{signature}");
    }
    assert_eq!(refusal_cause(&verifier, &format!("{other}.{signature}")).await, SIGNATURE);
}

/// [K38, K39] Padding and non-zero trailing bits are refused.
#[tokio::test]
async fn every_token_has_exactly_one_encoding() {
    let verifier = verifier(settings());
    // Lengths that are no multiple of three, so that the last letter of each part has unused bits.
    let claims = json!({"sub": "annakov", "iat": claims()["iat"], "exp": claims()["exp"], "scopes": "*"}).to_string();
    let header = r#"{"alg": "HS256","typ":"JWT"}"#;
    assert_eq!((header.len() % 3, claims.len() % 3), (1, 1));
    let valid = signed(header, &claims, SECRET);
    assert!(identify(&verifier, &valid).await.is_ok());
    let (text, signature) = valid.rsplit_once('.').unwrap();
    let (header, claims) = text.split_once('.').unwrap();

    for spelling in
        [next_letter(signature), format!("{signature}="), format!("{signature}=="), format!("{signature}\n")]
    {
        assert_eq!(refusal_cause(&verifier, &format!("{text}.{spelling}")).await, ENCODING, "{spelling}");
    }
    for spelling in [next_letter(header), format!("{header}="), format!("{header}=="), format!(" {header}")] {
        assert_eq!(
            refusal_cause(&verifier, &signed_text(&format!("{spelling}.{claims}"), SECRET)).await,
            BAD_HEADER,
            "{spelling}"
        );
    }
    for spelling in [next_letter(claims), format!("{claims}=="), format!("{claims} "), format!("{claims}\0")] {
        assert_eq!(
            refusal_cause(&verifier, &signed_text(&format!("{header}.{spelling}"), SECRET)).await,
            BAD_CLAIMS,
            "{spelling}"
        );
    }
    // The standard base64 alphabet.
    let filled = (0..3).map(|more| token(&with("filling", json!(format!("{}???", "x".repeat(more))))));
    let underlined =
        filled.map(|token| token.rsplit_once('.').unwrap().0.to_owned()).find(|text| text.contains('_')).unwrap();
    assert!(identify(&verifier, &signed_text(&underlined, SECRET)).await.is_ok());
    assert_eq!(refusal_cause(&verifier, &signed_text(&underlined.replace('_', "/"), SECRET)).await, BAD_CLAIMS);
}

/// The same text with one unused bit set, which a lenient decoder ignores.
fn next_letter(part: &str) -> String {
    const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let (rest, last) = part.split_at(part.len() - 1);
    let at = LETTERS.find(last).unwrap();
    assert_eq!(at % 4, 0, "no unused bits in {part}");
    format!("{rest}{}", &LETTERS[at + 1..at + 2])
}

/// [K39]
#[tokio::test]
async fn a_token_has_three_parts() {
    let verifier = verifier(settings());
    let valid = token(&claims());
    let (text, signature) = valid.rsplit_once('.').unwrap();
    let (header, claims) = text.split_once('.').unwrap();
    for token in [
        String::new(),
        header.to_owned(),
        text.to_owned(),
        format!("{header}.{claims}.{signature}.{signature}.{signature}"),
        format!("{valid}."),
        format!("{header}.{valid}"),
        format!(".{valid}"),
        signed_text(&valid, SECRET),
    ] {
        assert_eq!(refusal_cause(&verifier, &token).await, PARTS, "{token}");
    }
    for token in [format!(".{claims}.{signature}"), "..".to_owned(), format!("Bearer {valid}")] {
        assert_eq!(refusal_cause(&verifier, &token).await, BAD_HEADER, "{token}");
    }
}

/// [K39]
#[tokio::test]
async fn a_token_longer_than_eight_kibibytes_is_refused() {
    let verifier = verifier(settings());
    let long = |filling: usize| token(&with("filling", json!("x".repeat(filling))));
    let filling = (0..8192).rev().find(|filling| long(*filling).len() <= 8192).unwrap();
    assert_eq!(long(filling).len(), 8192);
    assert!(identify(&verifier, &long(filling)).await.is_ok());
    assert_eq!(refusal_cause(&verifier, &long(filling + 1)).await, "the token is longer than 8 KiB");
    assert_eq!(refusal_cause(&verifier, &"a.".repeat(500_000)).await, "the token is longer than 8 KiB");
}
