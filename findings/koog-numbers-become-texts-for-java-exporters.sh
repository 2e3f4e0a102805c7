#!/bin/sh
# pkg:maven/ai.koog/agents-features-opentelemetry-jvm@1.1.1, with an exporter of OpenTelemetry's SDK for Java.
#
# The conventions have gen_ai.usage.input_tokens as a number and gen_ai.response.finish_reasons as a list of texts, and Koog's
# own exporters for Weave and Langfuse send them so. An exporter given to addSpanExporter gets both as texts: 12 and [stop].
#
# Output seen: gen_ai.usage.input_tokens STRING 12, gen_ai.response.finish_reasons STRING [stop]
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
for pin in koog-agents-jvm@1.1.1 agents-features-opentelemetry-jvm@1.1.1; do
  dependencies="${dependencies:-}<dependency><groupId>ai.koog</groupId><artifactId>${pin%@*}</artifactId><version>${pin#*@}</version></dependency>"
done
cat > pom.xml <<XML
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion><groupId>a</groupId><artifactId>a</artifactId><version>1</version><dependencies>$dependencies</dependencies>
  <build><sourceDirectory>.</sourceDirectory><plugins><plugin><groupId>org.jetbrains.kotlin</groupId>
    <artifactId>kotlin-maven-plugin</artifactId><version>2.3.10</version>
    <executions><execution><goals><goal>compile</goal></goals></execution></executions></plugin></plugins></build>
</project>
XML
cat > Main.kt <<'KOTLIN'
import ai.koog.agents.core.agent.AIAgent
import ai.koog.agents.features.opentelemetry.feature.OpenTelemetry
import ai.koog.prompt.executor.clients.openai.*
import ai.koog.prompt.executor.llms.MultiLLMPromptExecutor
import ai.koog.prompt.llm.*
import io.opentelemetry.sdk.common.CompletableResultCode
import io.opentelemetry.sdk.trace.export.SpanExporter
import kotlinx.coroutines.runBlocking
const val CHOICE = """{"index": 0, "message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}"""
const val ANSWER = """{"id": "c", "object": "o", "created": 1, "model": "m", "choices": [$CHOICE],
  "usage": {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15}}"""
object Printer : SpanExporter {
    override fun export(spans: Collection<io.opentelemetry.sdk.trace.data.SpanData>) = CompletableResultCode.ofSuccess().also {
        spans.filter { it.name == "chat m" }.forEach { it.attributes.forEach { key, value -> println("$key ${key.type} $value") } }
    }
    override fun flush() = CompletableResultCode.ofSuccess(); override fun shutdown() = flush()
}
fun main() {
    val server = com.sun.net.httpserver.HttpServer.create(java.net.InetSocketAddress("127.0.0.1", 0), 0)
    server.createContext("/") { exchange ->
        exchange.responseHeaders.add("content-type", "application/json")
        exchange.sendResponseHeaders(200, ANSWER.length.toLong())
        exchange.responseBody.use { it.write(ANSWER.toByteArray()) }
    }
    server.start()
    val address = OpenAIClientSettings(baseUrl = "http://127.0.0.1:${server.address.port}")
    val executor = MultiLLMPromptExecutor(OpenAILLMClient("none", address))
    val model = LLModel(LLMProvider.OpenAI, "m", listOf(LLMCapability.Completion, LLMCapability.OpenAIEndpoint.Completions), 9_000)
    val agent = AIAgent(promptExecutor = executor, llmModel = model) { install(OpenTelemetry) { addSpanExporter(Printer) } }
    runBlocking { agent.run("hi") }
    Thread.sleep(15_000).also { System.exit(0) }
}
KOTLIN
mvn -q -B compile dependency:copy-dependencies -DoutputDirectory=lib > /dev/null 2>&1
seen=$(java -cp 'target/classes:lib/*' MainKt 2>/dev/null | grep -E '^gen_ai.(usage.input_tokens|response.finish_reasons)' | sort -r | paste -s -d , | sed 's/,/, /')
echo "$seen"
[ "$seen" = 'gen_ai.usage.input_tokens STRING 12, gen_ai.response.finish_reasons STRING [stop]' ]
