//! Feeds of this contract's resources: which tool their rows are arguments of, and the names and words that common feeds
//! use.

mod part_headers;
mod vehicle_headers;
mod vehicle_words;
mod vehicles;

use frontdesk_engine::model::schema::Schema;

use super::resource::{KEY, TENANT};
use crate::feed::{DerivedField, FeedTarget, HeaderAlias, RowDraft, Synonym};

/// What rows of a feed of this resource become: the arguments of `input`, by the names and words of known feeds.
/// `resource` is the name of its routes.
pub fn target(resource: &str, input: &Schema) -> FeedTarget {
    let known = known_feed(resource);
    FeedTarget {
        input: without_call_arguments(input),
        aliases: known.aliases,
        synonyms: known.synonyms,
        derived: known.derived,
        finish: known.finish,
    }
}

struct KnownFeed {
    aliases: &'static [HeaderAlias],
    synonyms: &'static [Synonym],
    derived: &'static [DerivedField],
    finish: Option<fn(&mut RowDraft<'_>)>,
}

fn known_feed(resource: &str) -> KnownFeed {
    match resource {
        "vehicles" => KnownFeed {
            aliases: vehicle_headers::ALIASES,
            synonyms: vehicle_words::SYNONYMS,
            derived: vehicles::DERIVED,
            finish: Some(vehicles::finish),
        },
        "parts" => KnownFeed { aliases: part_headers::ALIASES, synonyms: &[], derived: &[], finish: None },
        _ => KnownFeed { aliases: &[], synonyms: &[], derived: &[], finish: None },
    }
}

/// Whose row it is and under which key it is written is said by who reads the feed, never by a column.
fn without_call_arguments(input: &Schema) -> Schema {
    let kept = || input.fields().iter().filter(|field| field.name != TENANT && field.name != KEY).cloned();
    match input {
        Schema::Extended { extensions, .. } => Schema::extended(kept(), extensions.clone()),
        Schema::Object(_)
        | Schema::Map(_)
        | Schema::AnyObject
        | Schema::List { .. }
        | Schema::Text(_)
        | Schema::Integer { .. }
        | Schema::MinorUnits { .. }
        | Schema::Number { .. }
        | Schema::Boolean
        | Schema::Nullable(_)
        | Schema::Clearable(_)
        | Schema::AnyOf { .. } => Schema::object(kept()),
    }
}
