#!/bin/sh
# @traceloop/instrumentation-langchain 0.27.0 (OpenLLMetry for JavaScript) with @langchain/core 1.4.0: a chain of a function and a
# model, to which the program gives a handler of its own in `callbacks`, and the same chain by streamEvents.
#
# An instrumentation should add spans and change nothing else. Below a chain it puts its own handler in place of those that the
# chain hands down, so that the handler is not called for the model any more, and streamEvents has no event of the model.
#
# Output seen:
#   before: chain chain model, events of the model 4
#   instrumented: chain, events of the model 0
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
npm install --silent --no-audit --no-fund --ignore-scripts --legacy-peer-deps --prefix "$folder" \
  @traceloop/instrumentation-langchain@0.27.0 @langchain/core@1.4.0 @opentelemetry/api@1.10.0 @opentelemetry/sdk-trace-node@2.12.0
cat > "$folder/run.mjs" <<'JS'
import { setTimeout as sleep } from 'node:timers/promises'
import { BaseCallbackHandler } from '@langchain/core/callbacks/base'
import * as callbackManagerModule from '@langchain/core/callbacks/manager'
import { RunnableLambda } from '@langchain/core/runnables'
import { FakeListChatModel } from '@langchain/core/utils/testing'
import { LangChainInstrumentation } from '@traceloop/instrumentation-langchain'

const chain = RunnableLambda.from((text) => text).pipe(new FakeListChatModel({ responses: ['ho'] }))
async function show(name) {
  const heard = []
  const handler = BaseCallbackHandler.fromMethods({
    handleChainStart: () => heard.push('chain'),
    handleChatModelStart: () => heard.push('model'),
  })
  await chain.invoke('hi', { callbacks: [handler] })
  let events = 0
  for await (const { event } of chain.streamEvents('hi', { version: 'v2' })) events += Number(event.startsWith('on_chat_model'))
  console.log(`${name}: ${heard.join(' ')}, events of the model ${events}`)
}
await show('before')
const instrumentation = new LangChainInstrumentation()
instrumentation.manuallyInstrument({ callbackManagerModule })
await sleep(200)
await show('instrumented')
JS
seen=$(node "$folder/run.mjs")
echo "$seen"
[ "$seen" = "$(sed -n 's/^#   //p' "$0")" ]
