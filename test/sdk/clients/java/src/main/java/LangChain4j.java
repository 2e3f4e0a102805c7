import dev.langchain4j.agent.tool.P;
import dev.langchain4j.agent.tool.Tool;
import dev.langchain4j.data.segment.TextSegment;
import dev.langchain4j.exception.ModelNotFoundException;
import dev.langchain4j.model.chat.Capability;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.chat.response.StreamingChatResponseHandler;
import dev.langchain4j.model.openai.OpenAiChatModel;
import dev.langchain4j.model.openai.OpenAiEmbeddingModel;
import dev.langchain4j.model.openai.OpenAiResponsesChatModel;
import dev.langchain4j.model.openai.OpenAiStreamingChatModel;
import dev.langchain4j.service.AiServices;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** LangChain4j's models of OpenAI, and its services with a tool and an object as answer. */
public final class LangChain4j {
    private static final int WAIT_SECONDS = 60;

    interface Calculator {
        String answer(String question);
    }

    interface Solver {
        Sum solve(String question);
    }

    public record Sum(int result) {}

    public static final class Adder {
        private int uses = 0;

        @Tool("Adds two numbers.")
        public int add(@P("The first number.") int a, @P("The second number.") int b) {
            uses++;
            return a + b;
        }
    }

    private static ChatModel chat(String model) {
        return OpenAiChatModel.builder().baseUrl(Cells.BASE_URL).apiKey(Cells.KEY).modelName(model).maxRetries(0)
                .supportedCapabilities(Capability.RESPONSE_FORMAT_JSON_SCHEMA).strictJsonSchema(true).build();
    }

    private static void stream(String model) throws Exception {
        List<String> pieces = new ArrayList<>();
        CompletableFuture<ChatResponse> whole = new CompletableFuture<>();
        OpenAiStreamingChatModel.builder().baseUrl(Cells.BASE_URL).apiKey(Cells.KEY).modelName(model).build()
                .chat(Cells.QUESTION, new StreamingChatResponseHandler() {
                    @Override
                    public void onPartialResponse(String piece) {
                        pieces.add(piece);
                    }

                    @Override
                    public void onCompleteResponse(ChatResponse response) {
                        whole.complete(response);
                    }

                    @Override
                    public void onError(Throwable error) {
                        whole.completeExceptionally(error);
                    }
                });
        Cells.checkStream(pieces, whole.get(WAIT_SECONDS, TimeUnit.SECONDS).tokenUsage().totalTokenCount());
    }

    private static void tools(String model) {
        Adder adder = new Adder();
        Calculator calculator = AiServices.builder(Calculator.class).chatModel(chat(model)).tools(adder).build();
        Cells.checkText(calculator.answer(Cells.QUESTION));
        Cells.check(adder.uses > 0, "the tool was not used");
    }

    private static void responses(String model) {
        ChatModel asked = OpenAiResponsesChatModel.builder()
                .baseUrl(Cells.BASE_URL).apiKey(Cells.KEY).modelName(model).build();
        Cells.checkText(asked.chat(Cells.QUESTION));
    }

    private static void embeddings(String model) {
        var made = OpenAiEmbeddingModel.builder().baseUrl(Cells.BASE_URL).apiKey(Cells.KEY).modelName(model).build()
                .embedAll(List.of(TextSegment.from("a cat"), TextSegment.from("an owl"))).content();
        Cells.check(made.size() == 2 && made.get(1).dimension() == 128, made);
    }

    private static void errors(String model) {
        try {
            Cells.check(false, chat(Cells.MISSING).chat(Cells.QUESTION));
        } catch (ModelNotFoundException error) {
            Cells.checkError(404, error.getMessage());
        }
    }

    public static void main(String[] arguments) {
        new Cells()
                .add("plain", model -> Cells.checkText(chat(model).chat(Cells.QUESTION)))
                .add("stream", LangChain4j::stream)
                .add("tools", LangChain4j::tools)
                .add("structured", model -> Cells.check(
                        AiServices.create(Solver.class, chat(model)).solve(Cells.QUESTION) != null, "no object came"))
                .add("responses", LangChain4j::responses)
                .add("embeddings", LangChain4j::embeddings)
                .add("errors", LangChain4j::errors)
                .run();
    }

    private LangChain4j() {}
}
