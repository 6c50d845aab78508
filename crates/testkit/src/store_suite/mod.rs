//! What every store must do, written once. A store runs through it by making a `StoreUnderTest` for each behaviour and
//! passing the function that makes it to `every_behaviour!`; nothing here knows which store it is.

pub mod audit_loss;
pub mod boats;
pub mod claims;
pub mod committing;
pub mod counting;
pub mod dispatching;
pub mod erasing;
pub mod events;
pub mod filtering;
pub mod forgetting;
pub mod grown_boats;
pub mod node;
pub mod paging;
pub mod reading;
pub mod registry;
pub mod removing;
pub mod steps;
pub mod tampering;
pub mod tenants;
pub mod unwritten;

use std::sync::Arc;

use frontdesk_engine::model::table::TableSpec;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::model::tool::Future;
use frontdesk_engine::ports::Store;
use frontdesk_engine::ports::registry::{Registry, Tenant};
use frontdesk_engine::{Fault, TenantId};

/// An open store that knows the tables of `boats` and has the tenants `north` and `south`.
pub struct StoreUnderTest {
    pub store: Arc<dyn Store>,
    pub registry: Arc<dyn Registry>,
    pub delete_rows: DeleteRows,
    pub erase_answers: EraseAnswers,
    pub peek: Arc<dyn StoreInspector>,
}

/// Deletes rows of a table whose value in a column is before an instant.
pub type DeleteRows =
    Box<dyn Fn(&'static TableSpec, &'static str, Millis) -> Future<'static, Result<(), Fault>> + Send + Sync>;

/// Removes the personal part of the stored answers about these ids; how many were changed.
pub type EraseAnswers = Box<dyn Fn(TenantId, Vec<String>) -> Future<'static, Result<u64, Fault>> + Send + Sync>;

/// What is stored beside the rows, seen from outside the store.
pub trait StoreInspector: Send + Sync {
    /// The tenant's events in order, each as `seq name kind id change`.
    fn outbox(&self, tenant: &str) -> Vec<String>;
    /// The records of the tenant's audit chain in order.
    fn audit(&self, tenant: &str) -> Vec<String>;
    /// The records of the node's audit chain of reads in order.
    fn node(&self) -> Vec<String>;
    /// The records of the node's audit chain of administration in order.
    fn administration(&self) -> Vec<String>;
}

/// A record of the audit as the caller's plan gave it, without the rows that the store has added.
pub fn without_rows(record: &str) -> String {
    let own = |line: &str| match line.split_once(",\"wrote\":{") {
        Some((own, _)) => format!("{own}}}"),
        None => line.to_owned(),
    };
    record.lines().map(own).collect::<Vec<_>>().join("\n")
}

/// The two tenants of a subject.
pub fn tenants() -> [Tenant; 2] {
    [Tenant::new(north(), "North Harbour"), Tenant::new(south(), "South Harbour")]
}

pub fn north() -> TenantId {
    TenantId::parse("north").unwrap()
}

pub fn south() -> TenantId {
    TenantId::parse("south").unwrap()
}

/// Makes a test of every behaviour, each with a subject of its own from `$open().await`.
#[macro_export]
macro_rules! every_behaviour {
    ($open:path) => {
        $crate::every_behaviour! { $open,
            reading::a_row_is_masked_unless_disclosure_is_full,
            reading::an_unknown_id_is_not_found,
            reading::write_only_values_come_only_to_be_changed,
            reading::equal_ids_and_values_of_two_tenants_stay_apart,
            reading::a_unique_value_finds_its_row_masked,
            reading::an_unknown_tenant_has_nothing,
            filtering::each_filter_keeps_exactly_what_it_says,
            filtering::filters_are_joined_by_and,
            filtering::values_are_never_read_as_sql,
            filtering::words_are_found_whole_and_all_of_them,
            filtering::personal_words_are_found_only_as_personal_words,
            filtering::an_update_replaces_the_words,
            filtering::a_word_given_twice_counts_once,
            filtering::a_row_has_as_many_words_as_it_likes_and_may_say_one_twice,
            paging::rows_come_in_the_order_asked_for,
            paging::a_walk_over_equal_values_meets_each_row_once,
            paging::a_walk_meets_each_old_row_once_while_rows_are_inserted,
            paging::a_last_page_that_is_exactly_full_has_no_next,
            paging::a_byte_budget_gives_fewer_whole_rows_and_where_to_go_on,
            paging::a_row_larger_than_the_budget_still_comes,
            paging::ids_alone_can_be_asked_for,
            paging::an_offset_skips_rows,
            paging::listed_rows_are_masked_and_whole,
            paging::a_page_names_the_rows_that_have_a_masked_part,
            paging::a_row_without_a_sort_value_sorts_as_zero,
            paging::a_limit_beyond_all_bounds_is_no_error,
            counting::a_count_is_that_of_the_rows_that_pass_the_filters,
            counting::a_count_stops_at_its_maximum,
            steps::an_insert_is_there_once_committed,
            steps::an_update_needs_the_version_it_expects,
            steps::an_update_replaces_every_column,
            steps::an_adjustment_never_goes_below_its_floor,
            steps::a_requirement_guards_a_row_that_was_only_read,
            steps::a_row_that_was_not_found_is_inserted_once,
            steps::a_taken_value_refuses_with_the_steps_own_fault,
            steps::a_taken_id_refuses_with_the_steps_own_fault,
            steps::a_unique_value_is_unique_within_its_tenant_only,
            steps::an_update_to_a_taken_value_is_refused,
            removing::a_removed_row_is_found_by_nothing,
            removing::unique_values_of_a_removed_row_are_free,
            removing::a_removal_needs_the_version_it_expects,
            removing::a_failing_plan_with_a_removal_leaves_no_trace,
            removing::equal_keys_remove_once,
            committing::a_plan_of_an_unknown_tenant_is_not_committed,
            committing::a_failing_plan_leaves_no_trace,
            committing::failing_plans_among_others_leave_no_gap,
            committing::events_of_one_plan_keep_their_order,
            committing::each_tenant_counts_its_own_events,
            committing::two_hundred_takers_of_the_last_three_units_get_three,
            events::events_are_read_in_order_behind_a_number,
            events::events_of_another_tenant_are_not_read,
            events::a_reader_misses_no_event_while_others_commit,
            claims::a_key_used_twice_answers_what_was_stored,
            claims::a_key_with_another_meaning_reports_the_first_meaning,
            claims::a_key_belongs_to_its_tenant_client_and_tool,
            claims::a_refused_plan_claims_nothing,
            claims::two_hundred_parallel_twins_commit_once,
            claims::erased_answers_name_nobody_and_keep_their_keys,
            claims::more_answers_than_one_chunk_are_erased,
            forgetting::rows_before_the_instant_are_forgotten_with_their_words,
            forgetting::more_rows_than_one_piece_are_forgotten,
            dispatching::two_hundred_equal_messages_at_once_have_one_effect,
            dispatching::what_a_node_accepted_before_it_ended_is_run_by_another,
            dispatching::several_nodes_that_look_for_tasks_run_each_once,
            dispatching::old_tasks_are_forgotten_and_young_ones_are_not,
            registry::a_tenant_is_added_once,
            registry::a_client_is_added_once_and_comes_back_whole,
            registry::a_new_secret_ends_the_clients_tokens,
            registry::a_revoked_client_has_no_tokens_and_stays_revoked,
            registry::a_token_is_revoked_by_its_own_client_only,
            registry::a_token_keeps_when_somebody_logged_in_for_it,
            registry::expired_tokens_are_swept_when_one_is_added,
            registry::a_change_is_recorded_if_and_only_if_it_happened,
            tenants::a_profile_is_stored_and_changed_field_by_field,
            tenants::a_token_is_for_the_tenants_of_its_groups_at_its_issue,
            tenants::a_tenant_that_leaves_a_group_leaves_its_tokens,
            tenants::a_token_without_any_tenant_is_not_stored,
            erasing::an_erased_tenant_has_no_row_client_or_token_left,
            erasing::a_tenant_being_erased_is_refused_from_the_first_moment,
            erasing::a_new_tenant_with_an_erased_id_begins_empty,
            erasing::an_erasure_is_recorded_with_its_counts_and_chain,
        }
    };
    ($open:path, $($module:ident::$name:ident),+ $(,)?) => {
        $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $name() {
            $crate::store_suite::$module::$name(&$open().await).await;
        })+
    };
}
