@file:JvmName("Main")

import ai.koog.agents.core.agent.AIAgent
import ai.koog.agents.core.agent.functionalStrategy
import ai.koog.agents.core.tools.ToolRegistry
import ai.koog.agents.core.tools.annotations.LLMDescription
import ai.koog.agents.core.tools.annotations.Tool
import ai.koog.agents.core.tools.reflect.ToolSet
import ai.koog.agents.core.tools.reflect.asToolsByClass
import ai.koog.agents.features.opentelemetry.feature.OpenTelemetry
import ai.koog.agents.features.opentelemetry.feature.OpenTelemetryConfig
import ai.koog.prompt.executor.clients.openai.OpenAIClientSettings
import ai.koog.prompt.executor.clients.openai.OpenAILLMClient
import ai.koog.prompt.executor.llms.MultiLLMPromptExecutor
import ai.koog.prompt.llm.LLMCapability
import ai.koog.prompt.llm.LLMProvider
import ai.koog.prompt.llm.LLModel
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporter
import kotlin.system.exitProcess
import kotlinx.coroutines.flow.collect
import kotlinx.coroutines.runBlocking

const val CONVERSATION = "talk-1"
const val EXPORT_MS = 15_000L

class Weather : ToolSet {
    @Tool("get_weather")
    @LLMDescription("The weather of a city.")
    fun getWeather(@LLMDescription("The name of the city.") city: String): String = "It is sunny in Paris."
}

val settings = OpenAIClientSettings(baseUrl = System.getenv("PROVIDER_URL"))
val executor = MultiLLMPromptExecutor(OpenAILLMClient("none", settings))
val gpt = LLModel(
    LLMProvider.OpenAI,
    "gpt-5",
    listOf(LLMCapability.Completion, LLMCapability.Tools, LLMCapability.OpenAIEndpoint.Completions),
    100_000,
)

/** Koog's own exporters for Weave and Langfuse, or one of OpenTelemetry. */
fun OpenTelemetryConfig.export() {
    val address = System.getenv("WEFT_URL")
    val key = System.getenv("PROJECT_KEY")
    val (entity, project) = System.getenv("PROJECT").split("/")
    setVerbose(true)
    when (System.getenv("EXPORTER")) {
        "weave" -> addWeaveExporter(address, entity, project, key)
        "langfuse" -> addLangfuseExporter(address, "$entity/$project", key)
        else -> addSpanExporter(
            OtlpHttpSpanExporter.builder()
                .setEndpoint("$address/v1/traces")
                .addHeader("authorization", "Bearer $key")
                .build(),
        )
    }
}

fun whole() = AIAgent(
    promptExecutor = executor,
    llmModel = gpt,
    systemPrompt = "Be brief.",
    toolRegistry = ToolRegistry { tools(Weather().asToolsByClass()) },
) {
    install(OpenTelemetry) { export() }
}

fun streamed() = AIAgent(
    promptExecutor = executor,
    llmModel = gpt,
    systemPrompt = "Be brief.",
    strategy = functionalStrategy<String, String> { question ->
        llm.writeSession {
            appendPrompt { user(question) }
            requestLLMStreaming().collect {}
        }
        "streamed"
    },
) {
    install(OpenTelemetry) { export() }
}

fun main() {
    var code = 0
    runBlocking {
        val steps = listOf("What is plain?", "What is the weather in Paris?", "Please stream.", "Please fail.")
        for (question in steps) {
            val agent = if (question == "Please stream.") streamed() else whole()
            val outcome = runCatching { agent.run(question, CONVERSATION) }
            println("$question $outcome")
            if (outcome.isFailure != (question == "Please fail.")) code = 1
            agent.close()
        }
    }
    // Closing an agent does not wait for its batches.
    Thread.sleep(EXPORT_MS)
    exitProcess(code)
}
