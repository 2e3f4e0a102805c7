/** A trace: the tree of its calls beside the times at which they ran, and the call that was chosen. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import { Failure, Loading } from '../parts/notice.ts'
import { useLoad } from '../parts/use-load.ts'
import { query, setQuery } from '../shell/location.ts'
import type { ViewProps } from '../shell/place.ts'
import { CallDetail } from './call-detail.ts'
import { readTrace, readTraceUsage } from './read-trace.ts'
import { TraceTree } from './trace-tree.ts'

/** @param props - the subject is any call of the trace */
export function Trace({ project, subject }: ViewProps) {
  const id = subject ?? ''
  const [count, reload] = useState(0)
  const trace = useLoad(`${project} ${id} ${count}`, (signal) => readTrace(project, id, signal))
  const calls = trace.value
  const usage = useLoad(`${count} ${calls?.length}`, async (signal) =>
    calls === null ? null : readTraceUsage(project, calls, signal),
  )
  const chosen = query.value.get('call') ?? id
  if (calls === null) {
    return html`<${Failure} words=${trace.failure} />${trace.isLoading && html`<${Loading} />`}`
  }
  return html`<${Failure} words=${trace.failure ?? usage.failure} />
    <div class="trace">
      <${TraceTree}
        calls=${calls}
        usage=${usage.value}
        chosen=${chosen}
        onChoose=${(call: string) => setQuery({ call })}
        onReload=${() => reload(count + 1)}
      />
      <${CallDetail} key=${chosen} project=${project} id=${chosen} usage=${usage.value?.get(chosen)} />
    </div>`
}
