//! Why a signed token is invalid, for the log. The caller gets the same answer in all cases, and the content of the token
//! is never repeated.

use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JwtError {
    Size,
    Parts,
    Header,
    Algorithm,
    Type,
    Extension,
    Encoding,
    Signature,
    Claims,
    /// A required claim.
    Missing(&'static str),
    /// A claim that must be a time.
    Time(&'static str),
    Issuer,
    Audience,
    Expired,
    NotYetValid,
    IssuedInFuture,
    Lifetime,
    KeyBound,
    Subject,
    Scopes,
}

impl fmt::Display for JwtError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            JwtError::Size => "the token is longer than 8 KiB",
            JwtError::Parts => "the token does not have three parts",
            JwtError::Header => "the token's header is not base64url of one strict JSON object",
            JwtError::Algorithm => "the token's alg is not HS256",
            JwtError::Type => "the token's typ is neither JWT nor at+jwt",
            JwtError::Extension => "the token's header has members other than alg and typ",
            JwtError::Encoding => "the token's signature is not base64url",
            JwtError::Signature => "the token's signature does not match any of the mount's secrets",
            JwtError::Claims => "the token's claims are not base64url of one strict JSON object",
            JwtError::Missing(claim) => return write!(out, "the token has no {claim}"),
            JwtError::Time(claim) => {
                return write!(out, "the token's {claim} is not a whole number of seconds since 1970");
            }
            JwtError::Issuer => "the token's iss is not the issuer in the mount's settings",
            JwtError::Audience => "the token's aud does not name this mount",
            JwtError::Expired => "the token has expired",
            JwtError::NotYetValid => "the token is not valid yet",
            JwtError::IssuedInFuture => "the token's iat is in the future; compare the two machines' clocks",
            JwtError::Lifetime => {
                "the token's exp is not after its iat, or its lifetime is longer than the mount allows"
            }
            JwtError::KeyBound => "the token is bound to a key by cnf, which is not supported",
            JwtError::Subject => "the token's sub is not a printable name of at most 255 bytes",
            JwtError::Scopes => "the token's scopes are neither a list of strings nor a string",
        })
    }
}
