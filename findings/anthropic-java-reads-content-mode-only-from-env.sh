#!/bin/sh
# pkg:maven/com.anthropic/anthropic-java@3.14.0, which sends spans of its own, with ANTHROPIC_OPEN_TELEMETRY_TRACES_CONTENT_MODE=content.
#
# As in the clients for Python and Go, the variable should put messages into the spans of any client. It does so only for a
# client that is built with fromEnv(); one that is given its key and address by the builder has none, without a word.
#
# Output seen: builder: no messages, fromEnv: messages
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
dependencies=
for pin in com.anthropic/anthropic-java@3.14.0 io.opentelemetry/opentelemetry-sdk-testing@1.68.0; do
  dependencies="$dependencies<dependency>$(echo "$pin" |
    sed -E 's|(.*)/(.*)@(.*)|<groupId>\1</groupId><artifactId>\2</artifactId><version>\3</version>|')</dependency>"
done
cat > pom.xml <<XML
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion><groupId>a</groupId><artifactId>a</artifactId><version>1</version>
  <dependencies>$dependencies</dependencies>
</project>
XML
cat > Main.java <<'JAVA'
import com.anthropic.client.okhttp.AnthropicOkHttpClient;
import com.anthropic.models.messages.MessageCreateParams;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;

public class Main {
    public static void main(String[] arguments) throws Exception {
        var server = com.sun.net.httpserver.HttpServer.create(new java.net.InetSocketAddress("127.0.0.1", 0), 0);
        server.createContext("/", exchange -> {
            exchange.sendResponseHeaders(400, -1);
            exchange.close();
        });
        server.start();
        var spans = InMemorySpanExporter.create();
        var provider = SdkTracerProvider.builder().addSpanProcessor(SimpleSpanProcessor.create(spans)).build();
        OpenTelemetrySdk.builder().setTracerProvider(provider).buildAndRegisterGlobal();
        var builder = AnthropicOkHttpClient.builder();
        if (arguments[0].equals("fromEnv")) builder = builder.fromEnv();
        var client = builder.apiKey("none").baseUrl("http://127.0.0.1:" + server.getAddress().getPort()).maxRetries(0).build();
        try {
            client.messages().create(MessageCreateParams.builder().model("m").maxTokens(1).addUserMessage("hi").build());
        } catch (RuntimeException refused) {}
        var span = spans.getFinishedSpanItems().get(0);
        boolean has = span.getAttributes().toString().contains("gen_ai.input.messages");
        System.out.println(arguments[0] + ": " + (has ? "messages" : "no messages"));
        System.exit(0);
    }
}
JAVA
mvn -q -B dependency:copy-dependencies -DoutputDirectory=lib > /dev/null
javac -nowarn -cp 'lib/*' Main.java
export ANTHROPIC_OPEN_TELEMETRY_TRACES_CONTENT_MODE=content
seen="$(java -cp '.:lib/*' Main builder 2>/dev/null), $(java -cp '.:lib/*' Main fromEnv 2>/dev/null)"
echo "$seen"
[ "$seen" = 'builder: no messages, fromEnv: messages' ]
