/** Random calls: what is sent of them, and what they should count as. */
import fc from 'fast-check'
import { renderTimestamp } from '../../../src/schemas/timestamp.ts'
import type { FindPrice, Price, RawCall, Tokens } from './naive-stats.ts'

const HOUR_US = 3600e6
/** Around the change of clocks in New York on 2026-03-08. */
export const BASE_US = Date.UTC(2026, 2, 7) * 1000
/** Hours of the calls: few, so that calls meet in them. */
const HOURS = [0, 1, 2, 29, 30, 31, 54]
const doc = (version: string) => `weave:///acme/demo/object/doc:${version}`

/** Dollars for a million tokens, as the price package has them; the second is for more than 200,000 tokens. */
const PACKAGE_PRICES: Readonly<Record<string, readonly (readonly number[])[]>> = {
  'gpt-4o': [[2.5, 10, 1.25, 2.5]],
  'claude-3-5-sonnet-20241022': [[3, 15, 0.3, 3.75]],
  'gemini-2.5-pro': [
    [1.25, 10, 0.125, 1.25],
    [2.5, 15, 0.25, 2.5],
  ],
  'gpt-oss-120b': [[0.039, 0.18, 0.039, 0.039]],
}
/** Those of hosts, by provider and model. */
const HOST_PRICES: Readonly<Record<string, readonly (readonly number[])[]>> = {
  'cerebras/gpt-oss-120b': [[0.35, 0.75, 0.35, 0.35]],
  'groq/llama-3.3-70b-versatile': [[0.59, 0.79, 0.59, 0.59]],
}
const TIER_ABOVE = 200_000
const MODELS = [...Object.keys(PACKAGE_PRICES), 'llama-3.3-70b-versatile', 'mystery']
const provider = fc.constantFrom(null, null, 'cerebras', 'groq')

/** null: not reported. */
const requests = fc.constantFrom(null, 1, 1, 2, 3)

/** As one vendor counts: cached tokens lie inside of the prompt. */
const inside = fc
  .record({
    prompt: fc.oneof(fc.nat(400_000), fc.constantFrom(8, 16, 24)),
    share: fc.constantFrom(0, 0, 0.5, 1),
    out: fc.nat(3),
    audio: fc.nat(10),
    thoughts: fc.nat(3),
    requests,
  })
  .map(({ prompt, share, out, requests, ...parts }) => {
    const cached = Math.floor(prompt * share)
    const audio = Math.min(parts.audio, prompt - cached)
    const thoughts = Math.min(parts.thoughts, out)
    return {
      sent: {
        prompt_tokens: prompt,
        completion_tokens: out,
        prompt_tokens_details: { cached_tokens: cached, audio_tokens: audio },
        completion_tokens_details: { reasoning_tokens: thoughts },
        ...(requests === null ? {} : { requests }),
      },
      counted: {
        ...tokens(prompt, prompt - cached, out, { read: cached, creation: 0 }),
        input_audio_tokens: audio,
        reasoning_tokens: thoughts,
        requests,
      },
    }
  })

/** As another does: they lie beside it, as the total says. */
const beside = fc
  .record({
    input: fc.nat(5),
    read: fc.nat(300_000),
    creation: fc.nat(2),
    out: fc.nat(2 ** 40),
    requests,
  })
  .map(({ input, read, creation, out, requests }) => ({
    sent: {
      input_tokens: input,
      output_tokens: out,
      cache_read_input_tokens: read,
      cache_creation_input_tokens: creation,
      total_tokens: input + read + creation + out,
      ...(requests === null ? {} : { requests }),
    },
    counted: {
      ...tokens(input + read + creation, input, out, { read, creation }),
      requests,
    },
  }))

function tokens(
  input_tokens: number,
  uncached: number,
  output_tokens: number,
  { read, creation }: { readonly read: number; readonly creation: number },
): Omit<Tokens, 'requests' | 'provider'> {
  return {
    input_tokens,
    uncached,
    output_tokens,
    total_tokens: input_tokens + output_tokens,
    cache_read_input_tokens: read,
    cache_creation_input_tokens: creation,
    input_audio_tokens: 0,
    reasoning_tokens: 0,
  }
}

/** A call before it has an id. */
export const sentCall = fc.record({
  started_us: fc
    .tuple(
      fc.constantFrom(...HOURS),
      fc.oneof(fc.constantFrom(0, HOUR_US - 1), fc.nat(HOUR_US - 1)),
    )
    .map(([hour, us]) => BASE_US + hour * HOUR_US + us),
  latency_us: fc.oneof(fc.constantFrom(0, 1000, -5), fc.integer({ min: -1e6, max: 5e9 })),
  exception: fc.constantFrom(null, null, 'Error', 'ValueError: no 7', 'ValueError: no 8'),
  op_name: fc.constantFrom('a', 'b', 'b:v1', 'b:v2'),
  /** Index of the parent among the calls; null: a root. */
  parent: fc.option(fc.nat(5)),
  trace_id: fc.constantFrom('t1', 't2'),
  thread_id: fc.constantFrom(null, 'th1', 'th2'),
  turn_id: fc.constantFrom(null, 'tu1'),
  svc_run_id: fc.constantFrom(null, 'r1', 'r2'),
  user: fc.nat(1),
  end_user_id: fc.constantFrom(null, 'eu1', 'eu2'),
  input_refs: fc.constantFrom([], [], [doc('v1')], [doc('v1'), doc('v2')]),
  output_refs: fc.constantFrom([], [], [doc('v3')]),
  usage: fc.dictionary(
    fc.constantFrom(...MODELS),
    fc.record({ report: fc.oneof(inside, beside), provider }),
    { maxKeys: 3, noNullPrototype: true },
  ),
  /** As the attributes name it, for reports that name none. */
  provider,
})
export type SentCall = typeof sentCall extends fc.Arbitrary<infer T> ? T : never

export const idOf = (index: number) => `call-${index}`

/** The bodies of the two parts. */
export function toParts(project_id: string, index: number, call: SentCall) {
  const { op_name, trace_id, thread_id, turn_id, svc_run_id, exception } = call
  const id = idOf(index)
  const usage = Object.fromEntries(
    Object.entries(call.usage).map(([model, { report, provider }]) => [
      model,
      { ...report.sent, ...(provider === null ? {} : { provider }) },
    ]),
  )
  return {
    start: {
      project_id,
      id,
      trace_id,
      thread_id,
      turn_id,
      op_name,
      svc_run_id,
      parent_id: call.parent === null ? null : idOf(call.parent),
      started_at: renderTimestamp(call.started_us),
      attributes: {
        ...(call.provider === null ? {} : { provider: call.provider }),
        ...(call.end_user_id === null ? {} : { user: call.end_user_id }),
      },
      inputs: { refs: call.input_refs },
    },
    end: {
      project_id,
      id,
      exception,
      ended_at: renderTimestamp(call.started_us + call.latency_us),
      output: call.output_refs,
      summary: { usage },
    },
  }
}

/** What a started call counts as. */
export function toRawCall(
  index: number,
  call: SentCall,
  { svc_user_id, hasEnded }: { readonly svc_user_id: string; readonly hasEnded: boolean },
): RawCall {
  const {
    latency_us,
    exception,
    output_refs,
    usage,
    user: _user,
    parent,
    provider: _,
    ...fields
  } = call
  const counted = Object.entries(usage).map(([model, { report, provider }]) => {
    const named = { ...report.counted, provider: provider ?? call.provider }
    return [model, named] as const
  })
  return {
    ...fields,
    id: idOf(index),
    parent_id: parent === null ? null : idOf(parent),
    svc_user_id,
    end: hasEnded
      ? { latency_us, exception, output_refs, usage: Object.fromEntries(counted) }
      : null,
  }
}

/** A price of the project's own: billionths of a dollar for one token. */
export const sentPrice = fc.record({
  model: fc.constantFrom(...MODELS),
  effective_us: fc
    .tuple(fc.constantFrom(-24, 0, 1, 29, 30), fc.nat(HOUR_US - 1))
    .map(([hour, us]) => BASE_US + hour * HOUR_US + us),
  input: fc.nat(5000),
  output: fc.nat(5000),
  cacheRead: fc.option(fc.nat(500)),
  cacheCreation: fc.option(fc.nat(500)),
})
export type SentPrice = typeof sentPrice extends fc.Arbitrary<infer T> ? T : never

/** The body of `/cost/create`. */
export function toCosts(project_id: string, price: SentPrice) {
  const dollars = (billionths: number | null) => (billionths === null ? null : billionths / 1e9)
  const cost = {
    prompt_token_cost: dollars(price.input),
    completion_token_cost: dollars(price.output),
    cache_read_input_token_cost: dollars(price.cacheRead),
    cache_creation_input_token_cost: dollars(price.cacheCreation),
    effective_date: renderTimestamp(price.effective_us),
  }
  return { project_id, costs: { [price.model]: cost } }
}

/** Prices of the project, the last stored last, over those of the package. */
export function priceFinder(own: readonly SentPrice[]): FindPrice {
  return (model, provider, startedUs, inputTokens) => {
    const ofModel = own
      .filter((price) => price.model === model)
      .reverse()
      .sort((a, b) => b.effective_us - a.effective_us)
    const holding = ofModel.find(({ effective_us }) => effective_us <= startedUs)
    if (holding) return ownPrice(holding)
    const tiers = HOST_PRICES[`${provider}/${model}`] ?? PACKAGE_PRICES[model]
    if (tiers) return packagePrice(tiers, inputTokens)
    return ofModel[0] ? ownPrice(ofModel[0]) : null
  }
}

function ownPrice({ input, output, cacheRead, cacheCreation }: SentPrice): Price {
  const atoms = (billionths: number) => BigInt(billionths) * 1_000_000n
  return {
    input: atoms(input),
    output: atoms(output),
    cacheRead: atoms(cacheRead ?? input),
    cacheCreation: atoms(cacheCreation ?? input),
  }
}

function packagePrice(tiers: readonly (readonly number[])[], inputTokens: number): Price {
  const tier = tiers[inputTokens > TIER_ABOVE && tiers.length > 1 ? 1 : 0] ?? []
  const [input = 0n, output = 0n, cacheRead = 0n, cacheCreation = 0n] = tier.map((dollars) =>
    BigInt(Math.round(dollars * 1e9)),
  )
  return { input, output, cacheRead, cacheCreation }
}
