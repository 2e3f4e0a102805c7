import io.opentelemetry.api.GlobalOpenTelemetry;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.context.Scope;
import java.util.LinkedHashMap;
import java.util.Map;

/** What every program does: some questions within one span, which the agent exports with all below it. */
final class Steps {
    static final String PROVIDER = System.getenv("PROVIDER_URL");
    static final String USER = "user-1";
    static final String PLAIN = "What is plain?";
    static final String WEATHER = "What is the weather in Paris?";
    static final String STREAM = "Please stream.";
    static final String FAIL = "Please fail.";
    static final String SUNNY = "It is sunny in Paris.";

    interface Step {
        void run() throws Exception;
    }

    /** Runs steps by their names; the one that is to fail must, the others must not. */
    static void run(Map<String, Step> steps) {
        boolean isBroken = false;
        Span span = GlobalOpenTelemetry.getTracer("program").spanBuilder("program").startSpan();
        try (Scope scope = span.makeCurrent()) {
            for (Map.Entry<String, Step> step : new LinkedHashMap<>(steps).entrySet()) {
                try {
                    step.getValue().run();
                } catch (Exception error) {
                    if (step.getKey().equals("fail")) continue;
                    error.printStackTrace();
                    isBroken = true;
                }
            }
        }
        span.end();
        System.exit(isBroken ? 1 : 0);
    }

    private Steps() {}
}
