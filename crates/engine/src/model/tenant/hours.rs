//! Opening hours: intervals of weekdays in the tenant's own time, such as `mon 09:00-18:00`.

use serde::{Deserialize, Serialize};

const DAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
const HOW: &str = "write a day or a range of days and the hours, such as `mon 09:00-12:00` or `mon-fri 09:00-18:00`";

/// Intervals in the order of the week, none of them empty, no two of a day overlapping.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
pub struct OpeningHours(Vec<Interval>);

/// Minutes of a day; it may close at 24:00.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Interval {
    day: usize,
    opens: u32,
    closes: u32,
}

impl OpeningHours {
    /// Each text is a day or a range of days with one or more intervals, separated by commas.
    pub fn parse<T: AsRef<str>>(texts: &[T]) -> Result<OpeningHours, String> {
        let mut all = Vec::new();
        for text in texts {
            all.extend(intervals(text.as_ref()).ok_or(HOW)?);
        }
        all.sort_unstable();
        let overlaps =
            |pair: &[Interval]| matches!(pair, [one, next] if one.day == next.day && next.opens < one.closes);
        if all.is_empty() {
            Err(HOW.to_owned())
        } else if all.windows(2).any(overlaps) {
            Err("two intervals of a day overlap; write each hour once".to_owned())
        } else {
            Ok(OpeningHours(all))
        }
    }

    /// One text for each interval.
    pub fn lines(&self) -> Vec<String> {
        self.0.iter().map(Interval::line).collect()
    }
}

impl Interval {
    fn line(&self) -> String {
        let day = DAYS.get(self.day).copied().unwrap_or_default();
        let clock = |minutes: u32| format!("{:02}:{:02}", minutes / 60, minutes % 60);
        format!("{day} {}-{}", clock(self.opens), clock(self.closes))
    }
}

fn intervals(text: &str) -> Option<Vec<Interval>> {
    let (days, hours) = text.trim().split_once(' ')?;
    let (first, last) = days.split_once('-').unwrap_or((days, days));
    let (first, last) = (day(first)?, day(last)?);
    let mut all = Vec::new();
    for part in hours.split(',') {
        let (opens, closes) = part.trim().split_once('-')?;
        let (opens, closes) = (minutes(opens)?, minutes(closes)?);
        if opens >= closes || first > last {
            return None;
        }
        all.extend((first..=last).map(|day| Interval { day, opens, closes }));
    }
    Some(all)
}

fn day(text: &str) -> Option<usize> {
    DAYS.iter().position(|day| day.eq_ignore_ascii_case(text))
}

fn minutes(text: &str) -> Option<u32> {
    let (hours, minutes) = text.split_once(':')?;
    let two_digits = |part: &str| part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
    if !two_digits(hours) || !two_digits(minutes) {
        return None;
    }
    let (hours, minutes): (u32, u32) = (hours.parse().ok()?, minutes.parse().ok()?);
    (minutes < 60 && hours * 60 + minutes <= 24 * 60).then_some(hours * 60 + minutes)
}

impl TryFrom<Vec<String>> for OpeningHours {
    type Error = String;

    fn try_from(texts: Vec<String>) -> Result<OpeningHours, String> {
        OpeningHours::parse(&texts)
    }
}

impl From<OpeningHours> for Vec<String> {
    fn from(hours: OpeningHours) -> Vec<String> {
        hours.lines()
    }
}
