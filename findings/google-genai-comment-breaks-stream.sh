#!/bin/sh
# google-genai==2.34.0 for Python and @google/genai@1.30.0 for JavaScript, which gemini-cli 0.61.0 carries.
#
# A comment between the events of a stream (a line that begins with a colon) should be skipped, as readers of server-sent events
# do; proxies and servers send some to keep a connection open. Both libraries end the stream with an error. A blank line is
# skipped. An `error` in an event is thrown by the first, and by the second taken for a response without candidates.
#
# Output seen:
#   python comment: UnknownApiResponseError
#   python blank: Hello
#   python error: ServerError
#   node comment: Error
#   node blank: Hello
#   node error: Hel
set -eu
folder=$(mktemp -d) server=
trap 'kill $server; rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install --disable-pip-version-check google-genai==2.34.0
npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$folder" @google/genai@1.30.0
cat > "$folder/server.mjs" <<'JS'
import { createServer } from 'node:http'
const event = (value) => `data: ${JSON.stringify(value)}\n\n`
const said = (text) => event({ candidates: [{ content: { role: 'model', parts: [{ text }] } }] })
const streams = {
  comment: `${said('Hel')}: comment\n\n${said('lo')}`,
  blank: `${said('Hel')}\n\n${said('lo')}`,
  error: said('Hel') + event({ error: { code: 500, message: 'told', status: 'INTERNAL' } }),
}
const server = createServer(({ url }, response) => response.end(streams[url.split('/')[1]]))
server.listen(0, '127.0.0.1', () => console.log(server.address().port))
JS
cat > "$folder/run.py" <<'PY'
import sys; from google import genai
for kind in ("comment", "blank", "error"):
    client = genai.Client(api_key="k", http_options={"base_url": f"http://127.0.0.1:{sys.argv[1]}/{kind}"})
    try:
        seen = "".join(c.text for c in client.models.generate_content_stream(model="m", contents="hi"))
    except Exception as error:
        seen = type(error).__name__
    print(f"python {kind}: {seen}")
PY
cat > "$folder/run.mjs" <<'JS'
import { GoogleGenAI } from '@google/genai'
for (const kind of ['comment', 'blank', 'error']) {
  const httpOptions = { baseUrl: `http://127.0.0.1:${process.argv[2]}/${kind}` }
  const { models } = new GoogleGenAI({ apiKey: 'k', httpOptions })
  let seen = ''
  try {
    for await (const { text } of await models.generateContentStream({ model: 'm', contents: 'hi' })) seen += text ?? ''
  } catch { seen = 'Error' }
  console.log(`node ${kind}: ${seen}`)
}
JS
node "$folder/server.mjs" > "$folder/port" &
server=$!
sleep 2
seen=$("$folder/venv/bin/python" "$folder/run.py" "$(cat "$folder/port")" && node "$folder/run.mjs" "$(cat "$folder/port")")
echo "$seen"
[ "$seen" = "$(sed -n 's/^#   //p' "$0")" ]
