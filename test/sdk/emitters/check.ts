/**
 * Prints the cells of a program's row (cells.ts) as JSON. With `prepare` as the first argument it sets the prices of the
 * models in a project instead, and begins the provider's ledger anew. It asks the two servers alone, so that a program may
 * be of any language.
 */
import { writeFileSync } from 'node:fs'
import { type Call, cellsOf, type Json, PRICE, type Sums } from './cells.ts'
import type { Answer } from './provider/answers.ts'

const {
  EMITTERS_DUMP = '',
  WEFT_URL = '',
  WEFT_KEY = '',
  PROVIDER_URL = '',
  PROJECT = '',
} = process.env
const MODELS = [
  'gpt-5',
  // What AutoGen takes gpt-5 for.
  'gpt-5-2025-08-07',
  'text-embedding-3-small',
  'claude-sonnet-4-5',
  'gemini-2.5-pro',
  'amazon.nova-pro-v1:0',
  'nova-pro-v1:0',
  'openai/gpt-5',
  'openai/gpt-oss-20b',
  'mistral-large-latest',
  'llama3.2',
]
const WAIT_MS = 10_000

async function ask(path: string, body: object): Promise<string> {
  const response = await fetch(WEFT_URL + path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Basic ${Buffer.from(`api:${WEFT_KEY}`).toString('base64')}`,
    },
    body: JSON.stringify({ project_id: PROJECT, ...body }),
  })
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return response.text()
}

async function prepare(): Promise<void> {
  const price = {
    prompt_token_cost: PRICE.input,
    completion_token_cost: PRICE.output,
    cache_read_input_token_cost: PRICE.cached,
    cache_creation_input_token_cost: PRICE.written,
    effective_date: '2020-01-01T00:00:00Z',
  }
  await ask('/cost/create', { costs: Object.fromEntries(MODELS.map((model) => [model, price])) })
  await fetch(`${PROVIDER_URL}/ledger`, { method: 'DELETE' })
}

async function readCalls(): Promise<Call[]> {
  const text = await ask('/calls/stream_query', { limit: 2000 })
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
}

/** Calls, once two reads have as many. */
async function settledCalls(): Promise<Call[]> {
  let calls = await readCalls()
  for (const end = Date.now() + WAIT_MS; Date.now() < end; ) {
    await new Promise((resolve) => setTimeout(resolve, 400))
    const again = await readCalls()
    if (again.length > 0 && again.length === calls.length) return again
    calls = again
  }
  return calls
}

async function readSums(): Promise<Sums> {
  const metrics = [
    'input_tokens',
    'output_tokens',
    'cache_read_input_tokens',
    'cache_creation_input_tokens',
    'reasoning_tokens',
    'total_cost',
  ]
  const stats = await ask('/calls/stats', {
    start: new Date(Date.now() - 3_600_000).toISOString(),
    usage_metrics: metrics.map((metric) => ({ metric })),
  })
  const buckets: Json[] = JSON.parse(stats).usage_buckets ?? []
  return Object.fromEntries(
    metrics.map((name) => [
      name,
      buckets.reduce((sum, bucket) => sum + Number(bucket[`sum_${name}`] ?? 0), 0),
    ]),
  )
}

if (process.argv[2] === 'prepare') {
  await prepare()
} else {
  const ledger = (await (await fetch(`${PROVIDER_URL}/ledger`)).json()) as Answer[]
  const calls = await settledCalls()
  if (EMITTERS_DUMP !== '')
    writeFileSync(
      `${EMITTERS_DUMP}/${PROJECT.replace('/', '-')}.json`,
      JSON.stringify({ ledger, calls }, null, 1),
    )
  const cells =
    ledger.length === 0
      ? { call: 'no: nothing was asked' }
      : cellsOf(calls, await readSums(), ledger)
  process.stdout.write(
    `cells:${JSON.stringify({ ...cells, calls: calls.length, asked: ledger.length })}\n`,
  )
}
