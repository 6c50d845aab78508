//! ADF messages in the dialects that are sent, each with its literal arguments.

use frontdesk_contracts::automotive::adf::{self, AdfProspect, AdfSettings};
use frontdesk_contracts::automotive::vocabulary::ConsentChannel;
use serde_json::{Value, json};

fn read_with(message: impl AsRef<[u8]>, settings: &AdfSettings) -> Vec<AdfProspect> {
    adf::read(message.as_ref(), settings).unwrap_or_else(|error| panic!("{error}"))
}

fn read(message: impl AsRef<[u8]>) -> AdfProspect {
    read_with(message, &AdfSettings::default()).remove(0)
}

fn arguments(prospect: &AdfProspect) -> Value {
    Value::Object(prospect.arguments.clone())
}

/// The consent in a message whose customer has these elements.
fn consent(elements: &str) -> Value {
    let message =
        format!("<adf><prospect><customer><contact><name>D R</name></contact>{elements}</customer></prospect></adf>");
    read(message).arguments.remove("consent").unwrap_or(Value::Null)
}

#[test]
fn a_message_without_provider_and_declarations_is_read() {
    let prospect = read(
        "<adf><prospect><requestdate>2026-11-18</requestdate><vehicle><year>2022</year><make>Honda</make>\
         <model>Accord</model></vehicle><customer><contact><name part=\"full\">Dana Reyes</name>\
         <email>dana@example.com</email></contact></customer></prospect></adf>",
    );
    assert_eq!(
        arguments(&prospect),
        json!({
            "contact": {"name": "Dana Reyes", "email": "dana@example.com"},
            "interest": "buy",
            "vehicle_of_interest": {"make": "Honda", "model": "Accord", "year": 2022},
            "source": {"channel": "unknown"},
            "comments": "requestdate: 2026-11-18",
        })
    );
    assert_eq!(prospect.unmapped, ["requestdate"]);
    assert_eq!((prospect.number, prospect.cut.len()), (1, 0));
}

#[test]
fn the_primary_contact_wins_and_the_others_are_kept() {
    let prospect = read(
        "<adf><prospect><customer>\
         <contact><name part=\"first\">Sam</name><name part=\"last\">Poe</name><email>sam@example.com</email></contact>\
         <contact primarycontact=\"1\"><name part=\"first\">Dana</name><name part=\"middle\">M.</name>\
         <name part=\"last\">Reyes</name><email>dana@example.com</email><email>second@example.com</email></contact>\
         </customer></prospect></adf>",
    );
    assert_eq!(
        arguments(&prospect),
        json!({
            "contact": {"name": "Dana M. Reyes", "email": "dana@example.com"},
            "interest": "unknown",
            "source": {"channel": "unknown"},
            "comments": "customer/contact/name/@part: first\ncustomer/contact/name: Sam\n\
                customer/contact/name[2]/@part: last\ncustomer/contact/name[2]: Poe\n\
                customer/contact/email: sam@example.com\ncustomer/contact[2]/email[2]: second@example.com",
        })
    );
}

#[test]
fn a_trade_in_has_its_field_and_is_never_the_vehicle_of_interest() {
    let prospect = read(
        "<adf><prospect><vehicle interest=\"trade-in\"><year>2016</year><make>Subaru</make><model>Outback</model>\
         <vin>4S4BSANC7G3100001</vin><odometer status=\"original\" units=\"miles\">88,000</odometer>\
         <condition>Good</condition><colorcombination><exteriorcolor>Green</exteriorcolor></colorcombination></vehicle>\
         <vehicle interest=\"lease\"><year>next</year><make>Kia</make><model>EV6</model><vin>KNDC3DLC1N5000001</vin>\
         <stock>K-7</stock><trim>Wind</trim></vehicle><vehicle><make>Kia</make><model>Niro</model></vehicle>\
         </prospect></adf>",
    );
    assert_eq!(
        arguments(&prospect),
        json!({
            "interest": "lease",
            "trade_in": {
                "make": "Subaru", "model": "Outback", "year": 2016, "vin": "4S4BSANC7G3100001",
                "mileage": {"value": 88_000, "unit": "mi"}, "condition": "good",
            },
            "vehicle_of_interest": {"make": "Kia", "model": "EV6"},
            "x_frontdesk_vin": "KNDC3DLC1N5000001",
            "x_frontdesk_stock_number": "K-7",
            "source": {"channel": "unknown"},
            "comments": "vehicle/odometer/@status: original\nvehicle/colorcombination/exteriorcolor: Green\n\
                vehicle[2]/year: next\nvehicle[2]/trim: Wind\nvehicle[3]/make: Kia\nvehicle[3]/model: Niro",
        })
    );
    let sell =
        read("<adf><prospect><vehicle interest='sell'><make>Kia</make><model>Rio</model></vehicle></prospect></adf>");
    assert_eq!((&sell.arguments["interest"], sell.arguments.get("vehicle_of_interest")), (&json!("sell"), None));
    assert_eq!(sell.arguments.get("trade_in"), None);
}

/// The trade-in of a message, and the paths that are kept in the comments.
fn trade_in(elements: &str) -> (Value, Vec<String>) {
    let message = format!("<adf><prospect><vehicle interest=\"trade-in\">{elements}</vehicle></prospect></adf>");
    let mut prospect = read(message);
    (prospect.arguments.remove("trade_in").unwrap_or(Value::Null), prospect.unmapped)
}

#[test]
fn what_a_trade_in_cannot_hold_is_kept_in_the_comments() {
    let kept = |names: &[&str]| names.iter().map(|name| format!("vehicle/{name}")).collect::<Vec<_>>();
    assert_eq!(trade_in("<vin>ABC</vin>"), (Value::Null, kept(&["@interest", "vin"])));
    assert_eq!(
        trade_in("<make>Kia</make><year>95</year><odometer>88000</odometer><condition>ok</condition>"),
        (json!({"make": "Kia"}), kept(&["year", "odometer", "condition"]))
    );
    assert_eq!(
        trade_in("<make>Kia</make><odometer units=\"km\">many</odometer>"),
        (json!({"make": "Kia"}), kept(&["odometer/@units", "odometer"]))
    );
}

#[test]
fn comments_may_have_cdata_entities_and_html() {
    let comments = |inside: &str| {
        let message = format!("<adf><prospect><customer><comments>{inside}</comments></customer></prospect></adf>");
        read(message).arguments["comments"].clone()
    };
    assert_eq!(comments("<![CDATA[Is <b>this</b> & that ok?]]>"), "Is <b>this</b> & that ok?");
    assert_eq!(comments("Caf&eacute;&nbsp;&#8211; 5 &lt; 6 &amp; &unknown; R&D"), "Café\u{a0}– 5 < 6 & &unknown; R&D");
    assert_eq!(comments("  One<br/>two <b>bold</b>\n   three  "), "One\ntwo bold\nthree");
}

#[test]
fn other_encodings_are_read_as_the_message_declares_them() {
    let name = |message: &[u8]| read(message).arguments["contact"]["name"].clone();
    let body = |declaration: &str| {
        format!(
            "{declaration}<adf><prospect><customer><contact><name>Ren\u{e9}</name></contact></customer></prospect></adf>"
        )
    };
    let latin =
        |text: String| -> Vec<u8> { text.chars().map(|letter| u8::try_from(u32::from(letter)).unwrap()).collect() };
    assert_eq!(name(&latin(body("<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>"))), "René");
    assert_eq!(name(&latin(body("<?XML VERSION='1.0' ENCODING='windows-1252'?>"))), "René");
    // It says UTF-8 and is not.
    assert_eq!(name(&latin(body("<?xml version=\"1.0\" encoding=\"UTF-8\"?>"))), "René");
    assert_eq!(name(body("\u{feff}<?xml version=\"1.0\"?>").as_bytes()), "René");
    let utf16: Vec<u8> = body("\u{feff}").encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(name(&utf16), "René");
}

#[test]
fn names_in_capitals_text_around_and_bare_attributes_are_read() {
    let prospect = read(
        "New lead for you & your team:\n\n<?ADF VERSION \"1.0\"?>\n<?XML VERSION \"1.0\"?>\n<ADF><PROSPECT STATUS=new>\
         <ID SEQUENCE=1 SOURCE=\"Web\">A-7</Id><CUSTOMER><CONTACT PRIMARYCONTACT=1><NAME PART=full>\n Dana\n Reyes </NAME>\
         </CONTACT></CUSTOMER></PROSPECT>\
         <PROVIDER><NAME>Chance & Sons</NAME></PROVIDER></ADF>\n\n-- \nSent by a robot <robot@example.com>",
    );
    assert_eq!(
        arguments(&prospect),
        json!({
            "contact": {"name": "Dana Reyes"},
            "interest": "unknown",
            "source": {"channel": "third_party", "provider": "Chance & Sons", "external_id": "A-7"},
            "comments": "id/@source: Web",
        })
    );
}

#[test]
fn a_phone_number_is_taken_only_if_its_country_is_clear() {
    let of = |phone: &str, address: &str, code: Option<&str>| {
        let message = format!(
            "<adf><prospect><customer><contact><name>D R</name><phone>{phone}</phone>{address}</contact></customer></prospect></adf>"
        );
        let settings = AdfSettings { calling_code: code.map(str::to_owned), ..AdfSettings::default() };
        let prospect = read_with(message, &settings).remove(0);
        (prospect.arguments["contact"].get("phone").cloned(), prospect.unmapped)
    };
    let us = "<address><country>US</country></address>";
    let taken = |number: &str| Some(json!(number));
    assert_eq!(of("+1 (512) 555-0123", "", None).0, taken("+15125550123"));
    assert_eq!(of("512-555-0123", us, None).0, taken("+15125550123"));
    assert_eq!(of("512.555.0123", "", Some("1")).0, taken("+15125550123"));
    assert_eq!(of("1-512-555-0123", "", Some("1")).0, taken("+15125550123"));
    assert_eq!(of("0171 1234567", "", Some("49")).0, taken("+491711234567"));
    assert_eq!(of("+49 (0)171 1234567", "", None).0, taken("+491711234567"));
    let kept = vec!["customer/contact/phone".to_owned()];
    assert_eq!(of("512-555-0123", "", None), (None, kept.clone()));
    assert_eq!(of("555-0123", "", Some("1")), (None, kept.clone()));
    assert_eq!(of("512-555-0123 ext. 4", "", Some("1")), (None, kept.clone()));
    assert_eq!(of("06 12345678", "", Some("39")), (None, kept));
}

#[test]
fn consent_is_what_the_message_says() {
    let granted = |channels: &[&str]| json!({"granted": true, "channels": channels});
    let refused = json!({"granted": false, "channels": []});
    for (elements, expected) in [
        ("", Value::Null),
        ("<comments>I agree to everything</comments>", Value::Null),
        ("<optin channel=\"email\">yes</optin><optin channel=\"sms\">no</optin>", granted(&["email"])),
        ("<EmailOptIn>true</EmailOptIn><sms_opt_in>1</sms_opt_in>", granted(&["email", "sms"])),
        ("<consent type=\"phone\" granted=\"true\"/>", granted(&["voice_call"])),
        ("<consent><email>yes</email><text>yes</text><mail>no</mail></consent>", granted(&["email", "sms"])),
        ("<tcpaconsent>Y</tcpaconsent>", granted(&["sms", "autodialed_call"])),
        ("<optin>no</optin>", refused.clone()),
        ("<optin channel=\"email\">yes</optin><donotcontact>true</donotcontact>", refused.clone()),
        ("<emailoptin>no</emailoptin>", refused.clone()),
        ("<emailoptin>yes</emailoptin><emailoptout>yes</emailoptout>", refused.clone()),
        // Who has not refused has not agreed, either.
        ("<emailoptout>no</emailoptout>", Value::Null),
        ("<optin>perhaps</optin>", Value::Null),
        // Agreed, but to no channel that the message names.
        ("<optin>yes</optin>", granted(&[])),
    ] {
        assert_eq!(consent(elements), expected, "{elements}");
    }
    assert_eq!(
        consent(
            "<consent channel=\"email\" date=\"2026-11-18T09:00:00Z\">yes</consent><consenttext>You may write to me.</consenttext>"
        ),
        json!({
            "granted": true, "channels": ["email"], "granted_at": "2026-11-18T09:00:00Z", "text": "You may write to me.",
        })
    );
}

#[test]
fn consent_may_be_an_attribute_of_what_it_is_about() {
    let prospect = read(
        "<adf><prospect><customer><contact><name>D R</name><email optin=\"yes\">d@example.com</email>\
         <phone smsoptin=\"1\" optin=\"0\">+15125550123</phone></contact></customer></prospect></adf>",
    );
    assert_eq!(
        arguments(&prospect),
        json!({
            "contact": {"name": "D R", "email": "d@example.com", "phone": "+15125550123"},
            "interest": "unknown",
            "source": {"channel": "unknown"},
            "consent": {"granted": true, "channels": ["email", "sms"]},
        })
    );
}

#[test]
fn the_operators_statement_never_outweighs_the_message() {
    let stated = AdfSettings {
        stated_consent: Some(vec![ConsentChannel::Email, ConsentChannel::Sms]),
        ..AdfSettings::default()
    };
    let of = |elements: &str| {
        let message = format!("<adf><prospect><customer>{elements}</customer></prospect></adf>");
        read_with(message, &stated).remove(0).arguments["consent"].clone()
    };
    assert_eq!(of(""), json!({"granted": true, "channels": ["email", "sms"]}));
    assert_eq!(of("<optin>yes</optin>"), json!({"granted": true, "channels": ["email", "sms"]}));
    assert_eq!(of("<optin>yes</optin><smsoptin>no</smsoptin>"), json!({"granted": true, "channels": ["email"]}));
    assert_eq!(of("<optin>no</optin>"), json!({"granted": false, "channels": []}));
    assert_eq!(of("<smsoptin>no</smsoptin>"), json!({"granted": false, "channels": []}));
    assert_eq!(of("<emailoptin>yes</emailoptin>"), json!({"granted": true, "channels": ["email"]}));
}

#[test]
fn a_repetition_has_the_same_key_and_another_prospect_has_not() {
    let of = |prospect: &str| read(format!("<adf>{prospect}</adf>")).key;
    let first = of("<prospect><id source=\"Web\">7</id><customer><comments>a</comments></customer></prospect>");
    assert_eq!(first, "adf-0b8fa7cf30ef26c1f963d6ca7e0263fb");
    assert_eq!(
        first,
        of("<prospect status=\"resend\"><id source=\"Web\">7</id><requestdate>later</requestdate></prospect>")
    );
    assert_ne!(first, of("<prospect><id source=\"Other\">7</id></prospect>"));
    assert_ne!(first, of("<prospect><id source=\"Web\">7</id><provider><name>P</name></provider></prospect>"));
    let content = of("<prospect status=\"new\"><customer><comments>a</comments></customer></prospect>");
    assert_eq!(content, of("<Prospect status='resend'>\n <customer><comments> a </comments></customer></Prospect>"));
    assert_ne!(content, of("<prospect><customer><comments>b</comments></customer></prospect>"));
}

#[test]
fn what_does_not_fit_into_the_comments_is_named() {
    let long = "x".repeat(3_990);
    let prospect = read(format!(
        "<adf><prospect><requestdate>2026-11-18</requestdate><hint>a</hint><customer><comments>{long}</comments></customer></prospect></adf>"
    ));
    assert_eq!(prospect.arguments["comments"], format!("{long}\n\nhint: a"));
    assert_eq!(
        (prospect.unmapped, prospect.cut),
        (vec!["requestdate".to_owned(), "hint".to_owned()], vec!["requestdate".to_owned()])
    );
    let longer = read(format!("<adf><prospect><comments>{}</comments></prospect></adf>", "é".repeat(4_001)));
    assert_eq!(longer.arguments["comments"], format!("{}…", "é".repeat(3_999)));
    assert_eq!(longer.cut, ["comments"]);
}

#[test]
fn text_between_elements_is_kept() {
    let prospect = read("<adf>outside<prospect>inside<customer>within</customer></prospect></adf>");
    assert_eq!(prospect.arguments["comments"], "prospect: inside\ncustomer: within\nadf: outside");
    assert_eq!(prospect.unmapped, ["prospect", "customer", "adf"]);
}

#[test]
fn a_message_may_have_several_prospects() {
    let message = "<adf><prospect><comments>a</comments></prospect><prospect><comments>b</comments></prospect></adf>";
    let read = read_with(message, &AdfSettings::default());
    let shown: Vec<_> = read.iter().map(|prospect| (prospect.number, &prospect.arguments["comments"])).collect();
    assert_eq!(shown, [(1, &json!("a")), (2, &json!("b"))]);
}

#[test]
fn a_timeframe_is_a_word_or_kept() {
    let of = |text: &str| {
        let prospect = read(format!(
            "<adf><prospect><customer><timeframe><description>{text}</description></timeframe></customer></prospect></adf>"
        ));
        (prospect.arguments.get("timeframe").cloned(), prospect.unmapped)
    };
    assert_eq!(of("Within 1 month"), (Some(json!("within_month")), Vec::new()));
    assert_eq!(of("When it rains"), (None, vec!["customer/timeframe/description".to_owned()]));
}
