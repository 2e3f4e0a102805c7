import io.agentscope.core.ReActAgent;
import io.agentscope.core.agent.RuntimeContext;
import io.agentscope.core.tool.Tool;
import io.agentscope.core.tool.ToolParam;
import io.agentscope.core.tool.Toolkit;
import io.agentscope.core.tracing.OtelTracingMiddleware;
import io.agentscope.extensions.model.openai.OpenAIChatModel;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.context.Scope;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.autoconfigure.AutoConfiguredOpenTelemetrySdk;
import java.util.List;

/** AgentScope, whose middleware has spans. */
public class Main {
    private static final String CONVERSATION = "talk-1";
    private static final String USER = "user-1";

    @Tool(name = "get_weather", description = "The weather of a city.", readOnly = true)
    public String getWeather(@ToolParam(name = "city", description = "The name of the city.") String city) {
        return "It is sunny in Paris.";
    }

    /** An agent for each question. */
    private static ReActAgent agent(boolean isStream) {
        OpenAIChatModel model = OpenAIChatModel.builder().apiKey("none").modelName("gpt-5")
                .baseUrl(System.getenv("PROVIDER_URL")).endpointPath("/v1/chat/completions").stream(isStream).build();
        Toolkit toolkit = new Toolkit();
        toolkit.registerTool(new Main());
        return ReActAgent.builder().name("forecaster").sysPrompt("Be brief.").model(model).toolkit(toolkit)
                .middleware(new OtelTracingMiddleware()).maxRetries(1).build();
    }

    public static void main(String[] arguments) {
        System.setProperty("otel.metrics.exporter", "none");
        System.setProperty("otel.logs.exporter", "none");
        OpenTelemetrySdk sdk = AutoConfiguredOpenTelemetrySdk.initialize().getOpenTelemetrySdk();
        RuntimeContext context = RuntimeContext.builder().sessionId(CONVERSATION).userId(USER).build();
        boolean isBroken = false;
        Span span = sdk.getTracer("program").spanBuilder("program").startSpan();
        try (Scope scope = span.makeCurrent()) {
            for (String question : List.of("What is plain?", "What is the weather in Paris?", "Please stream.", "Please fail.")) {
                try {
                    agent(question.equals("Please stream.")).call(question, context).block();
                } catch (RuntimeException error) {
                    if (question.equals("Please fail.")) continue;
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
