//! Finance and insurance: products that are sold with a car, credit applications, and what lenders decide about them.
//! Credit data needs scopes of its own and a recent login (A6-17, A6-18); a deal shows its financing status only.

pub mod application;
pub mod decision;
mod erased;
mod financing;
pub mod product;
mod rules;
pub mod secret_number;

use frontdesk_engine::Code;

use super::codes::CodeSpec;
use super::resource::ResourceParts;

pub const DUPLICATE: CodeSpec = CodeSpec {
    code: Code("fni.duplicate"),
    means: "Another record has this number or code, or the deal has an open credit application already.",
    next: "Find that record and change it; withdraw an application before you make another one for its deal.",
};

pub const INVALID_TRANSITION: CodeSpec = CodeSpec {
    code: Code("fni.invalid_transition"),
    means: "The status cannot follow the one before; only decisions of lenders make an application `decisioned`.",
    next: "Choose one that the message names, or make a new application.",
};

pub const INCOMPLETE: CodeSpec = CodeSpec {
    code: Code("fni.incomplete"),
    means: "The application lacks something without which it cannot be submitted.",
    next: "Send what `details.errors` names with `fni.update_credit_application`.",
};

pub const SUBMITTED: CodeSpec = CodeSpec {
    code: Code("fni.submitted"),
    means: "The application was submitted, so what it says cannot change.",
    next: "Withdraw it with status `withdrawn`, and make a new one.",
};

/// In the order of `tools/list`.
pub fn resources() -> Vec<ResourceParts> {
    vec![product::resource(), application::resource(), decision::resource()]
}
