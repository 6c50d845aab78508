//! The person of a prospect: the primary contact, with a name, an e-mail address and a telephone number.

use frontdesk_engine::model::schema::{Schema, TextFormat, required};
use serde_json::{Map, Value};

use super::AdfSettings;
use super::element::Element;
use crate::feed::phone;

/// The longest name of a person.
const MAX_NAME: usize = 200;

/// Takes the contact out of the customer. Other contacts stay.
pub(super) fn take(customer: &mut Element, settings: &AdfSettings) -> Option<Map<String, Value>> {
    let is_primary = |contact: &Element| matches!(contact.attribute("primarycontact"), Some("1" | "yes" | "true"));
    let contacts = customer.children.iter().enumerate().filter(|(_, child)| child.name == "contact");
    let chosen = contacts.clone().find(|(_, contact)| is_primary(contact)).or_else(|| contacts.clone().next());
    let at = chosen.map(|(at, _)| at)?;
    let contact = customer.children.get_mut(at)?;
    contact.take_attribute("primarycontact");
    let mut arguments = Map::new();
    if let Some(name) = take_name(contact) {
        arguments.insert("name".to_owned(), name.into());
    }
    if let Some(email) = contact.take_line("email", is_email) {
        arguments.insert("email".to_owned(), email.into());
    }
    if let Some(phone) = take_phone(contact, settings) {
        arguments.insert("phone".to_owned(), phone.into());
    }
    Some(arguments)
}

/// The full name, or its parts in their order.
pub(super) fn take_name(contact: &mut Element) -> Option<String> {
    let part = |name: &Element| name.attribute("part").unwrap_or("full").to_ascii_lowercase();
    let has_text = |name: &&Element| !name.line().is_empty();
    let full = contact.children("name").filter(has_text).find(|name| part(name) == "full").map(Element::line);
    let parts = ["first", "middle", "last", "suffix"]
        .map(|wanted| contact.children("name").filter(has_text).find(|name| part(name) == wanted).map(Element::line));
    let joined = parts.iter().flatten().cloned().collect::<Vec<_>>().join(" ");
    let name = full.unwrap_or_else(|| joined.clone());
    if name.is_empty() || name.chars().count() > MAX_NAME {
        return None;
    }
    for element in contact.children_mut("name") {
        let line = element.line();
        // A part that the name does not have is kept.
        if name.contains(&line) {
            element.text.clear();
            element.take_attribute("part");
            if element.attribute("type").is_some_and(|kind| kind.eq_ignore_ascii_case("individual")) {
                element.take_attribute("type");
            }
        }
    }
    Some(name)
}

/// The first number whose country is clear.
fn take_phone(contact: &mut Element, settings: &AdfSettings) -> Option<String> {
    let code = calling_code(contact).or(settings.calling_code.as_deref()).map(str::to_owned);
    for element in contact.children_mut("phone") {
        if let Ok(number) = phone::to_e164(&element.line(), code.as_deref()) {
            element.text.clear();
            return Some(number);
        }
    }
    None
}

/// The calling code of the country where the person lives, if its plan is that of North America.
fn calling_code(contact: &Element) -> Option<&'static str> {
    let address = contact.children("address").next()?;
    let country = address.children("country").map(Element::line).find(|country| !country.is_empty())?;
    let is_north_american = ["us", "usa", "ca", "can", "canada", "united states", "united states of america"]
        .contains(&country.to_lowercase().as_str());
    is_north_american.then_some("1")
}

fn is_email(text: &str) -> bool {
    let schema = Schema::object([required("email", Schema::Text(TextFormat::Email), "")]);
    schema.check(Map::from_iter([("email".to_owned(), Value::from(text))])).is_ok()
}
