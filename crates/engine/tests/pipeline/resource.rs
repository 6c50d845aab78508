//! Stage 4, addresses of resources: each has one spelling, and what cannot be found looks the same
//! whatever the reason.

use crate::support::requests::modern;
use crate::support::{CLERK, KEEPER, READER, SOUTHERNER, TestDesk};

const B2: &str = r#"{"id":"b2","title":"Dune","genre":"novel","copies":1}"#;

fn not_found(address: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":-1,"message":"Nothing with this id exists here.","data":{{"fault":"not_found","at":"resource {address}"}}}}}}"#
    )
}

#[tokio::test]
async fn a_resource_answers_as_its_tool_does() {
    let test = TestDesk::stocked();
    let expected = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"item":{B2}}}}}"#);
    assert_eq!(test.open(READER, "lib://north/book/b2").await, expected);
    assert_eq!(test.call(READER, "book.get", r#"{"id":"b2"}"#).await, expected);
}

#[tokio::test]
async fn a_document_is_the_same_for_everybody() {
    let test = TestDesk::new();
    let expected = r#"{"jsonrpc":"2.0","id":1,"result":{"contents":[{"uri":"lib://rules","mimeType":"application/json","text":"{\"silence\":true}"}]}}"#;
    assert_eq!(test.open(READER, "lib://rules").await, expected);
    assert_eq!(test.open(SOUTHERNER, "lib://rules").await, expected);
    let answer = test.serve(modern(READER, "resources/read", Some("lib://rules"), r#""uri":"lib://rules""#)).await;
    assert_eq!(
        answer.body,
        r#"{"jsonrpc":"2.0","id":1,"result":{"contents":[{"uri":"lib://rules","mimeType":"application/json","text":"{\"silence\":true}"}],"resultType":"complete","ttlMs":3600000,"cacheScope":"public"}}"#
    );
}

#[tokio::test]
async fn a_resource_query_becomes_typed_arguments() {
    let test = TestDesk::stocked();
    test.store.put(
        "north",
        &crate::support::library::BOOK,
        crate::support::tools::book("b4", "1984", "novel", 1, 1, 9),
    );
    let items = |items: &str| format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"items":[{items}]}}}}"#);
    assert_eq!(
        test.open(READER, "lib://north/books?title=1984").await,
        items(r#"{"id":"b4","title":"1984","genre":"novel","copies":1}"#)
    );
    assert_eq!(
        test.open(READER, "lib://north/books?genre=poetry&limit=5").await,
        items(r#"{"id":"b3","title":"Odes","genre":"poetry","copies":0}"#)
    );
    assert_eq!(
        test.open(READER, "lib://north/books?limit=007").await,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"The argument at /limit is not valid: an integer is expected.","data":{"fault":"invalid_argument","at":"resource lib://north/books?limit=007","problems":["/limit type: an integer is expected"]}}}"#
    );
}

#[tokio::test]
async fn a_hostile_address_is_nothing_that_exists() {
    let test = TestDesk::stocked();
    for address in [
        "lib://north/book/../book/b2",
        "lib://north/book/..",
        "lib://north/book/%2e%2e",
        "lib://north/book/b%32",
        "lib://north//book/b2",
        "lib://north/book//b2",
        "lib://north/book/",
        "lib://north/book/b2/",
        "lib://north/book",
        "lib:///book/b2",
        "lib:/north/book/b2",
        "LIB://north/book/b2",
        "lib://NORTH/Book/b2",
        "lib://north/BOOK/b2",
        "lib://north/book/b2#x",
        "lib://north/book/b2?",
        "lib://north/book/b2?genre=novel",
        "lib://north/book/b2 ",
        " lib://north/book/b2",
        "lib://north/book/b\u{fe00}2",
        "lib://north/books?genre",
        "lib://north/books?genre=",
        "lib://north/books?genre=novel&genre=novel",
        "lib://north/books?branch=south",
        "lib://north/books?cursor=x",
        "lib://{branch}/book/b2",
        "lib://rules/",
        "",
    ] {
        assert_eq!(test.open(READER, address).await, not_found(address));
    }
}

#[tokio::test]
async fn unknown_templates_and_unknown_ids_answer_alike() {
    let test = TestDesk::stocked();
    let (nobody, nowhere) = ("lib://north/book/b9", "lib://north/bookend/b9");
    let (one, other) = (test.open(READER, nobody).await, test.open(READER, nowhere).await);
    assert_eq!(one, not_found(nobody));
    assert_eq!(other.replace(nowhere, nobody), one);
}

#[tokio::test]
async fn another_branchs_id_is_answered_like_one_that_does_not_exist() {
    let test = TestDesk::stocked();
    assert_eq!(test.open(READER, "lib://north/book/s1").await, not_found("lib://north/book/s1"));
    assert_eq!(test.open(READER, "lib://north/book/zz").await, not_found("lib://north/book/zz"));
}

#[tokio::test]
async fn resources_of_another_branch_are_forbidden() {
    let test = TestDesk::stocked();
    for address in ["lib://south/book/s1", "lib://south/book/zz", "lib://west/book/zz"] {
        assert_eq!(
            test.open(KEEPER, address).await,
            format!(
                r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":-1,"message":"This token does not belong to the tenant that was named.","data":{{"fault":"cross_tenant_denied","at":"resource {address}"}}}}}}"#
            )
        );
    }
}

#[tokio::test]
async fn templates_are_listed_for_what_the_scopes_can_read() {
    let test = TestDesk::new();
    let templates = async |who| {
        let answer = test.ask(who, "resources/templates/list", "{}").await;
        let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
        let found = answer["result"]["resourceTemplates"].as_array().unwrap().clone();
        found.iter().map(|one| one["uriTemplate"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let books = ["lib://{branch}/books{?genre,title,limit}", "lib://{branch}/book/{id}"];
    assert_eq!(templates(READER).await, books);
    assert_eq!(templates(CLERK).await, [books[0], books[1], "lib://{branch}/member/{id}"]);
}

#[tokio::test]
async fn an_address_must_be_a_string() {
    let test = TestDesk::new();
    assert_eq!(
        test.ask(READER, "resources/read", r#"{"uri":7}"#).await,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"The argument at /uri is not valid: the resource's URI is required, as a string.","data":{"fault":"invalid_argument","at":"method","problems":["/uri required: the resource's URI is required, as a string"]}}}"#
    );
}
