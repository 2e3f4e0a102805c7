/** Fields that shape the prompt: what the template gets, and which tokens come of it. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { TINY_MODEL_PATH } from '../../src/inference/tiny/backend.ts'
import { createEngine } from '../../src/inference/tiny/host/engine.ts'
import { modelFile } from './gguf-fixture.ts'
import { begin, choiceOf, type Fields, planOf, promptOf, run } from './running.ts'

const engine = createEngine(readFileSync(TINY_MODEL_PATH))
const { tokenizer } = engine
const user = (content: string) => ({ role: 'user', content })
const said = (content: string) => ({ role: 'assistant', content })

function promptIds(fields: Fields, on = engine): number[] {
  const [delta] = run(on, { max_tokens: 1, return_token_ids: true, ...fields })
  return delta?.type === 'prompt' ? [...(delta.promptIds ?? [])] : []
}
const promptText = (fields: Fields) =>
  new TextDecoder().decode(Buffer.concat(promptIds(fields).map((id) => tokenizer.bytesOf(id))))
const refusal = (code: string, param: string) => expect.objectContaining({ code, param })

describe('continue_final_message', () => {
  const fields = {
    messages: [user('What is 3 plus 4?'), said('3 plus 4 is')],
    continue_final_message: true,
    temperature: 0,
  }

  it('leaves the final message open, and the model goes on with it', () => {
    expect(promptText(fields)).toMatch(/3 plus 4 is$/)
    expect(choiceOf(engine, fields).text).toMatch(/^ 7/)
  })

  it('keeps the end of the message to the letter, as a space or a mark', () => {
    const messages = [user('x'), said('a \ue000 ')]
    expect(promptText({ ...fields, messages })).toMatch(/a \ue000 $/)
  })

  it('is refused when the template does not show the message', () => {
    const template = { 'tokenizer.chat_template': { type: 'string', value: 'x' } } as const
    const blind = createEngine(modelFile(template))
    expect(() => begin(blind, fields)).toThrow(refusal('invalid_value', 'continue_final_message'))
  })
})

describe('add_generation_prompt', () => {
  it('opens the turn of the assistant, unless it is false', () => {
    const messages = [user('Hi')]
    expect(promptText({ messages })).toMatch(/<\|im_start\|>assistant\n$/)
    expect(promptText({ messages, add_generation_prompt: false })).toMatch(/Hi<\|im_end\|>\n$/)
  })
})

describe('echo', () => {
  const messages = [user('What is 3 plus 4?'), said('3 plus')]

  it('opens each choice with the last message of the same role', () => {
    const fields = { messages, echo: true, continue_final_message: true, temperature: 0 }
    const { text, pieces } = choiceOf(engine, { ...fields, max_tokens: 3 })
    expect(text).toMatch(/^3 plus 4/)
    expect(pieces[0]).toMatchObject({ content: '3 plus', tokenCount: 0 })
    const two = { ...fields, temperature: 1, n: 2, max_tokens: 1 }
    expect(choiceOf(engine, two, 1).text).toMatch(/^3 plus/)
  })

  it('adds nothing when the roles differ', () => {
    const fields = { messages: [user('Hi')], temperature: 0 }
    expect(choiceOf(engine, { ...fields, echo: true }).text).toBe(choiceOf(engine, fields).text)
  })
})

describe('add_special_tokens', () => {
  it("puts the model's begin token first", () => {
    const plain = promptIds({ messages: [user('Hi')] })
    const begun = promptIds({ messages: [user('Hi')], add_special_tokens: true })
    expect(begun).toEqual([tokenizer.beginId, ...plain])
    expect(tokenizer.beginId).toBe(tokenizer.controlId('<|endoftext|>'))
  })
})

describe('truncate_prompt_tokens', () => {
  const messages = [user('one two three four five')]
  const whole = promptIds({ messages })

  it('keeps the last tokens', () => {
    expect(promptIds({ messages, truncate_prompt_tokens: 5 })).toEqual(whole.slice(-5))
    expect(promptIds({ messages, truncate_prompt_tokens: 5_000 })).toEqual(whole)
    expect(promptIds({ messages, truncate_prompt_tokens: 9_223_372_036_854_776_000 })).toEqual(
      whole,
    )
  })

  it('of -1 keeps what fits beside the answer', () => {
    const context = { 'llama.context_length': { type: 'u32', value: 256 } } as const
    const narrow = createEngine(modelFile(context))
    const long = [user('long '.repeat(40_000))]
    const fields = { messages: long, truncate_prompt_tokens: -1, max_tokens: 100 }
    expect(promptIds(fields, narrow)).toHaveLength(156)
  })

  it('of 0 is not refused: it begins a text without a prompt', () => {
    expect(promptIds({ messages, truncate_prompt_tokens: 0 })).toEqual([tokenizer.beginId])
  })

  it('refuses what does not fit in spite of it', () => {
    const fields = { messages: [user('long '.repeat(9_000))], truncate_prompt_tokens: 3_000 }
    expect(() => begin(engine, fields)).toThrow(refusal('context_length_exceeded', 'messages'))
  })
})

describe('what the template gets', () => {
  const source =
    '{% for m in messages %}{{ m.content }};{% endfor %}{{ mood }};{% for d in documents or [] %}{{ d.title }}={{ d.text }};{% endfor %}{% for t in tools or [] %}{{ t.function.name }};{% endfor %}'
  const template = { 'tokenizer.chat_template': { type: 'string', value: source } } as const
  const other = createEngine(modelFile(template))
  // Only the prompt is made: an answer beside tools waits for its grammar, which these runs cannot.
  const encode = (fields: Fields) =>
    other.prompt.encode({ ...planOf(fields).prompt, tokensKept: null })
  const text = (fields: Fields) =>
    new TextDecoder().decode(Buffer.concat(encode(fields).map((id) => other.tokenizer.bytesOf(id))))
  const messages = [user('Hi')]

  it('are the documents', () => {
    expect(text({ messages, documents: [{ title: 'T', text: 'body' }] })).toBe('Hi;;T=body;')
  })

  it('are the tools', () => {
    const tools = [{ function: { name: 'add' } }, { function: { name: 'sub' } }]
    expect(text({ messages, tools })).toBe('Hi;;add;sub;')
  })

  it('are the variables of chat_template_kwargs, which cannot replace the messages', () => {
    const chat_template_kwargs = { mood: 'calm', messages: [user('No')] }
    expect(text({ messages, chat_template_kwargs })).toBe('Hi;calm;')
  })

  it('never brings control tokens in by them', () => {
    const word = '<|im_end|>'
    const fields = {
      messages,
      documents: [{ title: word, text: word }],
      chat_template_kwargs: { mood: word },
      tools: [{ function: { name: word } }],
    }
    const ids = encode(fields)
    expect(ids.filter((id) => other.tokenizer.isControl(id))).toEqual([])
    expect(text(fields)).toBe(`Hi;${word};${word}=${word};${word};`)
  })

  it('shows tools and documents in the template of the shipped model', () => {
    const tools = [{ function: { name: 'add', parameters: { properties: { a: {}, b: {} } } } }]
    const documents = [{ title: 'Owls', text: 'Owls hunt at night.' }]
    const shown = (fields: Fields) => {
      const ids = engine.prompt.encode({ ...planOf(fields).prompt, tokensKept: null })
      return new TextDecoder().decode(Buffer.concat(ids.map((id) => tokenizer.bytesOf(id))))
    }
    const plain = promptText({ messages })
    expect(shown({ messages, tools })).toContain('Tool: add(a, b)\n')
    expect(promptText({ messages, documents })).toContain('Owls: Owls hunt at night.')
    expect(shown({ messages, tools: [], documents: [] })).toBe(plain)
  })

  it('is a template of the request in place of its own', () => {
    const chat_template = '{{ messages[0].content }}!<|im_end|>'
    const ids = promptIds({ messages, chat_template })
    expect(ids.at(-1)).toBe(tokenizer.controlId('<|im_end|>'))
    expect(promptText({ messages, chat_template })).toBe('Hi!<|im_end|>')
  })

  it.each(['{% for %}', '{{ raise_exception("no") }}', '{% for x in 5 %}{% endfor %}'])(
    'is refused by name when %s cannot be rendered',
    (chat_template) => {
      expect(() => begin(engine, { messages, chat_template })).toThrow(
        refusal('invalid_value', 'chat_template'),
      )
    },
  )

  it('is bounded in what it renders to', () => {
    const chat_template = '{% for i in range(50000) %}xxxxxxxxxxxxxxxxxxxxxxxxxxxxx{% endfor %}'
    expect(() => begin(engine, { messages, chat_template })).toThrow(
      refusal('context_length_exceeded', 'messages'),
    )
    expect(engine.prompt.encode(promptOf(messages))).toBeDefined()
  })
})
