/** Finds calls of a trace by their names and errors, and by what is in their bodies. */
import { html } from 'htm/preact'
import { useMemo, useRef, useState } from 'preact/hooks'
import { requestLines } from '../api/client.ts'
import type { Call } from '../api/wire.ts'
import { contains, escapedInJson } from '../calls/search/conditions.ts'
import { formatCount } from '../parts/format.ts'
import { useLoad } from '../parts/hooks/use-load.ts'
import { icon } from '../parts/icon.ts'
import { useFoundText } from './found-text.ts'
import { findCalls } from './tree.ts'

const BODIES = ['inputs', 'output', 'attributes', 'summary']
/** Limit: calls whose bodies contain the text. */
const FOUND_MAX = 1000
/** Pause after a key press before bodies are searched. */
const TYPING_MS = 300

interface TraceFindProps {
  readonly project: string
  /** In the order of the tree. */
  readonly calls: readonly Call[]
  readonly onFound: (id: string) => void
}

/** Steps through what it finds, in the order of the tree. */
export function TraceFind({ project, calls, onFound }: TraceFindProps) {
  const [text, setText] = useState('')
  const [at, setAt] = useState(-1)
  const form = useRef<HTMLFormElement>(null)
  useFoundText(text, () => form.current?.closest('.trace'))
  const trace = calls[0]?.trace_id ?? ''
  const inBodies = useLoad(`${trace} ${text}`, async (signal) =>
    text === '' ? new Set<string>() : readContaining({ project, trace, text }, signal),
  )
  const found = useMemo(() => {
    if (text === '') return []
    const named = new Set(findCalls(calls, text))
    const within = inBodies.isOther ? null : inBodies.value
    return calls.filter(({ id }) => named.has(id) || within?.has(id)).map(({ id }) => id)
  }, [calls, text, inBodies.value, inBodies.isOther])
  const move = (by: number) => {
    if (found.length === 0) return
    const following =
      (Math.max(at + by, by < 0 ? found.length + by : 0) + found.length) % found.length
    setAt(following)
    onFound(found[following] as string)
  }
  const submit = (event: Event) => {
    event.preventDefault()
    move(1)
  }
  const type = (event: InputEvent) => {
    setText((event.target as HTMLInputElement).value)
    setAt(-1)
  }
  const count = `${at + 1} of ${formatCount(found.length)}${inBodies.isLoading ? ' …' : ''}`
  return html`<form class="find" role="search" ref=${form} onSubmit=${submit}>
    <input type="search" aria-label="Find in names, errors, inputs, outputs and attributes" placeholder="find in the whole trace" value=${text} onInput=${type} />
    <button type="button" class="square" aria-label="Previous match" disabled=${found.length === 0} onClick=${() => move(-1)}>${icon('arrow-up')}</button>
    <button class="square" aria-label="Next match" disabled=${found.length === 0}>${icon('arrow-down')}</button>
    <span class="faint" role="status">${text !== '' && (inBodies.failure ?? count)}</span>
  </form>`
}

interface Sought {
  readonly project: string
  readonly trace: string
  readonly text: string
}

async function readContaining(
  { project, trace, text }: Sought,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  await new Promise((resolve) => setTimeout(resolve, TYPING_MS))
  signal.throwIfAborted()
  const parts = [...new Set([text, escapedInJson(text)])]
  const $or = BODIES.flatMap((body) => parts.map((part) => contains(body, part)))
  const body = {
    project_id: project,
    filter: { trace_ids: [trace] },
    query: { $expr: { $or } },
    columns: ['id'],
    limit: FOUND_MAX,
  }
  const ids = new Set<string>()
  for await (const { id } of requestLines<{ id: string }>('/calls/stream_query', body, { signal }))
    ids.add(id)
  return ids
}
