//! Arguments of a call as they are stored. An intent file may ask for more than that, but its words do not decide what a
//! record can hold.

use frontdesk_engine::model::fault::Problem;
use frontdesk_engine::{Fault, Permitted};
use serde_json::{Map, Value};

use crate::record::{FieldType, Text};

/// An object of the call.
pub(super) fn argument<T: FieldType>(permitted: &Permitted<'_>, name: &str) -> Result<T, Fault> {
    let given = permitted.input().arguments.get(name).and_then(Value::as_object);
    let known = |member: &String| T::nested().iter().any(|field| field.name == member);
    let members: Map<String, Value> = given
        .into_iter()
        .flatten()
        .filter(|(member, _)| known(member))
        .map(|(member, value)| (member.clone(), value.clone()))
        .collect();
    let value = Value::Object(members);
    let below = |problem: Problem| Problem { pointer: format!("/{name}{}", problem.pointer), ..problem };
    let problems: Vec<Problem> = T::input().problems(&value).into_iter().map(below).collect();
    if !problems.is_empty() {
        return Err(Fault::invalid(problems));
    }
    T::read(&value).ok_or_else(|| Fault::internal(format!("the checked argument {name} cannot be read")))
}

/// The id under which the caller knows the request.
pub(super) fn request_id(permitted: &Permitted<'_>) -> Result<Option<Text<200>>, Fault> {
    let Some(given) = permitted.input().arguments.get("request_id") else { return Ok(None) };
    let below = |problem: Problem| Problem { pointer: "/request_id".to_owned(), ..problem };
    let problems: Vec<Problem> = Text::<200>::input().problems(given).into_iter().map(below).collect();
    if problems.is_empty() { Ok(given.as_str().map(Text::from)) } else { Err(Fault::invalid(problems)) }
}
