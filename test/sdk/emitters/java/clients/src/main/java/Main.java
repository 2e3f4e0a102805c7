import com.anthropic.client.AnthropicClient;
import com.anthropic.client.okhttp.AnthropicOkHttpClient;
import com.anthropic.core.JsonValue;
import com.anthropic.core.http.StreamResponse;
import com.anthropic.models.messages.ContentBlockParam;
import com.anthropic.models.messages.Message;
import com.anthropic.models.messages.MessageCreateParams;
import com.anthropic.models.messages.Metadata;
import com.anthropic.models.messages.Tool;
import com.anthropic.models.messages.ToolResultBlockParam;
import com.openai.client.OpenAIClient;
import com.openai.client.okhttp.OpenAIOkHttpClient;
import com.openai.models.FunctionDefinition;
import com.openai.models.FunctionParameters;
import com.openai.models.chat.completions.ChatCompletionCreateParams;
import com.openai.models.chat.completions.ChatCompletionMessage;
import com.openai.models.chat.completions.ChatCompletionStreamOptions;
import com.openai.models.chat.completions.ChatCompletionToolMessageParam;
import com.openai.models.embeddings.EmbeddingCreateParams;
import com.openai.models.responses.ResponseCreateParams;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** OpenAI's client below the agent of OpenTelemetry, or Anthropic's, which sends spans of its own. */
public final class Main {
    private static final Map<String, Object> SCHEMA = Map.of("city", Map.of("type", "string"));

    public static void main(String[] arguments) {
        String api = System.getenv("API");
        Steps.run("anthropic".equals(api) ? anthropic() : "responses".equals(api) ? responses() : chat());
    }

    private static OpenAIClient openai() {
        return OpenAIOkHttpClient.builder().apiKey("none").baseUrl(Steps.PROVIDER + "/v1").maxRetries(0).build();
    }

    private static ChatCompletionCreateParams.Builder chatOf(String question) {
        return ChatCompletionCreateParams.builder().model("gpt-5").addUserMessage(question);
    }

    private static Map<String, Steps.Step> chat() {
        OpenAIClient client = openai();
        Map<String, Steps.Step> steps = new LinkedHashMap<>();
        steps.put("plain", () -> client.chat().completions().create(chatOf(Steps.PLAIN).build()));
        steps.put("tool", () -> {
            FunctionParameters parameters = FunctionParameters.builder()
                    .putAdditionalProperty("type", com.openai.core.JsonValue.from("object"))
                    .putAdditionalProperty("properties", com.openai.core.JsonValue.from(SCHEMA))
                    .build();
            FunctionDefinition tool =
                    FunctionDefinition.builder().name("get_weather").parameters(parameters).build();
            ChatCompletionCreateParams.Builder asked = chatOf(Steps.WEATHER).addFunctionTool(tool);
            ChatCompletionMessage message =
                    client.chat().completions().create(asked.build()).choices().get(0).message();
            String id = message.toolCalls().get().get(0).asFunction().id();
            asked.addMessage(message).addMessage(
                    ChatCompletionToolMessageParam.builder().toolCallId(id).content(Steps.SUNNY).build());
            client.chat().completions().create(asked.build());
        });
        steps.put("stream", () -> {
            ChatCompletionStreamOptions options =
                    ChatCompletionStreamOptions.builder().includeUsage(true).build();
            try (var stream = client.chat().completions().createStreaming(chatOf(Steps.STREAM).streamOptions(options).build())) {
                stream.stream().forEach(chunk -> {});
            }
        });
        steps.put("fail", () -> client.chat().completions().create(chatOf(Steps.FAIL).build()));
        steps.put("embed", () -> client.embeddings().create(EmbeddingCreateParams.builder()
                .model("text-embedding-3-small").input("Please embed.").build()));
        return steps;
    }

    private static Map<String, Steps.Step> responses() {
        OpenAIClient client = openai();
        Map<String, Steps.Step> steps = new LinkedHashMap<>();
        steps.put("plain", () -> client.responses().create(
                ResponseCreateParams.builder().model("gpt-5").input(Steps.PLAIN).build()));
        steps.put("fail", () -> client.responses().create(
                ResponseCreateParams.builder().model("gpt-5").input(Steps.FAIL).build()));
        return steps;
    }

    private static MessageCreateParams.Builder messageOf(String question) {
        return MessageCreateParams.builder().model("claude-sonnet-4-5").maxTokens(400).addUserMessage(question)
                .metadata(Metadata.builder().userId(Steps.USER).build());
    }

    private static Map<String, Steps.Step> anthropic() {
        AnthropicClient client =
                AnthropicOkHttpClient.builder().fromEnv().apiKey("none").baseUrl(Steps.PROVIDER).maxRetries(0).build();
        Map<String, Steps.Step> steps = new LinkedHashMap<>();
        steps.put("plain", () -> client.messages().create(messageOf(Steps.PLAIN).build()));
        steps.put("tool", () -> {
            Tool tool = Tool.builder().name("get_weather").inputSchema(Tool.InputSchema.builder()
                    .putAdditionalProperty("properties", JsonValue.from(SCHEMA)).build()).build();
            MessageCreateParams.Builder asked = messageOf(Steps.WEATHER).addTool(tool);
            Message message = client.messages().create(asked.build());
            String id = message.content().get(0).toolUse().get().id();
            ToolResultBlockParam result =
                    ToolResultBlockParam.builder().toolUseId(id).content(Steps.SUNNY).build();
            asked.addMessage(message).addUserMessageOfContentBlockParams(
                    List.of(ContentBlockParam.ofToolResult(result)));
            client.messages().create(asked.build());
        });
        steps.put("stream", () -> {
            try (StreamResponse<?> stream = client.messages().createStreaming(messageOf(Steps.STREAM).build())) {
                stream.stream().forEach(event -> {});
            }
        });
        steps.put("fail", () -> client.messages().create(messageOf(Steps.FAIL).build()));
        return steps;
    }
}
