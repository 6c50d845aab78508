//! Stage 7: exactly one tenant.

use crate::support::{KEEPER, SOUTHERNER, TRAVELLER, TestDesk, VAGRANT};

fn got(id: &str, title: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"result":{{"item":{{"id":"{id}","title":"{title}","genre":"novel","copies":1}}}}}}"#
    )
}

fn refused(message: &str, fault: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":-1,"message":"{message}","data":{{"fault":"{fault}","at":"tool book.get"}}}}}}"#
    )
}

#[tokio::test]
async fn a_callers_only_tenant_is_implied_and_may_be_named() {
    let test = TestDesk::stocked();
    assert_eq!(test.call(KEEPER, "book.get", r#"{"id":"b2"}"#).await, got("b2", "Dune"));
    assert_eq!(test.call(KEEPER, "book.get", r#"{"id":"b2","branch":"north"}"#).await, got("b2", "Dune"));
}

#[tokio::test]
async fn a_caller_of_several_tenants_must_name_one() {
    let test = TestDesk::stocked();
    assert_eq!(
        test.call(TRAVELLER, "book.get", r#"{"id":"b2"}"#).await,
        concat!(
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"This token belongs to several tenants; name one of them.","#,
            r#""data":{"fault":"tenant_required","at":"tool book.get","#,
            r#""problems":["/branch required: one of these is expected: north, south"]}}}"#
        )
    );
    assert_eq!(test.call(TRAVELLER, "book.get", r#"{"id":"b2","branch":"north"}"#).await, got("b2", "Dune"));
    assert_eq!(test.call(TRAVELLER, "book.get", r#"{"id":"s1","branch":"south"}"#).await, got("s1", "Ulysses"));
}

#[tokio::test]
async fn a_foreign_tenant_is_forbidden_whether_or_not_it_exists() {
    let test = TestDesk::stocked();
    let expected = refused("This token does not belong to the tenant that was named.", "cross_tenant_denied");
    for branch in ["north", "west", "South", "south "] {
        let arguments = format!(r#"{{"id":"s1","branch":"{branch}"}}"#);
        assert_eq!(test.call(SOUTHERNER, "book.get", &arguments).await, expected);
    }
}

#[tokio::test]
async fn a_caller_of_no_tenant_is_forbidden_everywhere() {
    let test = TestDesk::stocked();
    assert_eq!(
        test.call(VAGRANT, "book.get", r#"{"id":"b2"}"#).await,
        refused("This token belongs to no tenant.", "cross_tenant_denied")
    );
    assert_eq!(
        test.call(VAGRANT, "book.get", r#"{"id":"b2","branch":"north"}"#).await,
        refused("This token does not belong to the tenant that was named.", "cross_tenant_denied")
    );
}

#[tokio::test]
async fn another_tenants_id_is_answered_like_one_that_does_not_exist() {
    let test = TestDesk::stocked();
    let missing = refused("Nothing with this id exists here.", "not_found");
    assert_eq!(test.call(KEEPER, "book.get", r#"{"id":"s1"}"#).await, missing);
    assert_eq!(test.call(KEEPER, "book.get", r#"{"id":"zz"}"#).await, missing);
}

#[tokio::test]
async fn a_budget_by_argument_is_per_value_and_tenant() {
    let test = TestDesk::stocked();
    for id in ["b9", "b9", "b9", "b8"] {
        let answer = test.call(TRAVELLER, "book.lend", &format!(r#"{{"id":"{id}","branch":"north"}}"#)).await;
        assert!(answer.contains("not_found"), "{answer}");
    }
    let limited = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"Too many calls; wait before the next one.","data":{"fault":"rate_limited","at":"tool book.lend","retry_after":10}}}"#;
    let lend = async |who, branch| test.call(who, "book.lend", &format!(r#"{{"id":"b9","branch":"{branch}"}}"#)).await;
    assert_eq!(lend(TRAVELLER, "north").await, limited);
    // The subject is what is protected, so another client does not get around it.
    assert_eq!(lend(KEEPER, "north").await, limited);
    assert!(lend(TRAVELLER, "south").await.contains("not_found"));
    test.clock.advance(10_000);
    assert!(lend(TRAVELLER, "north").await.contains("not_found"));
}

#[tokio::test]
async fn a_tool_that_needs_a_login_refuses_everybody_without_one() {
    let mut test = TestDesk::stocked();
    for tool in &mut test.mount.contract.tools {
        tool.spec.max_login_age = Some(60);
    }
    let message = "This needs a token for which a person has logged in within the last 60 seconds. Have them log in again, \
                   and repeat the call with the new token.";
    // Also whoever names no tenant, or a wrong one: nothing else is said.
    for (caller, arguments) in
        [(KEEPER, r#"{"id":"b2"}"#), (TRAVELLER, r#"{"id":"b2"}"#), (SOUTHERNER, r#"{"id":"b2","branch":"north"}"#)]
    {
        assert_eq!(test.call(caller, "book.get", arguments).await, refused(message, "step_up"));
    }
}
