//! Rig's agents, whose spans of `tracing` are exported as those of OpenTelemetry.
use std::convert::Infallible;
use std::env::var;

use framework::Agent;
use framework::prelude::*;
use framework::providers::openai::{OpenAIConfig, Route};
use futures::StreamExt;
use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::SpanExporter;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing::Instrument;
use tracing_subscriber::prelude::*;

struct Weather;

impl Tool for Weather {
    const NAME: &'static str = "get_weather";
    type Args = serde_json::Value;
    type Output = String;
    type Error = Infallible;

    fn description(&self) -> String {
        "The weather of a city.".into()
    }

    fn parameters(&self) -> serde_json::Value {
        serde_json::json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]})
    }

    async fn call(
        &self,
        _context: &mut ToolContext,
        _arguments: Self::Args,
    ) -> Result<String, Infallible> {
        Ok("It is sunny in Paris.".into())
    }
}

/// An agent for each question.
fn agent() -> Agent {
    let mut config = OpenAIConfig::new("none");
    config.base_url = format!("{}/v1", var("PROVIDER_URL").unwrap());
    let is_responses = var("API").is_ok_and(|api| api == "responses");
    let client = config
        .with_route(if is_responses {
            Route::Responses
        } else {
            Route::Chat
        })
        .client();
    AgentBuilder::new(client.completion("gpt-5"))
        .name("forecaster")
        .preamble("Be brief.")
        .record_content_telemetry(true)
        .default_max_turns(3)
        .tool(Weather)
        .build()
}

async fn run() -> bool {
    let plain = agent().prompt("What is plain?").await.is_ok();
    let tool = agent().prompt("What is the weather in Paris?").await;
    let mut stream = agent().prompt("Please stream.").stream();
    let mut streamed = true;
    while let Some(item) = stream.next().await {
        streamed &= item.is_ok();
    }
    let failed = agent().prompt("Please fail.").await.is_err();
    println!("{plain} {tool:?} {streamed} {failed}");
    plain && tool.is_ok() && streamed && failed
}

fn main() {
    let provider = SdkTracerProvider::builder()
        .with_batch_exporter(SpanExporter::builder().with_http().build().unwrap())
        .build();
    let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("rig"));
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
