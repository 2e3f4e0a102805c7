/** Instructions for a project without calls: three ways to the first trace, ready to be pasted. */
import { html } from 'htm/preact'
import { key } from '../api/key.ts'
import { CopyButton } from '../parts/copy-button.ts'

/** Shown instead of the key, in case others can see the screen. */
const HIDDEN = 'wk_…'

type Example = readonly [title: string, text: string]

function examplesFor(project: string, secret: string): readonly Example[] {
  const { origin } = location
  return [
    [
      'curl',
      `curl ${origin}/v1/chat/completions -H "authorization: Bearer ${secret}" \\
  -H 'compat-project: ${project}' -H 'content-type: application/json' \\
  -d '{"messages": [{"role": "user", "content": "What is 3 plus 4?"}]}'`,
    ],
    [
      'Weave SDK (Python)',
      `# pip install weave
import os
os.environ["WF_TRACE_SERVER_URL"] = "${origin}/traces"
os.environ["WANDB_BASE_URL"] = "${origin}"
os.environ["WANDB_API_KEY"] = "${secret}"
import weave
weave.init("${project}")

@weave.op
def answer(question: str) -> str:
    return "Because."

answer("Why?")`,
    ],
    [
      'OpenTelemetry (any exporter of OTLP over HTTP)',
      `export OTEL_EXPORTER_OTLP_ENDPOINT=${origin}
export OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf
export OTEL_EXPORTER_OTLP_HEADERS="authorization=Bearer%20${secret},project_id=${project}"`,
    ],
  ]
}

export function FirstTrace({ project }: { readonly project: string }) {
  const hidden = examplesFor(project, HIDDEN)
  const whole = examplesFor(project, key.value ?? HIDDEN)
  return html`<section class="first">
    <h2>No calls yet</h2>
    <p>Record a first one into <b>${project}</b>. What is copied has the key that you signed in with:</p>
    ${hidden.map(([title, text], at) => html`<${Way} key=${title} title=${title} shown=${text} copied=${whole[at]?.[1] ?? text} />`)}
  </section>`
}

interface WayProps {
  readonly title: string
  readonly shown: string
  readonly copied: string
}

function Way({ title, shown, copied }: WayProps) {
  return html`<div class="bar"><h3>${title}</h3><${CopyButton} isQuiet words="copy with the key" text=${copied} /></div>
    <pre tabindex="0">${shown}</pre>`
}
