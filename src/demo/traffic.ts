/** Weeks of traced calls: an agent with tools in conversations, and a classifier; some of them fail. */
import type { Chance } from './chance.ts'
import type { DemoApi, DemoCall, Thread, Usage } from './demo-api.ts'
import {
  AGENT_CODE,
  CUSTOMERS,
  type CustomerRequest,
  MODELS,
  REQUESTS,
  SYSTEM,
  TOOLS,
} from './shop.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const DAYS = 21
const CONVERSATIONS_A_DAY = 16
const CLASSIFICATIONS_A_DAY = 30
/** Conversations that begin at the end, within some seconds: more than a list shows at first. */
const NEWEST_CONVERSATIONS = 40
const NEWEST_MS = 4_000
/** The hours in which customers write, and how many of them. */
const BUSY = [0, 0, 0, 0, 0, 0, 1, 2, 4, 6, 7, 7, 5, 6, 7, 7, 6, 5, 4, 3, 3, 2, 1, 1]
const SENTENCES = ['', ' Thank you!', ' It is urgent.', ' I wrote twice already.'] as const

/** The op of the agent. */
export const AGENT = 'support_agent'

interface Ops {
  /** Refs of the agent's versions, and when the second took the place of the first. */
  readonly agent: readonly [string, string]
  readonly changedMs: number
  readonly chat: string
  readonly search: string
  readonly refund: string
  readonly classify: string
}

interface Traffic {
  /** Traces. */
  readonly traces: number
  /** Ids of the agent's root calls, the newest first. */
  readonly agentCalls: readonly string[]
  /** The newest one that asked a tool and answered. */
  readonly agentCall: string
  /** The newest conversation of several turns. */
  readonly thread: string
}

/** @param nowMs - the end of the weeks */
export async function recordTraffic(api: DemoApi, chance: Chance, nowMs: number): Promise<Traffic> {
  const code = (name: string) => `@weave.op\ndef ${name}(**inputs):\n    ...\n`
  const ops: Ops = {
    agent: [await api.publishOp(AGENT, AGENT_CODE[0]), await api.publishOp(AGENT, AGENT_CODE[1])],
    changedMs: nowMs - 8 * DAY_MS,
    chat: 'openai.chat.completions.create',
    search: await api.publishOp('search_orders', code('search_orders')),
    refund: await api.publishOp('refund', code('refund')),
    classify: await api.publishOp('classify_ticket', code('classify_ticket')),
  }
  // Turns are numbered from 1; what is not of the agent has none.
  const traces: { call: DemoCall; thread?: Thread; turn?: number }[] = []
  for (let day = DAYS - 1; day >= 0; day--) {
    for (let n = 0; n < CONVERSATIONS_A_DAY; n++) {
      traces.push(...makeConversation(ops, chance, momentOf(day, chance, nowMs)))
    }
    for (let n = 0; n < CLASSIFICATIONS_A_DAY; n++) {
      const call = makeClassification(ops, chance, momentOf(day, chance, nowMs))
      traces.push({ call })
    }
  }
  for (let n = 0; n < NEWEST_CONVERSATIONS; n++) {
    const startMs = nowMs + chance.between(0, NEWEST_MS)
    traces.push(...makeConversation(ops, chance, startMs, 1))
  }
  traces.sort((left, right) => left.call.startMs - right.call.startMs)
  const ids = await api.record(traces)
  const agentCalls = ids.filter((_, at) => traces[at]?.turn).reverse()
  const whole = traces.findLastIndex(
    ({ call, turn }) => turn && !call.exception && (call.children?.length ?? 0) > 2,
  )
  const long = traces.findLast(({ turn }) => turn === 3)
  return {
    traces: traces.length,
    agentCalls,
    agentCall: ids[whole] ?? '',
    thread: long?.thread?.thread_id ?? '',
  }
}

/** A moment of a day in the past, within the busy hours, a few minutes before now at the latest. */
function momentOf(day: number, chance: Chance, nowMs: number): number {
  const dayMs = Math.floor(nowMs / DAY_MS) * DAY_MS - day * DAY_MS
  const hours = BUSY.flatMap((count, hour) => new Array<number>(count).fill(hour))
  const hour = hours[chance.between(0, hours.length - 1)] ?? 12
  const moment = dayMs + hour * HOUR_MS + chance.between(0, HOUR_MS - 1)
  return moment < nowMs - HOUR_MS ? moment : moment - DAY_MS
}

function* makeConversation(
  ops: Ops,
  chance: Chance,
  startMs: number,
  turns = chance.between(1, 3),
) {
  const thread_id = `chat-${chance.between(100_000, 999_999)}`
  const customer = chance.pick(CUSTOMERS)
  let atMs = startMs
  for (let turn = 1; turn <= turns; turn++) {
    const question = chance.pick(REQUESTS)
    const call = makeAgentCall(ops, chance, { question, customer, startMs: atMs })
    // As the SDKs do it: a turn has the id of its first call.
    const id = crypto.randomUUID()
    yield { call: { ...call, id }, thread: { thread_id, turn_id: id }, turn }
    atMs = call.endMs + chance.between(20_000, 180_000)
  }
}

interface Turn {
  readonly question: CustomerRequest
  readonly customer: string
  readonly startMs: number
}

function makeAgentCall(ops: Ops, chance: Chance, { question, customer, startMs }: Turn): DemoCall {
  const model = chance.pick(MODELS)
  const asked = question.text + chance.pick(SENTENCES)
  const isNew = startMs > ops.changedMs
  const messages = [
    { role: 'system', content: SYSTEM },
    { role: 'user', content: asked },
  ]
  const plan = makePlan(ops, chance, { model, messages, question, startMs })
  const failure = plan.tool?.exception
  const failed = failure !== undefined && !isNew
  const begun = [plan.chat, plan.tool].filter((call) => call !== null)
  const answer = makeChat(ops, chance, {
    model,
    messages: [...messages, ...plan.messages],
    startMs: plan.endMs + 5,
    reply: { role: 'assistant', content: question.answer },
  })
  const endMs = failed ? plan.endMs + 3 : answer.endMs + 2
  return {
    op: ops.agent[isNew ? 1 : 0],
    startMs,
    endMs,
    inputs: { question: asked, customer },
    ...(failed ? { exception: `ToolError: ${failure}` } : { output: question.answer }),
    attributes: { customer, user: customer, channel: chance.pick(['web', 'mail']) },
    children: failed ? begun : [...begun, answer],
  }
}

interface PlanInput {
  readonly model: string
  readonly messages: readonly object[]
  readonly question: CustomerRequest
  readonly startMs: number
}

/** The first chat, the tools that it calls, and what they add to the messages. */
function makePlan(ops: Ops, chance: Chance, { model, messages, question, startMs }: PlanInput) {
  const tool = { order: 'search_orders', refund: 'refund' }[question.intent as string]
  if (tool === undefined) return { chat: null, tool: null, messages: [], endMs: startMs + 4 }
  const number = Number(/\d{4}/.exec(question.text)?.[0] ?? chance.between(1000, 9999))
  const args = tool === 'refund' ? { order: number, usd: 18 } : { number }
  const call = {
    id: `call_${chance.between(10_000, 99_999)}`,
    type: 'function',
    function: { name: tool, arguments: JSON.stringify(args) },
  }
  const reply = { role: 'assistant', content: null, tool_calls: [call] }
  const chat = makeChat(ops, chance, { model, messages, reply, startMs: startMs + 3 })
  const result =
    tool === 'refund' ? { refunded: true, usd: 18 } : { number, state: 'sent', carrier: 'DHL' }
  const toolStartMs = chat.endMs + 2
  const fails = chance.next() < 0.09
  const toolEndMs = toolStartMs + chance.latency(fails ? 900 : 120)
  const toolCall: DemoCall = {
    op: tool === 'refund' ? ops.refund : ops.search,
    startMs: toolStartMs,
    endMs: toolEndMs,
    inputs: args,
    ...(fails
      ? { exception: chance.pick(['the order service timed out', 'the order is locked']) }
      : { output: result }),
  }
  const said = { role: 'tool', tool_call_id: call.id, content: JSON.stringify(result) }
  return { chat, tool: toolCall, messages: [reply, said], endMs: toolEndMs }
}

interface ChatInput {
  readonly model: string
  readonly messages: readonly object[]
  readonly reply: object
  readonly startMs: number
}

function makeChat(
  ops: Ops,
  chance: Chance,
  { model, messages, reply, startMs }: ChatInput,
): DemoCall {
  const usage: Usage = {
    model,
    prompt_tokens: Math.round(JSON.stringify(messages).length / 4) + 90,
    completion_tokens: Math.round(JSON.stringify(reply).length / 4) + chance.between(2, 20),
  }
  const usualMs = model.startsWith('claude') ? 1400 : 700
  return {
    op: ops.chat,
    startMs,
    endMs: startMs + chance.latency(usualMs),
    inputs: { model, messages, tools: TOOLS, temperature: 0.2 },
    output: { model, choices: [{ index: 0, message: reply, finish_reason: 'stop' }] },
    usage,
  }
}

function makeClassification(ops: Ops, chance: Chance, startMs: number): DemoCall {
  const question = chance.pick(REQUESTS)
  const messages = [
    { role: 'system', content: 'Name the intent: order, refund, product or other.' },
    { role: 'user', content: question.text },
  ]
  const reply = { role: 'assistant', content: question.intent }
  const chat = makeChat(ops, chance, { model: MODELS[0], messages, reply, startMs: startMs + 1 })
  const isBusy = chance.next() < 0.02
  const exception = 'RateLimitError: 429 too many requests'
  return {
    op: ops.classify,
    startMs,
    endMs: chat.endMs + 1,
    inputs: { ticket: question.text },
    ...(isBusy ? { exception } : { output: { intent: question.intent } }),
    children: isBusy ? [{ ...chat, exception, output: null }] : [chat],
  }
}
