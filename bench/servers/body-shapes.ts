/** Bodies that take much of a server: large ones, and small ones that hold many values. */

export interface Shape {
  readonly name: string
  readonly path: string
  readonly type?: string
  /** Whether the route takes Bearer instead of Basic. */
  readonly bearer?: boolean
  /** Whether its content is stored. */
  readonly isStored?: boolean
  build(): Buffer
  /** The same body with little content, by which the server warms up. */
  small(): Buffer
}

const MB = 1024 * 1024
const TIME = '2026-01-31T09:30:00Z'
const project_id = 'bench/bodies'
const WORDS = 'The quick brown fox jumps over the lazy dog, "twice".\n'

type Content = (count: number) => unknown

const members: Content = (count) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, index % 10]))
const numbers: Content = (count) => ({ v: Array.from({ length: count }, (_, n) => n % 1000) })
const floats: Content = (count) => ({ v: Array.from({ length: count }, (_, n) => (n % 997) / 997) })
const objects: Content = (count) => ({ v: Array.from({ length: count }, (_, n) => ({ n })) })
const text: Content = (chars) => ({ text: WORDS.repeat(Math.ceil(chars / WORDS.length)) })
const cyrillic: Content = (chars) => ({ text: 'Съешь ещё этих булок. '.repeat(chars / 22) })

const start = (inputs: unknown) => ({
  start: { project_id, op_name: 'op', started_at: TIME, attributes: {}, inputs },
})
const end = (output: unknown) => ({ end: { project_id, id: 'a', ended_at: TIME, output } })
const batch = (count: number, inputs: unknown) => ({
  batch: Array.from({ length: count }, () => ({ mode: 'start', req: start(inputs) })),
})
const messages = (list: unknown) => ({ model: 'tiny', max_tokens: 1, messages: list })
const list = (count: number, item: unknown) => Array.from({ length: count }, () => item)

interface Options {
  readonly bearer?: boolean
  readonly isStored?: boolean
}

function json(
  name: string,
  path: string,
  build: Content,
  count: number,
  options: Options = {},
): Shape {
  const render = (size: number) => Buffer.from(JSON.stringify(build(size)))
  return { name, path, ...options, build: () => render(count), small: () => render(1) }
}

/** A frame of OTLP in protobuf with spans of no bytes. */
function emptySpans(count: number): Buffer {
  const lengthOf = (length: number): number[] =>
    length < 128 ? [length] : [(length % 128) + 128, ...lengthOf(Math.floor(length / 128))]
  const wrap = (tag: number, bytes: Buffer) =>
    Buffer.concat([Buffer.from([tag, ...lengthOf(bytes.length)]), bytes])
  return wrap(0x0a, wrap(0x12, Buffer.alloc(2 * count).fill(Buffer.from([0x12, 0x00]))))
}

const spans: Content = (count) => ({
  resourceSpans: [{ scopeSpans: [{ spans: list(count, {}) }] }],
})
const span: Content = (count) => ({
  resourceSpans: [
    {
      scopeSpans: [
        {
          spans: [
            {
              traceId: 'a'.repeat(32),
              spanId: 'b'.repeat(16),
              name: 'n',
              startTimeUnixNano: '1769851800000000000',
              attributes: Array.from({ length: count }, (_, n) => ({
                key: `k${n}`,
                value: { stringValue: 'x' },
              })),
            },
          ],
        },
      ],
    },
  ],
})

const stored = { isStored: true }
const bearer = { bearer: true }
const START = '/call/start'
const CHAT = '/v1/chat/completions'

export const SHAPES: readonly Shape[] = [
  json('start, 100k members', START, (n) => start(members(n)), 100_000),
  json('start, 1M members', START, (n) => start(members(n)), 1_000_000, stored),
  json('start, 2.5M members', START, (n) => start(members(n)), 2_500_000, stored),
  json('start, 100k numbers', START, (n) => start(numbers(n)), 100_000),
  json('start, 100k floats', START, (n) => start(floats(n)), 100_000),
  json('start, 5M numbers', START, (n) => start(numbers(n)), 5_000_000, stored),
  json('start, 1M objects', START, (n) => start(objects(n)), 1_000_000, stored),
  json('start, text of 8 MB', START, (n) => start(text(n)), 8 * MB, stored),
  json('start, text of 30 MB', START, (n) => start(text(n)), 29 * MB, stored),
  json('start, Cyrillic, 16M characters', START, (n) => start(cyrillic(n)), 16e6, stored),
  json('end, 1M members', '/call/end', (n) => end(members(n)), 1_000_000, stored),
  json(
    'upsert_batch, 10k calls',
    '/call/upsert_batch',
    (n) => batch(n, text(2500)),
    10_000,
    stored,
  ),
  json('upsert_batch, 1M members', '/call/upsert_batch', (n) => batch(1, members(n)), 1_000_000),
  json('vendor start, 1M members', '/traces/call/start', (n) => start(members(n)), 1_000_000),
  json(
    'feedback, 90k members',
    '/feedback/create',
    (n) => ({
      project_id,
      weave_ref: 'weave:///bench/bodies/call/a',
      feedback_type: 'x',
      payload: members(n),
    }),
    90_000,
  ),
  json(
    'feedback batch, 10k items',
    '/feedback/batch/create',
    (n) => ({
      batch: list(n, {
        project_id,
        weave_ref: 'weave:///bench/bodies/call/a',
        feedback_type: 'x',
        payload: members(20),
      }),
    }),
    1000,
  ),
  json(
    'object, 1M members',
    '/obj/create',
    (n) => ({ obj: { project_id, object_id: 'o', val: members(n) } }),
    1_000_000,
    stored,
  ),
  json(
    'object, text of 29 MB',
    '/obj/create',
    (n) => ({ obj: { project_id, object_id: 'o', val: text(n) } }),
    28 * MB,
    stored,
  ),
  json(
    'table, 1M rows',
    '/table/create',
    (n) => ({ table: { project_id, rows: objects(n) instanceof Object ? list(n, { a: 1 }) : [] } }),
    1_000_000,
  ),
  json(
    'table, 10k rows of 3 KB',
    '/table/create',
    (n) => ({ table: { project_id, rows: list(n, text(2500)) } }),
    10_000,
    stored,
  ),
  json(
    'statistics, 1M op names',
    '/calls/stats',
    (n) => ({ project_id, start: TIME, filter: { op_names: list(n, 'a') } }),
    1_000_000,
  ),
  json(
    'list, query of 100k terms',
    '/calls/stream_query',
    (n) => ({
      project_id,
      query: {
        $expr: { $and: list(n, { $eq: [{ $getField: 'op_name' }, { $literal: 'a' }] }) },
      },
    }),
    60_000,
  ),
  json('read, wrong member', '/call/read', (n) => ({ project_id, id: 'a', x: list(n, 1) }), 1e6),
  json(
    'chat, 30 MB of text',
    CHAT,
    (n) => messages([{ role: 'user', ...chatText(n) }]),
    29 * MB,
    bearer,
  ),
  json(
    'chat, 100k messages',
    CHAT,
    (n) => messages(list(n, { role: 'user', content: 'a' })),
    100_000,
    bearer,
  ),
  json('chat, 1M empty messages', CHAT, (n) => messages(list(n, {})), 1_000_000, bearer),
  json(
    'chat, 1M logit_bias',
    CHAT,
    (n) => ({ ...messages([{ role: 'user', content: 'a' }]), logit_bias: members(n) }),
    1_000_000,
    bearer,
  ),
  json(
    'chat, tool of 1M members',
    CHAT,
    (n) => ({
      ...messages([{ role: 'user', content: 'a' }]),
      tools: [
        { type: 'function', function: { name: 'f', parameters: { properties: members(n) } } },
      ],
    }),
    1_000_000,
    bearer,
  ),
  json(
    'responses, 1M input items',
    '/v1/responses',
    (n) => ({ model: 'tiny', input: list(n, { role: 'user', content: 'a' }) }),
    500_000,
    bearer,
  ),
  json(
    'embeddings, 100k numbers',
    '/v1/embeddings',
    (n) => ({ model: 'tiny', input: list(n, 7) }),
    100_000,
    bearer,
  ),
  json(
    'embeddings, 5M numbers',
    '/v1/embeddings',
    (n) => ({ model: 'tiny', input: list(n, 7) }),
    5_000_000,
    bearer,
  ),
  json('OTLP, 2M empty spans', '/v1/traces', spans, 2_000_000),
  json('OTLP, 300k attributes', '/v1/traces', span, 300_000, stored),
  {
    name: 'OTLP protobuf, 3M empty spans',
    path: '/v1/traces',
    type: 'application/x-protobuf',
    build: () => emptySpans(3_000_000),
    small: () => emptySpans(1),
  },
  json(
    'training job, 1M members',
    '/v1/preview/training-jobs',
    (n) => ({ model_id: 'm', trajectory_groups: members(n) }),
    1_000_000,
    bearer,
  ),
]

function chatText(chars: number) {
  return { content: (text(chars) as { text: string }).text }
}
