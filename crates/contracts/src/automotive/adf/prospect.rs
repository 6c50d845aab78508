//! From one prospect to the arguments of `leads.create`.

use serde_json::{Map, Value, json};

use super::element::Element;
use super::{AdfProspect, AdfSettings, consent, contact, key_of, rest};
use crate::automotive::lead::{Interest, Timeframe};
use crate::record::Vocabulary;

const MAX_COMMENTS: usize = 4000;
const MAX_SOURCE: usize = 80;
const MAX_NAME: usize = 60;

pub(super) fn read(mut prospect: Element, number: usize, settings: &AdfSettings) -> AdfProspect {
    // A repetition is the same prospect.
    if prospect.attribute("status").is_some_and(|status| status.eq_ignore_ascii_case("new")) {
        prospect.take_attribute("status");
    }
    let key = key(&prospect);
    let mut arguments = Map::new();
    if let Some(consent) = consent::take(&mut prospect, settings) {
        arguments.insert("consent".to_owned(), consent);
    }
    let (interest, vehicle) = take_vehicle(&mut prospect, &mut arguments);
    arguments.insert("interest".to_owned(), interest.as_str().into());
    arguments.insert("source".to_owned(), take_source(&mut prospect));
    let mut comments = Vec::new();
    if let Some(customer) = prospect.child_mut("customer") {
        if let Some(person) = contact::take(customer, settings) {
            arguments.insert("contact".to_owned(), Value::Object(person));
        }
        if let Some(timeframe) = customer.child_mut("timeframe").and_then(take_timeframe) {
            arguments.insert("timeframe".to_owned(), timeframe.as_str().into());
        }
        take_comments(customer, &mut comments);
        customer.children_mut("contact").for_each(|contact| take_comments(contact, &mut comments));
    }
    take_comments(&mut prospect, &mut comments);
    let rest = rest::lines(&prospect);
    let unmapped = rest.iter().map(|(path, _)| path.clone()).collect();
    let (comments, cut) = bounded(comments, &rest);
    if !comments.is_empty() {
        arguments.insert("comments".to_owned(), comments.into());
    }
    let VehicleNumbers { vin, stock_number } = vehicle;
    AdfProspect { arguments, key, unmapped, cut, vin, stock_number, number }
}

/// Of the ids and who gave them, because an id alone may be that of another sender; without any, of all content.
fn key(prospect: &Element) -> String {
    let ids = prospect.children("id").filter(|id| !id.line().is_empty());
    let mut ids: Vec<String> =
        ids.map(|id| format!("{:?} {:?}", id.attribute("source").unwrap_or_default(), id.line())).collect();
    ids.sort();
    if ids.is_empty() {
        let mut prospect = prospect.clone();
        prospect.take_attribute("status");
        let mut text = String::new();
        prospect.canonical(&mut text);
        return key_of(&text);
    }
    let mut provider = String::new();
    prospect
        .children("provider")
        .flat_map(|provider| provider.children("name"))
        .for_each(|name| name.canonical(&mut provider));
    key_of(&format!("{provider} {}", ids.join(" ")))
}

#[derive(Default)]
struct VehicleNumbers {
    vin: Option<String>,
    stock_number: Option<String>,
}

/// The first vehicle that the person does not want to get rid of. A vehicle is to be bought unless it says otherwise, as
/// the format has it.
fn take_vehicle(prospect: &mut Element, arguments: &mut Map<String, Value>) -> (Interest, VehicleNumbers) {
    let interest = |vehicle: &Element| match vehicle.attribute("interest") {
        None => Interest::Buy,
        Some(word) => {
            let word = word.to_ascii_lowercase().replace(['-', ' '], "_");
            Interest::parse(&word).unwrap_or(Interest::Unknown)
        }
    };
    let is_own = |vehicle: &Element| matches!(interest(vehicle), Interest::TradeIn | Interest::Sell);
    let Some(wanted) = prospect.children_mut("vehicle").find(|vehicle| !is_own(vehicle)) else {
        // Without one, what is to become of the person's own vehicle is the interest.
        let own = prospect.children("vehicle").next().map(interest);
        return (own.unwrap_or(Interest::Unknown), VehicleNumbers::default());
    };
    let interest = interest(wanted);
    if interest != Interest::Unknown {
        wanted.take_attribute("interest");
    }
    let text = |name: &str| wanted.children(name).map(Element::line).find(|line| !line.is_empty());
    let numbers = VehicleNumbers { vin: text("vin"), stock_number: text("stock") };
    let is_name = |name: &String| name.chars().count() <= MAX_NAME;
    if let (Some(make), Some(model)) = (text("make").filter(is_name), text("model").filter(is_name)) {
        let year = text("year").and_then(|year| year.parse::<u16>().ok()).filter(|year| (1900..=2100).contains(year));
        let mut kind = json!({"make": make, "model": model});
        wanted.take_line("make", |_| true);
        wanted.take_line("model", |_| true);
        if let (Some(year), Some(members)) = (year, kind.as_object_mut()) {
            members.insert("year".to_owned(), year.into());
            wanted.take_line("year", |_| true);
        }
        arguments.insert("vehicle_of_interest".to_owned(), kind);
    }
    (interest, numbers)
}

/// Who sent it, and the id that it has there.
fn take_source(prospect: &mut Element) -> Value {
    let fits = |text: &str| text.chars().count() <= MAX_SOURCE;
    let mut source = Map::new();
    let provider = prospect.child_mut("provider").and_then(|provider| {
        contact::take_name(&mut provider.clone()).filter(|name| fits(name))?;
        contact::take_name(provider)
    });
    let id = prospect.children_mut("id").find(|id| !id.line().is_empty() && fits(&id.line()));
    let mut given_by = None;
    if let Some(id) = id {
        source.insert("external_id".to_owned(), id.line().into());
        id.text.clear();
        // The order of the ids is the one in which they stand.
        id.take_attribute("sequence");
        let name = id.attribute("source").filter(|name| fits(name)).map(str::to_owned);
        if provider.is_none() || provider == name {
            id.take_attribute("source");
            given_by = name;
        }
    }
    let provider = provider.or(given_by);
    let channel = if provider.is_some() { "third_party" } else { "unknown" };
    source.insert("channel".to_owned(), channel.into());
    if let Some(provider) = provider {
        source.insert("provider".to_owned(), provider.into());
    }
    Value::Object(source)
}

fn take_timeframe(timeframe: &mut Element) -> Option<Timeframe> {
    let known = |text: &str| {
        let words: String =
            text.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect();
        match words.as_str() {
            "withinweek" | "within1week" | "withinaweek" | "1week" | "immediately" | "asap" => {
                Some(Timeframe::WithinWeek)
            }
            "withintwoweeks" | "within2weeks" | "2weeks" => Some(Timeframe::WithinTwoWeeks),
            "withinmonth" | "within1month" | "withinamonth" | "1month" | "within30days" | "30days" => {
                Some(Timeframe::WithinMonth)
            }
            "withinquarter" | "within3months" | "3months" | "within90days" | "90days" => Some(Timeframe::WithinQuarter),
            "later" | "morethan3months" => Some(Timeframe::Later),
            "justlooking" | "browsing" => Some(Timeframe::JustLooking),
            _ => None,
        }
    };
    let text = timeframe.take_line("description", |text| known(text).is_some())?;
    known(&text)
}

/// Takes what was written as it was written, except for the spaces around lines.
fn take_comments(element: &mut Element, comments: &mut Vec<String>) {
    for comment in element.children_mut("comments") {
        let lines: Vec<&str> = comment.text.lines().map(str::trim).collect();
        let text = lines.join("\n").trim().to_owned();
        if !text.is_empty() {
            comments.push(text);
        }
        comment.text.clear();
    }
}

/// The comments, then what has no argument, up to the length of the field; and the paths of what did not fit.
fn bounded(comments: Vec<String>, rest: &[(String, String)]) -> (String, Vec<String>) {
    let mut text = comments.join("\n\n");
    let mut cut = Vec::new();
    if text.chars().count() > MAX_COMMENTS {
        text = text.chars().take(MAX_COMMENTS - 1).chain(['…']).collect();
        cut.push("comments".to_owned());
    }
    let mut used = text.chars().count();
    let mut heading = if text.is_empty() { "" } else { "\n\n" };
    for (path, value) in rest {
        let line = format!("{heading}{path}: {value}");
        let length = line.chars().count();
        if used + length > MAX_COMMENTS {
            cut.push(path.clone());
            continue;
        }
        used += length;
        text.push_str(&line);
        heading = "\n";
    }
    (text, cut)
}
