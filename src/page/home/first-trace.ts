/** What to do where nothing is recorded yet: three ways to the first trace, ready to be pasted. */
import { html } from 'htm/preact'

function examplesFor(project: string): readonly (readonly [string, string])[] {
  const { origin } = location
  return [
    [
      'curl',
      `KEY=wk_...
curl ${origin}/v1/chat/completions -H "authorization: Bearer $KEY" \\
  -H 'compat-project: ${project}' -H 'content-type: application/json' \\
  -d '{"messages": [{"role": "user", "content": "What is 3 plus 4?"}]}'`,
    ],
    [
      'Weave SDK (Python)',
      `# pip install weave; export WF_TRACE_SERVER_URL=${origin}/traces WANDB_API_KEY=wk_...
import weave
weave.init("${project}")

@weave.op
def answer(question: str) -> str:
    return "Because."

answer("Why?")`,
    ],
    [
      'OpenTelemetry',
      `export OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=${origin}/v1/traces
export OTEL_EXPORTER_OTLP_HEADERS="authorization=Bearer wk_...,compat-project=${project}"`,
    ],
  ]
}

export function FirstTrace({ project }: { readonly project: string }) {
  return html`<section class="first">
    <h2>No calls in this time</h2>
    <p>Choose a longer time above, or record a first one into <b>${project}</b>:</p>
    ${examplesFor(project).map(
      ([title, text]) => html`<h3 key=${title}>${title}</h3><pre tabindex="0">${text}</pre>`,
    )}
  </section>`
}
