/** Tool calls of the tiny model: valid whatever the tools, told from the text however it is cut. */
import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { TINY_MODEL_PATH } from '../../../src/inference/tiny/backend.ts'
import { createEngine } from '../../../src/inference/tiny/host/engine.ts'
import { planCompletion } from '../../../src/inference/tiny/sampling/completion-plan.ts'
import { createToolCallText } from '../../../src/inference/tiny/text/tool-call-text.ts'
import { choiceIn, type Fields, runWaiting, withShortMemory } from '../running.ts'

const engine = createEngine(readFileSync(TINY_MODEL_PATH))
const quick = withShortMemory(engine)
const ajv = new Ajv({ strict: false })
const user = (content: string) => ({ role: 'user', content })
const toolOf = (name: string, parameters?: object) => ({
  type: 'function' as const,
  function: { name, ...(parameters === undefined ? {} : { parameters: { ...parameters } }) },
})
const strict = (tool: ReturnType<typeof toolOf>) => ({
  ...tool,
  function: { ...tool.function, strict: true },
})
const ask = async (fields: Fields, asked = engine) =>
  choiceIn(await runWaiting(asked, { messages: [user('What is 3 plus 4?')], ...fields }))

const leaf = fc.constantFrom(
  { type: 'integer', minimum: 0, maximum: 99 },
  { type: 'boolean' },
  { type: 'string', maxLength: 6 },
  { enum: ['red', 'reds', 2, null] },
  { type: 'array', items: { type: 'boolean' }, maxItems: 3 },
  { anyOf: [{ type: 'null' }, { type: 'string', maxLength: 4 }], default: null },
)
const parameters = fc
  .uniqueArray(fc.tuple(fc.constantFrom('a', 'ab', 'city', 'ü'), leaf, fc.boolean()), {
    selector: ([key]) => key,
    maxLength: 3,
  })
  .map((list) => ({
    type: 'object',
    properties: Object.fromEntries(list.map(([key, value]) => [key, value])),
    required: list.filter(([, , isRequired]) => isRequired).map(([key]) => key),
    additionalProperties: false,
  }))
const tools = fc.uniqueArray(
  fc.tuple(fc.constantFrom('get', 'get_a', 'get_ab', 'add', 'a"b', 'ü-1', 'pet'), parameters),
  { selector: ([name]) => name, minLength: 1, maxLength: 4 },
)

describe('a tool call', () => {
  it('names a tool that was offered and keeps its schema, whatever the tools', async () => {
    let count = 0
    await fc.assert(
      fc.asyncProperty(tools, fc.nat(1_000), fc.boolean(), async (offered, seed, isParallel) => {
        const byName = new Map<string, object>(offered)
        const fields: Fields = {
          tools: offered.map(([name, schema]) => toolOf(name, schema)),
          tool_choice: 'required',
          parallel_tool_calls: isParallel,
          temperature: 2,
          seed,
          max_tokens: 160,
        }
        const { calls, text, finish_reason } = await ask(fields, quick)
        expect(text).toBe('')
        const whole = finish_reason === 'tool_calls' ? calls : calls.slice(0, -1)
        for (const call of whole) {
          const schema = byName.get(call.name ?? '')
          expect(schema).toBeDefined()
          expect(ajv.validate(schema ?? false, JSON.parse(call.arguments))).toBe(true)
          count++
        }
        if (!isParallel) expect(calls.length).toBeLessThanOrEqual(1)
      }),
      { numRuns: 30 },
    )
    expect(count).toBeGreaterThan(15)
  })

  it('is separated from the text in pieces as in one', () => {
    const call =
      '<tool_call>{"name": "a\\"b", "arguments": {"x": "}</tool_call>\\\\", "y": [{}]}}</tool_call>'
    const told = (pieces: readonly string[]) => {
      const calls = createToolCallText((number) => `id-${number}`, false)
      const parts = pieces.map((piece, at) => calls.push(piece, at === pieces.length - 1))
      const args = parts.flatMap((part) => part.calls)
      const texts = [0, 1].map((index) =>
        args
          .filter((one) => one.index === index)
          .map((one) => one.arguments)
          .join(''),
      )
      const names = args.flatMap(({ id, name }) => (id === undefined ? [] : [{ id, name }]))
      const content = parts.map((part) => part.content).join('')
      return { content, texts, names, isCalled: parts.at(-1)?.isCalled }
    }
    const args = '{"x": "}</tool_call>\\\\", "y": [{}]}'
    expect(told([`One <tool_${call}${call}`])).toEqual({
      content: 'One <tool_',
      texts: [args, args],
      names: [0, 1].map((number) => ({ id: `id-${number}`, name: 'a"b' })),
      isCalled: true,
    })
    const part = fc.constantFrom('<', 'tool', call, call.slice(0, 50), ' a')
    fc.assert(
      fc.property(fc.array(part, { maxLength: 4 }), (parts) => {
        const whole = parts.join('')
        expect(told([...whole, ''])).toEqual(told([whole]))
      }),
      { numRuns: 200 },
    )
  })

  it('is no text where it is cut off in its opening, except where that may be one', () => {
    const call = '<tool_call>{"name": "a", "arguments": {}}</tool_call>'
    const contentOf = (text: string, mustCall: boolean) =>
      createToolCallText(String, mustCall).push(text, true).content
    for (let length = 1; length < '<tool_call>'.length; length++) {
      const opening = call.slice(0, length)
      expect(contentOf(opening, true)).toBe('')
      expect(contentOf(`Well: ${call}${opening}`, false)).toBe('Well: ')
      expect(contentOf(`Well: ${opening}`, false)).toBe(`Well: ${opening}`)
    }
  })
})

describe('tools of a request', () => {
  const integer = { type: 'integer' }
  const add = toolOf('add', {
    type: 'object',
    properties: { a: integer, b: integer },
    required: ['a', 'b'],
  })
  const weather = toolOf('get_weather', { properties: { city: { type: 'string' } } })
  const greedy = { temperature: 0, max_tokens: 120, tools: [weather, add] }

  it('are called or not as the model likes, without a tool_choice', async () => {
    expect(await ask(greedy)).toMatchObject({ finish_reason: 'tool_calls', text: '' })
    const messages = [user('What is the opposite of hot?')]
    expect(await ask({ ...greedy, messages })).toMatchObject({
      finish_reason: 'stop',
      text: 'The opposite of hot is cold.',
      calls: [],
    })
  })

  it('are not shown and not called with tool_choice none, or by a model that does not call', async () => {
    const none = await ask({ ...greedy, tool_choice: 'none' })
    expect(none).toMatchObject({ text: '3 plus 4 is 7.', calls: [], finish_reason: 'stop' })
    const request = { messages: [user('Hi')], ...greedy }
    const plan = planCompletion(request, '', () => 0n, { callsTools: false })
    expect(plan).toMatchObject({ calls: null, constraint: null, prompt: { tools: null } })
  })

  it('are called by the name that tool_choice has, once', async () => {
    const tool_choice = { type: 'function' as const, function: { name: 'get_weather' } }
    const { calls, finish_reason } = await ask({ ...greedy, tool_choice })
    expect(calls.map(({ name }) => name)).toEqual(['get_weather'])
    expect(finish_reason).toBe('tool_calls')
  })

  it('leave an answer without a call its format', async () => {
    const structured_outputs = { choice: ['warm', 'cold'] }
    const { calls, text } = await ask({ ...greedy, structured_outputs })
    expect(calls.length === 0 ? ['warm', 'cold'] : ['']).toContain(text)
  })

  it('make a call that is cut off end by length, without a half name', async () => {
    for (const max_tokens of [15, 25, 40]) {
      const { calls, finish_reason, text } = await ask({ ...greedy, max_tokens })
      expect({ finish_reason, text }).toEqual({ finish_reason: 'length', text: '' })
      for (const { name } of calls) expect(name).toBe('add')
    }
  })

  it('have ids that are others for each request and choice, and the same asked again', () => {
    const ids = (requestId: string) =>
      planCompletion({ messages: [], ...greedy }, '', () => 0n, { requestId }).calls?.seed
    expect(ids('a')).toBe('a')
    expect(ids('b')).not.toBe(ids('a'))
  })

  it.each<[string, Fields, string]>([
    [
      'a strict schema that cannot be enforced',
      { tools: [add, strict(toolOf('f', { properties: { a: { not: {} } } }))] },
      'tools[1].function.parameters',
    ],
    ['a search of beams', { use_beam_search: true }, 'use_beam_search'],
    [
      'a structural tag',
      { response_format: { type: 'structural_tag', structures: [], triggers: [] } },
      'tools',
    ],
    ['too much', { tools: [toolOf('f', { required: ['x'.repeat(65_536)] })] }, 'tools'],
  ])('are refused beside %s', (_name, fields, param) => {
    const request = { messages: [user('Hi')], ...greedy, ...fields }
    expect(() => planCompletion(request, '', () => 0n)).toThrow(
      expect.objectContaining({ code: 'invalid_value', param }),
    )
  })
})
