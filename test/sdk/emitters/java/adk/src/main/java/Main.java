import com.google.adk.agents.LlmAgent;
import com.google.adk.agents.RunConfig;
import com.google.adk.models.Gemini;
import com.google.adk.runner.InMemoryRunner;
import com.google.adk.tools.Annotations.Schema;
import com.google.adk.tools.FunctionTool;
import com.google.genai.Client;
import com.google.genai.types.Content;
import com.google.genai.types.HttpOptions;
import com.google.genai.types.Part;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.context.Scope;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.autoconfigure.AutoConfiguredOpenTelemetrySdk;
import java.util.LinkedHashMap;
import java.util.Map;

/** Google's Agent Development Kit, which has its own spans. */
public class Main {
    private static final String CONVERSATION = "talk-1";
    private static final String USER = "user-1";

    @Schema(name = "get_weather", description = "The weather of a city.")
    public static Map<String, Object> getWeather(@Schema(name = "city", description = "The name of the city.") String city) {
        return Map.of("result", "It is sunny in Paris.");
    }

    public static void main(String[] arguments) {
        System.setProperty("otel.metrics.exporter", "none");
        System.setProperty("otel.logs.exporter", "none");
        OpenTelemetrySdk sdk = AutoConfiguredOpenTelemetrySdk.initialize().getOpenTelemetrySdk();
        HttpOptions options = HttpOptions.builder().baseUrl(System.getenv("PROVIDER_URL")).build();
        Client client = Client.builder().apiKey("none").httpOptions(options).build();
        LlmAgent agent = LlmAgent.builder()
                .name("forecaster")
                .model(new Gemini("gemini-2.5-pro", client))
                .instruction("Be brief.")
                .tools(FunctionTool.create(Main.class, "getWeather"))
                .build();
        InMemoryRunner runner = new InMemoryRunner(agent, "program");
        runner.sessionService().createSession("program", USER, Map.of(), CONVERSATION).blockingGet();
        RunConfig whole = RunConfig.builder().build();
        RunConfig streamed = RunConfig.builder().streamingMode(RunConfig.StreamingMode.SSE).build();
        // Each run in a session of more than one turn has a tool's result before it.
        Map<String, RunConfig> steps = new LinkedHashMap<>();
        steps.put("What is the weather in Paris?", whole);
        steps.put("What is plain?", whole);
        steps.put("Please stream.", streamed);
        steps.put("Please fail.", whole);
        boolean isBroken = false;
        Span span = sdk.getTracer("program").spanBuilder("program").startSpan();
        try (Scope scope = span.makeCurrent()) {
            for (Map.Entry<String, RunConfig> step : steps.entrySet()) {
                Content question = Content.fromParts(Part.fromText(step.getKey()));
                try {
                    runner.runAsync(USER, CONVERSATION, question, step.getValue()).blockingSubscribe();
                } catch (RuntimeException error) {
                    if (step.getKey().equals("Please fail.")) continue;
                    error.printStackTrace();
                    isBroken = true;
                }
            }
        }
        span.end();
        sdk.close();
        System.exit(isBroken ? 1 : 0);
    }
}
