import { describe, expect, it } from 'vitest'
import type { Delta, RelayedText, ToolCallChunk } from '../../src/inference/backend.ts'
import { renderChunks } from '../../src/inference/chat/chunks.ts'
import { ChatCompletionChunk } from '../../src/schemas/chat/chat-response.ts'
import { finish, logprob, piece, prompt } from '../support/scripted-backend.ts'

const HEAD = { id: 'chatcmpl-1', created: 7, model: 'm', role: 'assistant', choiceCount: 1 }
const SILENT = { includeUsage: false, continuousUsage: false }

async function* list(deltas: Delta[]) {
  yield* deltas
}

async function render(deltas: Delta[], options = SILENT, head: Partial<typeof HEAD> = {}) {
  const texts = await Array.fromAsync(renderChunks(list(deltas), { ...HEAD, ...head }, options))
  // biome-ignore lint/suspicious/noExplicitAny: tests look into chunks of every shape.
  return texts.flat().map((text): any => JSON.parse(text))
}

describe('renderChunks', () => {
  it('a stream begins with a role chunk, continues with content and ends with the finish reason', async () => {
    const chunks = await render([prompt(), piece('Hel'), piece('lo'), finish({ stop_reason: 'x' })])
    expect(chunks.map(({ choices }) => choices)).toEqual([
      [
        {
          index: 0,
          delta: { role: 'assistant', content: '' },
          logprobs: null,
          finish_reason: null,
        },
      ],
      [{ index: 0, delta: { content: 'Hel' }, logprobs: null, finish_reason: null }],
      [{ index: 0, delta: { content: 'lo' }, logprobs: null, finish_reason: null }],
      [{ index: 0, delta: {}, logprobs: null, finish_reason: 'stop', stop_reason: 'x' }],
    ])
    for (const chunk of chunks) {
      expect(chunk).toMatchObject({
        id: 'chatcmpl-1',
        created: 7,
        model: 'm',
        object: 'chat.completion.chunk',
      })
      expect(chunk).not.toHaveProperty('usage')
      expect(ChatCompletionChunk.safeParse(chunk).success).toBe(true)
    }
  })

  it('the name of a tool call is sent first, then its arguments in chunks', async () => {
    const first = { index: 0, id: 'call_1', name: 'add', arguments: '' }
    const called = (call: ToolCallChunk) => piece('', { toolCalls: [call] })
    const end = finish({ finish_reason: 'tool_calls' })
    const deltas = [prompt(), called(first), called({ index: 0, arguments: '{}' }), end]
    const chunks = await render(deltas)
    expect(chunks.slice(1).map(({ choices }) => choices[0].delta)).toEqual([
      {
        tool_calls: [
          { index: 0, id: 'call_1', type: 'function', function: { name: 'add', arguments: '' } },
        ],
      },
      { tool_calls: [{ index: 0, function: { arguments: '{}' } }] },
      {},
    ])
    expect(chunks.at(-1).choices[0].finish_reason).toBe('tool_calls')
  })

  it('every choice is opened before the first content, and choices may interleave', async () => {
    const deltas = [prompt(), piece('b', { index: 1 }), piece('a'), finish({ index: 1 }), finish()]
    const chunks = await render(deltas, SILENT, { choiceCount: 2 })
    expect(chunks.map(({ choices: [choice] }) => choice.index)).toEqual([0, 1, 1, 0, 1, 0])
    expect(chunks[1].choices[0].delta.role).toBe('assistant')
  })

  it('the last text is sent together with its finish reason', async () => {
    const chunks = await render([prompt(), piece('a', { finish_reason: 'length' })])
    expect(chunks.at(-1).choices[0]).toMatchObject({
      delta: { content: 'a' },
      finish_reason: 'length',
    })
  })

  it('tokens whose text is withheld send no chunk, unless they have log-probabilities', async () => {
    const entry = logprob('a', -1)
    const chunks = await render([prompt(), piece(''), piece('', { logprobs: [entry] }), finish()])
    expect(chunks).toHaveLength(3)
    expect(chunks[1].choices[0]).toMatchObject({ delta: {}, logprobs: { content: [entry] } })
  })

  it('token ids of the prompt are in the first chunk only, those of content in its own chunk', async () => {
    const ids = { ...prompt(), promptIds: [7, 8] }
    const held = piece('', { tokenIds: [1] })
    const chunks = await render([ids, held, finish({ tokenIds: [2] })], SILENT, { choiceCount: 1 })
    expect(chunks.map(({ prompt_token_ids }) => prompt_token_ids)).toEqual([
      [7, 8],
      undefined,
      undefined,
    ])
    expect(chunks.map(({ choices: [choice] }) => choice.token_ids)).toEqual([undefined, [1], [2]])
    for (const chunk of chunks) expect(ChatCompletionChunk.safeParse(chunk).success).toBe(true)
  })

  it('reasoning is sent under both of its names', async () => {
    const chunks = await render([prompt(), piece('', { reasoning: 'Hm.' }), finish()])
    expect(chunks[1].choices[0].delta).toEqual({ reasoning: 'Hm.', reasoning_content: 'Hm.' })
  })

  it('a stream with requested usage ends with a usage chunk without choices', async () => {
    const options = { includeUsage: true, continuousUsage: false }
    const chunks = await render([prompt(3, 1), piece('a'), finish()], options)
    expect(chunks.at(-1)).toMatchObject({
      choices: [],
      usage: {
        prompt_tokens: 3,
        completion_tokens: 1,
        total_tokens: 4,
        prompt_tokens_details: { cached_tokens: 1 },
      },
    })
    expect(chunks.slice(0, -1).every((chunk) => chunk.usage === undefined)).toBe(true)
  })

  it('continuous usage counts each choice so far in every chunk, and all at the end', async () => {
    const deltas = [prompt(3), piece('a'), piece('b', { index: 1 }), finish(), finish({ index: 1 })]
    const options = { includeUsage: true, continuousUsage: true }
    const chunks = await render(deltas, options, { choiceCount: 2 })
    expect(chunks.map(({ usage }) => usage.completion_tokens)).toEqual([0, 0, 1, 1, 1, 1, 2])
    expect(chunks[0].usage.total_tokens).toBe(3)
  })

  it('continuous usage without include_usage is ignored', async () => {
    const chunks = await render([prompt(), finish()], {
      includeUsage: false,
      continuousUsage: true,
    })
    expect(chunks.every((chunk) => chunk.usage === undefined)).toBe(true)
  })

  it('upstream chunks are passed unchanged and in their batches, and none is added', async () => {
    const relayed = (...texts: RelayedText[]): Delta => ({ type: 'relayed', texts })
    const [first, second] = ['{ "id":"x" }', '{"seed":9223372036854775807}'].map((json) => ({
      json,
      value: {},
    })) as [RelayedText, RelayedText]
    const hidden = { json: '{"usage":{}}', value: {}, isHidden: true }
    const deltas = [relayed(first, second, hidden), relayed(hidden), relayed(second)]
    const options = { includeUsage: true, continuousUsage: true }
    expect(await Array.fromAsync(renderChunks(list(deltas), HEAD, options))).toEqual([
      [first.json, second.json],
      [second.json],
    ])
  })

  it('the next delta is requested only with the next chunk', async () => {
    let askedCount = 0
    async function* counted() {
      for (const delta of [prompt(), piece('a'), piece('b'), finish()]) {
        askedCount += 1
        yield delta
      }
    }
    const chunks = renderChunks(counted(), HEAD, SILENT)
    await chunks.next()
    await chunks.next()
    expect(askedCount).toBe(2)
    await chunks.return(undefined)
    expect(askedCount).toBe(2)
  })

  it('a stream fails at its end when a choice did not finish', async () => {
    await expect(render([prompt(), piece('a')])).rejects.toMatchObject({ code: 'internal_error' })
  })
})
