//! Reading customers. Lists mask contact data; a single record shows it to callers with the scope for leads, which covers
//! customers too because the specification gives them no domain of their own.

use frontdesk_engine::model::schema::{Schema, TextFormat, optional};
use frontdesk_engine::model::table::SearchTerm;
use frontdesk_engine::model::tool::{Effect, Future, Outcome, RateKey, Run, Tool, ToolSpec};
use frontdesk_engine::{Fault, Permitted, Scope};

use super::{NEWEST, equals_digest, get_one, id_argument, list_input, list_page, single_input, word_filter};
use crate::automotive::values::normalize_email;
use crate::automotive::{codes, customer, schemas, scopes};

pub(super) fn list() -> Tool {
    Tool {
        spec: ToolSpec {
            name: "customers.list",
            title: "List customers",
            about: "Lists the dealership's customers, newest first, page by page, contact data masked. Finds somebody \
                by whole e-mail address, telephone number or words of their name.",
            input: list_input([
                optional("email", Schema::Text(TextFormat::Email), "Whole e-mail address; case does not matter."),
                optional("phone", Schema::Text(TextFormat::Phone), "Whole number in E.164 form."),
                optional("name", Schema::text(200), "Whole words of the name, all of which must occur."),
            ]),
            output: schemas::list(customer::schema()),
            effect: Effect::Reads,
            scope: Scope::new(scopes::LEADS_READ),
            unmask_scope: None,
            rate: RateKey::Client,
            codes: &[],
        },
        run: Run::read(run_list),
    }
}

pub(super) fn get() -> Tool {
    Tool {
        spec: ToolSpec {
            name: "customers.get",
            title: "Get a customer",
            about: "Reads one customer by their id, with contact data.",
            input: single_input([id_argument("The customer's id, as lists give it.")]),
            output: customer::schema(),
            effect: Effect::Reads,
            scope: Scope::new(scopes::LEADS_READ),
            unmask_scope: Some(Scope::new(scopes::LEADS_READ)),
            rate: RateKey::Client,
            codes: &[codes::CUSTOMERS_NOT_FOUND],
        },
        run: Run::read(run_get),
    }
}

fn run_list<'a>(permitted: &'a Permitted<'a>) -> Future<'a, Result<Outcome, Fault>> {
    Box::pin(async move {
        let mut filters = Vec::new();
        filters.extend(equals_digest(permitted, "email", "email", normalize_email));
        filters.extend(equals_digest(permitted, "phone", "phone", str::to_owned));
        filters.extend(word_filter(permitted, "name", SearchTerm::Personal)?);
        list_page(permitted, &customer::TABLE, filters, NEWEST).await
    })
}

fn run_get<'a>(permitted: &'a Permitted<'a>) -> Future<'a, Result<Outcome, Fault>> {
    Box::pin(get_one(permitted, &customer::TABLE))
}
