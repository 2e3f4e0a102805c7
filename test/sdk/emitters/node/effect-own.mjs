/** Effect's AI packages, whose spans its own bridge to OpenTelemetry sends. */
import { Chat, LanguageModel, Tool, Toolkit } from '@effect/ai'
import { OpenAiClient, OpenAiLanguageModel } from '@effect/ai-openai'
import * as NodeSdk from '@effect/opentelemetry/NodeSdk'
import { FetchHttpClient } from '@effect/platform'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace-node'
import { Effect, Layer, ManagedRuntime, Redacted, Schema, Stream } from 'effect'
import { attempt, FAIL, finish, PLAIN, PROVIDER, STREAM, SUNNY, WEATHER } from './steps.mjs'

const tools = Toolkit.make(
  Tool.make('get_weather', {
    description: 'The weather of a city.',
    parameters: { city: Schema.String },
    success: Schema.String,
  }),
)
const client = OpenAiClient.layer({ apiKey: Redacted.make('none'), apiUrl: `${PROVIDER}/v1` }).pipe(
  Layer.provide(FetchHttpClient.layer),
)
const telemetry = NodeSdk.layer(() => ({
  resource: { serviceName: 'program' },
  spanProcessor: new BatchSpanProcessor(new OTLPTraceExporter()),
}))
const layers = Layer.mergeAll(
  OpenAiLanguageModel.layer({ model: 'gpt-5' }).pipe(Layer.provide(client)),
  tools.toLayer({ get_weather: () => Effect.succeed(SUNNY) }),
  telemetry,
)
const runtime = ManagedRuntime.make(layers)
const run = (effect) => runtime.runPromise(effect)
await attempt({
  plain: () => run(LanguageModel.generateText({ prompt: PLAIN })),
  tool: () =>
    run(
      Effect.gen(function* () {
        const chat = yield* Chat.empty
        yield* chat.generateText({ prompt: WEATHER, toolkit: tools })
        yield* chat.generateText({ prompt: [], toolkit: tools })
      }).pipe(Effect.withSpan('forecast')),
    ),
  stream: () => run(Stream.runDrain(LanguageModel.streamText({ prompt: STREAM }))),
  fail: () => run(LanguageModel.generateText({ prompt: FAIL })),
})
await finish(() => runtime.dispose())
