//! The methods of MCP. Any other method is text of its sender: `Method` never carries it, and only `MethodName` keeps it,
//! for the places that compare or store what was sent.

use serde::{Deserialize, Serialize};

/// A method of MCP. It is safe to log, to count and to answer with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    CompletionComplete,
    Initialize,
    LoggingSetLevel,
    NotificationsCancelled,
    NotificationsInitialized,
    NotificationsProgress,
    NotificationsRootsListChanged,
    Ping,
    PromptsGet,
    PromptsList,
    ResourcesList,
    ResourcesRead,
    ResourcesSubscribe,
    ResourcesTemplatesList,
    ResourcesUnsubscribe,
    ServerDiscover,
    SubscriptionsListen,
    TasksCancel,
    TasksGet,
    TasksList,
    ToolsCall,
    ToolsList,
    /// No method of MCP.
    Unknown,
}

impl Method {
    /// Every method of MCP, without `Unknown`.
    pub const KNOWN: [Method; 22] = [
        Method::CompletionComplete,
        Method::Initialize,
        Method::LoggingSetLevel,
        Method::NotificationsCancelled,
        Method::NotificationsInitialized,
        Method::NotificationsProgress,
        Method::NotificationsRootsListChanged,
        Method::Ping,
        Method::PromptsGet,
        Method::PromptsList,
        Method::ResourcesList,
        Method::ResourcesRead,
        Method::ResourcesSubscribe,
        Method::ResourcesTemplatesList,
        Method::ResourcesUnsubscribe,
        Method::ServerDiscover,
        Method::SubscriptionsListen,
        Method::TasksCancel,
        Method::TasksGet,
        Method::TasksList,
        Method::ToolsCall,
        Method::ToolsList,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Method::CompletionComplete => "completion/complete",
            Method::Initialize => "initialize",
            Method::LoggingSetLevel => "logging/setLevel",
            Method::NotificationsCancelled => "notifications/cancelled",
            Method::NotificationsInitialized => "notifications/initialized",
            Method::NotificationsProgress => "notifications/progress",
            Method::NotificationsRootsListChanged => "notifications/roots/list_changed",
            Method::Ping => "ping",
            Method::PromptsGet => "prompts/get",
            Method::PromptsList => "prompts/list",
            Method::ResourcesList => "resources/list",
            Method::ResourcesRead => "resources/read",
            Method::ResourcesSubscribe => "resources/subscribe",
            Method::ResourcesTemplatesList => "resources/templates/list",
            Method::ResourcesUnsubscribe => "resources/unsubscribe",
            Method::ServerDiscover => "server/discover",
            Method::SubscriptionsListen => "subscriptions/listen",
            Method::TasksCancel => "tasks/cancel",
            Method::TasksGet => "tasks/get",
            Method::TasksList => "tasks/list",
            Method::ToolsCall => "tools/call",
            Method::ToolsList => "tools/list",
            Method::Unknown => "unknown",
        }
    }

    pub fn parse(name: &str) -> Method {
        match name {
            "completion/complete" => Method::CompletionComplete,
            "initialize" => Method::Initialize,
            "logging/setLevel" => Method::LoggingSetLevel,
            "notifications/cancelled" => Method::NotificationsCancelled,
            "notifications/initialized" => Method::NotificationsInitialized,
            "notifications/progress" => Method::NotificationsProgress,
            "notifications/roots/list_changed" => Method::NotificationsRootsListChanged,
            "ping" => Method::Ping,
            "prompts/get" => Method::PromptsGet,
            "prompts/list" => Method::PromptsList,
            "resources/list" => Method::ResourcesList,
            "resources/read" => Method::ResourcesRead,
            "resources/subscribe" => Method::ResourcesSubscribe,
            "resources/templates/list" => Method::ResourcesTemplatesList,
            "resources/unsubscribe" => Method::ResourcesUnsubscribe,
            "server/discover" => Method::ServerDiscover,
            "subscriptions/listen" => Method::SubscriptionsListen,
            "tasks/cancel" => Method::TasksCancel,
            "tasks/get" => Method::TasksGet,
            "tasks/list" => Method::TasksList,
            "tools/call" => Method::ToolsCall,
            "tools/list" => Method::ToolsList,
            _ => Method::Unknown,
        }
    }

    /// The parameter that says what the method is applied to. A modern request repeats it in the header `Mcp-Name`.
    pub fn name_param(self) -> Option<&'static str> {
        match self {
            Method::ToolsCall | Method::PromptsGet => Some("name"),
            Method::ResourcesRead => Some("uri"),
            Method::CompletionComplete
            | Method::Initialize
            | Method::LoggingSetLevel
            | Method::NotificationsCancelled
            | Method::NotificationsInitialized
            | Method::NotificationsProgress
            | Method::NotificationsRootsListChanged
            | Method::Ping
            | Method::PromptsList
            | Method::ResourcesList
            | Method::ResourcesSubscribe
            | Method::ResourcesTemplatesList
            | Method::ResourcesUnsubscribe
            | Method::ServerDiscover
            | Method::SubscriptionsListen
            | Method::TasksCancel
            | Method::TasksGet
            | Method::TasksList
            | Method::ToolsList
            | Method::Unknown => None,
        }
    }
}

/// A method as a message names it. Stored and compared as the text that was sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct MethodName {
    method: Method,
    /// The text, if `method` is `Unknown`.
    other: Option<Box<str>>,
}

impl MethodName {
    pub fn method(&self) -> Method {
        self.method
    }

    /// What was sent. It can be any text, so it must not be logged or sent back.
    pub fn as_str(&self) -> &str {
        self.other.as_deref().unwrap_or(self.method.as_str())
    }
}

impl From<String> for MethodName {
    fn from(name: String) -> MethodName {
        let method = Method::parse(&name);
        MethodName { method, other: (method == Method::Unknown).then(|| name.into_boxed_str()) }
    }
}

impl From<Method> for MethodName {
    fn from(method: Method) -> MethodName {
        MethodName { method, other: None }
    }
}

impl From<MethodName> for String {
    fn from(name: MethodName) -> String {
        name.as_str().to_owned()
    }
}
