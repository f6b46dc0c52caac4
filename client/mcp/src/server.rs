//! [`Server`]: implements `rmcp`'s server trait by calling the module for each request.

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, CustomRequest,
    CustomResult, ErrorCode, GetPromptRequestParams, GetPromptResponse, GetSkillRequestParams,
    GetSkillResult, Implementation, InitializeRequestParams, InitializeResult, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListSkillsResult, ListToolsResult,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities,
    ServerConfig, SubscriptionFilter,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use skills_client::ClientError;
use skills_protocol::error::shortened;

use crate::consent::User;
use crate::context::{McpContext, error_text, refusal};
use crate::{changes, complete, extension, prompts, resources, roots, tools};

const NAME: &str = "skillsd";

pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Instructions that a client may pass on to its model.
const INSTRUCTIONS: &str = "Skills are instructions for kinds of tasks, kept as files on this machine. Before you begin a task that matches the description of a skill, load it with the tool `skill` and follow it; `read_skill_file` reads the files that it names. If no listed skill fits, use `search_skills`.";

pub(crate) struct Server {
    mcp: Arc<McpContext>,
}

impl Server {
    pub(crate) fn new(mcp: Arc<McpContext>) -> Self {
        Self { mcp }
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_resources()
            .enable_resources_list_changed()
            .enable_completions()
            .enable_skills()
            .build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new(NAME, VERSION).with_title("Agent skills"))
            .with_instructions(INSTRUCTIONS)
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        if request.capabilities.roots.is_some() {
            self.mcp.directory.await_roots();
        }
        context.peer.set_peer_info(request.clone());
        self.negotiate_initialize(&request)
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        tracing::info!("a client has initialized");
        roots::request(&self.mcp, &context.peer).await;
        tokio::spawn(changes::tell(context.peer, self.mcp.changes.subscribe()));
    }

    async fn on_roots_list_changed(&self, context: NotificationContext<RoleServer>) {
        roots::request(&self.mcp, &context.peer).await;
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let CustomRequest { method, params, .. } = request;
        // The library passes requests of known methods here if it cannot read their parameters.
        if let Some(why) = misfit(&method, params.unwrap_or_else(|| json!({}))) {
            let text = format!("the parameters of `{method}` cannot be read: {why}");
            return Err(ErrorData::invalid_params(text, None));
        }
        // The library's message is only the method name.
        let text = format!("unknown method `{method}`");
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, text, None))
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        require_first_page(request.as_ref())?;
        let listed = tools::list(&self.mcp).await;
        listed.map(ListToolsResult::with_all_items).map_err(|error| unavailable(&error))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let said = request.input_responses.as_ref();
        if let Some(question) = roots::question(&self.mcp, &context.meta, said) {
            return Ok(question.into());
        }
        let user = User::of(&context, said);
        tools::call(&self.mcp, request, user).await
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        require_first_page(request.as_ref())?;
        let listed = resources::list(&self.mcp).await;
        listed.map(ListResourcesResult::with_all_items).map_err(|error| unavailable(&error))
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        require_first_page(request.as_ref())?;
        Ok(ListResourceTemplatesResult::with_all_items(vec![resources::template()]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let said = request.input_responses.as_ref();
        if let Some(question) = roots::question(&self.mcp, &context.meta, said) {
            return Ok(question.into());
        }
        let user = User::of(&context, said);
        resources::read(&self.mcp, &request.uri, user).await
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        require_first_page(request.as_ref())?;
        let listed = prompts::list(&self.mcp).await;
        listed.map(ListPromptsResult::with_all_items).map_err(|error| unavailable(&error))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let said = request.input_responses.as_ref();
        if let Some(question) = roots::question(&self.mcp, &context.meta, said) {
            return Ok(question.into());
        }
        Ok(prompts::get(&self.mcp, request).await?.into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        complete::complete(&self.mcp, request).await
    }

    async fn list_skills(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListSkillsResult, ErrorData> {
        require_first_page(request.as_ref())?;
        let listed = extension::list(&self.mcp).await;
        listed.map(ListSkillsResult::with_all_items).map_err(|error| unavailable(&error))
    }

    async fn get_skill(
        &self,
        request: GetSkillRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetSkillResult, ErrorData> {
        extension::get(&self.mcp, &request.uri).await
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(changes::supported_filter(requested))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = self.mcp.changes.subscribe();
        // The client already knows that it is subscribed; earlier changes are not counted.
        changes.mark_changed();
        tokio::select! {
            error_text = changes::tell_listener(context.sink(), changes) => {
                if let Err(error) = error_text {
                    tracing::debug!(%error, "the client is gone");
                }
            }
            () = context.cancelled() => {}
        }
        Ok(())
    }
}

/// Refuses a cursor: each list is one page, so no result has a cursor.
fn require_first_page(request: Option<&PaginatedRequestParams>) -> Result<(), ErrorData> {
    match request.and_then(|it| it.cursor.as_ref()) {
        None => Ok(()),
        Some(cursor) => {
            let cursor = shortened(cursor);
            let text = format!("there is no page `{cursor}`: lists of this server have one page");
            Err(ErrorData::invalid_params(text, None))
        }
    }
}

/// Returns why the parameters of a known method cannot be read; none if the method is unknown.
fn misfit(method: &str, params: Value) -> Option<String> {
    fn read<P: DeserializeOwned>(params: Value) -> String {
        serde_json::from_value::<P>(params)
            .err()
            .map_or("another form is expected".into(), |it| it.to_string())
    }
    match method {
        "initialize" => Some(read::<InitializeRequestParams>(params)),
        "tools/call" => Some(read::<CallToolRequestParams>(params)),
        "prompts/get" => Some(read::<GetPromptRequestParams>(params)),
        "resources/read" => Some(read::<ReadResourceRequestParams>(params)),
        "completion/complete" => Some(read::<CompleteRequestParams>(params)),
        "skills/get" => Some(read::<GetSkillRequestParams>(params)),
        "tools/list"
        | "prompts/list"
        | "resources/list"
        | "resources/templates/list"
        | "skills/list" => Some(read::<PaginatedRequestParams>(params)),
        _ => None,
    }
}

fn unavailable(error: &ClientError) -> ErrorData {
    match refusal(error) {
        Some(_) => ErrorData::invalid_params(error_text(error), None),
        None => ErrorData::internal_error(error_text(error), None),
    }
}
