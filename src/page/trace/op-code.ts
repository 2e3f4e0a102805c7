/** The code of an operation, in the version that a call ran. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import { request, requestJson, textIn } from '../api/client.ts'
import { useLoad } from '../parts/hooks/use-load.ts'
import { Failure, Loading } from '../parts/notice.ts'
import { LongText } from '../parts/values/json-tree.ts'

/** How a tracing SDK stores an operation: its source is a file beside it. */
interface StoredOp {
  readonly files?: Readonly<Record<string, string>>
}

interface OpCodeProps {
  readonly project: string
  /** A ref; plain names have no code. */
  readonly opName: string
}

export function OpCode({ project, opName }: OpCodeProps) {
  const [isOpen, setOpen] = useState(false)
  if (!/^[^:]+:\/\/\/.*\/op\//.test(opName)) return null
  const toggle = (event: Event) => setOpen((event.target as HTMLDetailsElement).open)
  return html`<details class="part" onToggle=${toggle}>
    <summary><h2>Code of the operation</h2></summary>
    ${isOpen && html`<${Code} project=${project} opName=${opName} />`}
  </details>`
}

async function readCode(project_id: string, ref: string, signal: AbortSignal): Promise<string> {
  const { vals } = await requestJson<{ vals: unknown[] }>(
    '/refs/read_batch',
    { refs: [ref] },
    { signal },
  )
  const { files = {} } = (vals[0] ?? {}) as StoredOp
  const texts: string[] = []
  for (const [name, digest] of Object.entries(files)) {
    const response = await request('/file/content', { project_id, digest }, { signal })
    const title = Object.keys(files).length > 1 ? `# ${name}\n` : ''
    texts.push(`${title}${await textIn(response)}`)
  }
  return texts.join('\n\n')
}

function Code({ project, opName }: OpCodeProps) {
  const code = useLoad(opName, (signal) => readCode(project, opName, signal))
  if (code.value === null)
    return html`<${Failure} words=${code.failure} />${code.isLoading && html`<${Loading} />`}`
  if (code.value === '') return html`<p class="faint">No code was stored with this version.</p>`
  return html`<pre class="code" tabindex="0"><${LongText} text=${code.value} /></pre>`
}
