//! Which column of a feed gives which field: by the mapping file, then by the field's own name, then by an alias.

use std::fmt;

use frontdesk_engine::model::nearest::nearest;
use frontdesk_engine::model::schema::Presence;

use super::cell::{money_fields, quantity_fields};
use super::error::FeedError;
use super::mapping::FeedMapping;
use super::target::{AliasTarget, FeedTarget, HeaderAlias, folded, plain};
use super::{MAX_HEADER_CHARACTERS, error};

/// How many names of columns an error lists.
const LISTED: usize = 12;

/// A column of the feed and what becomes of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnUse {
    pub header: String,
    pub target: ColumnTarget,
    /// The unit or currency that the header implies.
    pub(super) unit: Option<&'static str>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ColumnTarget {
    /// The dotted path of a field.
    Field(String),
    /// Used by a rule that needs several columns.
    Extra(&'static str),
    Ignored,
}

impl fmt::Display for ColumnTarget {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ColumnTarget::Field(path) => out.write_str(path),
            ColumnTarget::Extra(name) => write!(out, "({name})"),
            ColumnTarget::Ignored => out.write_str("ignored"),
        }
    }
}

/// Finds what a column is for.
pub(super) struct ColumnResolver<'t> {
    target: &'t FeedTarget,
    paths: Vec<(String, String)>,
    aliases: Vec<(String, &'static HeaderAlias)>,
    mapped: Vec<(String, Option<String>)>,
}

impl<'t> ColumnResolver<'t> {
    /// Refuses a mapping that names fields which do not exist.
    pub(super) fn new(target: &'t FeedTarget, mapping: &FeedMapping) -> Result<ColumnResolver<'t>, FeedError> {
        let paths = target.paths();
        let named = mapping.columns.iter().filter_map(|(_, field)| field.as_ref()).map(|field| ("columns", field));
        let named = named.chain(mapping.values.keys().map(|field| ("values", field)));
        let named = named.chain(mapping.constants.keys().map(|field| ("constants", field)));
        for (section, field) in named.chain(mapping.lists.keys().map(|field| ("lists", field))) {
            if target.schema(field).is_none() {
                let meant = nearest(field, paths.iter().map(String::as_str));
                let meant = meant.map(|right| format!(" Did you mean {right:?}?")).unwrap_or_default();
                return Err(FeedError::whole(format!(
                    "Under [{section}] the mapping file names the field {field:?}, which does not exist.{meant}"
                )));
            }
        }
        Ok(ColumnResolver {
            target,
            paths: paths.into_iter().map(|path| (folded(&path), path)).collect(),
            aliases: target.aliases.iter().map(|alias| (folded(alias.header), alias)).collect(),
            mapped: mapping.columns.iter().map(|(header, field)| (key(header), field.clone())).collect(),
        })
    }

    pub(super) fn resolve(&self, header: &str) -> ColumnUse {
        let header = header.trim();
        let name = key(header);
        if let Some((_, field)) = self.mapped.iter().find(|(mapped, _)| *mapped == name) {
            let target = field.clone().map_or(ColumnTarget::Ignored, ColumnTarget::Field);
            return ColumnUse { header: header.to_owned(), target, unit: None };
        }
        let alias = self.aliases.iter().find(|(alias, _)| *alias == name).map(|(_, alias)| *alias);
        let own = self.paths.iter().find(|(path, _)| *path == name).map(|(_, path)| path.clone());
        let own = own.or_else(|| self.target.schema(header).map(|_| header.to_owned()));
        let target = match (own, alias.map(|alias| alias.to)) {
            (Some(path), _) => ColumnTarget::Field(path),
            (None, Some(AliasTarget::Field(path) | AliasTarget::FieldIfMissing(path))) => {
                ColumnTarget::Field(path.to_owned())
            }
            (None, Some(AliasTarget::Extra(name))) => ColumnTarget::Extra(name),
            (None, Some(AliasTarget::Ignored) | None) => ColumnTarget::Ignored,
        };
        // What the mapping file says about a field replaces what its columns are called.
        let is_mapped = self.mapped.iter().any(|(_, field)| field.as_deref() == path(&target));
        let target = if is_mapped && path(&target).is_some() { ColumnTarget::Ignored } else { target };
        ColumnUse { header: header.to_owned(), target, unit: alias.and_then(|alias| alias.unit) }
    }

    /// How many of these names are known.
    pub(super) fn known(&self, headers: &[String]) -> usize {
        let is_known = |header: &&String| {
            let name = key(header);
            let is_mapped = self.mapped.iter().any(|(mapped, _)| *mapped == name);
            let is_alias = self.aliases.iter().any(|(alias, _)| *alias == name);
            !name.is_empty() && (is_mapped || is_alias || self.resolve(header).target != ColumnTarget::Ignored)
        };
        headers.iter().filter(is_known).count()
    }

    /// The columns of a header row, if every required field can come of them.
    pub(super) fn header_row(
        &self,
        headers: &[String],
        mapping: &FeedMapping,
    ) -> Result<Vec<ColumnUse>, error::FeedError> {
        if let Some(at) = headers.iter().position(|header| header.chars().count() > MAX_HEADER_CHARACTERS) {
            return Err(FeedError::long_header(at + 1));
        }
        let mut columns: Vec<ColumnUse> = headers.iter().map(|header| self.resolve(header)).collect();
        self.ignore_weak_names(&mut columns);
        for (header, _) in &mapping.columns {
            if !headers.iter().any(|found| key(found) == key(header)) {
                return Err(FeedError::whole(format!(
                    "Under [columns] the mapping file names the column {header:?}, which the feed does not have.{}",
                    found(headers)
                )));
            }
        }
        if columns.iter().all(|column| column.target == ColumnTarget::Ignored) {
            return Err(FeedError::whole(format!(
                "No column of the feed is known.{} Say in a mapping file which column is which field: [columns] {:?} = {:?}.",
                found(headers),
                "Name in the feed",
                self.paths.first().map_or("field", |(_, path)| path)
            )));
        }
        self.check_unique(&columns, mapping)?;
        self.check_required(&columns, headers, mapping)?;
        Ok(columns)
    }

    /// An export has both the id of a record here and the number that many feeds call `id`.
    fn ignore_weak_names(&self, columns: &mut [ColumnUse]) {
        let given: Vec<ColumnTarget> = columns.iter().map(|column| column.target.clone()).collect();
        for (at, column) in columns.iter_mut().enumerate() {
            let is_given = || given.iter().enumerate().any(|(other, target)| other != at && *target == column.target);
            if self.is_weak(&column.header) && is_given() {
                column.target = ColumnTarget::Ignored;
            }
        }
    }

    /// Whether the name means its field only if no other column gives it.
    pub(super) fn is_weak(&self, header: &str) -> bool {
        let alias = self.aliases.iter().find(|(alias, _)| *alias == key(header));
        alias.is_some_and(|(_, alias)| matches!(alias.to, AliasTarget::FieldIfMissing(_)))
    }

    fn check_unique(&self, columns: &[ColumnUse], mapping: &FeedMapping) -> Result<(), FeedError> {
        let mut seen: Vec<&ColumnUse> = Vec::new();
        for column in columns.iter().filter(|column| column.target != ColumnTarget::Ignored) {
            let other = seen.iter().find(|other| self.are_same(&other.target, &column.target));
            match other {
                Some(other) if key(&other.header) == key(&column.header) => {
                    return Err(FeedError::whole(format!(
                        "The column {:?} is there twice. Leave one of them out, or rename it.",
                        column.header
                    )));
                }
                Some(other) => {
                    return Err(FeedError::whole(format!(
                        "The columns {:?} and {:?} both give {}. Ignore one of them in a mapping file: [columns] {:?} = \"\".",
                        other.header, column.header, column.target, other.header
                    )));
                }
                None => seen.push(column),
            }
            if let Some(path) = path(&column.target)
                && mapping.constants.contains_key(path)
            {
                return Err(FeedError::whole(format!(
                    "The column {:?} gives {path}, and so does [constants] of the mapping file. Remove one of them.",
                    column.header
                )));
            }
        }
        Ok(())
    }

    /// Whether both give the same, or one a part of the other that is not its unit.
    fn are_same(&self, one: &ColumnTarget, other: &ColumnTarget) -> bool {
        match (one, other) {
            (ColumnTarget::Field(one), ColumnTarget::Field(other)) => {
                one == other || self.is_part(one, other) || self.is_part(other, one)
            }
            (one, other) => one == other,
        }
    }

    fn is_part(&self, whole: &str, part: &str) -> bool {
        let Some(name) = part.strip_prefix(whole).and_then(|rest| rest.strip_prefix('.')) else {
            return false;
        };
        self.unit_field(whole) != Some(name)
    }

    /// The name of the part that is the unit or the currency of this field.
    pub(super) fn unit_field(&self, path: &str) -> Option<&'static str> {
        let fields = self.target.schema(path)?.fields();
        money_fields(fields).map(|(_, currency)| currency).or_else(|| quantity_fields(fields).map(|(_, unit, _)| unit))
    }

    fn check_required(
        &self,
        columns: &[ColumnUse],
        headers: &[String],
        mapping: &FeedMapping,
    ) -> Result<(), FeedError> {
        let is_given = |name: &str| {
            let begins = |path: &str| path == name || path.starts_with(&format!("{name}."));
            mapping.constants.keys().any(|path| begins(path))
                || columns.iter().any(|column| match &column.target {
                    ColumnTarget::Field(path) => begins(path),
                    ColumnTarget::Extra(extra) => *extra == name,
                    ColumnTarget::Ignored => false,
                })
        };
        let is_derived = |name: &str| {
            self.target
                .derived
                .iter()
                .any(|derived| derived.field == name && derived.from.iter().any(|from| is_given(from)))
        };
        let fields = plain(&self.target.input).fields().iter();
        let required = fields.filter(|field| field.presence == Presence::Required).map(|field| field.name);
        let missing: Vec<&str> = required.filter(|name| !is_given(name) && !is_derived(name)).collect();
        let Some(first) = missing.first() else {
            return Ok(());
        };
        Err(FeedError::whole(format!(
            "No column gives {}, which every row needs.{} Say in a mapping file which column it is ([columns] \"Name in \
             the feed\" = {first:?}), or give all rows one value ([constants] {first} = \"..\").",
            missing.join(", "),
            found(headers),
        )))
    }
}

/// What an error says about the names that were found. A first line that does not look like names may be data.
fn found(headers: &[String]) -> String {
    let is_name = |header: &&String| {
        let header = header.trim();
        header.starts_with(char::is_alphabetic) && header.len() <= 40 && !header.contains('@')
    };
    if headers.len() == 1 {
        return " There is only one: a separator other than , ; tab or | is named under [defaults] of a mapping file \
                (separator = \"^\")."
            .to_owned();
    }
    let named = headers.iter().filter(|header| !header.trim().is_empty());
    let with_digits = named.clone().filter(|header| header.contains(|l: char| l.is_ascii_digit() || l == '@')).count();
    if with_digits * 4 > named.clone().count() {
        return " The first line does not look like names of columns; a feed begins with them.".to_owned();
    }
    let names: Vec<String> =
        named.clone().filter(is_name).take(LISTED).map(|name| format!("{:?}", name.trim())).collect();
    match named.count().saturating_sub(names.len()) {
        0 => format!(" Found: {}.", names.join(", ")),
        more => format!(" Found: {} and {more} more.", names.join(", ")),
    }
}

fn path(target: &ColumnTarget) -> Option<&str> {
    match target {
        ColumnTarget::Field(path) => Some(path),
        ColumnTarget::Extra(_) | ColumnTarget::Ignored => None,
    }
}

/// Names are compared without case and punctuation; one that is only punctuation as it is.
fn key(header: &str) -> String {
    let folded = folded(header);
    if folded.is_empty() { header.trim().to_owned() } else { folded }
}
