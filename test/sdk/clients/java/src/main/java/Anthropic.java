import com.anthropic.client.AnthropicClient;
import com.anthropic.client.okhttp.AnthropicOkHttpClient;
import com.anthropic.core.JsonValue;
import com.anthropic.errors.AnthropicServiceException;
import com.anthropic.helpers.MessageAccumulator;
import com.anthropic.models.messages.ContentBlockParam;
import com.anthropic.models.messages.Message;
import com.anthropic.models.messages.MessageCountTokensParams;
import com.anthropic.models.messages.MessageCreateParams;
import com.anthropic.models.messages.StopReason;
import com.anthropic.models.messages.Tool;
import com.anthropic.models.messages.ToolResultBlockParam;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Anthropic's client: messages with a class as schema, counts of tokens and the list of models. */
public final class Anthropic {
    private static final AnthropicClient CLIENT =
            AnthropicOkHttpClient.builder().baseUrl(Cells.ROOT).apiKey(Cells.KEY).maxRetries(0).build();

    public static final class Sum {
        public int result;
    }

    private static MessageCreateParams.Builder asked(String model) {
        return MessageCreateParams.builder().model(model).maxTokens(64).addUserMessage(Cells.QUESTION);
    }

    private static void plain(String model) {
        Message message = CLIENT.messages().create(asked(model).build()).validate();
        Cells.checkText(message.content().get(0).asText().text());
    }

    private static void stream(String model) {
        var whole = MessageAccumulator.create();
        List<String> pieces = new ArrayList<>();
        try (var events = CLIENT.messages().createStreaming(asked(model).build())) {
            events.stream().forEach(event -> {
                whole.accumulate(event.validate());
                event.contentBlockDelta().flatMap(delta -> delta.delta().text()).ifPresent(text -> pieces.add(text.text()));
            });
        }
        Message message = whole.message();
        Cells.check(StopReason.END_TURN.equals(message.stopReason().get()), message);
        Cells.checkStream(pieces, message.usage().inputTokens() * message.usage().outputTokens());
    }

    private static void tools(String model) {
        Map<String, Object> integer = Map.of("type", "integer");
        Tool add = Tool.builder().name("add").description("Adds two numbers.").inputSchema(Tool.InputSchema.builder()
                .properties(JsonValue.from(Map.of("a", integer, "b", integer))).required(List.of("a", "b")).build()).build();
        var params = asked(model).addTool(add);
        Message first = CLIENT.messages().create(params.build()).validate();
        var call = first.content().stream().flatMap(block -> block.toolUse().stream()).findFirst().get();
        Map<?, ?> numbers = call._input().convert(Map.class);
        int result = (Integer) numbers.get("a") + (Integer) numbers.get("b");
        var block = ToolResultBlockParam.builder().toolUseId(call.id()).content(String.valueOf(result)).build();
        params.addMessage(first).addUserMessageOfContentBlockParams(List.of(ContentBlockParam.ofToolResult(block)));
        Cells.checkText(CLIENT.messages().create(params.build()).validate().content().get(0).asText().text());
    }

    private static void structured(String model) {
        var message = CLIENT.messages().create(asked(model).outputConfig(Sum.class).build());
        Cells.check(message.content().get(0).asText().text() instanceof Sum, message);
    }

    private static void tokens(String model) {
        var params = MessageCountTokensParams.builder().model(model).addUserMessage(Cells.QUESTION).build();
        Cells.check(CLIENT.messages().countTokens(params).inputTokens() > 0, "none");
    }

    private static void models(String model) {
        var ids = CLIENT.models().list().autoPager().stream().map(one -> one.id()).toList();
        Cells.check(ids.contains(model) && CLIENT.models().retrieve(model).id().equals(model), ids);
    }

    private static void errors(String model) {
        try {
            Cells.check(false, CLIENT.messages().create(asked(Cells.MISSING).build()));
        } catch (AnthropicServiceException error) {
            Cells.checkError(error.statusCode(), error.apiMessage().get());
        }
    }

    public static void main(String[] arguments) {
        new Cells()
                .add("plain", Anthropic::plain)
                .add("stream", Anthropic::stream)
                .add("tools", Anthropic::tools)
                .add("structured", Anthropic::structured)
                .add("tokens", Anthropic::tokens)
                .add("models", Anthropic::models)
                .add("errors", Anthropic::errors)
                .run();
    }

    private Anthropic() {}
}
