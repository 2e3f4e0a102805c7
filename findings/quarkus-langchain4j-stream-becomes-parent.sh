#!/bin/sh
# pkg:maven/io.quarkiverse.langchain4j/quarkus-langchain4j-openai@1.10.0 with Quarkus 3.33.2 and quarkus-opentelemetry: a program
# that asks a streamed method of an AI service, and when that has ended a plain one, on one thread below a span "program".
#
# Both services should be below "program", and each request below its service. The request of the stream is below "program"
# instead, beside its service, and stays the current span of the thread: the second service, begun after its end, is below it.
#
# Output seen:
#   completion gpt-5 below program
#   langchain4j.aiservices.Main$Service.ask below completion gpt-5
#   langchain4j.aiservices.Main$Service.stream below program
set -eu
folder=$(mktemp -d) server=
trap 'kill $server 2> /dev/null || true; rm -rf "$folder"' EXIT
mkdir -p "$folder/src/main/java" "$folder/src/main/resources"
cat > "$folder/server.mjs" <<'JS'
import { createServer } from 'node:http'
createServer(async (request, response) => {
  let text = ''
  for await (const part of request) text += part
  const isStream = JSON.parse(text).stream, said = { role: 'assistant', content: 'hi' }
  const body = (key) => JSON.stringify({ id: 'c', created: 1, model: 'gpt-5', choices: [{ index: 0, [key]: said, finish_reason: 'stop' }] })
  response.setHeader('content-type', isStream ? 'text/event-stream' : 'application/json')
  response.end(isStream ? `data: ${body('delta')}\n\ndata: [DONE]\n\n` : body('message'))
}).listen(0, '127.0.0.1', function () { console.log(`http://127.0.0.1:${this.address().port}`) })
JS
dependency() { echo "<dependency><groupId>$1</groupId><artifactId>$2</artifactId>$3</dependency>"; }
cat > "$folder/pom.xml" <<POM
<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion><groupId>x</groupId><artifactId>x</artifactId><version>1</version>
<properties><maven.compiler.source>17</maven.compiler.source><maven.compiler.target>17</maven.compiler.target></properties>
<dependencyManagement><dependencies>$(dependency io.quarkus quarkus-bom '<version>3.33.2</version><type>pom</type><scope>import</scope>')</dependencies></dependencyManagement>
<dependencies>$(dependency io.quarkiverse.langchain4j quarkus-langchain4j-openai '<version>1.10.0</version>')$(dependency io.quarkus quarkus-opentelemetry '')</dependencies>
<build><plugins><plugin><artifactId>maven-compiler-plugin</artifactId><version>3.13.0</version><configuration><parameters>true</parameters></configuration></plugin>
<plugin><groupId>io.quarkus</groupId><artifactId>quarkus-maven-plugin</artifactId><version>3.33.2</version><executions><execution><goals><goal>build</goal></goals></execution></executions></plugin></plugins></build></project>
POM
cat > "$folder/src/main/java/Main.java" <<'JAVA'
import io.opentelemetry.api.trace.*; import io.opentelemetry.context.*; import io.opentelemetry.sdk.trace.*; import io.quarkus.runtime.*;
import dev.langchain4j.service.UserMessage; import java.util.concurrent.*; import jakarta.inject.Inject; import jakarta.inject.Singleton;
@io.quarkus.runtime.annotations.QuarkusMain public class Main implements QuarkusApplication {
    @io.quarkiverse.langchain4j.RegisterAiService public interface Service { String ask(@UserMessage String q); io.smallrye.mutiny.Multi<String> stream(@UserMessage String q); }
    @Singleton public static class Seen implements SpanProcessor {
        final ConcurrentMap<String, ReadableSpan> spans = new ConcurrentHashMap<>();
        public void onStart(Context parent, ReadWriteSpan span) { spans.put(span.getSpanContext().getSpanId(), span); }
        public boolean isStartRequired() { return true; }
        public void onEnd(ReadableSpan span) {} public boolean isEndRequired() { return false; }
    }
    @Inject Service service; @Inject Seen seen; @Inject Tracer tracer;
    @jakarta.enterprise.context.control.ActivateRequestContext public int run(String... arguments) {
        try (Scope scope = tracer.spanBuilder("program").startSpan().makeCurrent()) { service.stream("hi").collect().asList().await().indefinitely(); service.ask("hi"); }
        seen.spans.forEach((id, one) -> { ReadableSpan above = seen.spans.get(one.getParentSpanContext().getSpanId()); if (above != null) System.out.println("> " + one.getName() + " below " + above.getName()); });
        return 0;
    }
}
JAVA
node "$folder/server.mjs" > "$folder/url" & server=$!
for _ in $(seq 100); do [ -s "$folder/url" ] && break; sleep 0.1; done
printf '%s\n' quarkus.banner.enabled=false quarkus.langchain4j.openai.api-key=x quarkus.otel.traces.exporter=cdi "quarkus.langchain4j.openai.base-url=$(cat "$folder/url")/v1" > "$folder/src/main/resources/application.properties"
(cd "$folder" && echo quarkus.langchain4j.openai.chat-model.model-name=gpt-5 >> src/main/resources/application.properties && mvn -q -B package > log 2>&1 || { cat log; exit 1; })
seen=$(java -jar "$folder/target/quarkus-app/quarkus-run.jar" 2>&1 | tee "$folder/out" | sed -n 's/^> //p' | grep -v '^POST\|ask$' | LC_ALL=C sort)
echo "$seen" && [ "$seen" = "$(sed -n 's/^#   //p' "$0")" ]
