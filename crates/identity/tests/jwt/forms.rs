//! The outer form of a token: its parts, its header and its spelling.

use serde_json::json;

use crate::support::{
    HEADER, SECRET, base64url, claims, identify, judge, refusal, seal, settings, signed, token, with,
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
async fn both_types_of_token_are_good() {
    let judge = judge(settings());
    for header in [HEADER, r#"{"alg":"HS256","typ":"at+jwt"}"#, "{ \"alg\" : \"HS256\",\r\n\"typ\":\"JWT\" }"] {
        assert!(identify(&judge, &signed(header, &claims().to_string(), SECRET)).await.is_ok(), "{header}");
    }
}

/// [K1, K2, K3, K16] Signed with our secret all the same: not even then.
#[tokio::test]
async fn the_header_may_name_no_algorithm_but_ours() {
    let judge = judge(settings());
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
        assert_eq!(refusal(&judge, &signed(&header, &claims().to_string(), SECRET)).await, ALGORITHM, "{header}");
    }
    for header in [
        r#"{"typ":"JWT"}"#,
        "{}",
        r#"{"alg":null,"typ":"JWT"}"#,
        r#"{"alg":["HS256"],"typ":"JWT"}"#,
        r#"{"alg":256,"typ":"JWT"}"#,
        r#"{"ALG":"HS256","typ":"JWT"}"#,
    ] {
        assert_eq!(refusal(&judge, &signed(header, &claims().to_string(), SECRET)).await, ALGORITHM, "{header}");
    }
}

/// [K35]
#[tokio::test]
async fn a_token_of_another_type_or_of_none_is_refused() {
    let judge = judge(settings());
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
        assert_eq!(refusal(&judge, &signed(header, &claims().to_string(), SECRET)).await, TYPE, "{header}");
    }
}

/// [K9, K10, K11, K12, K13, K14, K18] Nothing is looked up, fetched or switched on because a header says so.
#[tokio::test]
async fn a_header_that_says_more_is_refused() {
    let judge = judge(settings());
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
        assert_eq!(refusal(&judge, &signed(&header, &claims().to_string(), SECRET)).await, EXTENSION, "{name}");
    }
    let both = r#"{"alg":"HS256","typ":"JWT","crit":["b64"],"b64":false}"#;
    assert_eq!(refusal(&judge, &signed(both, &claims().to_string(), SECRET)).await, EXTENSION);
}

/// [K39] Two readers of such a text could each see another header, or other claims.
#[tokio::test]
async fn a_text_with_two_meanings_is_not_read() {
    let judge = judge(settings());
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
        assert_eq!(refusal(&judge, &signed(header, &claims().to_string(), SECRET)).await, BAD_HEADER, "{header}");
    }
    let good = claims().to_string();
    let inside = good.trim_matches(['{', '}']);
    for claims in [
        format!(r#"{{{inside},"exp":9999999999}}"#),
        format!(r#"{{{inside},"s\u0075b":"root"}}"#),
        format!(r#"{{{inside},"more":{{"a":1,"a":2}}}}"#),
        format!("{good}{good}"),
        format!("{good}\0"),
        format!("{{{inside},}}"),
        format!("[{good}]"),
        format!("{{{inside},\"deep\":{}{}}}", "[".repeat(70), "]".repeat(70)),
        // A token within the token.
        token(&with("sub", json!("root"))),
        json!(token(&with("sub", json!("root")))).to_string(),
        "null".to_owned(),
        String::new(),
    ] {
        assert_eq!(refusal(&judge, &signed(HEADER, &claims, SECRET)).await, BAD_CLAIMS, "{claims}");
    }
    let latin1 = [good.trim_end_matches('}').as_bytes(), b",\"x\":\"\xe9\"}"].concat();
    let text = format!("{}.{}", base64url(HEADER.as_bytes()), base64url(&latin1));
    assert_eq!(refusal(&judge, &seal(&text, SECRET)).await, BAD_CLAIMS);
}

/// [K4, K15, K17]
#[tokio::test]
async fn a_signature_that_is_not_exactly_the_one_is_refused() {
    let judge = judge(settings());
    let good = token(&claims());
    let (text, signature) = good.rsplit_once('.').unwrap();
    let other = token(&with("sub", json!("root")));
    let (other, _) = other.rsplit_once('.').unwrap();
    let doubled = base64url(&[7; 64]);
    for signature in ["", "AA", &"A".repeat(43), &signature[..40], &format!("{signature}A"), &doubled] {
        assert_eq!(refusal(&judge, &format!("{text}.{signature}")).await, SIGNATURE, "{signature}");
    }
    assert_eq!(refusal(&judge, &format!("{other}.{signature}")).await, SIGNATURE);
}

/// [K38, K39] No second spelling of a token is the token: not by padding, not by the bits that no letter needs.
#[tokio::test]
async fn every_token_has_one_spelling() {
    let judge = judge(settings());
    // The last letter of each part holds unused bits: lengths that are no multiple of three.
    let claims = json!({"sub": "annakov", "iat": claims()["iat"], "exp": claims()["exp"], "scopes": "*"}).to_string();
    let header = r#"{"alg": "HS256","typ":"JWT"}"#;
    assert_eq!((header.len() % 3, claims.len() % 3), (1, 1));
    let good = signed(header, &claims, SECRET);
    assert!(identify(&judge, &good).await.is_ok());
    let (text, signature) = good.rsplit_once('.').unwrap();
    let (header, claims) = text.split_once('.').unwrap();

    for spelling in
        [next_letter(signature), format!("{signature}="), format!("{signature}=="), format!("{signature}\n")]
    {
        assert_eq!(refusal(&judge, &format!("{text}.{spelling}")).await, ENCODING, "{spelling}");
    }
    for spelling in [next_letter(header), format!("{header}="), format!("{header}=="), format!(" {header}")] {
        assert_eq!(refusal(&judge, &seal(&format!("{spelling}.{claims}"), SECRET)).await, BAD_HEADER, "{spelling}");
    }
    for spelling in [next_letter(claims), format!("{claims}=="), format!("{claims} "), format!("{claims}\0")] {
        assert_eq!(refusal(&judge, &seal(&format!("{header}.{spelling}"), SECRET)).await, BAD_CLAIMS, "{spelling}");
    }
    // The alphabet of ordinary base64.
    let filled = (0..3).map(|more| token(&with("filling", json!(format!("{}???", "x".repeat(more))))));
    let underlined =
        filled.map(|token| token.rsplit_once('.').unwrap().0.to_owned()).find(|text| text.contains('_')).unwrap();
    assert!(identify(&judge, &seal(&underlined, SECRET)).await.is_ok());
    assert_eq!(refusal(&judge, &seal(&underlined.replace('_', "/"), SECRET)).await, BAD_CLAIMS);
}

/// The same text but for one bit that decoders may overlook.
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
    let judge = judge(settings());
    let good = token(&claims());
    let (text, signature) = good.rsplit_once('.').unwrap();
    let (header, claims) = text.split_once('.').unwrap();
    for token in [
        String::new(),
        header.to_owned(),
        text.to_owned(),
        format!("{header}.{claims}.{signature}.{signature}.{signature}"),
        format!("{good}."),
        format!("{header}.{good}"),
        format!(".{good}"),
        seal(&good, SECRET),
    ] {
        assert_eq!(refusal(&judge, &token).await, PARTS, "{token}");
    }
    for token in [format!(".{claims}.{signature}"), "..".to_owned(), format!("Bearer {good}")] {
        assert_eq!(refusal(&judge, &token).await, BAD_HEADER, "{token}");
    }
}

/// [K39]
#[tokio::test]
async fn a_token_of_more_than_eight_kibibytes_is_not_looked_at() {
    let judge = judge(settings());
    let long = |filling: usize| token(&with("filling", json!("x".repeat(filling))));
    let filling = (0..8192).rev().find(|filling| long(*filling).len() <= 8192).unwrap();
    assert_eq!(long(filling).len(), 8192);
    assert!(identify(&judge, &long(filling)).await.is_ok());
    assert_eq!(refusal(&judge, &long(filling + 1)).await, "the token is longer than 8 KiB");
    assert_eq!(refusal(&judge, &"a.".repeat(500_000)).await, "the token is longer than 8 KiB");
}
