//! What is left of credit applications and decisions when their applicant is erased: that one was made, when, and how it
//! ended, which the dealership may have to show.

use super::application::CreditApplication;
use super::decision::LenderDecision;
use crate::automotive::erasure::PersonRecord;
use crate::automotive::values::Contact;
use crate::record::{Email, Phone};

impl PersonRecord for CreditApplication {
    fn email(&self) -> Option<&Email> {
        self.applicant.email.as_ref()
    }

    fn phone(&self) -> Option<&Phone> {
        self.applicant.phone.as_ref()
    }

    fn customer_id(&self) -> Option<&str> {
        Some(&self.customer_id)
    }

    fn erase(&mut self) {
        let CreditApplication {
            application_number: _,
            status: _,
            customer_id: _,
            deal_id: _,
            lead_id: _,
            permissible_purpose: _,
            consent_id: _,
            submitted_at: _,
            decisions: _,
            applicant,
            amount_requested,
            residence,
            employment,
            ssn_last4,
            bank_account_last4,
            ssn,
            birth_date,
            bank_account_number,
        } = self;
        *applicant = Contact::erased();
        *amount_requested = None;
        *residence = None;
        *employment = None;
        *ssn_last4 = None;
        *bank_account_last4 = None;
        *ssn = None;
        *birth_date = None;
        *bank_account_number = None;
    }
}

impl PersonRecord for LenderDecision {
    fn email(&self) -> Option<&Email> {
        None
    }

    fn phone(&self) -> Option<&Phone> {
        None
    }

    fn customer_id(&self) -> Option<&str> {
        self.customer_id.as_deref()
    }

    /// Whether a notice was due and sent stays; what it was about does not.
    fn erase(&mut self) {
        let LenderDecision {
            decision_number: _,
            application_number: _,
            credit_application_id: _,
            customer_id: _,
            deal_id: _,
            lender_name: _,
            decision: _,
            decided_at: _,
            expires_at: _,
            adverse_action_required: _,
            adverse_action_due_at: _,
            adverse_action_sent_at: _,
            amount,
            apr_basis_points,
            term_months,
            monthly_payment,
            credit_tier,
            program,
            conditions,
            reasons,
        } = self;
        *amount = None;
        *apr_basis_points = None;
        *term_months = None;
        *monthly_payment = None;
        *credit_tier = None;
        *program = None;
        *conditions = None;
        *reasons = None;
    }
}
