//! `[mount.manifest]`: what can be said, what is shown, and every refusal in the words an operator reads.

use frontdesk::config::show;
use frontdesk_contracts::partner::ManifestSettings;

use crate::partners::{AUTH, MOUNT, given, partner};

fn with_manifest(manifest: &str) -> String {
    format!("{MOUNT}intents = [\"travel.book_hotel\"]\n{}{AUTH}[mount.manifest]\n{manifest}", partner(&[]))
}

#[test]
fn a_manifest_is_read_and_what_is_shown_can_be_read() {
    let text = "legal_name = \"Acme Ltd\"\ntier = \"tier2\"\ngstin = \"29ZZZCD0000Z1ZJ\"\n\
        licences = { fssai = \"10012345678901\" }\nprivacy_policy_url = \"https://acme.example/privacy\"\n\
        min_price_inr = 0\nmax_price_inr = 900\navailability = \"24x7\"\ndescription = \"Rooms.\"\n";
    let loaded = given(&with_manifest(text)).unwrap();
    let settings = &loaded.config.mounts.first().unwrap().partner.as_ref().unwrap().settings;
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(
        settings.manifest,
        ManifestSettings {
            legal_name: some("Acme Ltd"),
            tier: some("tier2"),
            gstin: some("29ZZZCD0000Z1ZJ"),
            licences: vec![("fssai".to_owned(), "10012345678901".to_owned())],
            privacy_policy_url: some("https://acme.example/privacy"),
            min_price_inr: Some(0),
            max_price_inr: Some(900),
            availability: some("24x7"),
            description: some("Rooms."),
        }
    );
    assert_eq!(given(&show(&loaded.settings)).unwrap().config.mounts, loaded.config.mounts);
}

#[test]
fn every_mistake_of_a_manifest_is_said_at_its_key() {
    assert_eq!(
        given(&with_manifest("legal = \"Acme\"\nmin_price_inr = -1\nlicences = { fssai = 7 }\n")).unwrap_err(),
        [
            "mount[0].manifest.legal: this key does not exist. Did you mean `legal_name`?",
            "mount[0].manifest.licences.fssai: it is an integer instead of text. Write it in quotes",
            "mount[0].manifest.min_price_inr: -1 is too small. Use a number from 0 to 4294967295",
        ]
    );
    let fix = "Correct it under [mount.manifest]";
    assert_eq!(
        given(&with_manifest("tier = \"gold\"\ngstin = \"29ZZZCD0000Z1Z\"\navailability = \"always\"\n")).unwrap_err(),
        [
            format!("mount[0].manifest.tier: one of these is expected: tier1, tier2. {fix}"),
            format!("mount[0].manifest.gstin: a GSTIN has 15 characters, not 14. {fix}"),
            format!(
                "mount[0].manifest.availability: 24x7 or hours are expected, such as 09:00-21:00 or Mon-Fri \
                 09:00-18:00, Sat 10:00-14:00. {fix}"
            ),
        ]
    );
}
