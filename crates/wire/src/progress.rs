//! Progress of a request that takes a while: the token by which its caller knows it, and the notification with it.

use crate::answer::write_id;
use crate::frame::Id;
use crate::json::{Map, Value, write_integer, write_quoted};

/// A token is echoed with every notification, so its length is bounded.
const MAX_TOKEN_BYTES: usize = 256;

/// What a caller wants to be told progress under: a text or a whole number, echoed as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgressToken(Id);

/// A token that is neither a text of a bounded length nor a whole number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidToken;

impl ProgressToken {
    pub const EXPECTED: &'static str = "a string of 1 to 256 bytes or an integer is expected";

    /// The token in the `_meta` of a request, if there is one.
    pub fn of_meta(meta: Option<&Map<String, Value>>) -> Result<Option<ProgressToken>, InvalidToken> {
        let id = match meta.and_then(|meta| meta.get("progressToken")) {
            None => return Ok(None),
            Some(Value::String(text)) if !text.is_empty() && text.len() <= MAX_TOKEN_BYTES => {
                Some(Id::Text(text.clone()))
            }
            Some(Value::Number(number)) => match number.as_i64() {
                Some(whole) => Some(Id::Number(whole)),
                None => number.as_u64().map(Id::Large),
            },
            Some(Value::String(_) | Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_)) => None,
        };
        id.map(|id| Some(ProgressToken(id))).ok_or(InvalidToken)
    }

    /// `notifications/progress`: so much is done of so much in total.
    pub fn notification(&self, done: u32, total: u32, message: &str) -> Vec<u8> {
        let mut out = String::with_capacity(message.len() + 160);
        out.push_str("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":");
        write_id(&self.0, &mut out);
        out.push_str(",\"progress\":");
        write_integer(done.into(), &mut out);
        out.push_str(",\"total\":");
        write_integer(total.into(), &mut out);
        out.push_str(",\"message\":");
        write_quoted(message, &mut out);
        out.push_str("}}");
        out.into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{InvalidToken, ProgressToken};

    fn token(value: Value) -> Result<Option<ProgressToken>, InvalidToken> {
        ProgressToken::of_meta(json!({ "progressToken": value }).as_object())
    }

    #[test]
    fn a_token_comes_back_with_its_type() {
        for (value, written) in [
            (json!("a \"b\""), r#""a \"b\"""#),
            (json!(7), "7"),
            (json!(-1), "-1"),
            (json!(18_446_744_073_709_551_615_u64), "18446744073709551615"),
            (json!("x".repeat(256)), &format!("\"{}\"", "x".repeat(256))),
        ] {
            let text = token(value).unwrap().unwrap().notification(2, 5, "On the way");
            let expected = format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{written},"progress":2,"total":5,"message":"On the way"}}}}"#
            );
            assert_eq!(String::from_utf8(text).unwrap(), expected);
        }
        assert_eq!(ProgressToken::of_meta(None), Ok(None));
        assert_eq!(ProgressToken::of_meta(json!({}).as_object()), Ok(None));
    }

    #[test]
    fn other_values_are_no_tokens() {
        for value in [json!(""), json!("x".repeat(257)), json!(1.5), json!(null), json!(true), json!([1]), json!({})] {
            assert_eq!(token(value.clone()), Err(InvalidToken), "{value}");
        }
    }
}
