//! From one prospect to the arguments of `leads.create`.

use serde_json::{Map, Value, json};

use super::element::Element;
use super::{AdfProspect, AdfSettings, consent, contact, key_of, rest};
use crate::automotive::lead::stock_link::{STOCK_NUMBER, VIN};
use crate::automotive::lead::{Interest, Timeframe, TradeInCondition};
use crate::automotive::vin::Vin;
use crate::record::Vocabulary;

const MAX_COMMENTS: usize = 4000;
const MAX_SOURCE: usize = 80;
const MAX_NAME: usize = 60;
const MAX_STOCK_NUMBER: usize = 40;
const MAX_MILEAGE: u32 = 9_999_999;

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
    let interest = take_vehicle(&mut prospect, &mut arguments);
    arguments.insert("interest".to_owned(), interest.as_str().into());
    if let Some(trade_in) = take_trade_in(&mut prospect) {
        arguments.insert("trade_in".to_owned(), trade_in);
    }
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
    AdfProspect { arguments, key, unmapped, cut, number }
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

/// A vehicle is to be bought unless it says otherwise, as the format has it.
fn interest_in(vehicle: &Element) -> Interest {
    match vehicle.attribute("interest") {
        None => Interest::Buy,
        Some(word) => {
            let word = word.to_ascii_lowercase().replace(['-', ' '], "_");
            Interest::parse(&word).unwrap_or(Interest::Unknown)
        }
    }
}

/// The first vehicle that the person does not want to get rid of: its kind, and its numbers if it can be found in stock
/// by them.
fn take_vehicle(prospect: &mut Element, arguments: &mut Map<String, Value>) -> Interest {
    let is_own = |vehicle: &Element| matches!(interest_in(vehicle), Interest::TradeIn | Interest::Sell);
    let Some(wanted) = prospect.children_mut("vehicle").find(|vehicle| !is_own(vehicle)) else {
        // Without one, what is to become of the person's own vehicle is the interest.
        return prospect.children("vehicle").next().map_or(Interest::Unknown, interest_in);
    };
    let interest = interest_in(wanted);
    if interest != Interest::Unknown {
        wanted.take_attribute("interest");
    }
    if let Some(vin) = wanted.take_line("vin", |text| Vin::parse(text).is_ok()) {
        arguments.insert(VIN.to_owned(), vin.into());
    }
    if let Some(number) = wanted.take_line("stock", |text| text.chars().count() <= MAX_STOCK_NUMBER) {
        arguments.insert(STOCK_NUMBER.to_owned(), number.into());
    }
    let is_named =
        |name: &str| wanted.children(name).map(Element::line).find(|line| !line.is_empty()).is_some_and(is_name);
    if is_named("make") && is_named("model") {
        let mut kind = Map::new();
        take_kind(wanted, &mut kind);
        arguments.insert("vehicle_of_interest".to_owned(), Value::Object(kind));
    }
    interest
}

fn is_name(text: impl AsRef<str>) -> bool {
    text.as_ref().chars().count() <= MAX_NAME
}

fn take_kind(vehicle: &mut Element, members: &mut Map<String, Value>) {
    for name in ["make", "model"] {
        if let Some(text) = vehicle.take_line(name, |text| is_name(text)) {
            members.insert(name.to_owned(), text.into());
        }
    }
    let year = |text: &str| text.parse::<u16>().ok().filter(|year| (1900..=2100).contains(year));
    if let Some(year) = vehicle.take_line("year", |text| year(text).is_some()).and_then(|text| year(&text)) {
        members.insert("year".to_owned(), year.into());
    }
}

/// The first vehicle that the person wants to trade in. What has no place there stays in the comments.
fn take_trade_in(prospect: &mut Element) -> Option<Value> {
    let vehicle = prospect.children_mut("vehicle").find(|vehicle| interest_in(vehicle) == Interest::TradeIn)?;
    let mut members = Map::new();
    take_kind(vehicle, &mut members);
    if let Some(vin) = vehicle.take_line("vin", |text| Vin::parse(text).is_ok()) {
        members.insert("vin".to_owned(), vin.into());
    }
    if let Some(mileage) = vehicle.child_mut("odometer").and_then(take_mileage) {
        members.insert("mileage".to_owned(), mileage);
    }
    let condition = |text: &str| {
        TradeInCondition::parse(&text.to_ascii_lowercase()).filter(|condition| *condition != TradeInCondition::Unknown)
    };
    let text = vehicle.take_line("condition", |text| condition(text).is_some());
    if let Some(condition) = text.and_then(|text| condition(&text)) {
        members.insert("condition".to_owned(), condition.as_str().into());
    }
    if members.is_empty() {
        return None;
    }
    vehicle.take_attribute("interest");
    Some(Value::Object(members))
}

/// A number without a unit could be either, so it is not taken.
fn take_mileage(odometer: &mut Element) -> Option<Value> {
    let unit = match odometer.attribute("units")?.to_ascii_lowercase().as_str() {
        "mi" | "mile" | "miles" => "mi",
        "km" | "kilometers" | "kilometres" => "km",
        _ => return None,
    };
    let digits: String = odometer.line().chars().filter(|letter| *letter != ',').collect();
    let value = digits.parse::<u32>().ok().filter(|value| *value <= MAX_MILEAGE)?;
    odometer.text.clear();
    odometer.take_attribute("units");
    Some(json!({"value": value, "unit": unit}))
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
