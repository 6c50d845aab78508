//! Masked forms of personal data: enough to recognise a known person, too little to contact or look up anybody.

/// How many digits of a telephone number are hidden at least.
const HIDDEN_DIGITS: usize = 6;

/// `Dana Rivera` becomes `D. R.`, and `李 明` becomes `*. *.`.
pub fn name(name: &str) -> String {
    let words = name.split_whitespace().filter(|word| word.chars().any(char::is_alphanumeric));
    let masked: Vec<String> = words
        .map(|word| match initial(word) {
            Some(letter) => format!("{}.", letter.to_uppercase()),
            None => "*.".to_owned(),
        })
        .collect();
    if masked.is_empty() { "*".to_owned() } else { masked.join(" ") }
}

/// `dana@example.com` becomes `d***@e***.com`. Always three stars, so that the length
/// is not revealed.
pub fn email(email: &str) -> String {
    let Some((local, host)) = email.rsplit_once('@') else {
        return "***".to_owned();
    };
    let start = host.split('.').next().unwrap_or_default();
    let end = host.rsplit_once('.').map(|(_, end)| end).unwrap_or_default();
    format!("{}***@{}***.{end}", first(local), first(start))
}

/// `+15125550123` becomes `+1******0123`. A short number keeps fewer digits at its end, or none.
pub fn phone(phone: &str) -> String {
    let digits: Vec<char> = phone.chars().filter(char::is_ascii_digit).collect();
    let shown = digits.len().saturating_sub(HIDDEN_DIGITS);
    let start: String = digits.iter().take(shown.min(1)).collect();
    let kept = shown.saturating_sub(1).min(4);
    let end: String = digits.iter().skip(digits.len().saturating_sub(kept)).collect();
    format!("+{start}******{end}")
}

fn first(text: &str) -> String {
    initial(text).into_iter().collect()
}

/// The first letter, unless it is the only one and would reveal the whole word.
fn initial(word: &str) -> Option<char> {
    let mut letters = word.chars().filter(|letter| letter.is_alphanumeric());
    let first = letters.next()?;
    letters.next().map(|_| first)
}
