#!/bin/sh
# openlit@1.15.0 (npm) with openai@6.49.0, and a tracer provider of the program's, which `openlit.init` takes as `tracer`.
#
# With that option, requests should be traced by the given provider. They are sent, answered and paid for, and then the client
# raises an Error: "OpenlitConfig.applicationName is not set", although the option applicationName has a name. The setting
# is stored only where OpenLIT makes a provider itself. The span has the error and no tokens. Without the option it works.
#
# Output seen:
#   own provider: answered 1, error [Openlit] OpenlitConfig.applicationName is not set. Please check your configuration.
#   OpenLIT's: answered 1, text hi
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
npm install --silent --no-audit --no-fund --ignore-scripts --legacy-peer-deps --prefix "$folder" openlit@1.15.0 openai@6.49.0 \
  @opentelemetry/api@1.10.0 @opentelemetry/sdk-trace-node@2.12.0
cat > "$folder/run.cjs" <<'JS'
const { createServer } = require('node:http')
const { NodeTracerProvider } = require('@opentelemetry/sdk-trace-node')
const openlit = require('openlit').default
const openai = require('openai')
let answered = 0
const answer = {
  id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'gpt-5',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 },
}
const server = createServer((request, response) => {
  answered++
  response.setHeader('content-type', 'application/json').end(JSON.stringify(answer))
})
server.listen(0, '127.0.0.1', async () => {
  const isOwn = process.argv[2] === 'own'
  openlit.init({
    applicationName: 'shop', environment: 'test', pricingJson: {}, disableMetrics: true, disableEvents: true,
    instrumentations: { openai },
    ...(isOwn ? { tracer: new NodeTracerProvider() } : {}),
  })
  const client = new openai.OpenAI({ apiKey: 'k', baseURL: `http://127.0.0.1:${server.address().port}/v1`, maxRetries: 0 })
  const said = await client.chat.completions
    .create({ model: 'gpt-5', messages: [{ role: 'user', content: 'hi' }] })
    .then(({ choices }) => `text ${choices[0].message.content}`, (error) => `error ${error.message}`)
  process.stderr.write(`${isOwn ? 'own provider' : "OpenLIT's"}: answered ${answered}, ${said}\n`)
  process.exit()
})
JS
seen=$(for whose in own openlit; do OTEL_TRACES_EXPORTER=none node "$folder/run.cjs" $whose 2>&1 > /dev/null | grep ': answered'; done)
echo "$seen" && [ "$seen" = "$(sed -n 's/^#   //p' "$0")" ]
