/** The conversations of an end user: the threads of their newest calls. */
import { html } from 'htm/preact'
import { isThere } from '../calls/search/conditions.ts'
import { formatCount } from '../parts/format.ts'
import { useLoad } from '../parts/hooks/use-load.ts'
import { Failure, Loading } from '../parts/notice.ts'
import { readThreads, ThreadTable } from '../threads/thread-list.ts'
import { readUserCalls } from './user-calls.ts'

/** Limit: calls of threads in which threads are looked for. */
const CALLS_MAX = 1000
/** Limit: conversations that are listed. */
const THREADS_MAX = 50

interface UserThreadsProps {
  readonly project: string
  readonly user: string
}

async function readUserThreads({ project, user }: UserThreadsProps, signal: AbortSignal) {
  const options = { columns: ['thread_id'], limit: CALLS_MAX, condition: isThere('thread_id') }
  const calls = await readUserCalls(project, user, options, signal)
  const ids = [...new Set(calls.flatMap(({ thread_id }) => thread_id ?? []))]
  const threads =
    ids.length === 0
      ? []
      : await readThreads(project, THREADS_MAX, signal, ids.slice(0, THREADS_MAX))
  return { threads, isPart: calls.length === CALLS_MAX || ids.length > THREADS_MAX }
}

export function UserThreads(props: UserThreadsProps) {
  const loaded = useLoad('threads', (signal) => readUserThreads(props, signal))
  const { value } = loaded
  return html`<h2>Conversations</h2>
    <${Failure} words=${loaded.failure} />
    ${value === null && loaded.isLoading && html`<${Loading} />`}
    ${value?.threads.length === 0 && html`<p class="faint">No call of this time belongs to a thread.</p>`}
    ${(value?.threads.length ?? 0) > 0 && html`<${ThreadTable} project=${props.project} threads=${value?.threads} />`}
    ${value?.isPart && html`<p class="faint">At most ${THREADS_MAX} threads of the newest ${formatCount(CALLS_MAX)} calls.</p>`}`
}
