//! async-openai, whose types say which fields a response must have.
use async_openai::Client;
use async_openai::config::OpenAIConfig;
use async_openai::error::OpenAIError;
use async_openai::types::chat::{
    ChatCompletionMessageToolCalls, CreateChatCompletionRequest, CreateChatCompletionResponse,
};
use async_openai::types::responses::{CreateResponse, OutputItem, ResponseStreamEvent};
use cells::*;
use futures::StreamExt;
use serde_json::{Value, json};

fn client() -> Client<OpenAIConfig> {
    Client::with_config(OpenAIConfig::new().with_api_base(base_url()).with_api_key(key()))
}

fn request(model: &str, messages: Value, more: Value) -> CreateChatCompletionRequest {
    let mut body = json!({"model": model, "messages": messages});
    let object = body.as_object_mut().unwrap();
    object.extend(more.as_object().unwrap().clone());
    serde_json::from_value(body).unwrap()
}

fn question() -> Value {
    json!([{"role": "user", "content": QUESTION}])
}

async fn ask(model: &str, more: Value) -> Result<CreateChatCompletionResponse, OpenAIError> {
    client().chat().create(request(model, question(), more)).await
}

async fn plain(model: &str) -> Outcome {
    let completion = ask(model, json!({})).await?;
    check_text(completion.choices[0].message.content.as_deref())
}

async fn stream(model: &str) -> Outcome {
    let options = json!({"stream_options": {"include_usage": true}});
    let mut chunks = client()
        .chat()
        .create_stream(request(model, question(), options))
        .await?;
    let (mut pieces, mut tokens) = (vec![], 0);
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk?;
        tokens += chunk.usage.map_or(0, |usage| u64::from(usage.total_tokens));
        for choice in chunk.choices {
            pieces.extend(choice.delta.content);
        }
    }
    check_stream(&pieces, tokens)
}

async fn tools(model: &str) -> Outcome {
    let add = json!({"name": "add", "description": "Adds two numbers.", "parameters": object(&["a", "b"])});
    let tools = json!({"tools": [{"type": "function", "function": add}], "temperature": 0});
    let first = ask(model, tools.clone()).await?;
    let message = &first.choices[0].message;
    let mut messages = question();
    let list = messages.as_array_mut().unwrap();
    list.push(serde_json::to_value(message)?);
    for call in message.tool_calls.as_ref().ok_or("no call came")? {
        let ChatCompletionMessageToolCalls::Function(call) = call else {
            return Err("the call is not one of a function".into());
        };
        let arguments = serde_json::from_str(&call.function.arguments)?;
        let result = use_add(&call.function.name, &arguments)?;
        list.push(json!({"role": "tool", "tool_call_id": call.id, "content": result}));
    }
    let second = client().chat().create(request(model, messages, tools)).await?;
    check_text(second.choices[0].message.content.as_deref())
}

async fn structured(model: &str) -> Outcome {
    let schema = json!({"name": "sum", "strict": true, "schema": object(&["result"])});
    let format = json!({"response_format": {"type": "json_schema", "json_schema": schema}});
    let completion = ask(model, format).await?;
    check_sum(completion.choices[0].message.content.as_deref())
}

async fn responses(model: &str) -> Outcome {
    let asked: CreateResponse = serde_json::from_value(json!({"model": model, "input": QUESTION}))?;
    let mut events = client().responses().create_stream(asked).await?;
    let (mut pieces, mut tokens, mut id) = (vec![], 0, String::new());
    while let Some(event) = events.next().await {
        match event? {
            ResponseStreamEvent::ResponseOutputTextDelta(event) => pieces.push(event.delta),
            ResponseStreamEvent::ResponseCompleted(event) => {
                tokens = event.response.usage.map_or(0, |usage| u64::from(usage.total_tokens));
                id = event.response.id;
            }
            _ => {}
        }
    }
    check_stream(&pieces, tokens)?;
    let again: CreateResponse = serde_json::from_value(json!({
        "model": model, "input": QUESTION, "previous_response_id": id, "tool_choice": "required",
        "tools": [{"type": "function", "name": "add", "strict": true, "parameters": object(&["a", "b"])}],
    }))?;
    for item in client().responses().create(again).await?.output {
        if let OutputItem::FunctionCall(call) = item {
            use_add(&call.name, &serde_json::from_str(&call.arguments)?)?;
            return Ok(());
        }
    }
    Err("no call came".into())
}

async fn embeddings(model: &str) -> Outcome {
    let asked = serde_json::from_value(json!({"model": model, "input": ["a cat", "an owl"]}))?;
    let made = client().embeddings().create(asked).await?;
    let sizes: Vec<_> = made.data.iter().map(|one| one.embedding.len()).collect();
    if sizes != [128, 128] {
        return Err(format!("the embeddings have {sizes:?} numbers").into());
    }
    Ok(())
}

async fn completions(model: &str) -> Outcome {
    let asked = serde_json::from_value(json!({"model": model, "prompt": TEXT, "temperature": 0}))?;
    let completion = client().completions().create(asked).await?;
    check_text(Some(&completion.choices[0].text))
}

async fn errors() -> Outcome {
    match ask(MISSING, json!({})).await {
        Err(OpenAIError::ApiError(error)) => {
            check_error(error.status_code.as_u16(), &error.api_error.message)
        }
        other => Err(format!("it is {other:?}").into()),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    for model in &models() {
        print(model, "plain", plain(model).await);
        print(model, "stream", stream(model).await);
        print(model, "tools", tools(model).await);
        print(model, "structured", structured(model).await);
        print(model, "responses", responses(model).await);
        print(model, "embeddings", embeddings(model).await);
        print(model, "completions", completions(model).await);
        print(model, "errors", errors().await);
    }
}
