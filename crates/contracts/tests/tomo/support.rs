//! A desk with one partner's contract mounted, a store in memory and a clock that a test moves.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use frontdesk_contracts::automotive::resource::TENANT as DEALERSHIP;
use frontdesk_contracts::automotive::values::{Distance, Money};
use frontdesk_contracts::automotive::vehicle::{
    BodyStyle, Drivetrain, Equipment, FuelType, MediaType, Medium, Transmission, Vehicle, VehicleCondition,
    VehicleStatus, VinCheck,
};
use frontdesk_contracts::automotive::vocabulary::DistanceUnit;
use frontdesk_contracts::partner::{ErrorStatus, IntentText, PartnerSettings, PartnerSource};
use frontdesk_contracts::record::{Entity, Integer, List, Stored as _};
use frontdesk_contracts::tomo;
use frontdesk_contracts::tomo::follow_up::{TenantReader, follow_ups};
use frontdesk_contracts::tomo::lifecycle::OwnBookings;
use frontdesk_engine::desk::{Desk, DeskSettings, Keys, Mount};
use frontdesk_engine::import::ImportSession;
use frontdesk_engine::limits::inflight::Inflight;
use frontdesk_engine::limits::rate::{Budget, Rates};
use frontdesk_engine::model::incoming::{Credential, Incoming, Listening, RequestBody, Verb};
use frontdesk_engine::model::page::{Page, Query};
use frontdesk_engine::model::plan::Step;
use frontdesk_engine::model::table::{StoredRow, TableSpec};
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::model::tool::{Outcome, ToolCall};
use frontdesk_engine::model::trace::Trace;
use frontdesk_engine::ports::http_client::NoHttpClient;
use frontdesk_engine::ports::{Disclosure, Store};
use frontdesk_engine::seal::SealKey;
use frontdesk_engine::serve;
use frontdesk_engine::serve::own_call::{CallOrigin, OwnTool, call_tool};
use frontdesk_engine::{Caller, ClientId, Fault, Scope, Scopes, TenantId};
use frontdesk_testkit::{MemoryStore, ObservedCalls, TestClock, TestRandom, TokenIdentity};
use serde_json::{Value, json};

/// 2026-01-31T09:30:00Z, which is 15:00 in India.
pub(crate) const NOW: Millis = Millis(1_769_851_800_000);
pub(crate) const HOUR: i64 = 3_600_000;

pub(crate) const HOTEL: &str = "htl_monsoon";
pub(crate) const DEALER: &str = "dlr_bengaluru";

pub(crate) fn partner(intent: &str, source: PartnerSource) -> PartnerSettings {
    PartnerSettings {
        company: "Monsoon Mobility Demo".to_owned(),
        partner_id: "demo_partner".to_owned(),
        intents: vec![IntentText { name: intent.to_owned(), text: tomo::intent::built_in(intent).unwrap().to_owned() }],
        signals: [("time", 0.6), ("taste", 0.8), ("budget", 0.5), ("safety", 0.7)]
            .map(|(axis, rating)| (axis.to_owned(), rating))
            .to_vec(),
        service_area: ["Bengaluru", "Hyderabad", "Mumbai"].map(str::to_owned).to_vec(),
        pricing_band: "good".to_owned(),
        callback: "https://tomo.example/api/v1/cpc/mcp_provider/demo_partner".to_owned(),
        source,
        error_status: ErrorStatus::Ok,
        public_url: "https://desk.example/mcp/tomo".to_owned(),
        backend: None,
        keys: Default::default(),
        manifest: Default::default(),
    }
}

pub(crate) fn partner_of(intent: &str, source: PartnerSource, text: &str) -> PartnerSettings {
    let intents = vec![IntentText { name: "own.json".to_owned(), text: text.to_owned() }];
    PartnerSettings { intents, ..partner(intent, source) }
}

pub(crate) struct TestDesk {
    pub(crate) desk: Desk,
    pub(crate) mount: Mount,
    pub(crate) store: Arc<MemoryStore>,
    pub(crate) clock: Arc<TestClock>,
    pub(crate) runtime: tokio::runtime::Runtime,
    pub(crate) own: OwnBookings,
    pub(crate) tenant: &'static str,
}

impl TestDesk {
    /// The hotel business of the demo.
    pub(crate) fn hotels() -> TestDesk {
        let desk = TestDesk::new(partner("travel.book_hotel", PartnerSource::Own), HOTEL);
        let (steps, _) = tomo::listing::demo::rows(NOW, &mut |prefix| desk.desk.new_id(prefix));
        desk.store.seed(HOTEL, steps);
        desk
    }

    /// A dealership with five cars, of which two can be offered.
    pub(crate) fn cars() -> TestDesk {
        let desk = TestDesk::new(partner("marketplace.buy_used_car", PartnerSource::Dealership), DEALER);
        desk.store.seed(DEALER, stock_steps());
        desk
    }

    /// The same business with another file for its intent.
    pub(crate) fn hotels_of(text: &str) -> TestDesk {
        let TestDesk { mount, .. } = TestDesk::new(partner_of("travel.book_hotel", PartnerSource::Own, text), HOTEL);
        TestDesk { mount, ..TestDesk::hotels() }
    }

    pub(crate) fn cars_of(text: &str) -> TestDesk {
        let partner = partner_of("marketplace.buy_used_car", PartnerSource::Dealership, text);
        let TestDesk { mount, .. } = TestDesk::new(partner, DEALER);
        TestDesk { mount, ..TestDesk::cars() }
    }

    fn new(partner: PartnerSettings, tenant: &'static str) -> TestDesk {
        let store = Arc::new(MemoryStore::default());
        let clock = Arc::new(TestClock::at(NOW.0));
        TestDesk {
            desk: desk(store.clone(), &clock),
            mount: mount(&partner),
            own: own_bookings(&partner),
            store,
            clock,
            runtime: tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap(),
            tenant,
        }
    }

    /// Calls a tool with a live credential; returns the payload.
    pub(crate) fn call(&self, tool: &str, arguments: Value) -> Value {
        self.call_as("tomo:live", tool, arguments)
    }

    pub(crate) fn call_as(&self, scope: &str, tool: &str, arguments: Value) -> Value {
        let answer = self.answer(scope, tool, arguments);
        let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no payload: {answer}"));
        serde_json::from_str(text).unwrap()
    }

    /// Calls a tool that must fail; returns its code and the field.
    pub(crate) fn refused(&self, tool: &str, arguments: Value) -> (String, String) {
        self.refused_as("tomo:live", tool, arguments)
    }

    pub(crate) fn refused_as(&self, scope: &str, tool: &str, arguments: Value) -> (String, String) {
        let answer = self.answer(scope, tool, arguments);
        let data = &answer["error"]["data"];
        let text = |name: &str| data[name].as_str().unwrap_or_default().to_owned();
        assert!(data.is_object(), "{answer}");
        (text("tomo_error_code"), text("tomo_field"))
    }

    pub(crate) fn answer(&self, scope: &str, tool: &str, arguments: Value) -> Value {
        self.answer_of(self.tenant, scope, tool, arguments)
    }

    pub(crate) fn answer_of(&self, tenant: &str, scope: &str, tool: &str, arguments: Value) -> Value {
        let token = format!("{tenant}/{scope}");
        self.runtime.block_on(call(&self.desk, &self.mount, &token, tool, arguments))
    }

    /// Says what became of a booking, as one of the business's own systems does.
    pub(crate) fn advance(&self, arguments: Value) -> Result<Value, Fault> {
        self.advance_under(None, arguments)
    }

    pub(crate) fn advance_under(&self, key: Option<&str>, arguments: Value) -> Result<Value, Fault> {
        self.operator("advance_booking", key, arguments)
    }

    /// Calls a tool of the operator.
    pub(crate) fn operator(&self, tool: &'static str, key: Option<&str>, arguments: Value) -> Result<Value, Fault> {
        let caller = Caller {
            client: ClientId::new("demo_partner:notifications"),
            subject: "demo_partner:notifications".into(),
            tenants: vec![TenantId::parse(self.tenant).unwrap()],
            scopes: Scopes::new([Scope::new(tomo::MANAGE)]),
            authenticated_at: None,
        };
        let origin = CallOrigin {
            caller: Arc::new(caller),
            address: IpAddr::V4(Ipv4Addr::LOCALHOST),
            trace: Trace::new("trace"),
            import_id: None,
        };
        let Value::Object(arguments) = arguments else { panic!("{arguments}") };
        let key = key.map(str::to_owned);
        let called = call_tool(&self.desk, &self.mount, &origin, OwnTool::Operator(tool), arguments, key);
        match self.runtime.block_on(called)? {
            Outcome::One(item) => Ok(serde_json::from_str(&item.body).unwrap()),
            Outcome::Raw { answer, .. } => Ok(serde_json::from_str(&answer).unwrap()),
            Outcome::Many(_) => panic!("a list"),
        }
    }

    /// The calls that an event about this record leads to.
    pub(crate) fn follow_ups(&self, kind: &str, id: &str) -> Vec<Value> {
        let rows = StoreRows(self.store.as_ref(), TenantId::parse(self.tenant).unwrap());
        let calls = self.runtime.block_on(follow_ups(&rows, &self.own, (kind, id))).unwrap();
        let call =
            |ToolCall { tool, arguments, key }: ToolCall| json!({"tool": tool, "arguments": arguments, "key": key});
        calls.into_iter().map(call).collect()
    }

    /// The stored booking.
    pub(crate) fn booking(&self, booked: &Value) -> Value {
        let id = booked["booking_ref"].as_str().unwrap();
        let row = self.store.row(self.tenant, tomo::booking::Booking::table(), id).unwrap();
        serde_json::from_str(&row.body).unwrap()
    }

    /// What the vehicle's row says.
    pub(crate) fn vehicle(&self, id: &str) -> Value {
        let row = self.store.row(DEALER, Vehicle::table(), id).unwrap();
        serde_json::from_str(&row.body).unwrap()
    }

    /// Runs something with an import of this kind.
    pub(crate) fn import<T>(&self, name: &str, run: impl AsyncFnOnce(&ImportSession<'_>) -> T) -> T {
        let tenant = TenantId::parse(self.tenant).unwrap();
        let caller = Caller {
            client: ClientId::new("operator"),
            subject: "operator".into(),
            tenants: vec![tenant.clone()],
            scopes: Scopes::new(self.mount.contract.scopes.iter().cloned()),
            authenticated_at: None,
        };
        let session = ImportSession::new(&self.desk, &self.mount, name, Arc::new(caller), &tenant, "imp_test").unwrap();
        self.runtime.block_on(run(&session))
    }
}

/// What is read without personal data.
struct StoreRows<'a>(&'a MemoryStore, TenantId);

impl TenantReader for StoreRows<'_> {
    fn tenant(&self) -> &TenantId {
        &self.1
    }

    async fn get(&self, table: &'static TableSpec, id: &str) -> Result<Option<StoredRow>, Fault> {
        self.0.get(&self.1, table, id, Disclosure::Masked).await
    }

    async fn page(&self, query: Query) -> Result<Page, Fault> {
        Store::page(self.0, &self.1, query).await
    }
}

fn own_bookings(partner: &PartnerSettings) -> OwnBookings {
    let intents = partner.intents.iter().map(|file| Arc::new(tomo::intent::parse(&file.text).unwrap()));
    OwnBookings { partner_id: partner.partner_id.clone(), intents: intents.collect() }
}

pub(crate) fn mount(partner: &PartnerSettings) -> Mount {
    let contract = tomo::contract(partner).unwrap_or_else(|problems| panic!("{problems:?}"));
    Mount::new(
        contract,
        "https://desk.example/mcp/tomo/travel.book_hotel".to_owned(),
        "https://desk.example/.well-known/oauth-protected-resource/mcp/tomo/travel.book_hotel".to_owned(),
    )
}

pub(crate) fn desk(store: Arc<dyn Store>, clock: &Arc<TestClock>) -> Desk {
    Desk {
        store,
        identity: Arc::new(TokenIdentity),
        clock: clock.clone(),
        random: Arc::new(TestRandom::default()),
        observer: Arc::new(ObservedCalls::default()),
        keys: Keys { cursor: SealKey::from_bytes([1; 32]) },
        rates: Rates::default(),
        inflight: Inflight::default(),
        tally: Default::default(),
        tenant_locks: Default::default(),
        task_queue: Default::default(),
        import_queue: Default::default(),
        changes: Default::default(),
        http_client: Arc::new(NoHttpClient),
        settings: DeskSettings {
            page_bytes: 1 << 20,
            reply_bytes: 4 << 20,
            calls: Budget { per_minute: 6_000, burst: 6_000 },
            deadline: Duration::from_secs(60),
        },
    }
}

/// The token is `tenant/scope`. Returns the whole JSON-RPC answer.
pub(crate) async fn call(desk: &Desk, mount: &Mount, token: &str, tool: &str, arguments: Value) -> Value {
    send(desk, mount, token, tool, &arguments.to_string()).await
}

/// As `call`, with the arguments exactly as they are written.
pub(crate) async fn send(desk: &Desk, mount: &Mount, token: &str, tool: &str, arguments: &str) -> Value {
    let incoming = Incoming {
        verb: Verb::Post,
        credential: Credential::Bearer(token.to_owned()),
        protocol_version: None,
        method_header: None,
        route: None,
        name_header: None,
        idempotency_key: None,
        listening: Listening::No,
        import_id: None,
        transport_fault: None,
        body: RequestBody::from_bytes(format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#
        )),
        address: IpAddr::V4(Ipv4Addr::LOCALHOST),
        trace: Trace::new("trace"),
    };
    let reply = serve(desk, mount, incoming).await;
    serde_json::from_slice(&reply.body).unwrap()
}

/// A search of Bengaluru for two people and two nights.
pub(crate) fn search() -> Value {
    json!({
        "destination": {"city": "Bengaluru", "country_code": "IN"},
        "dates": {"check_in": "2027-03-10", "check_out": "2027-03-12"},
        "party": {"adults": 2, "rooms": 1},
    })
}

pub(crate) fn guest() -> Value {
    json!({"name": "Asha Rao", "phone": "+919812345678", "email": "asha.rao@example.com"})
}

/// The arguments that book the first room of the first listing.
pub(crate) fn booking(found: &Value, key: &str) -> Value {
    let listing = &found["listings"][0];
    json!({
        "idempotency_key": key, "result_token": found["result_token"], "listing_id": listing["listing_id"],
        "room_id": listing["room_options"][0]["room_id"], "guest": guest(),
    })
}

/// The cars of the dealership, as steps to commit.
pub(crate) fn stock_steps() -> Vec<Step> {
    let insert = |(id, vehicle): (&str, Vehicle)| {
        let entity = Entity::new(id.to_owned(), TenantId::parse(DEALER).unwrap(), NOW, vehicle);
        let row = entity.row(DEALERSHIP);
        Step::Insert { table: Vehicle::table(), row, on_duplicate: Fault::internal("twice") }
    };
    stock().map(insert).to_vec()
}

/// Two that can be offered; one without a picture, one in dollars, one that is new.
fn stock() -> [(&'static str, Vehicle); 5] {
    let swift = vehicle("5YJ3E1EA0KF100001", "B-1", "Maruti Suzuki", "Swift", 2019, 58_500_050);
    let creta = vehicle("5YJ3E1EA0KF100002", "B-2", "Hyundai", "Creta", 2021, 124_000_000);
    let no_picture =
        Vehicle { media: List::default(), ..vehicle("5YJ3E1EA0KF100003", "B-3", "Tata", "Nexon", 2020, 1) };
    let dollars =
        Vehicle { price: Money::new(900_000, "USD"), ..vehicle("5YJ3E1EA0KF100004", "B-4", "Honda", "City", 2018, 1) };
    let new = Vehicle {
        condition: VehicleCondition::New,
        ..vehicle("5YJ3E1EA0KF100005", "B-5", "Kia", "Seltos", 2026, 150_000_000)
    };
    [("veh_swift", swift), ("veh_creta", creta), ("veh_nexon", no_picture), ("veh_city", dollars), ("veh_seltos", new)]
}

fn vehicle(vin: &str, number: &str, make: &str, model: &str, year: i64, price_minor: i64) -> Vehicle {
    Vehicle {
        vin: vin.into(),
        vin_check: VinCheck::NotVerified,
        stock_number: number.into(),
        condition: VehicleCondition::Used,
        year: Integer::clamped(year),
        make: make.into(),
        model: model.into(),
        trim: Some("VXI".into()),
        body_style: BodyStyle::Hatchback,
        doors: Some(Integer::clamped(5)),
        mileage: Distance { value: Integer::clamped(41_200), unit: DistanceUnit::Km },
        exterior_color: Some("Red".into()),
        interior_color: Some("Grey".into()),
        engine: Some("1.2 petrol".into()),
        transmission: Transmission::AutomatedManual,
        drivetrain: Drivetrain::Fwd,
        fuel_type: FuelType::Gasoline,
        options: List(vec![Equipment { code: None, name: "Rear camera".into() }]),
        media: List(vec![Medium {
            url: format!("https://media.example.com/{number}.jpg").as_str().into(),
            r#type: MediaType::Image,
            alt: "The car".into(),
            order: Integer::clamped(0),
        }]),
        price: Money::new(price_minor, "INR"),
        price_history: List::default(),
        msrp: None,
        status: VehicleStatus::Available,
        held_by: None,
        in_stock_at: NOW,
        description: Some("One owner.".into()),
        sold_at: None,
    }
}
