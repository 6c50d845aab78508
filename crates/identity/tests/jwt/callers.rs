//! The caller and the scopes of a valid token.

use frontdesk_engine::model::incoming::Credential;
use frontdesk_engine::ports::Identity as _;
use serde_json::{Value, json};

use crate::support::{
    HEADER, RESOURCE, SECRET, assert_refused, base64url, claims, identify, refusal_cause, secret, settings, signed,
    token, verifier, verifier_at, with, without,
};

/// Signed by another program (Python's hmac), in the format of PHP issuers.
const FOREIGN: &str = "eyJ0eXAiOiJKV1QiLCJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJcdTA0MzBcdTA0M2RcdTA0M2RcdTA0MzAiLCJpYXQiOjE3OTAwMD\
    AwMDAsImV4cCI6MTc5MDAwMzYwMCwic2NvcGVzIjpbIioiXSwiaXNzIjoiZXZvIn0.GmnXIdiXvf47nN1FchnZR4ud7kGTKn80ss7HTk6p-H4";

#[tokio::test]
async fn the_token_names_the_caller_and_the_mount_the_tenant() {
    let mut settings = settings();
    settings.issuer = Some("evo".to_owned());
    let caller = identify(&verifier(settings), FOREIGN).await.unwrap();
    assert_eq!((caller.client.as_str(), &*caller.subject), ("jwt:site:анна", "jwt:site:анна"));
    assert_eq!((caller.tenants.len(), caller.tenants[0].as_str()), (1, "site"));
    assert_eq!(caller.scopes.to_string(), "mcp:admin mcp:call mcp:read");
    assert_eq!(caller.authenticated_at, None);
}

/// RFC 7515, appendix A.1: the signature is valid, and the token is refused because it has no iat. With one letter
/// changed, the signature is refused.
#[tokio::test]
async fn the_example_of_rfc_7515_is_verified() {
    let key = "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow";
    let example = "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9le\
        GFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
    let mut settings = settings();
    let bytes = base64::Engine::decode(&base64::engine::general_purpose::URL_SAFE_NO_PAD, key).unwrap();
    settings.secrets = vec![secret(&bytes)];
    settings.issuer = Some("joe".to_owned());
    let verifier = verifier_at(1_300_819_379_000, settings);
    assert_eq!(refusal_cause(&verifier, example).await, "the token has no iat");
    let other = example.replace("-mB92", "-nB92");
    assert_eq!(
        refusal_cause(&verifier, &other).await,
        "the token's signature does not match any of the mount's secrets"
    );
}

/// Rotation: both secrets are valid for a while; then tokens of the old one are refused.
#[tokio::test]
async fn a_token_may_be_signed_with_any_configured_secret() {
    let (old, new) = (b"the-old-secret-0123456789-0123456789", b"the-new-secret-0123456789-0123456789");
    let mut settings = settings();
    settings.secrets = vec![secret(new), secret(old)];
    let both = verifier(settings.clone());
    settings.secrets.pop();
    let rotated = verifier(settings);
    let (under_old, under_new) =
        (signed(HEADER, &claims().to_string(), old), signed(HEADER, &claims().to_string(), new));
    assert!(identify(&both, &under_old).await.is_ok());
    assert!(identify(&both, &under_new).await.is_ok());
    assert!(identify(&rotated, &under_new).await.is_ok());
    assert_eq!(
        refusal_cause(&rotated, &under_old).await,
        "the token's signature does not match any of the mount's secrets"
    );
    assert_eq!(
        refusal_cause(&both, &token(&claims())).await,
        "the token's signature does not match any of the mount's secrets"
    );
}

/// [K41] A token without scopes has a caller without scopes; the engine refuses what needs one.
#[tokio::test]
async fn scopes_are_a_list_or_comma_separated_and_a_star_is_all() {
    let verifier = verifier(settings());
    for (scopes, granted) in [
        (json!(["mcp:read"]), "mcp:read"),
        (json!(["mcp:read", "mcp:call", "mcp:read"]), "mcp:call mcp:read"),
        (json!("mcp:read"), "mcp:read"),
        (json!("mcp:read,mcp:call"), "mcp:call mcp:read"),
        (json!(" mcp:read , mcp:call,,"), "mcp:call mcp:read"),
        (json!("*"), "mcp:admin mcp:call mcp:read"),
        (json!(["*"]), "mcp:admin mcp:call mcp:read"),
        (json!("mcp:read, *"), "mcp:admin mcp:call mcp:read"),
        (json!([]), ""),
        (json!(""), ""),
        (json!([""]), ""),
        // Foreign scopes, and spellings that resemble one of the mount.
        (json!(["billing:write", "mcp:read"]), "mcp:read"),
        (json!(["mcp:*"]), ""),
        (json!(["**"]), ""),
        (json!("mcp:read mcp:call"), ""),
        (json!("mcp:read;mcp:call"), ""),
        (json!("\tmcp:call"), ""),
        (json!("mcp:call\u{a0}"), ""),
        (json!("mcp:call\u{0}"), ""),
        (json!(["mcp:read,mcp:call"]), ""),
        (json!([" mcp:call"]), ""),
        (json!(["mcp:callX", "mcp:cal", "MCP:CALL", "mcp:саll"]), ""),
    ] {
        let caller = identify(&verifier, &token(&with("scopes", scopes.clone()))).await.unwrap();
        assert_eq!(caller.scopes.to_string(), granted, "{scopes}");
    }
}

/// [K35] The claim distinguishes access tokens from identity tokens under the same secret.
#[tokio::test]
async fn a_token_without_scopes_claim_is_refused() {
    let verifier = verifier(settings());
    assert_eq!(refusal_cause(&verifier, &token(&without("scopes"))).await, "the token has no scopes");
    let identity = json!({"sub": "anna", "iat": claims()["iat"], "exp": claims()["exp"], "email": "a@b.example"});
    assert_eq!(refusal_cause(&verifier, &token(&identity)).await, "the token has no scopes");
}

#[tokio::test]
async fn scopes_of_another_type_are_refused() {
    let verifier = verifier(settings());
    for scopes in
        [json!(null), json!(1), json!(true), json!({"*": true}), json!(["*", 1]), json!([["*"]]), json!([null])]
    {
        assert_eq!(
            refusal_cause(&verifier, &token(&with("scopes", scopes.clone()))).await,
            "the token's scopes are neither a list of strings nor a string",
            "{scopes}"
        );
    }
}

#[tokio::test]
async fn a_callers_name_is_printable_and_bounded() {
    let verifier = verifier(settings());
    for name in ["anna", "7", "Ганна Коваль", "anna@b.example", "José-Ñ", "*", "jwt:anna", &"a".repeat(255)]
    {
        let caller = identify(&verifier, &token(&with("sub", json!(name)))).await.unwrap();
        assert_eq!(caller.client.as_str(), format!("jwt:site:{name}"));
    }
    let unfit = [
        "",
        " ",
        " anna",
        "anna ",
        "an\nna",
        "anna\t",
        "anna\0",
        "an\u{7f}na",
        "an\u{85}na",
        "anna\u{202e}",
        "an\u{200b}na",
        "an\u{a0}na",
        "\u{feff}anna",
        "an\u{2028}na",
    ];
    let long = [json!("a".repeat(256)), json!("а".repeat(128))];
    let types = [json!(7), json!(null), json!(true), json!(["anna"]), json!({"name": "anna"})];
    for name in unfit.into_iter().map(Value::from).chain(long).chain(types) {
        assert_eq!(
            refusal_cause(&verifier, &token(&with("sub", name.clone()))).await,
            "the token's sub is not a printable name of at most 255 bytes",
            "{name}"
        );
    }
    assert_eq!(refusal_cause(&verifier, &token(&without("sub"))).await, "the token has no sub");
}

/// [K36]
#[tokio::test]
async fn a_token_bound_to_a_key_is_refused() {
    let verifier = verifier(settings());
    for bond in
        [json!({"jkt": "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"}), json!({"x5t#S256": ""}), json!({}), json!(null)]
    {
        assert_eq!(
            refusal_cause(&verifier, &token(&with("cnf", bond))).await,
            "the token is bound to a key by cnf, which is not supported"
        );
    }
}

#[tokio::test]
async fn missing_and_unusable_credentials_get_the_same_answer() {
    let verifier = verifier(settings());
    for credential in [Credential::Missing, Credential::Unusable] {
        let fault = verifier.identify(&credential, RESOURCE).await.unwrap_err();
        assert_refused(&fault);
        assert_eq!(fault.cause, None);
    }
}

/// [K5, K6, K7, K8]
#[tokio::test]
async fn a_token_signed_with_another_secret_is_refused() {
    let verifier = verifier(settings());
    let encoded = base64url(SECRET);
    let near = [SECRET, b"\n"].concat();
    let guesses: [&[u8]; 6] = [
        b"",
        b"secret",
        b"-----BEGIN PUBLIC KEY-----",
        b"another-secret-of-more-than-32-bytes",
        encoded.as_bytes(),
        &near,
    ];
    for guess in guesses {
        assert_eq!(
            refusal_cause(&verifier, &signed(HEADER, &claims().to_string(), guess)).await,
            "the token's signature does not match any of the mount's secrets"
        );
    }
}
