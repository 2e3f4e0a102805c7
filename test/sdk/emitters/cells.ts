/**
 * The cells of a program's row: what a server shows of its calls, compared with the provider's ledger. `yes`; `no`, with
 * what is there instead, or of messages and tools what is not shown; `wire` where nothing that the program sent has the
 * value, and `wire lacks n` where that is so of n answers; `-` where nothing was asked.
 */
import type { Answer } from './provider/answers.ts'

export type Json = Record<string, unknown>
export type Sums = Record<string, number>
export interface Call {
  readonly id: string
  readonly parent_id: string | null
  readonly trace_id: string
  readonly thread_id: string | null
  readonly op_name: string
  readonly exception: string | null
  readonly attributes: Json
  readonly inputs: Json
  readonly output: Json | null
  readonly summary: { readonly usage?: Record<string, Json> }
}

/** USD for a token. */
export const PRICE = { input: 1e-6, cached: 1e-7, written: 2e-6, output: 1e-5 }
const CONVERSATION = 'talk-1'
const USER = 'user-1'
const MODEL_KINDS = new Set(['llm', 'embedding'])
type Key = 'input' | 'cached' | 'written' | 'output' | 'reasoning'

/** An answer and the model calls that show it. */
interface Seen {
  readonly one: Answer
  readonly found: readonly Call[]
}

interface Row {
  readonly calls: readonly Call[]
  readonly sums: Sums
  readonly ledger: readonly Answer[]
  /** Answers that are no failures. */
  readonly seen: readonly Seen[]
  /** Whether anything that was sent has a value. */
  readonly has: (value: string | number) => boolean
  /** Whether it has a number behind a name of cached, written or reasoning tokens. */
  readonly hasNamed: (value: number) => boolean
}

export function cellsOf(calls: readonly Call[], sums: Sums, ledger: readonly Answer[]): Json {
  const wire = JSON.stringify(calls)
  const has = (value: string | number) => new RegExp(`(?<![\\w.])${value}(?![\\w.])`).test(wire)
  const answered = ledger.filter(({ isFailure }) => !isFailure)
  const seen = answered.map((one) => ({ one, found: callsOf(calls, one) }))
  const hasNamed = (value: number) =>
    new RegExp(`(?:cache|reason|thought|think)[\\w.]*\\W{1,8}${value}\\b`).test(wire)
  const row = { calls, sums, ledger, seen, has, hasNamed }
  return {
    call: callCell(row),
    tokens: tokensCell(row),
    cost: costCell(row),
    cached: countCell(row, 'cached', 'cache_read_input_tokens'),
    written: countCell(row, 'written', 'cache_creation_input_tokens'),
    reasoning: countCell(row, 'reasoning', 'reasoning_tokens'),
    messages: messagesCell(row),
    tools: toolsCell(row),
    stream: streamCell(row),
    error: errorCell(row),
    conversation: idCell(row, CONVERSATION, ({ thread_id }) => thread_id === CONVERSATION),
    user: idCell(row, USER, ({ attributes }) => attributes.user === USER),
    tree: treeCell(calls),
  }
}

function countOf(call: Call, name: 'prompt_tokens' | 'completion_tokens'): number {
  const other = name === 'prompt_tokens' ? 'input_tokens' : 'output_tokens'
  const all = Object.values(call.summary.usage ?? {})
  return all.reduce((sum, usage) => sum + Number(usage[name] ?? usage[other] ?? 0), 0)
}

/** The model calls of an answer, which no other answer has the counts or the text of. */
function callsOf(calls: readonly Call[], { input, output, text, tool }: Answer): Call[] {
  const byCount = calls.filter(
    (call) =>
      countOf(call, 'prompt_tokens') === input ||
      (output > 0 && countOf(call, 'completion_tokens') === output),
  )
  if (byCount.length > 0) return byCount
  const mark = tool?.id ?? text
  return calls.filter((call) => isModelCall(call) && JSON.stringify(call.output).includes(mark))
}

function isModelCall({ attributes, inputs }: Call): boolean {
  return MODEL_KINDS.has(String(attributes.kind)) || inputs.model !== undefined
}

const lackText = (count: number, of: number) => (count === of ? 'wire' : `wire lacks ${count}`)

function callCell({ seen, has }: Row): string {
  const unseen = seen.filter(({ found }) => found.length === 0)
  if (unseen.length === 0) return 'yes'
  const isSent = unseen.some(
    ({ one }) => has(one.input) || has(one.text) || (one.tool && has(one.tool.id)),
  )
  if (!isSent) return lackText(unseen.length, seen.length)
  return `no: not ${unseen.map(({ one }) => one.number).join(', ')}`
}

/** Answers of which the input or the output is nowhere. */
function uncounted({ seen, has }: Row): Seen[] {
  // Gemini's own counts leave thoughts out of the output.
  const isSent = ({ output, reasoning }: Answer) => has(output) || has(output - reasoning)
  return seen.filter(({ one }) => !has(one.input) || (one.output > 0 && !isSent(one)))
}

function sumOf(seen: readonly Seen[], key: Key): number {
  return seen.reduce((sum, { one }) => sum + one[key], 0)
}

function tokensCell(row: Row): string {
  const { seen, sums } = row
  const told = [sums.input_tokens, sums.output_tokens].join(' / ')
  if (told === [sumOf(seen, 'input'), sumOf(seen, 'output')].join(' / ')) return 'yes'
  const lost = uncounted(row)
  const rest = seen.filter((one) => !lost.includes(one))
  if (told === [sumOf(rest, 'input'), sumOf(rest, 'output')].join(' / ')) {
    return lackText(lost.length, seen.length)
  }
  return `no: ${told}, not ${sumOf(seen, 'input')} / ${sumOf(seen, 'output')}`
}

function costCell(row: Row): string {
  const { seen, sums, hasNamed, calls } = row
  const usages = calls.flatMap(({ summary }) => Object.values(summary.usage ?? {}))
  const lost = uncounted(row)
  if (lost.length === seen.length) return 'wire'
  let expected = 0
  for (const { one } of seen.filter((each) => !lost.includes(each))) {
    const cached = hasNamed(one.cached) ? one.cached : 0
    const written = hasNamed(one.written) ? one.written : 0
    expected += (one.input - cached - written) * PRICE.input + one.output * PRICE.output
    expected += cached * PRICE.cached + written * PRICE.written
  }
  const told = sums.total_cost ?? 0
  if (Math.abs(told - expected) < 1e-9) return 'yes'
  const reported = usages.reduce((sum, { cost }) => sum + (Number(cost) || 0), 0)
  if (reported > 0 && Math.abs(told - reported) < 1e-8) return 'as reported'
  return `no: ${told}, not ${Number(expected.toFixed(9))}`
}

function countCell({ seen, sums, hasNamed }: Row, key: Key, metric: string): string {
  const counted = seen.filter(({ one }) => one[key] > 0)
  if (counted.length === 0) return '-'
  const missing = counted.filter(({ one }) => !hasNamed(one[key]))
  if (sums[metric] === sumOf(counted, key)) return 'yes'
  if (sums[metric] === sumOf(counted, key) - sumOf(missing, key)) {
    return lackText(missing.length, counted.length)
  }
  return `no: ${sums[metric]}, not ${sumOf(counted, key)}`
}

/** Messages that went in; calls that are no spans have them as the program gave them. */
function messagesOf({ inputs }: Call): Json[] {
  const list = inputs.messages ?? inputs.input
  if (typeof list === 'string') return [{ role: 'user', content: list }]
  return Array.isArray(list) ? list.filter((item) => typeof item === 'object' && item !== null) : []
}

function textIn(content: unknown): string {
  if (typeof content === 'string') return content
  return Array.isArray(content)
    ? content.map((part) => String((part as Json).text ?? '')).join('')
    : ''
}

function answerOf({ output }: Call): Json {
  return ((output?.choices as { message?: Json }[] | undefined)?.[0]?.message ?? {}) as Json
}

function messagesCell({ seen, has }: Row): string {
  const talks = seen.filter(({ one }) => one.protocol !== 'embeddings' && one.question !== '')
  const wrong = talks.flatMap(({ one, found }) => {
    const isAsked = found.some((call) =>
      messagesOf(call).some(
        ({ role, content }) => role === 'user' && textIn(content).includes(one.question),
      ),
    )
    const isAnswered =
      one.tool !== null ||
      found.some(
        (call) =>
          answerOf(call).content === one.text ||
          JSON.stringify(call.output?.output ?? '').includes(one.text),
      )
    return [isAsked ? '' : `question ${one.number}`, isAnswered ? '' : `answer ${one.number}`]
  })
  const missing = wrong.filter(Boolean)
  if (missing.length === 0) return 'yes'
  const isSent = talks.some(
    ({ one }) => has(one.text) || (one.tool === null && has('Please stream')),
  )
  return isSent ? `no: ${missing.join(', ')}` : 'wire'
}

function toolsCell({ calls, seen, has }: Row): string {
  const asked = seen.filter(({ one }) => one.tool !== null && one.tool.name !== 'final_answer')
  if (asked.length === 0) return '-'
  const wrong = asked
    .filter(({ one, found }) => !found.some((call) => hasCall(call, one)))
    .map(({ one }) => `call ${one.number}`)
  const isGiven = calls.some((call) =>
    messagesOf(call).some(
      ({ role, content, type, output }) =>
        (role === 'tool' && textIn(content).includes('sunny')) ||
        (type === 'function_call_output' && String(output).includes('sunny')),
    ),
  )
  if (!isGiven) wrong.push('result')
  if (wrong.length === 0) return 'yes'
  return has('sunny') || has('Paris') ? `no: ${wrong.join(', ')}` : 'wire'
}

function hasCall(call: Call, { tool }: Answer): boolean {
  const calls = answerOf(call).tool_calls as { function: Json }[] | undefined
  const items = (call.output?.output as Json[] | undefined) ?? []
  return [...(calls ?? []).map((each) => each.function), ...items].some(
    (each) =>
      each.name === tool?.name && String(each.arguments).replaceAll(' ', '') === tool?.arguments,
  )
}

function streamCell({ seen, has }: Row): string {
  const streamed = seen.filter(({ one }) => one.isStream)
  if (streamed.length === 0) return '-'
  const wrong = streamed.filter(
    ({ one, found }) =>
      !found.some((call) => countOf(call, 'completion_tokens') === one.output) ||
      (one.tool === null && !found.some((call) => JSON.stringify(call.output).includes(one.text))),
  )
  if (wrong.length === 0) return 'yes'
  const lacks = wrong.map(({ one }) => [
    has(one.output) ? '' : 'tokens',
    has(one.text) ? '' : 'text',
  ])
  const missing = [...new Set(lacks.flat().filter(Boolean))]
  return missing.length > 0 ? `wire lacks ${missing.join(', ')}` : `no: ${wrong[0]?.one.number}`
}

function errorCell({ calls, ledger, has }: Row): string {
  if (!ledger.some(({ isFailure }) => isFailure)) return '-'
  const failed = calls.filter(({ exception }) => exception !== null)
  if (failed.some(isModelCall)) return 'yes'
  if (failed.length > 0) return `no: ${failed.map(({ op_name }) => op_name).join(', ')}`
  return has('fails as it was asked') ? 'no' : 'wire'
}

function idCell({ calls, seen, has }: Row, id: string, isSet: (call: Call) => boolean): string {
  if (seen.length > 0 && seen.every(({ found }) => found.some(isSet))) return 'yes'
  if (!has(id)) return 'wire'
  const count = calls.filter(isSet).length
  return count > 0 ? `on ${count} of ${calls.length} calls` : 'no'
}

function treeCell(calls: readonly Call[]): string {
  const ids = new Set(calls.map(({ id }) => id))
  const roots = calls.filter(({ parent_id }) => parent_id === null).length
  const lost = calls.filter(({ parent_id }) => parent_id !== null && !ids.has(parent_id)).length
  const traces = new Set(calls.map(({ trace_id }) => trace_id)).size
  if (calls.length === 0) return 'wire'
  if (roots === traces && lost === 0) return roots === 1 ? 'yes' : `yes, ${roots} traces`
  return `no: ${roots} roots, ${traces} traces, ${lost} without their parent`
}
