//! Numbers that are whole although they are written with a fraction or an exponent, as some languages write all numbers.

use serde_json::Number;

/// 2^53 - 1: up to here a float represents every integer, and no other integer rounds to it.
const MAX_EXACT: f64 = 9_007_199_254_740_991.0;

/// The integer that this number is: 5 and 5.0, but neither 5.5 nor a float too large to be exact.
pub fn exact_integer(number: &Number) -> Option<i64> {
    number.as_i64().or_else(|| {
        let float = number.as_f64().filter(|_| number.is_f64())?;
        (float.fract() == 0.0 && float.abs() <= MAX_EXACT).then_some(float as i64)
    })
}
