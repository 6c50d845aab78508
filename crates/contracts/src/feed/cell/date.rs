//! Dates and times as people write them. A time without an offset is taken as UTC, a date as its midnight.

use frontdesk_engine::model::timestamp::Millis;
use time::{Date, Month};

use crate::feed::mapping::DateOrder;

const NOT_A_DATE: &str = "a date is expected, such as 2026-11-18, 11/18/2026 or 18.11.2026";

/// The same instant as RFC 3339.
pub(super) fn parse(text: &str, order: DateOrder) -> Result<String, String> {
    let with_offset = text.replacen(' ', "T", 1);
    if Millis::parse(&with_offset).is_some() {
        return Ok(with_offset);
    }
    let (date, time) = text.split_once([' ', 'T']).unwrap_or((text, ""));
    let (year, month, day) = numbers(date, order).ok_or(NOT_A_DATE)?;
    let month_of_year = u8::try_from(month).ok().and_then(|month| Month::try_from(month).ok());
    let Some(month_of_year) = month_of_year else {
        return Err(match order {
            DateOrder::MonthFirst if (1..=12).contains(&day) && month <= 31 => {
                "there is no such month: if the day comes first, set dates = \"day_first\" under [defaults]".to_owned()
            }
            DateOrder::DayFirst if (1..=12).contains(&day) && month <= 31 => {
                "there is no such month: if the month comes first, set dates = \"month_first\" under [defaults]"
                    .to_owned()
            }
            DateOrder::MonthFirst | DateOrder::DayFirst => "there is no such month".to_owned(),
        });
    };
    let day = u8::try_from(day).map_err(|_| NOT_A_DATE)?;
    let date =
        Date::from_calendar_date(i32::from(year), month_of_year, day).map_err(|_| "this month has no such day")?;
    let (hour, minute, second) = time_of_day(time.trim()).ok_or("the time is expected as in 2026-11-18 14:30:00")?;
    Ok(format!("{year:04}-{:02}-{:02}T{hour:02}:{minute:02}:{second:02}Z", u8::from(date.month()), date.day()))
}

/// Year, month and day, in the order that the separators say. A year has four digits.
fn numbers(date: &str, order: DateOrder) -> Option<(u16, u16, u16)> {
    let mark = date.chars().find(|letter| !letter.is_ascii_digit()).filter(|mark| matches!(mark, '-' | '/' | '.'))?;
    let mut parts = date.split(mark);
    let (first, second, third) = (parts.next()?, parts.next()?, parts.next()?);
    let is_short = |part: &str| (1..=2).contains(&part.len());
    let number =
        |part: &str| part.bytes().all(|byte| byte.is_ascii_digit()).then(|| part.parse::<u16>().ok()).flatten();
    if parts.next().is_some() || !is_short(second) {
        return None;
    }
    let (one, two, three) = (number(first)?, number(second)?, number(third)?);
    if first.len() == 4 && is_short(third) {
        return Some((one, two, three));
    }
    if !is_short(first) || third.len() != 4 {
        return None;
    }
    match order {
        DateOrder::MonthFirst if mark != '.' => Some((three, one, two)),
        DateOrder::MonthFirst | DateOrder::DayFirst => Some((three, two, one)),
    }
}

/// Nothing, `14:30`, `14:30:00`, with a fraction or with AM or PM.
fn time_of_day(time: &str) -> Option<(u8, u8, u8)> {
    if time.is_empty() {
        return Some((0, 0, 0));
    }
    let upper = time.to_ascii_uppercase();
    let (clock, half) = match (upper.strip_suffix("AM"), upper.strip_suffix("PM")) {
        (Some(clock), _) => (clock.trim_end(), Some(0)),
        (None, Some(clock)) => (clock.trim_end(), Some(12)),
        (None, None) => (upper.as_str(), None),
    };
    let clock = clock.split_once('.').map_or(clock, |(clock, _)| clock);
    let mut parts = clock.split(':').map(|part| (part.len() <= 2).then(|| part.parse::<u8>().ok()).flatten());
    let (hour, minute, second) = (parts.next()??, parts.next()??, parts.next().unwrap_or(Some(0))?);
    let hour = match half {
        Some(half) if (1..=12).contains(&hour) => hour % 12 + half,
        Some(_) => return None,
        None => hour,
    };
    (parts.next().is_none() && hour < 24 && minute < 60 && second < 60).then_some((hour, minute, second))
}
