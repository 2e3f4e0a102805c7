//! genai, which speaks each of the protocols.
use cells::*;
use futures::StreamExt;
use genai::adapter::AdapterKind;
use genai::chat::{
    ChatOptions, ChatRequest, ChatResponseFormat, ChatStreamEvent, JsonSpec, Tool, ToolResponse,
};
use genai::resolver::{AuthData, Endpoint, ServiceTargetResolver};
use genai::{Client, ModelIden, ServiceTarget};

/// A client of one protocol.
fn client(kind: AdapterKind) -> Client {
    let root = base_url().replace("/v1", "");
    let path = if kind == AdapterKind::Gemini { "v1beta" } else { "v1" };
    let address = format!("{root}/{path}/");
    let resolver = ServiceTargetResolver::from_resolver_fn(
        move |target: ServiceTarget| -> Result<ServiceTarget, genai::resolver::Error> {
            let model = ModelIden::new(kind, target.model.model_name);
            let auth = AuthData::from_single(key());
            let endpoint = Endpoint::from_owned(address.clone());
            Ok(ServiceTarget { endpoint, auth, model })
        },
    );
    Client::builder().with_service_target_resolver(resolver).build().unwrap()
}

fn question() -> ChatRequest {
    ChatRequest::from_user(QUESTION)
}

async fn plain(kind: AdapterKind, model: &str) -> Outcome {
    let answer = client(kind).exec_chat(model, question(), None).await?;
    check_text(answer.first_text())
}

async fn stream(kind: AdapterKind, model: &str) -> Outcome {
    let options = ChatOptions::default().with_capture_usage(true);
    let mut events = client(kind)
        .exec_chat_stream(model, question(), Some(&options))
        .await?
        .stream;
    let (mut pieces, mut tokens) = (vec![], 0);
    while let Some(event) = events.next().await {
        match event? {
            ChatStreamEvent::Chunk(chunk) => pieces.push(chunk.content),
            ChatStreamEvent::End(end) => {
                let usage = end.captured_usage.unwrap_or_default();
                tokens = usage.prompt_tokens.unwrap_or(0) * usage.completion_tokens.unwrap_or(0);
            }
            _ => {}
        }
    }
    check_stream(&pieces, tokens as u64)
}

async fn tools(kind: AdapterKind, model: &str) -> Outcome {
    let add = Tool::new("add")
        .with_description("Adds two numbers.")
        .with_schema(object(&["a", "b"]));
    let asked = question().with_tools(vec![add]);
    let calls = client(kind)
        .exec_chat(model, asked.clone(), None)
        .await?
        .into_tool_calls();
    let call = calls.first().ok_or("no call came")?;
    let result = ToolResponse::new(&call.call_id, use_add(&call.fn_name, &call.fn_arguments)?);
    let again = asked.append_message(calls.clone()).append_message(result);
    let answer = client(kind).exec_chat(model, again, None).await?;
    check_text(answer.first_text())
}

async fn structured(kind: AdapterKind, model: &str) -> Outcome {
    let format = ChatResponseFormat::JsonSpec(JsonSpec::new("sum", object(&["result"])));
    let options = ChatOptions::default().with_response_format(format);
    let answer = client(kind).exec_chat(model, question(), Some(&options)).await?;
    check_sum(answer.first_text())
}

/// All that a protocol has.
async fn all(kind: AdapterKind, model: &str) -> Outcome {
    stream(kind, model).await.map_err(|error| format!("stream: {error}"))?;
    tools(kind, model).await.map_err(|error| format!("tools: {error}"))?;
    structured(kind, model).await.map_err(|error| format!("structured: {error}"))?;
    Ok(())
}

async fn embeddings(model: &str) -> Outcome {
    let texts = vec!["a cat".into(), "an owl".into()];
    let made = client(AdapterKind::OpenAI).embed_batch(model, texts, None).await?;
    let sizes: Vec<_> = made.embeddings.iter().map(|one| one.vector.len()).collect();
    if sizes != [128, 128] {
        return Err(format!("the embeddings have {sizes:?} numbers").into());
    }
    Ok(())
}

async fn errors(kind: AdapterKind) -> Outcome {
    match client(kind).exec_chat(MISSING, question(), None).await {
        Ok(answer) => Err(format!("it is {:?}", answer.first_text()).into()),
        Err(error) => {
            let status = error.status().map_or(0, |status| status.as_u16());
            check_error(status, &format!("{error} {error:?}"))
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let kind = AdapterKind::OpenAI;
    for model in &models() {
        print(model, "plain", plain(kind, model).await);
        print(model, "stream", stream(kind, model).await);
        print(model, "tools", tools(kind, model).await);
        print(model, "structured", structured(kind, model).await);
        print(model, "responses", all(AdapterKind::OpenAIResp, model).await);
        print(model, "messages", all(AdapterKind::Anthropic, model).await);
        print(model, "gemini", all(AdapterKind::Gemini, model).await);
        print(model, "embeddings", embeddings(model).await);
        print(model, "errors", errors(kind).await);
    }
}
