import com.fasterxml.jackson.annotation.JsonClassDescription;
import com.fasterxml.jackson.annotation.JsonTypeName;
import com.openai.client.OpenAIClient;
import com.openai.client.okhttp.OpenAIOkHttpClient;
import com.openai.errors.OpenAIServiceException;
import com.openai.helpers.ChatCompletionAccumulator;
import com.openai.helpers.ResponseAccumulator;
import com.openai.models.chat.completions.ChatCompletionCreateParams;
import com.openai.models.chat.completions.ChatCompletionMessage;
import com.openai.models.chat.completions.ChatCompletionStreamOptions;
import com.openai.models.chat.completions.ChatCompletionToolMessageParam;
import com.openai.models.completions.CompletionCreateParams;
import com.openai.models.embeddings.EmbeddingCreateParams;
import com.openai.models.responses.Response;
import com.openai.models.responses.ResponseCreateParams;
import com.openai.models.responses.ToolChoiceOptions;
import java.util.ArrayList;
import java.util.List;

/** OpenAI's client: chat completions and responses with classes as tools and schemas, and what is no chat. */
public final class OpenAi {
    private static final OpenAIClient CLIENT =
            OpenAIOkHttpClient.builder().baseUrl(Cells.BASE_URL).apiKey(Cells.KEY).maxRetries(0).build();

    @JsonTypeName("add")
    @JsonClassDescription("Adds two numbers.")
    public static final class Add {
        public int a;
        public int b;
    }

    public static final class Sum {
        public int result;
    }

    private static ChatCompletionCreateParams.Builder asked(String model) {
        return ChatCompletionCreateParams.builder().model(model).addUserMessage(Cells.QUESTION);
    }

    private static ChatCompletionMessage messageOf(ChatCompletionCreateParams params) {
        return CLIENT.chat().completions().create(params).validate().choices().get(0).message();
    }

    private static void stream(String model) {
        var options = ChatCompletionStreamOptions.builder().includeUsage(true).build();
        var whole = ChatCompletionAccumulator.create();
        List<String> pieces = new ArrayList<>();
        try (var chunks = CLIENT.chat().completions().createStreaming(asked(model).streamOptions(options).build())) {
            chunks.stream().forEach(chunk -> {
                whole.accumulate(chunk.validate());
                chunk.choices().forEach(choice -> choice.delta().content().ifPresent(pieces::add));
            });
        }
        Cells.checkStream(pieces, whole.chatCompletion().usage().get().totalTokens());
    }

    private static void tools(String model) {
        var params = asked(model).temperature(0).addTool(Add.class);
        ChatCompletionMessage message = messageOf(params.build());
        params.addMessage(message);
        for (var call : message.toolCalls().get()) {
            Add add = call.asFunction().function().arguments(Add.class);
            params.addMessage(ChatCompletionToolMessageParam.builder()
                    .toolCallId(call.asFunction().id()).content(String.valueOf(add.a + add.b)).build());
        }
        Cells.checkText(messageOf(params.build()).content().get());
    }

    private static void structured(String model) {
        var completion = CLIENT.chat().completions().create(asked(model).responseFormat(Sum.class).build());
        Sum sum = completion.choices().get(0).message().content().get();
        Cells.check(sum != null, completion);
    }

    private static void responses(String model) {
        var params = ResponseCreateParams.builder().model(model).input(Cells.QUESTION);
        var whole = ResponseAccumulator.create();
        List<String> pieces = new ArrayList<>();
        try (var events = CLIENT.responses().createStreaming(params.build())) {
            events.stream().forEach(event -> {
                whole.accumulate(event);
                event.outputTextDelta().ifPresent(delta -> pieces.add(delta.delta()));
            });
        }
        Response first = whole.response().validate();
        Cells.checkStream(pieces, first.usage().get().totalTokens());
        params.previousResponseId(first.id()).addTool(Add.class).toolChoice(ToolChoiceOptions.REQUIRED);
        Response second = CLIENT.responses().create(params.build()).validate();
        var call = second.output().stream().flatMap(item -> item.functionCall().stream()).findFirst();
        Cells.check(call.isPresent() && call.get().arguments(Add.class) != null, second);
    }

    private static void embeddings(String model) {
        var made = CLIENT.embeddings().create(EmbeddingCreateParams.builder()
                .model(model).inputOfArrayOfStrings(List.of("a cat", "an owl")).build()).validate();
        Cells.check(made.data().size() == 2 && made.data().get(1).embedding().size() == 128, made);
    }

    private static void completions(String model) {
        var params = CompletionCreateParams.builder().model(model).prompt(Cells.TEXT).temperature(0).build();
        Cells.checkText(CLIENT.completions().create(params).validate().choices().get(0).text());
    }

    private static void errors(String model) {
        try {
            Cells.check(false, messageOf(asked(Cells.MISSING).build()));
        } catch (OpenAIServiceException error) {
            Cells.checkError(error.statusCode(), error.getMessage());
        }
    }

    public static void main(String[] arguments) {
        new Cells()
                .add("plain", model -> Cells.checkText(messageOf(asked(model).build()).content().get()))
                .add("stream", OpenAi::stream)
                .add("tools", OpenAi::tools)
                .add("structured", OpenAi::structured)
                .add("responses", OpenAi::responses)
                .add("embeddings", OpenAi::embeddings)
                .add("completions", OpenAi::completions)
                .add("errors", OpenAi::errors)
                .run();
    }

    private OpenAi() {}
}
