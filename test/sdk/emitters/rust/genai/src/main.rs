//! genai, whose spans of `tracing` are exported as those of OpenTelemetry, in the protocol that `API` names.
use std::env::var;
use std::error::Error;

use client::adapter::AdapterKind;
use client::chat::{ChatOptions, ChatRequest, Tool, ToolResponse};
use client::resolver::{AuthData, Endpoint, ServiceTargetResolver};
use client::{Client, ModelIden, ServiceTarget};
use futures::StreamExt;
use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::SpanExporter;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing::Instrument;
use tracing_subscriber::prelude::*;

fn target() -> (AdapterKind, &'static str, &'static str) {
    match var("API").unwrap_or_default().as_str() {
        "responses" => (AdapterKind::OpenAIResp, "gpt-5", "/v1/"),
        "anthropic" => (AdapterKind::Anthropic, "claude-sonnet-4-5", "/v1/"),
        "gemini" => (AdapterKind::Gemini, "gemini-2.5-pro", "/v1beta/"),
        _ => (AdapterKind::OpenAI, "gpt-5", "/v1/"),
    }
}

fn open() -> Client {
    let resolver = ServiceTargetResolver::from_resolver_fn(
        |asked: ServiceTarget| -> Result<ServiceTarget, client::resolver::Error> {
            let (kind, _, path) = target();
            let address = format!("{}{path}", var("PROVIDER_URL").unwrap());
            let model = ModelIden::new(kind, asked.model.model_name);
            let auth = AuthData::from_single("none");
            Ok(ServiceTarget { endpoint: Endpoint::from_owned(address), auth, model })
        },
    );
    Client::builder().with_service_target_resolver(resolver).build().unwrap()
}

async fn ask_tool(client: &Client, model: &str) -> Result<(), Box<dyn Error>> {
    let schema = serde_json::json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    let asked = ChatRequest::from_user("What is the weather in Paris?")
        .with_tools(vec![Tool::new("get_weather").with_schema(schema)]);
    let calls = client.exec_chat(model, asked.clone(), None).await?.into_tool_calls();
    let result = ToolResponse::new(&calls[0].call_id, "It is sunny in Paris.");
    let again = asked.append_message(calls).append_message(result);
    client.exec_chat(model, again, None).await?;
    Ok(())
}

async fn ask_stream(client: &Client, model: &str) -> Result<(), Box<dyn Error>> {
    // What is not captured is in no span, either.
    let options = ChatOptions::default().with_capture_usage(true).with_capture_content(true);
    let asked = ChatRequest::from_user("Please stream.");
    let mut events = client.exec_chat_stream(model, asked, Some(&options)).await?.stream;
    while let Some(event) = events.next().await {
        event?;
    }
    Ok(())
}

async fn run() -> bool {
    let (kind, model, _) = target();
    let client = open();
    let plain = client.exec_chat(model, ChatRequest::from_user("What is plain?"), None).await;
    let tool = ask_tool(&client, model).await;
    let streamed = ask_stream(&client, model).await;
    let failed = client.exec_chat(model, ChatRequest::from_user("Please fail."), None).await;
    let mut is_whole = plain.is_ok() && tool.is_ok() && streamed.is_ok() && failed.is_err();
    if kind == AdapterKind::OpenAI {
        is_whole &= client.embed("text-embedding-3-small", "Please embed.", None).await.is_ok();
    }
    println!("{plain:?} {tool:?} {streamed:?} {failed:?}");
    is_whole
}

fn main() {
    let provider = SdkTracerProvider::builder()
        .with_batch_exporter(SpanExporter::builder().with_http().build().unwrap())
        .build();
    let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("genai"));
    tracing_subscriber::registry()
        .with(tracing_subscriber::filter::LevelFilter::INFO)
        .with(layer)
        .init();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let is_whole = runtime.block_on(run().instrument(tracing::info_span!("program")));
    drop(runtime);
    provider.shutdown().unwrap();
    std::process::exit(if is_whole { 0 } else { 1 });
}
