#!/bin/sh
# @langfuse/langchain@5.11.1 with @langchain/core@1.4.0: CallbackHandler with sessionId and userId, and messages of an agent's
# second request: a question, an answer that calls a tool, the tool's result.
#
# The generation should have each message with its role, and the session and the user that the handler was given. The tool's
# result has a content alone, neither a role nor the id of its call. The session and the user are on no span of a model that
# is asked by itself; below a chain they are on the chain and on nothing in it.
#
# Output seen:
#   model: GENERATION none; roles user, assistant, undefined; keys of the result content, additional_kwargs
#   chain: RunnableSequence s1 u1, GENERATION none
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
npm install --silent --no-audit --no-fund --ignore-scripts --legacy-peer-deps --prefix "$folder" @langfuse/langchain@5.11.1 \
  @langfuse/otel@5.11.1 @langfuse/tracing@5.11.1 @langfuse/core@5.11.1 @langchain/core@1.4.0 \
  @opentelemetry/api@1.10.0 @opentelemetry/sdk-trace-node@2.12.0 @opentelemetry/exporter-trace-otlp-http@0.301.0
cat > "$folder/run.mjs" <<'JS'
import { AIMessage, HumanMessage, ToolMessage } from '@langchain/core/messages'
import { RunnableLambda } from '@langchain/core/runnables'
import { FakeListChatModel } from '@langchain/core/utils/testing'
import { CallbackHandler } from '@langfuse/langchain'
import { LangfuseSpanProcessor } from '@langfuse/otel'
import { InMemorySpanExporter, NodeTracerProvider } from '@opentelemetry/sdk-trace-node'
const spans = new InMemorySpanExporter()
const processor = new LangfuseSpanProcessor({ exporter: spans, exportMode: 'immediate', publicKey: 'p', secretKey: 's', baseUrl: 'http://127.0.0.1:9' })
new NodeTracerProvider({ spanProcessors: [processor] }).register()
const model = new FakeListChatModel({ responses: ['It is sunny.'] })
const messages = [
  new HumanMessage('How is the weather?'),
  new AIMessage({ content: '', tool_calls: [{ id: 'call_1', name: 'get_weather', args: { city: 'Paris' } }] }),
  new ToolMessage({ content: 'sunny', tool_call_id: 'call_1' }),
]
const config = () => ({ callbacks: [new CallbackHandler({ sessionId: 's1', userId: 'u1' })] })
const told = ({ name, attributes: has }) => {
  const kind = has['langfuse.observation.type'] === 'generation' ? 'GENERATION' : name
  return `${kind} ${[has['session.id'], has['user.id']].filter(Boolean).join(' ') || 'none'}`
}
await model.invoke(messages, config())
await processor.forceFlush()
const [span] = spans.getFinishedSpans()
const input = JSON.parse(span.attributes['langfuse.observation.input'])
const sent = input.messages ?? input
console.log(`model: ${told(span)}; roles ${sent.map(({ role }) => String(role)).join(', ')}; keys of the result ${Object.keys(sent[2]).join(', ')}`)
spans.reset()
await RunnableLambda.from(() => messages).pipe(model).invoke('x', config())
await processor.forceFlush()
const shown = spans.getFinishedSpans().filter(({ name }) => /Sequence|Fake/.test(name)).reverse()
console.log(`chain: ${shown.map(told).join(', ')}`)
JS
seen=$(node "$folder/run.mjs")
echo "$seen" && [ "$seen" = "$(sed -n 's/^#   //p' "$0")" ]
