//! What can be wrong with a signed token, in words for the log. The caller hears the same whichever it is, and no
//! word of the token is repeated anywhere.

use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flaw {
    Size,
    Parts,
    Header,
    Algorithm,
    Type,
    Extension,
    Encoding,
    Signature,
    Claims,
    /// A claim that must be there.
    Missing(&'static str),
    /// A claim that must be a time.
    Time(&'static str),
    Issuer,
    Audience,
    Ended,
    Early,
    Future,
    Lifetime,
    Bound,
    Subject,
    Scopes,
}

impl fmt::Display for Flaw {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Flaw::Size => "the token is longer than 8 KiB",
            Flaw::Parts => "the token has not three parts",
            Flaw::Header => "the token's header is not base64url of one strict JSON object",
            Flaw::Algorithm => "the token's alg is not HS256",
            Flaw::Type => "the token's typ is neither JWT nor at+jwt",
            Flaw::Extension => "the token's header says more than alg and typ",
            Flaw::Encoding => "the token's signature is not base64url",
            Flaw::Signature => "none of the mount's secrets signed the token",
            Flaw::Claims => "the token's claims are not base64url of one strict JSON object",
            Flaw::Missing(claim) => return write!(out, "the token has no {claim}"),
            Flaw::Time(claim) => return write!(out, "the token's {claim} is not a whole number of seconds since 1970"),
            Flaw::Issuer => "the token's iss is not the issuer that the mount is set to",
            Flaw::Audience => "the token's aud does not name this mount",
            Flaw::Ended => "the token has ended",
            Flaw::Early => "the token is not good yet",
            Flaw::Future => "the token's iat is in the future; compare the two machines' clocks",
            Flaw::Lifetime => "the token's exp is not after its iat, or further from it than the mount allows",
            Flaw::Bound => "the token is bound to a key by cnf, which cannot be proven here",
            Flaw::Subject => "the token's sub is not a printable name of at most 255 bytes",
            Flaw::Scopes => "the token's scopes are neither a list of strings nor a string",
        })
    }
}
