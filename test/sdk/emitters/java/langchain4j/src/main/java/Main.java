import dev.langchain4j.agent.tool.Tool;
import dev.langchain4j.service.UserMessage;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.context.Scope;
import io.quarkiverse.langchain4j.RegisterAiService;
import io.quarkus.runtime.QuarkusApplication;
import io.quarkus.runtime.annotations.QuarkusMain;
import io.smallrye.mutiny.Multi;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.context.control.ActivateRequestContext;
import jakarta.inject.Inject;

/** LangChain4j as Quarkus has it, whose services and models have spans. */
@QuarkusMain
public class Main implements QuarkusApplication {
    @ApplicationScoped
    public static class Weather {
        @Tool(name = "get_weather", value = "The weather of a city.")
        public String weather(String city) {
            return "It is sunny in Paris.";
        }
    }

    @RegisterAiService
    public interface Plain {
        String ask(@UserMessage String question);

        Multi<String> stream(@UserMessage String question);
    }

    @RegisterAiService(tools = Weather.class)
    public interface Forecaster {
        String ask(@UserMessage String question);
    }

    interface Step {
        void run();
    }

    @Inject
    Plain plain;

    @Inject
    Forecaster forecaster;

    @Inject
    OpenTelemetry telemetry;

    private boolean isBroken = false;

    private void step(String name, Step step) {
        try {
            step.run();
        } catch (RuntimeException error) {
            if (name.equals("fail")) return;
            error.printStackTrace();
            isBroken = true;
        }
    }

    @Override
    @ActivateRequestContext
    public int run(String... arguments) {
        Span span = telemetry.getTracer("program").spanBuilder("program").startSpan();
        try (Scope scope = span.makeCurrent()) {
            step("plain", () -> plain.ask("What is plain?"));
            step("tool", () -> forecaster.ask("What is the weather in Paris?"));
            step("stream", () -> plain.stream("Please stream.").collect().asList().await().indefinitely());
            step("fail", () -> plain.ask("Please fail."));
        }
        span.end();
        return isBroken ? 1 : 0;
    }
}
