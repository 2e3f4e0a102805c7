/** Rollouts to tokens: which train, which are context, and what is refused. */
import { describe, expect, it } from 'vitest'
import { createChatPrompt } from '../../../src/inference/tiny/text/chat-prompt.ts'
import { createTokenizer } from '../../../src/inference/tiny/text/tokenizer.ts'
import type { Trajectory } from '../../../src/schemas/training/trajectory.ts'
import { createTrajectoryReader } from '../../../src/training/worker/trajectory-reader.ts'
import { SMALL_MODEL } from './training-fixtures.ts'

const { shape, vocabulary, chatTemplate } = SMALL_MODEL
const tokenizer = createTokenizer(vocabulary)
const prompt = createChatPrompt(chatTemplate, tokenizer, shape.context)
const reader = createTrajectoryReader(tokenizer, prompt, shape.context)

/** The ids of a text in which `[` and `]` stand for the control tokens around a message. */
function idsOf(text: string): number[] {
  return text.split(/([[\]])/).flatMap((part) => {
    if (part === '[') return [1]
    return part === ']' ? [2] : tokenizer.encode(part)
  })
}

type Items = NonNullable<Trajectory['messages_and_choices']>

function choice(text: string, changes: Readonly<Record<string, unknown>> = {}) {
  const content = idsOf(`${text}]`).map((id, i) => ({
    token: `token_id:${id}`,
    logprob: -i,
  }))
  return {
    finish_reason: 'stop',
    index: 0,
    message: { role: 'assistant' as const, content: text },
    logprobs: { content },
    ...changes,
  }
}

function trajectory(items: unknown[], changes: Partial<Trajectory> = {}): Trajectory {
  return { messages_and_choices: items as Items, reward: 0, ...changes }
}

function read(items: unknown[], changes: Partial<Trajectory> = {}) {
  const found = reader.read(trajectory(items, changes))
  if (typeof found === 'string') throw new Error(`nothing trains: ${found}`)
  return found
}

const user = (content: string) => ({ role: 'user', content })
const PROMPT = '[user\nhi]\n[assistant\n'

describe('a choice', () => {
  it('trains, behind the prompt of the chat template', () => {
    const [sequence, ...others] = read([user('hi'), choice('ab')])
    expect(others).toEqual([])
    const start = idsOf(PROMPT).length
    expect(sequence).toEqual({
      ids: idsOf(`${PROMPT}ab]`),
      places: [start, start + 1, start + 2],
      sampled: [-0, -1, -2],
    })
  })

  it('may name its tokens by their text or their bytes', () => {
    const content = [
      { token: 'a', logprob: -1 },
      { token: '\ufffd', bytes: [0xc3], logprob: -2 },
      { token: '<|im_end|>', bytes: null, logprob: -3 },
    ]
    const [sequence] = read([user('hi'), choice('', { logprobs: { content } })])
    const byte = idsOf('é')[0]!
    expect(sequence!.ids.slice(-3)).toEqual([idsOf('a')[0], byte, 2])
    expect(sequence!.sampled).toEqual([-1, -2, -3])
  })

  it('may bring its ids and those of its prompt, without a logarithm', () => {
    const ids = { token_ids: [50, 51, 2], prompt_token_ids: [1, 7, 8], logprobs: null }
    expect(read([user('hi'), choice('ab', ids)])).toEqual([
      { ids: [1, 7, 8, 50, 51, 2], places: [3, 4, 5], sampled: [Number.NaN, NaN, NaN] },
    ])
  })

  it.each([0, 1])('has no known logarithms when %d are fewer than its ids', (count) => {
    const content = choice('ab').logprobs.content.slice(0, count)
    const changes = { token_ids: [50, 51], logprobs: { content } }
    const [sequence] = read([user('hi'), choice('ab', changes)])
    expect(sequence!.sampled).toEqual([Number.NaN, Number.NaN])
  })

  it('may leave its ids out by null', () => {
    const none = { token_ids: null, prompt_token_ids: null }
    expect(read([user('hi'), choice('ab', none)])).toEqual(read([user('hi'), choice('ab')]))
  })

  it('has a prompt with the tools that the rollout had', () => {
    const source = `{% for tool in tools %}{{ tool.function.name }};{% endfor %}${chatTemplate}`
    const withTools = createTrajectoryReader(
      tokenizer,
      createChatPrompt(source, tokenizer, shape.context),
      shape.context,
    )
    const tools: Trajectory['tools'] = [{ type: 'function', function: { name: 'look' } }]
    const found = withTools.read(trajectory([user('hi'), choice('a')], { tools }))
    expect(found).toMatchObject([{ ids: idsOf(`look;${PROMPT}a]`) }])
  })
})

describe('several choices', () => {
  it('of one conversation join when each prompt goes on from the tokens before', () => {
    const [sequence, ...others] = read([user('hi'), choice('ab'), user('x'), choice('c')])
    expect(others).toEqual([])
    const text = `${PROMPT}ab]\n[user\nx]\n[assistant\nc]`
    expect(sequence!.ids).toEqual(idsOf(text))
    const first = idsOf(PROMPT).length
    const second = idsOf(text).length - 2
    expect(sequence!.places).toEqual([first, first + 1, first + 2, second, second + 1])
    expect(sequence!.sampled).toEqual([-0, -1, -2, -0, -1])
  })

  it('stay separate when a prompt does not contain the tokens before', () => {
    const cut = { logprobs: { content: [{ token: 'a', logprob: -1 }] }, finish_reason: 'length' }
    const sequences = read([user('hi'), choice('ba', cut), user('x'), choice('c')])
    expect(sequences).toHaveLength(2)
    expect(sequences[0]!.ids).toEqual(idsOf(`${PROMPT}a`))
    expect(sequences[1]!.places).toHaveLength(2)
  })

  it('of further histories stand on their own', () => {
    const items = [user('x'), choice('c')] as Items
    const sequences = read([user('hi'), choice('ab')], {
      additional_histories: [{ messages_and_choices: items }],
    })
    expect(sequences.map(({ ids }) => ids)).toEqual([
      idsOf(`${PROMPT}ab]`),
      idsOf('[user\nx]\n[assistant\nc]'),
    ])
  })
})

describe('exchanges', () => {
  type Exchanges = NonNullable<Trajectory['exchanges']>['chat_completions']
  const exchange = (messages: unknown[], choices: unknown[], response: object = {}) => ({
    request: { messages },
    response: { choices, ...response },
  })
  const readExchanges = (...chats: unknown[]) =>
    reader.read({ exchanges: { chat_completions: chats as Exchanges } })

  it('train what histories of the same requests train', () => {
    const first = [user('hi')]
    const second = [...first, { role: 'assistant', content: 'ab' }, user('x')]
    const found = readExchanges(exchange(first, [choice('ab')]), exchange(second, [choice('c')]))
    expect(found).toEqual(read([user('hi'), choice('ab'), user('x'), choice('c')]))
  })

  it('have the ids of the prompt in the response, and every choice trains', () => {
    const prompt_token_ids = [5, 6]
    const found = readExchanges(
      exchange([user('hi')], [choice('a'), choice('b')], { prompt_token_ids }),
    )
    expect(found).toMatchObject([
      { ids: [5, 6, ...idsOf('a]')], places: [2, 3] },
      { ids: [5, 6, ...idsOf('b]')], places: [2, 3] },
    ])
  })

  it('without a choice train nothing', () => {
    expect(readExchanges(exchange([user('hi')], []))).toBe('no_choice')
    expect(reader.read({})).toBe('no_choice')
  })
})

describe('nothing trains', () => {
  it('without a choice: an assistant message is context', () => {
    const items = [user('hi'), { role: 'assistant', content: 'ab' }]
    expect(reader.read(trajectory(items))).toBe('no_choice')
    expect(reader.read(trajectory([]))).toBe('no_choice')
  })

  it.each([
    ['no logarithms', { logprobs: null }],
    ['an empty list', { logprobs: { content: [] } }],
    [
      'a token that the model does not have',
      { logprobs: { content: [{ token: 'zz', logprob: 0 }] } },
    ],
    ['a very long token', { logprobs: { content: [{ token: 'z'.repeat(150_000), logprob: 0 }] } }],
  ])('with %s, so that the tokens are not known', (_what, changes) => {
    expect(reader.read(trajectory([user('hi'), choice('ab', changes)]))).toBe('no_logprobs')
  })
})

describe('refused', () => {
  const refused = (changes: Readonly<Record<string, unknown>>, items: unknown[] = [user('hi')]) =>
    expect(() => reader.read(trajectory([...items, choice('ab', changes)]))).toThrow(
      expect.objectContaining({ name: 'TrajectoryError' }),
    )

  it('an id outside of the vocabulary', () => refused({ token_ids: [shape.vocab], logprobs: null }))
  it.each([[[-1]], ['x'], [[1.5]], [[50, '51', 2]], [{}], [0]])('ids that are none: %j', (ids) => {
    refused({ token_ids: ids })
    refused({ prompt_token_ids: ids })
  })
  it.each([[[50, 51]], [[]]])('more logarithms than ids: %j', (token_ids) => refused({ token_ids }))
  it('an empty prompt', () => refused({ token_ids: [5], prompt_token_ids: [], logprobs: null }))
  it.each([shape.context, 150_000])('more tokens than the context has: %i', (length) =>
    refused({ token_ids: Array.from({ length }, () => 5), logprobs: null }),
  )
  it('messages that cannot be read', () =>
    refused({}, [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'x' } }] }]))
})
