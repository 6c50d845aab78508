//! The process environment, as pairs. The only place that reads it; it decides nothing.

/// The variables of this process that begin with `FRONTDESK_`, for [`load`](super::load).
///
/// A value that is not Unicode arrives with replacement characters, which `load` refuses by name; the iterator of the
/// standard library that gives text would panic on it, even for a variable that is none of our business.
#[expect(clippy::disallowed_methods, reason = "this is the one place that reads the environment")]
pub fn environment() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os()
        .map(|(name, value)| (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned()))
        .filter(|(name, _)| name.starts_with(PREFIX))
}

pub(super) const PREFIX: &str = "FRONTDESK_";
/// Names the file, so it is a variable without being a key.
pub(super) const FILE: &str = "FRONTDESK_CONFIG";
