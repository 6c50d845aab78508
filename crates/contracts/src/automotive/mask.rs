//! What is left of personal data for callers who may not see it: enough to recognise somebody one
//! knows, too little to write, call or look up anybody.

/// `Dana Rivera` becomes `D. R.`.
pub fn name(name: &str) -> String {
    let initials = name.split_whitespace().filter_map(|word| word.chars().find(|letter| letter.is_alphanumeric()));
    let masked: Vec<String> = initials.map(|letter| format!("{}.", letter.to_uppercase())).collect();
    match masked.is_empty() {
        true => "*".to_owned(),
        false => masked.join(" "),
    }
}

/// `dana@example.com` becomes `d***@e***.com`. The stars are always three, so that lengths tell
/// nothing.
pub fn email(email: &str) -> String {
    let Some((local, host)) = email.rsplit_once('@') else {
        return "***".to_owned();
    };
    let end = host.rsplit_once('.').map(|(_, end)| end).unwrap_or_default();
    format!("{}***@{}***.{end}", first(local), first(host))
}

/// `+15125550123` becomes `+1******0123`. Short numbers keep two digits at their end: four would
/// be most of them.
pub fn phone(phone: &str) -> String {
    let digits: Vec<char> = phone.chars().filter(char::is_ascii_digit).collect();
    let kept = if digits.len() >= 10 { 4 } else { 2 };
    let end: String = digits.iter().skip(digits.len().saturating_sub(kept)).collect();
    let start: String = digits.iter().take(1).collect();
    format!("+{start}******{end}")
}

fn first(text: &str) -> String {
    text.chars().take(1).collect()
}
