import { describe, expect, it } from 'vitest'
import { findDroppedFields, findUnsupportedField } from '../../../src/domain/chat/chat-rules.ts'
import {
  ENGINES,
  type Engine,
  PROFILES,
  toFieldSupport,
} from '../../../src/inference/openai/profiles.ts'
import { renderUpstreamBody } from '../../../src/inference/openai/upstream-request.ts'
import { ChatCompletionRequest } from '../../../src/schemas/chat/chat-request.ts'

const MESSAGES = [{ role: 'user', content: 'hi' }]

/** A value of each field that asks for something; JSON text. */
const USED: Record<keyof ChatCompletionRequest, string> = {
  messages: '[{"role":"user","content":"hi"}]',
  model: '"m"',
  frequency_penalty: '1.50',
  logit_bias: '{"7":1.0}',
  logprobs: 'true',
  top_logprobs: '3',
  max_tokens: '10',
  max_completion_tokens: '11',
  n: '2',
  presence_penalty: '0.5',
  response_format: '{"type":"json_object"}',
  seed: '9223372036854775807',
  stop: '["x"]',
  stream: 'true',
  stream_options: '{"include_usage":true}',
  temperature: '0.70',
  top_p: '0.9',
  tools: '[{"type":"function","function":{"name":"f"}}]',
  tool_choice: '"required"',
  reasoning_effort: '"low"',
  include_reasoning: 'false',
  parallel_tool_calls: 'false',
  user: '"u"',
  use_beam_search: 'true',
  top_k: '5',
  min_p: '0.1',
  repetition_penalty: '1.10',
  length_penalty: '2',
  stop_token_ids: '[1]',
  include_stop_str_in_output: 'true',
  ignore_eos: 'true',
  min_tokens: '2',
  skip_special_tokens: 'false',
  spaces_between_special_tokens: 'false',
  truncate_prompt_tokens: '7',
  prompt_logprobs: '1',
  allowed_token_ids: '[1]',
  bad_words: '["x"]',
  echo: 'true',
  add_generation_prompt: 'false',
  continue_final_message: 'true',
  add_special_tokens: 'true',
  documents: '[{"text":"x"}]',
  chat_template: '"x"',
  chat_template_kwargs: '{"a":1.0}',
  mm_processor_kwargs: '{"a":1}',
  structured_outputs: '{"regex":"a+"}',
  priority: '3',
  request_id: '"r-1"',
  logits_processors: '["x"]',
  return_tokens_as_token_ids: 'true',
  return_token_ids: 'true',
  cache_salt: '"s"',
  kv_transfer_params: '{"a":9223372036854775807}',
  engine_xargs: '{"a":1.0}',
}

type Name = keyof ChatCompletionRequest
const NAMES = Object.keys(USED) as Name[]

/** Where the value is known to arrive in other words: the member that must stand in the body. */
const TOLD_OTHERWISE: Partial<Record<Engine, Partial<Record<Name, string>>>> = {
  vllm: { engine_xargs: '"vllm_xargs":{"a":1.0}' },
  sglang: {
    structured_outputs: '"regex":"a+"',
    include_stop_str_in_output: '"no_stop_trim":true',
  },
  'llama-server': {
    max_completion_tokens: '"max_tokens":11',
    repetition_penalty: '"repeat_penalty":1.10',
  },
  ollama: { max_completion_tokens: '"max_tokens":11' },
}

/** What this server does itself, so that the engine need not see it. */
const DONE_HERE: readonly Name[] = ['request_id', 'priority']

const target = (model: string, callsTools = true) => ({ model, callsTools })

function render(engine: Engine, members: string): string {
  const body = `{"messages":${USED.messages},"model":"m"${members}}`
  return renderUpstreamBody(body, JSON.parse(body), target('m'), PROFILES[engine])
}

/** The body, or the field that was refused. */
function tryRender(engine: Engine, members: string): string | { refused: string } {
  const request = JSON.parse(`{"messages":[]${members}}`)
  const field = findUnsupportedField(request, toFieldSupport(PROFILES[engine], 'reject'))
  if (field !== null) return { refused: field }
  try {
    return render(engine, members)
  } catch (error) {
    const { code, param } = error as { code: string; param: string }
    expect(code).toBe('unsupported_parameter')
    return { refused: param }
  }
}

describe.each(ENGINES)('the profile of %s', (engine) => {
  const dropped = (name: Name) => {
    const request = { messages: MESSAGES, [name]: JSON.parse(USED[name]) }
    return findDroppedFields(request, toFieldSupport(PROFILES[engine], 'reject')).includes(name)
  }

  it.each(NAMES.filter((name) => name !== 'messages' && name !== 'model'))(
    'loses nothing of §4.3 %s unseen: it arrives, is refused by name, or is named as dropped',
    (name) => {
      const body = tryRender(engine, `,"${name}":${USED[name]}`)
      if (typeof body !== 'string') {
        expect(body.refused.split('.')[0]).toBe(name)
        return
      }
      const expected = TOLD_OTHERWISE[engine]?.[name] ?? `"${name}":${USED[name]}`
      if (dropped(name) || (DONE_HERE.includes(name) && !body.includes(`"${name}"`))) {
        expect(JSON.parse(body)).not.toHaveProperty(name)
      } else {
        expect(body).toContain(expected)
      }
      expect(() => JSON.parse(body)).not.toThrow()
    },
  )

  it('sends null, defaults and empty lists of fields that it does not know to nobody', () => {
    const unknown = NAMES.filter((name) => PROFILES[engine][name] === 'reject')
    const members = unknown.map((name) => `,"${name}":null`).join('')
    expect(render(engine, members)).toBe(render(engine, ''))
  })

  it('drops unsupported fields where the model allows it', () => {
    const support = toFieldSupport(PROFILES[engine], 'drop')
    expect(Object.values(support)).not.toContain('rejected')
    const unknown = NAMES.filter((name) => PROFILES[engine][name] === 'reject')
    const request = Object.fromEntries(NAMES.map((name) => [name, JSON.parse(USED[name])]))
    expect(findDroppedFields(request as ChatCompletionRequest, support)).toEqual(
      expect.arrayContaining(unknown),
    )
  })

  it('asks for the usage of a stream and for nothing more', () => {
    const body = '{"messages":[],"stream":true}'
    expect(renderUpstreamBody(body, JSON.parse(body), target('up'), PROFILES[engine])).toBe(
      '{"model":"up","stream_options":{"include_usage":true},"messages":[],"stream":true}',
    )
  })

  it.each([
    ['9223372036854775808', '9223372036854775807'],
    ['-9223372036854775809', '-9223372036854775808'],
    ['9223372036854776000', '9223372036854775807'],
    ['9.223372036854776e18', '9223372036854775807'],
    ['9223372036854775807', '9223372036854775807'],
    ['-1', '-1'],
  ])('tells the §4.3 seed %s as %s', (seed, expected) => {
    expect(render(engine, `,"seed":${seed}`)).toContain(`"seed":${expected}}`)
  })
})

describe('the profile', () => {
  it('is decided for every field of the schema', () => {
    for (const engine of ENGINES) {
      expect(Object.keys(PROFILES[engine]).sort()).toEqual(
        Object.keys(ChatCompletionRequest.shape).sort(),
      )
    }
  })

  it.each<[Engine, string, string]>([
    ['vllm', '"continue_final_message":true', '"add_generation_prompt":false'],
    ['generic', '"continue_final_message":true', '"add_generation_prompt":false'],
    [
      'vllm',
      '"continue_final_message":true,"add_generation_prompt":null',
      '"add_generation_prompt":false',
    ],
    [
      'vllm',
      '"structured_outputs":{"json":"{}","_backend":"x","_backend_was_auto":true}',
      '"structured_outputs":{"json":"{}"}',
    ],
    [
      'generic',
      '"structured_outputs":{ "_backend":"x", "regex":"a" }',
      '"structured_outputs":{ "regex":"a" }',
    ],
    [
      'vllm',
      '"structured_outputs":{"json_object":false,"regex":"a"}',
      '"structured_outputs":{"regex":"a"}',
    ],
    ['sglang', '"structured_outputs":{"grammar":"root ::= \\"a\\""}', '"ebnf":"root ::= \\"a\\""'],
    ['sglang', '"structured_outputs":{"choice":["a.b","c|d"]}', '"regex":"(a\\\\.b|c\\\\|d)"'],
    [
      'sglang',
      '"structured_outputs":{"json_object":true}',
      '"response_format":{"type":"json_object"}',
    ],
    [
      'llama-server',
      '"structured_outputs":{"choice":["a\\"b","c\\\\d"]}',
      '"grammar":"root ::= \\"a\\\\\\"b\\" | \\"c\\\\\\\\d\\""',
    ],
    [
      'ollama',
      '"structured_outputs":{"json":{"const":9223372036854775807}}',
      '"response_format":{"type":"json_schema","json_schema":{"name":"answer","strict":true,"schema":{"const":9223372036854775807}}}',
    ],
    ['openai', '"structured_outputs":{"json":"{\\"a\\":1.0}"}', '"schema":{"a":1.0}'],
  ])('of %s tells %s as it takes it', (engine, members, expected) => {
    const body = render(engine, `,${members}`)
    expect(body).toContain(expected)
    expect(body).not.toContain('_backend')
    if (engine !== 'vllm' && engine !== 'generic') expect(body).not.toContain('structured_outputs')
  })

  it.each<[Engine, string, string]>([
    ['ollama', '"structured_outputs":{"regex":"a"}', 'structured_outputs.regex'],
    ['openai', '"structured_outputs":{"choice":["a"]}', 'structured_outputs.choice'],
    ['llama-server', '"structured_outputs":{"regex":"a"}', 'structured_outputs.regex'],
    ['ollama', '"response_format":{"type":"structural_tag"}', 'response_format.type'],
    ['ollama', '"tools":[{"function":{"name":"f"}}],"tool_choice":"required"', 'tool_choice'],
    ['sglang', '"structured_outputs":{"json_object":false}', 'structured_outputs'],
    ['llama-server', '"continue_final_message":true', 'continue_final_message'],
    ['llama-server', '"return_token_ids":true', 'return_token_ids'],
    ['sglang', '"add_generation_prompt":false', 'add_generation_prompt'],
  ])('of %s refuses %s by the name of the part', (engine, members, param) => {
    expect(tryRender(engine, `,${members}`)).toEqual({ refused: param })
  })

  it('refuses a schema that is no JSON, where it becomes a response_format', () => {
    expect(() => render('openai', ',"structured_outputs":{"json":"{"}')).toThrow(
      'structured_outputs.json must be valid JSON.',
    )
  })

  it.each<[Engine, string, object]>([
    ['ollama', '"tools":[{"function":{"name":"f"}}],"tool_choice":"none"', {}],
    ['ollama', '"max_tokens":1,"max_completion_tokens":2', { max_tokens: 2 }],
    ['ollama', '"max_tokens":1,"max_completion_tokens":null', { max_tokens: 1 }],
    ['generic', '"tools":[]', {}],
    ['vllm', '"truncate_prompt_tokens":9223372036854775807', {}],
    ['sglang', '"request_id":"r"', {}],
    ['sglang', '"return_token_ids":true', { return_token_ids: true }],
    ['sglang', '"cache_salt":"s"', { cache_salt: 's' }],
    ['llama-server', '"add_generation_prompt":false', { add_generation_prompt: false }],
    ['llama-server', '"reasoning_effort":"low"', { reasoning_effort: 'low' }],
  ])('of %s turns %s into %j', (engine, members, rest) => {
    expect(JSON.parse(render(engine, `,${members}`))).toEqual({
      messages: MESSAGES,
      model: 'm',
      ...rest,
    })
  })

  it('of ollama sends the developer as system and leaves the other messages alone', () => {
    const messages =
      '[ {"role":"developer","content":"a","x":1.0}, {"content":"é\\u00e9" , "role":"user"} ]'
    const body = `{"messages":${messages}}`
    expect(renderUpstreamBody(body, JSON.parse(body), target('up'), PROFILES.ollama)).toContain(
      '"messages":[{"role":"system","content":"a","x":1.0},{"content":"é\\u00e9" , "role":"user"}]',
    )
  })

  it.each(['', ',"add_generation_prompt":false'])(
    'of llama-server continues a last message of the assistant, %j',
    (members) => {
      const messages = '[{"role":"assistant","content":"a"}]'
      const body = `{"messages":${messages},"continue_final_message":true${members}}`
      const profile = PROFILES['llama-server']
      expect(JSON.parse(renderUpstreamBody(body, JSON.parse(body), target('m'), profile))).toEqual({
        model: 'm',
        messages: JSON.parse(messages),
        continue_final_message: true,
        add_generation_prompt: false,
      })
    },
  )

  const TOOLS = ',"tools":[{"type":"function","function":{"name":"f"}}]'
  const renderFor = (engine: Engine, members: string, callsTools: boolean) => {
    const body = `{"messages":[]${TOOLS}${members}}`
    const text = renderUpstreamBody(
      body,
      JSON.parse(body),
      target('m', callsTools),
      PROFILES[engine],
    )
    return JSON.parse(text)
  }

  it.each(['llama-server', 'ollama'] as const)(
    'of %s sends no tools where none may be called, since the model would see them',
    (engine) => {
      expect(renderFor(engine, '', false)).toEqual({ model: 'm', messages: [] })
      expect(renderFor(engine, ',"tool_choice":"none"', true)).toEqual({ model: 'm', messages: [] })
    },
  )

  it('of llama-server sends only the tool that is named by the choice, and requires it', () => {
    const body =
      '{"messages":[],"tools":[{"type":"function","function":{"name":"f","x":1.0}},{"function":{"name":"g"}}]' +
      ',"tool_choice":{"type":"function","function":{"name":"f"}}}'
    const text = renderUpstreamBody(body, JSON.parse(body), target('m'), PROFILES['llama-server'])
    expect(text).toContain('"tools":[{"type":"function","function":{"name":"f","x":1.0}}]')
    expect(text).toContain('"tool_choice":"required"')
  })

  it.each([
    ['"logprobs":true,"top_logprobs":0', '"top_logprobs":1'],
    ['"logprobs":true', '"top_logprobs":1'],
    ['"logprobs":true,"top_logprobs":5', '"top_logprobs":5'],
  ])('of llama-server asks for log-probabilities, %s', (members, expected) => {
    expect(render('llama-server', `,${members}`)).toContain(expected)
    expect(render('llama-server', ',"logprobs":false')).not.toContain('top_logprobs')
  })

  it.each(ENGINES.filter((engine) => engine !== 'ollama' && engine !== 'llama-server'))(
    'of %s left the choice of tools to the upstream for a model that calls none',
    (engine) => {
      expect(renderFor(engine, '', false)).toMatchObject({ tool_choice: 'none', tools: [{}] })
      expect(renderFor(engine, ',"tool_choice":null', false)).toMatchObject({ tool_choice: 'none' })
    },
  )

  it('of ollama, which passes over the choice, showed the tools to a model that calls none', () => {
    expect(renderFor('ollama', '', false)).not.toHaveProperty('tools')
    expect(renderFor('ollama', '', true)).toHaveProperty('tools')
  })

  it.each(ENGINES)('of %s leaves the choice open for a model that calls tools', (engine) => {
    expect(renderFor(engine, '', true)).not.toHaveProperty('tool_choice')
  })

  it('tells of no choice where no tools are given, which engines would refuse', () => {
    const body = '{"messages":[],"tools":[]}'
    const text = renderUpstreamBody(body, JSON.parse(body), target('m', false), PROFILES.vllm)
    expect(JSON.parse(text)).toEqual({ model: 'm', messages: [] })
  })
})
