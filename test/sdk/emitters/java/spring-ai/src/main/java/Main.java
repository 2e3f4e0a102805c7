import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.tool.annotation.Tool;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;

/** Spring AI, whose observations Micrometer's bridge makes spans of. */
@SpringBootConfiguration
@EnableAutoConfiguration
public class Main {
    static class Weather {
        @Tool(name = "get_weather", description = "The weather of a city.")
        String weather(String city) {
            return "It is sunny in Paris.";
        }
    }

    interface Step {
        void run();
    }

    private static boolean isBroken = false;

    private static void step(String name, Step step) {
        try {
            step.run();
        } catch (RuntimeException error) {
            if (name.equals("fail")) return;
            error.printStackTrace();
            isBroken = true;
        }
    }

    public static void main(String[] arguments) {
        ConfigurableApplicationContext context = new SpringApplication(Main.class).run(
                "--spring.main.web-application-type=none",
                "--spring.ai.openai.api-key=none",
                "--spring.ai.openai.base-url=" + System.getenv("PROVIDER_URL") + "/v1",
                "--spring.ai.openai.chat.options.model=gpt-5",
                "--spring.ai.openai.chat.model=gpt-5",
                "--spring.ai.retry.max-attempts=1",
                "--spring.ai.openai.max-retries=0",
                "--spring.ai.chat.observations.log-prompt=true",
                "--spring.ai.chat.observations.log-completion=true",
                "--spring.ai.tools.observations.include-content=true",
                "--management.tracing.sampling.probability=1.0",
                "--management.otlp.metrics.export.enabled=false",
                "--management.opentelemetry.tracing.export.otlp.endpoint=" + System.getenv("WEFT_URL") + "/v1/traces",
                "--management.opentelemetry.tracing.export.otlp.headers.authorization=Bearer " + System.getenv("WEFT_KEY"),
                "--management.opentelemetry.tracing.export.otlp.headers.project_id=" + System.getenv("PROJECT"));
        ChatClient client = context.getBean(ChatClient.Builder.class).build();
        Observation.createNotStarted("program", context.getBean(ObservationRegistry.class)).observe(() -> {
            step("plain", () -> client.prompt("What is plain?").call().content());
            step("tool", () -> client.prompt("What is the weather in Paris?").tools(new Weather()).call().content());
            step("stream", () -> client.prompt("Please stream.").stream().content().collectList().block());
            step("fail", () -> client.prompt("Please fail.").call().content());
        });
        context.close();
        System.exit(isBroken ? 1 : 0);
    }
}
