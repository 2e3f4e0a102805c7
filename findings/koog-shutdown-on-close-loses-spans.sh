#!/bin/sh
# pkg:maven/ai.koog/agents-features-opentelemetry-jvm@1.1.1, with its exporter for Langfuse.
#
# An agent that is closed with setShutdownOnAgentClose(true) should export what still waits in a batch, as the shutdown of an
# SDK of OpenTelemetry must. Without the setting all 7 spans of a run come some seconds later, if the program goes on. With it,
# closing the agent throws most of them away, and waiting does not bring them.
#
# Output seen: without: 7, with: fewer
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
for pin in koog-agents-jvm@1.1.1 agents-features-opentelemetry-jvm@1.1.1; do
  dependencies="${dependencies:-}<dependency><groupId>ai.koog</groupId><artifactId>${pin%@*}</artifactId><version>${pin#*@}</version></dependency>"
done
cat > pom.xml <<XML
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion><groupId>a</groupId><artifactId>a</artifactId><version>1</version>
  <dependencies>$dependencies</dependencies>
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
import kotlinx.coroutines.runBlocking
const val CHOICE = """{"index": 0, "message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}"""
const val ANSWER = """{"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [$CHOICE]}"""
fun main(arguments: Array<String>) {
    val spans = mutableSetOf<String>()
    val server = com.sun.net.httpserver.HttpServer.create(java.net.InetSocketAddress("127.0.0.1", 0), 0)
    server.createContext("/") { exchange ->
        val body = exchange.requestBody.readAllBytes().decodeToString()
        Regex("\"spanId\": *\"(\\w+)\"").findAll(body).forEach { spans.add(it.groupValues[1]) }
        exchange.responseHeaders.add("content-type", "application/json")
        exchange.sendResponseHeaders(200, ANSWER.length.toLong())
        exchange.responseBody.use { it.write(ANSWER.toByteArray()) }
    }
    val address = "http://127.0.0.1:${server.address.port}"
    server.start()
    val executor = MultiLLMPromptExecutor(OpenAILLMClient("none", OpenAIClientSettings(baseUrl = address)))
    val model = LLModel(LLMProvider.OpenAI, "m", listOf(LLMCapability.Completion, LLMCapability.OpenAIEndpoint.Completions), 9_000)
    val agent = AIAgent(promptExecutor = executor, llmModel = model) {
        install(OpenTelemetry) { addLangfuseExporter(address, "public", "secret"); setShutdownOnAgentClose(arguments[0] == "with") }
    }
    runBlocking { agent.run("hi").also { agent.close() } }
    Thread.sleep(20_000)
    println("${arguments[0]}: ${if (spans.size < 7) "fewer" else spans.size}")
    System.exit(0)
}
KOTLIN
mvn -q -B compile dependency:copy-dependencies -DoutputDirectory=lib > /dev/null 2>&1
run() { java -cp 'target/classes:lib/*' MainKt "$1" 2>/dev/null | grep "^$1"; }
seen="$(run without), $(run with)" && echo "$seen"
[ "$seen" = 'without: 7, with: fewer' ]
