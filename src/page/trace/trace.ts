/** A trace: the tree and timeline of its calls, and the selected call. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import type { Call } from '../api/wire.ts'
import { shortOp } from '../parts/format.ts'
import { type Loaded, useLoad } from '../parts/hooks/use-load.ts'
import { Failure, Loading, Pending } from '../parts/notice.ts'
import { query, setQuery } from '../shell/location.ts'
import type { ViewProps } from '../shell/page-route.ts'
import { useSubjectName } from '../shell/subject-name.ts'
import { CallDetail } from './call-detail.ts'
import { readKinds, readTrace, readTraceUsage } from './read-trace.ts'
import { TraceTree } from './trace-tree.ts'

interface Calls {
  readonly calls: readonly Call[]
  /** Whether these are all calls of the trace. */
  readonly isWhole: boolean
}

const NO_KINDS: ReadonlyMap<string, string> = new Map()
const NO_CALLS: Calls = { calls: [], isWhole: false }

/** @param props - the subject is any call of the trace, or the trace, of which the first call is shown */
export function Trace({ project, subject }: ViewProps) {
  const id = subject ?? ''
  const [count, reload] = useState(0)
  const read = async (signal: AbortSignal, tell: (part: Calls) => void): Promise<Calls> => {
    // A complete trace stays complete while it is reloaded.
    const isFirst = trace.value === null
    const onPart = (calls: readonly Call[]) => {
      if (isFirst) tell({ calls, isWhole: false })
    }
    return { calls: await readTrace(project, id, signal, onPart), isWhole: true }
  }
  const trace: Loaded<Calls> = useLoad(`${project} ${id}`, read, count)
  const { calls, isWhole } = trace.value ?? NO_CALLS
  const usage = useLoad(
    `${isWhole ? calls.length : ''}`,
    async (signal) => (isWhole ? readTraceUsage(project, calls, signal) : null),
    count,
  )
  const kinds = useLoad(
    `${isWhole ? calls.length : ''}`,
    async (signal) => (isWhole ? readKinds(project, calls, signal) : null),
    count,
  )
  const isCall = calls.some((call) => call.id === id)
  const chosen = query.value.get('call') ?? (isCall ? id : (calls[0]?.id ?? id))
  const [root] = calls
  useSubjectName(id, trace.isLoading, root && (root.display_name ?? shortOp(root.op_name)))
  if (trace.value === null && !trace.isLoading)
    return html`<${Pending} title=${id} loaded=${trace} />`
  return html`<${Failure} words=${trace.failure ?? usage.failure} />
    <div class="trace">
      ${
        trace.value === null
          ? html`<section><${Loading} /></section>`
          : html`<${TraceTree}
        project=${project}
        calls=${calls}
        isWhole=${isWhole}
        usage=${usage.value}
        kinds=${kinds.value ?? NO_KINDS}
        chosen=${chosen}
        onChoose=${(call: string) => setQuery({ call })}
        onReload=${() => reload((last) => last + 1)}
      />`
      }
      <${CallDetail} key=${chosen} project=${project} id=${chosen} turn=${count} usage=${usage.value?.get(chosen)} />
    </div>`
}
