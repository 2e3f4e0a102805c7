//! The cells of one client: each way of asking, on each model. A cell is a line of JSON.
use serde_json::{Value, json};

pub const QUESTION: &str = "What is 3 plus 4?";
/// A text that the model goes on with.
pub const TEXT: &str = "user\nWhat is 3 plus 4?\nassistant\n";
/// A model that no server has.
pub const MISSING: &str = "missing";
const REASON_CHARS_MAX: usize = 300;

/// What is wrong with what came.
pub type Outcome = Result<(), Box<dyn std::error::Error>>;

pub fn base_url() -> String {
    std::env::var("OPENAI_BASE_URL").unwrap()
}

pub fn key() -> String {
    std::env::var("OPENAI_API_KEY").unwrap()
}

pub fn models() -> Vec<String> {
    let names = std::env::var("MODELS").unwrap();
    names.split(' ').map(String::from).collect()
}

/// The schema of an object of integers.
pub fn object(names: &[&str]) -> Value {
    let properties: serde_json::Map<_, _> = names
        .iter()
        .map(|name| (name.to_string(), json!({"type": "integer"})))
        .collect();
    json!({"type": "object", "properties": properties, "required": names, "additionalProperties": false})
}

pub fn check_text(text: Option<&str>) -> Outcome {
    match text {
        Some(text) if !text.trim().is_empty() => Ok(()),
        other => Err(format!("no text came: {other:?}").into()),
    }
}

/// Text in several pieces, and the tokens of the usage.
pub fn check_stream(pieces: &[String], tokens: u64) -> Outcome {
    let count = pieces.iter().filter(|piece| !piece.is_empty()).count();
    if count < 2 || tokens == 0 {
        return Err(format!("the text came in {count} piece with {tokens} tokens").into());
    }
    check_text(Some(&pieces.concat()))
}

/// The result of a call of `add` with two integers.
pub fn use_add(name: &str, arguments: &Value) -> Result<String, Box<dyn std::error::Error>> {
    match (name, arguments["a"].as_i64(), arguments["b"].as_i64()) {
        ("add", Some(a), Some(b)) => Ok((a + b).to_string()),
        _ => Err(format!("{name} was called with {arguments}").into()),
    }
}

pub fn check_sum(text: Option<&str>) -> Outcome {
    let sum: Value = serde_json::from_str(text.unwrap_or_default())?;
    match sum["result"].as_i64() {
        Some(_) => Ok(()),
        None => Err(format!("the object is {sum}").into()),
    }
}

pub fn check_error(status: u16, message: &str) -> Outcome {
    if status != 404 || !message.contains(MISSING) {
        return Err(format!("the error has status {status} and message {message}").into());
    }
    Ok(())
}

pub fn print(model: &str, way: &str, outcome: Outcome) {
    let outcome = match outcome {
        Ok(()) => "ok".into(),
        Err(error) => {
            let text = error.to_string();
            let words: Vec<_> = text.split_whitespace().collect();
            let reason: String = words.join(" ").chars().take(REASON_CHARS_MAX).collect();
            format!("fails: {reason}")
        }
    };
    println!("cell:{}", json!({"model": model, "way": way, "outcome": outcome}));
}
