//! The fixtures of the official conformance suite (`@modelcontextprotocol/conformance`), beside our
//! tools. Only in builds with the feature `conformance`, for the test of the protocol. Names and
//! contents are those that the suite asks for.

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, GetPromptRequestParams,
    GetPromptResponse, GetPromptResult, JsonObject, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ProgressNotificationParam,
    Prompt, PromptArgument, PromptMessage, ReadResourceRequestParams, ReadResourceResponse,
    ReadResourceResult, Resource, ResourceContents, ResourceTemplate, Role, ServerCapabilities,
    ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::json;

use super::server::McpServer;

/// One transparent pixel.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
/// No samples.
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=";
const STATIC_TEXT: &str = "test://static-text";
const STATIC_BINARY: &str = "test://static-binary";
const PROGRESS_TOOL: &str = "test_tool_with_progress";

/// The name of a tool, and its result.
type FixtureTool = (&'static str, fn() -> CallToolResult);

static TOOLS: [FixtureTool; 7] = [
    ("test_simple_text", || {
        CallToolResult::success(vec![ContentBlock::text("This is a simple text response.")])
    }),
    ("test_image_content", || CallToolResult::success(vec![image()])),
    ("test_audio_content", || CallToolResult::success(vec![ContentBlock::audio(WAV, "audio/wav")])),
    ("test_embedded_resource", || {
        CallToolResult::success(vec![embedded("test://embedded-resource")])
    }),
    ("test_multiple_content_types", || {
        let text = ContentBlock::text("Multiple content types:");
        CallToolResult::success(vec![text, image(), embedded("test://mixed-content-resource")])
    }),
    ("test_error_handling", || {
        let text = "This tool intentionally returns an error for testing";
        CallToolResult::error(vec![ContentBlock::text(text)])
    }),
    (PROGRESS_TOOL, || CallToolResult::success(vec![ContentBlock::text("Done.")])),
];

fn image() -> ContentBlock {
    ContentBlock::image(PNG, "image/png")
}

fn embedded(uri: &str) -> ContentBlock {
    let text = ResourceContents::text("This is an embedded resource.", uri);
    ContentBlock::resource(text.with_mime_type("text/plain"))
}

/// Our server with the fixtures. Everything that is not a fixture passes through.
#[derive(Clone)]
pub(super) struct ConformanceServer(McpServer);

impl ConformanceServer {
    pub(super) fn new(server: McpServer) -> Self {
        Self(server)
    }
}

/// Sends the three notifications that the suite counts.
async fn report_progress(context: &RequestContext<RoleServer>) {
    let Some(token) = context.meta.get_progress_token() else { return };
    for done in [0.0, 50.0, 100.0] {
        let progress = ProgressNotificationParam::new(token.clone(), done).with_total(100.0);
        if let Err(error) = context.peer.notify_progress(progress).await {
            tracing::debug!("progress: {error}");
        }
    }
}

fn prompts() -> Vec<Prompt> {
    let argument = |name: &str| PromptArgument::new(name).with_required(true);
    let two = vec![argument("arg1"), argument("arg2")];
    let prompt = |name: &str, arguments| Prompt::new(name, Some("A fixture"), arguments);
    vec![
        prompt("test_simple_prompt", None),
        prompt("test_prompt_with_arguments", Some(two)),
        prompt("test_prompt_with_embedded_resource", Some(vec![argument("resourceUri")])),
        prompt("test_prompt_with_image", None),
    ]
}

fn messages(request: &GetPromptRequestParams) -> Option<Vec<PromptMessage>> {
    let argument = |name: &str| {
        let value = request.arguments.as_ref().and_then(|arguments| arguments.get(name));
        value.and_then(|value| value.as_str()).unwrap_or_default().to_owned()
    };
    let content = match request.name.as_str() {
        "test_simple_prompt" => ContentBlock::text("This is a simple prompt for testing."),
        "test_prompt_with_arguments" => {
            let (first, second) = (argument("arg1"), argument("arg2"));
            ContentBlock::text(format!("Prompt with arguments: arg1='{first}', arg2='{second}'"))
        }
        "test_prompt_with_embedded_resource" => embedded(&argument("resourceUri")),
        "test_prompt_with_image" => image(),
        _ => return None,
    };
    Some(vec![PromptMessage::new(Role::User, content)])
}

fn resource(uri: &str) -> Option<ResourceContents> {
    let id = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
    match (uri, id) {
        (STATIC_TEXT, _) => {
            Some(ResourceContents::text("The static text.", uri).with_mime_type("text/plain"))
        }
        (STATIC_BINARY, _) => Some(ResourceContents::blob(PNG, uri).with_mime_type("image/png")),
        (_, Some(id)) => {
            let text = json!({ "id": id, "data": format!("Data for {id}") }).to_string();
            Some(ResourceContents::text(text, uri).with_mime_type("application/json"))
        }
        _ => None,
    }
}

impl ServerHandler for ConformanceServer {
    fn get_info(&self) -> ServerConfig {
        let can = ServerCapabilities::builder().enable_prompts().enable_resources().enable_tools();
        let mut info = self.0.get_info();
        info.capabilities = can.build();
        info
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut listed = self.0.list_tools(request, context).await?;
        listed.tools.extend(TOOLS.iter().map(|(name, _)| {
            let schema = JsonObject::from_iter([("type".to_owned(), json!("object"))]);
            Tool::new(*name, "A fixture", schema)
        }));
        Ok(listed)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some((name, result)) = TOOLS.iter().find(|(name, _)| *name == request.name) else {
            return self.0.call_tool(request, context).await;
        };
        if *name == PROGRESS_TOOL {
            report_progress(&context).await;
        }
        Ok(result().into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let mut listed = self.0.list_resources(request, context).await?;
        listed.resources.push(Resource::new(STATIC_TEXT, "static-text"));
        listed.resources.push(Resource::new(STATIC_BINARY, "static-binary"));
        Ok(listed)
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let mut listed = self.0.list_resource_templates(request, context).await?;
        let template = ResourceTemplate::new("test://template/{id}/data", "template");
        listed.resource_templates.push(template);
        Ok(listed)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        match resource(&request.uri) {
            Some(contents) => Ok(ReadResourceResult::new(vec![contents]).into()),
            None => self.0.read_resource(request, context).await,
        }
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(prompts()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let messages = messages(&request);
        let unknown = || ErrorData::invalid_params("prompt: not a fixture", None);
        Ok(GetPromptResult::new(messages.ok_or_else(unknown)?).into())
    }
}
