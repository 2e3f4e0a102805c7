/** What the list of threads says about each besides its turns: the first message, who wrote it, and sums of its turns. */
import { requestLines } from '../api/client.ts'
import { type Call, type Feedback, factsOf, type Thread, usageOf } from '../api/wire.ts'
import { isTurn } from '../calls/search/conditions.ts'
import { numberOf, scoresOf } from '../evaluations/scores.ts'
import { formatNumber, preview } from '../parts/format.ts'
import { lastMessageText, newestOf, onlyTextOf, promptOf } from '../parts/messages/messages.ts'

/** Limit: turns of a page of threads whose usage and feedback are summed up. */
const TURNS_MAX = 2000
const FIRST_CHARS = 140
/** Shown in place of a first message that is too long for a list. */
const UNREAD = 'over 1 MiB: open the conversation to read it'

export interface ThreadFacts {
  /** Beginning of what was said first. */
  readonly first: string
  /** For whom the calls were made, else the user of the key. */
  readonly user: string
  readonly tokens: number
  /** US dollars; null if nothing has a price. */
  readonly cost: number | null
  readonly feedback: readonly Feedback[]
  /** Turns that the sums count. */
  readonly turns: number
}

export async function readThreadFacts(
  project_id: string,
  threads: readonly Thread[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, ThreadFacts>> {
  const [firsts, turns] = await Promise.all([
    readFirsts(project_id, threads, signal),
    readTurns(project_id, threads, signal),
  ])
  return new Map(
    threads.map(({ thread_id, first_turn_id }) => [
      thread_id,
      { ...sumOf(turns.get(thread_id) ?? []), ...(firsts.get(first_turn_id ?? '') ?? NOBODY) },
    ]),
  )
}

const NOBODY = { first: '', user: '' }

/** Of each first turn the beginning of its message, and who sent it. */
async function readFirsts(project_id: string, threads: readonly Thread[], signal: AbortSignal) {
  const call_ids = threads.flatMap(({ first_turn_id }) => first_turn_id ?? [])
  const columns = ['inputs', 'summary', 'svc_username', 'end_user_id']
  const body = { project_id, filter: { call_ids }, columns, preview_bodies: true }
  const firsts = new Map<string, Pick<ThreadFacts, 'first' | 'user'>>()
  for await (const call of requestLines<Call>('/calls/stream_query', body, { signal })) {
    const user = call.end_user_id ?? call.svc_username ?? ''
    const isUnread = factsOf(call).unread_bodies?.includes('inputs')
    firsts.set(call.id, { first: isUnread ? UNREAD : firstTextOf(call.inputs), user })
  }
  return firsts
}

function firstTextOf(inputs: unknown): string {
  const said = lastMessageText(newestOf(promptOf(inputs)))
  return preview(said ?? onlyTextOf(inputs), FIRST_CHARS)
}

async function readTurns(project_id: string, threads: readonly Thread[], signal: AbortSignal) {
  const body = {
    project_id,
    filter: { thread_ids: threads.map(({ thread_id }) => thread_id) },
    query: { $expr: isTurn },
    columns: ['thread_id', 'summary'],
    include_costs: true,
    include_tree_usage: true,
    include_feedback: true,
    limit: TURNS_MAX,
  }
  const turns = new Map<string, Call[]>()
  for await (const call of requestLines<Call>('/calls/stream_query', body, { signal })) {
    const thread = call.thread_id ?? ''
    if (!turns.get(thread)?.push(call)) turns.set(thread, [call])
  }
  return turns
}

function sumOf(turns: readonly Call[]) {
  const costs = turns.flatMap((call) => {
    const { tree_total_cost = usageOf(call).cost } = factsOf(call)
    return tree_total_cost ?? []
  })
  return {
    tokens: turns.reduce(
      (sum, call) => sum + (factsOf(call).tree_total_tokens ?? usageOf(call).tokens ?? 0),
      0,
    ),
    cost: costs.length === 0 ? null : costs.reduce((sum, cost) => sum + cost, 0),
    feedback: turns.flatMap((call) => factsOf(call).feedback ?? []),
    turns: turns.length,
  }
}

/** `👍 3 · rating 4.2`: reactions are counted, numbers averaged by their names, notes counted. Pure. */
export function averageScores(feedback: readonly Feedback[]): string {
  const counts = new Map<string, number>()
  const numbers = new Map<string, number[]>()
  for (const { payload, feedback_type } of feedback) {
    const { emoji, note, value } = payload
    const label = typeof emoji === 'string' ? emoji : typeof note === 'string' ? 'notes' : null
    if (label !== null) counts.set(label, (counts.get(label) ?? 0) + 1)
    const scorer = feedback_type.replace(/^wandb\.runnable\./, '')
    for (const [path, score] of Object.entries(scoresOf(value ?? payload.output ?? payload))) {
      const name = `${scorer} ${path}`.trim()
      const number = numberOf(score)
      if (number !== null && !numbers.get(name)?.push(number)) numbers.set(name, [number])
    }
  }
  const means = [...numbers].map(([name, all]) => {
    const mean = all.reduce((sum, number) => sum + number, 0) / all.length
    return `${name} ${formatNumber(+mean.toFixed(2))}`
  })
  return [...[...counts].map(([label, count]) => `${label} ${count}`), ...means].join(' · ')
}
