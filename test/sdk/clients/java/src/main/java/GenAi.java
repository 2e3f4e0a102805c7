import com.google.genai.Client;
import com.google.genai.errors.ApiException;
import com.google.genai.types.Content;
import com.google.genai.types.FinishReason;
import com.google.genai.types.FunctionDeclaration;
import com.google.genai.types.FunctionResponse;
import com.google.genai.types.GenerateContentConfig;
import com.google.genai.types.GenerateContentResponse;
import com.google.genai.types.HttpOptions;
import com.google.genai.types.Part;
import com.google.genai.types.Schema;
import com.google.genai.types.Tool;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Google's client for Gemini: generations with calls of functions and schemas, and counts of tokens. */
public final class GenAi {
    private static final Client CLIENT = Client.builder()
            .apiKey(Cells.KEY).httpOptions(HttpOptions.builder().baseUrl(Cells.ROOT).build()).build();

    private static void stream(String model) {
        List<String> pieces = new ArrayList<>();
        GenerateContentResponse last = null;
        try (var chunks = CLIENT.models.generateContentStream(model, Cells.QUESTION, null)) {
            for (GenerateContentResponse chunk : chunks) {
                if (chunk.text() != null) pieces.add(chunk.text());
                last = chunk;
            }
        }
        Cells.check(last.finishReason().knownEnum() == FinishReason.Known.STOP, last);
        Cells.checkStream(pieces, last.usageMetadata().get().totalTokenCount().get());
    }

    private static void tools(String model) {
        Map<String, Object> integer = Map.of("type", "integer");
        Map<String, Object> schema =
                Map.of("type", "object", "properties", Map.of("a", integer, "b", integer), "required", List.of("a", "b"));
        Tool add = Tool.builder().functionDeclarations(FunctionDeclaration.builder()
                .name("add").description("Adds two numbers.").parametersJsonSchema(schema).build()).build();
        var chat = CLIENT.chats.create(model, GenerateContentConfig.builder().tools(add).build());
        var call = chat.sendMessage(Cells.QUESTION).functionCalls().get(0);
        Map<String, Object> numbers = call.args().get();
        int result = (Integer) numbers.get("a") + (Integer) numbers.get("b");
        var response = FunctionResponse.builder().name(call.name().get()).response(Map.of("output", result));
        call.id().ifPresent(response::id);
        Part part = Part.builder().functionResponse(response.build()).build();
        Cells.checkText(chat.sendMessage(Content.builder().role("user").parts(part).build()).text());
    }

    private static void structured(String model) {
        Schema schema = Schema.builder().type("OBJECT")
                .properties(Map.of("result", Schema.builder().type("INTEGER").build())).required("result").build();
        var config = GenerateContentConfig.builder().responseMimeType("application/json").responseSchema(schema).build();
        String text = CLIENT.models.generateContent(model, Cells.QUESTION, config).text();
        Cells.check(text.replaceAll("\\s", "").matches("\\{\"result\":-?\\d+\\}"), text);
    }

    private static void tokens(String model) {
        var counted = CLIENT.models.countTokens(model, Cells.QUESTION, null);
        Cells.check(counted.totalTokens().get() > 0, counted);
    }

    private static void errors(String model) {
        try {
            Cells.check(false, CLIENT.models.generateContent(Cells.MISSING, Cells.QUESTION, null));
        } catch (ApiException error) {
            Cells.checkError(error.code(), error.message());
        }
    }

    public static void main(String[] arguments) {
        new Cells()
                .add("plain", model -> Cells.checkText(CLIENT.models.generateContent(model, Cells.QUESTION, null).text()))
                .add("stream", GenAi::stream)
                .add("tools", GenAi::tools)
                .add("structured", GenAi::structured)
                .add("tokens", GenAi::tokens)
                .add("errors", GenAi::errors)
                .run();
    }

    private GenAi() {}
}
