/** The openai package calls tools with the tiny model of a listening server. */
import OpenAI from 'openai'
import { zodResponseFormat } from 'openai/helpers/zod'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createModelRegistry } from '../../src/inference/models/registry.ts'
import { createTinyBackend } from '../../src/inference/tiny/backend.ts'
import { startModelServer } from '../support/model-server.ts'

async function start() {
  const model = {
    id: 'tiny',
    aliases: [],
    ownedBy: 'weft',
    created: 0,
    capabilities: { tools: true, prioritySchedulingEnabled: false },
    backend: createTinyBackend({ queueMax: 8 }),
    backendModel: 'tiny',
    fallbacks: [],
  }
  const server = await startModelServer(createModelRegistry([model], model))
  return { ...server, client: new OpenAI({ baseURL: server.baseUrl, apiKey: server.key }) }
}

const integer = { type: 'integer' }
const ADD = {
  name: 'add',
  description: 'Adds two numbers.',
  parameters: {
    type: 'object',
    properties: { a: integer, b: integer },
    required: ['a', 'b'],
    additionalProperties: false,
  },
}
const REQUEST = {
  model: 'tiny',
  messages: [{ role: 'user' as const, content: 'What is 3 plus 4?' }],
  temperature: 0,
}

describe('the openai package over the tiny model', () => {
  it('parses an answer with the numbers and the union of a Zod schema', async () => {
    const { client } = await start()
    const schema = z.object({
      share: z.number().min(0).max(1),
      pet: z.discriminatedUnion('kind', [
        z.object({ kind: z.literal('cat'), lives: z.int().min(1).max(9) }),
        z.object({ kind: z.literal('dog') }),
      ]),
    })
    const { choices } = await client.chat.completions.parse({
      ...REQUEST,
      response_format: zodResponseFormat(schema, 'pet'),
      temperature: 1,
      seed: 1,
    })
    expect(choices[0]?.finish_reason).toBe('stop')
    expect(schema.parse(choices[0]?.message.parsed)).toEqual(choices[0]?.message.parsed)
  })

  it('gets the refusal of a format, since the Zod helper makes schemas strict', async () => {
    const { client } = await start()
    const response_format = zodResponseFormat(z.object({ id: z.uuid() }), 'row')
    await expect(
      client.chat.completions.parse({ ...REQUEST, response_format }),
    ).rejects.toMatchObject({ status: 400, message: expect.stringContaining('uses format') })
  })

  it('runs a tool that is called and gives its result back, until there is an answer', async () => {
    const { client } = await start()
    const seen: unknown[] = []
    const tool = {
      type: 'function' as const,
      function: {
        ...ADD,
        parse: JSON.parse,
        function: ({ a, b }: { a: number; b: number }) => {
          seen.push({ a, b })
          return { result: a + b }
        },
      },
    }
    const runner = client.chat.completions.runTools({
      ...REQUEST,
      tools: [tool],
    })
    expect(await runner.finalContent()).toBe('3 plus 4 is 7.')
    expect(seen).toEqual([{ a: 3, b: 4 }])
    expect(runner.messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
    ])
  })

  it('adds up the pieces of a streamed call with its own helper', async () => {
    const { client } = await start()
    const names: string[] = []
    const pieces: string[] = []
    const stream = client.chat.completions
      .stream({
        ...REQUEST,
        tools: [{ type: 'function', function: ADD }],
        tool_choice: 'required',
      })
      .on('tool_calls.function.arguments.delta', ({ name, arguments_delta }) => {
        names.push(name)
        pieces.push(arguments_delta)
      })
    const [choice] = (await stream.finalChatCompletion()).choices
    expect(choice?.finish_reason).toBe('tool_calls')
    expect(choice?.message.tool_calls?.[0]).toMatchObject({
      id: expect.stringMatching(/^call_/),
      type: 'function',
      function: { name: 'add', arguments: '{"a": 3, "b": 4}' },
    })
    expect(new Set(names)).toEqual(new Set(['add']))
    expect(pieces.length).toBeGreaterThan(3)
    expect(pieces.join('')).toBe('{"a": 3, "b": 4}')
  })
})
