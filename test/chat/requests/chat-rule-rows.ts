/** Each rule between the fields of a chat request, with requests that pass and that do not. */
import type { ChatCapabilities } from '../../../src/domain/chat/chat-rules.ts'

export const SECRET = 'SECRET-PROMPT'
export const PLAIN: ChatCapabilities = { tools: false, prioritySchedulingEnabled: false }
export const TOOLS: ChatCapabilities = { ...PLAIN, tools: true }
const OTHER_WITHOUT_CALLS: ChatCapabilities = { ...PLAIN, otherTools: true }
const OTHER_TOOLS: ChatCapabilities = { ...OTHER_WITHOUT_CALLS, tools: true }
export const tools = [{ type: 'function', function: { name: 'add' } }]
export const named = (name: string) => ({ type: 'function', function: { name } })
const custom = { type: 'custom', custom: { name: 'code' } }
const allowed = { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [custom] } }
const jsonSchema = { type: 'json_schema', json_schema: { name: 'answer' } }

interface RuleRow {
  readonly passes: readonly (readonly [body: object, capabilities?: ChatCapabilities])[]
  readonly fails: readonly (readonly [
    body: object,
    code: string,
    param: string,
    capabilities?: ChatCapabilities,
  ])[]
}

export const RULES: Readonly<Record<string, RuleRow>> = {
  '§7 2: continue_final_message and add_generation_prompt exclude each other': {
    passes: [
      [{ continue_final_message: true }],
      [{ continue_final_message: true, add_generation_prompt: null }],
      [{ continue_final_message: true, add_generation_prompt: false }],
      [{ continue_final_message: false, add_generation_prompt: true }],
      [{ continue_final_message: null, add_generation_prompt: true }],
      [{ continue_final_message: false, add_generation_prompt: false }],
    ],
    fails: [
      [
        { continue_final_message: true, add_generation_prompt: true },
        'invalid_value',
        'continue_final_message',
      ],
    ],
  },
  'top_logprobs needs logprobs': {
    passes: [
      [{ top_logprobs: 0 }],
      [{ top_logprobs: null, logprobs: false }],
      [{ top_logprobs: 20, logprobs: true }],
      [
        { top_logprobs: -1, logprobs: true },
        { ...PLAIN, fullLogprobs: true },
      ],
    ],
    fails: [
      [{ top_logprobs: 1 }, 'invalid_value', 'top_logprobs'],
      [{ top_logprobs: 1, logprobs: false }, 'invalid_value', 'top_logprobs'],
      [{ top_logprobs: 1, logprobs: null }, 'invalid_value', 'top_logprobs'],
      [{ top_logprobs: -1, logprobs: true }, 'unsupported_value', 'top_logprobs'],
      [{ top_logprobs: -1 }, 'invalid_value', 'top_logprobs', { ...PLAIN, fullLogprobs: true }],
    ],
  },
  'prompt_logprobs and stream exclude each other': {
    passes: [
      [{ prompt_logprobs: 5 }],
      [{ prompt_logprobs: 5, stream: false }],
      [{ prompt_logprobs: 0, stream: true }],
      [{ prompt_logprobs: null, stream: true }],
      [{ prompt_logprobs: -1 }, { ...PLAIN, fullLogprobs: true }],
    ],
    fails: [
      [{ prompt_logprobs: 1, stream: true }, 'invalid_value', 'prompt_logprobs'],
      [{ prompt_logprobs: -1 }, 'unsupported_value', 'prompt_logprobs'],
      [
        { prompt_logprobs: -1, stream: true },
        'invalid_value',
        'prompt_logprobs',
        { ...PLAIN, fullLogprobs: true },
      ],
    ],
  },
  'stream_options needs stream': {
    passes: [
      [{ stream_options: {} }],
      [{ stream_options: null, stream: false }],
      [{ stream_options: { include_usage: null } }],
      [{ stream_options: { include_usage: true }, stream: true }],
      [{ stream_options: { continuous_usage_stats: true }, stream: true }],
    ],
    fails: [
      [{ stream_options: { include_usage: true } }, 'invalid_value', 'stream_options'],
      [
        { stream_options: { include_usage: false }, stream: false },
        'invalid_value',
        'stream_options',
      ],
    ],
  },
  'min_tokens is at most the maximum': {
    passes: [
      [{ min_tokens: 5 }],
      [{ min_tokens: 5, max_tokens: 5 }],
      [{ min_tokens: 5, max_tokens: 1, max_completion_tokens: 9 }],
      [{ min_tokens: null, max_tokens: 1 }],
    ],
    fails: [
      [{ min_tokens: 6, max_tokens: 5 }, 'invalid_value', 'min_tokens'],
      [{ min_tokens: 6, max_completion_tokens: 5 }, 'invalid_value', 'min_tokens'],
      [{ min_tokens: 6, max_tokens: 9, max_completion_tokens: 5 }, 'invalid_value', 'min_tokens'],
    ],
  },
  'greedy sampling makes one choice': {
    passes: [
      [{ temperature: 0 }],
      [{ temperature: 0, n: 1 }],
      [{ temperature: 1e-5, n: 2 }],
      [{ temperature: null, n: 2 }],
      [{ n: 2 }],
      [{ temperature: 0, n: 2, use_beam_search: true }],
    ],
    fails: [
      [{ temperature: 0, n: 2 }, 'invalid_value', 'n'],
      [{ temperature: 0.000009, n: 128 }, 'invalid_value', 'n'],
    ],
  },
  'best_of changes nothing': {
    passes: [
      [{ best_of: 1 }],
      [{ best_of: null, n: 3 }],
      [{ best_of: 3, n: 3 }],
      [{ best_of: 1, n: 3 }],
    ],
    fails: [
      [{ best_of: 3 }, 'unsupported_value', 'best_of'],
      [{ best_of: SECRET }, 'unsupported_value', 'best_of'],
    ],
  },
  'structured_outputs has exactly one kind': {
    passes: [
      [{ structured_outputs: { json: '{"type":"object"}' } }],
      [{ structured_outputs: { json: {} } }],
      [{ structured_outputs: { regex: 'a+', json: null, whitespace_pattern: ' ' } }],
      [{ structured_outputs: { choice: ['a'] } }],
      [{ structured_outputs: { grammar: 'root ::= "a"', disable_fallback: true } }],
      [{ structured_outputs: { json_object: true } }],
      [{ structured_outputs: { json_object: false, choice: ['a'] } }],
      [{ structured_outputs: { structural_tag: '{"structures":[],"triggers":[]}' } }],
      [{ structured_outputs: null }],
    ],
    fails: [
      [{ structured_outputs: {} }, 'invalid_value', 'structured_outputs'],
      [{ structured_outputs: { disable_fallback: true } }, 'invalid_value', 'structured_outputs'],
      [
        { structured_outputs: { regex: 'a', choice: ['a'] } },
        'invalid_value',
        'structured_outputs',
      ],
      [
        { structured_outputs: { json: {}, json_object: true } },
        'invalid_value',
        'structured_outputs',
      ],
    ],
  },
  'JSON text of structured_outputs is the text of an object': {
    passes: [[{ structured_outputs: { json: ' {} ' } }]],
    fails: [
      [{ structured_outputs: { json: `{${SECRET}` } }, 'invalid_value', 'structured_outputs.json'],
      [{ structured_outputs: { json: '[]' } }, 'invalid_value', 'structured_outputs.json'],
      [{ structured_outputs: { json: 'null' } }, 'invalid_value', 'structured_outputs.json'],
      [{ structured_outputs: { json: '5' } }, 'invalid_value', 'structured_outputs.json'],
      [
        { structured_outputs: { structural_tag: SECRET } },
        'invalid_value',
        'structured_outputs.structural_tag',
      ],
    ],
  },
  'response_format has what its type needs': {
    passes: [
      [{ response_format: {} }],
      [{ response_format: { type: 'text' } }],
      [{ response_format: { type: 'json_object' } }],
      [{ response_format: jsonSchema }],
      [{ response_format: { json_schema: { name: 'answer', schema: {} } } }],
      [{ response_format: { type: 'structural_tag', format: {} } }],
    ],
    fails: [
      [
        { response_format: { type: 'json_schema' } },
        'missing_required_parameter',
        'response_format.json_schema',
      ],
      [
        { response_format: { type: 'json_schema', json_schema: null } },
        'missing_required_parameter',
        'response_format.json_schema',
      ],
      [
        { response_format: { schema: SECRET } },
        'missing_required_parameter',
        'response_format.type',
      ],
    ],
  },
  'response_format and structured_outputs do not both constrain': {
    passes: [
      [{ response_format: { type: 'text' }, structured_outputs: { regex: 'a' } }],
      [{ response_format: {}, structured_outputs: { regex: 'a' } }],
      [{ response_format: null, structured_outputs: { regex: 'a' } }],
      [{ response_format: jsonSchema, structured_outputs: null }],
    ],
    fails: [
      [
        { response_format: jsonSchema, structured_outputs: { regex: 'a' } },
        'invalid_value',
        'structured_outputs',
      ],
      [
        { response_format: { type: 'json_object' }, structured_outputs: { json: '{}' } },
        'invalid_value',
        'structured_outputs',
      ],
      [
        { response_format: { json_schema: { name: 'a' } }, structured_outputs: { choice: ['a'] } },
        'invalid_value',
        'structured_outputs',
      ],
    ],
  },
  'structured_outputs and a named tool_choice exclude each other': {
    passes: [[{ tools, tool_choice: 'auto', structured_outputs: { regex: 'a' } }, TOOLS]],
    fails: [
      [
        { tools, tool_choice: named('add'), structured_outputs: { regex: 'a' } },
        'invalid_value',
        'structured_outputs',
        TOOLS,
      ],
    ],
  },
  'tools are functions unless the model knows others': {
    passes: [
      [{ tools: [custom, ...tools] }, OTHER_TOOLS],
      [{ tools: [custom], tool_choice: custom }, OTHER_TOOLS],
      [{ tools: [custom], tool_choice: allowed }, OTHER_TOOLS],
      [{ tools, tool_choice: allowed, structured_outputs: { regex: 'a' } }, OTHER_TOOLS],
    ],
    fails: [
      [{ tools: [...tools, custom] }, 'unsupported_value', 'tools[1].type', TOOLS],
      [{ tools: [custom], tool_choice: 'none' }, 'unsupported_value', 'tools[0].type'],
      [{ tools, tool_choice: allowed }, 'unsupported_value', 'tool_choice.type', TOOLS],
      [{ tools: [], tool_choice: allowed }, 'invalid_value', 'tool_choice', OTHER_TOOLS],
      [{ tools, tool_choice: allowed }, 'unsupported_value', 'tool_choice', OTHER_WITHOUT_CALLS],
      [
        { tools: [custom], tool_choice: named('code') },
        'invalid_value',
        'tool_choice.function.name',
        OTHER_TOOLS,
      ],
    ],
  },
  'tool_choice is none unless the model calls tools': {
    passes: [
      [{ tool_choice: 'none' }],
      [{ tool_choice: 'none', tools }],
      [{ tool_choice: null, tools }],
      [{ tools }],
      [{ tools: [] }],
      [{ tools, tool_choice: 'none' }, TOOLS],
      [{ tools, tool_choice: 'auto' }, TOOLS],
      [{ tools, tool_choice: 'required' }, TOOLS],
      [{ tools, tool_choice: named('add') }, TOOLS],
      [{ tool_choice: 'none' }, TOOLS],
    ],
    fails: [
      [{ tools, tool_choice: 'auto' }, 'unsupported_value', 'tool_choice'],
      [{ tool_choice: 'auto' }, 'unsupported_value', 'tool_choice'],
      [{ tools, tool_choice: 'required' }, 'unsupported_value', 'tool_choice'],
      [{ tools, tool_choice: named('add') }, 'unsupported_value', 'tool_choice'],
      [{ tools, tool_choice: SECRET }, 'unsupported_value', 'tool_choice'],
      [{ tools, tool_choice: SECRET }, 'unsupported_value', 'tool_choice', TOOLS],
    ],
  },
  'tool_choice needs the tools that it speaks of': {
    passes: [[{ tools: [...tools, named('mul')], tool_choice: named('mul') }, TOOLS]],
    fails: [
      [{ tool_choice: 'auto' }, 'invalid_value', 'tool_choice', TOOLS],
      [{ tool_choice: 'required', tools: [] }, 'invalid_value', 'tool_choice', TOOLS],
      [{ tool_choice: named('add'), tools: null }, 'invalid_value', 'tool_choice', TOOLS],
      [{ tools, tool_choice: named(SECRET) }, 'invalid_value', 'tool_choice.function.name', TOOLS],
    ],
  },
  'reasoning_effort is one that the model knows': {
    passes: [
      [{ reasoning_effort: 'low' }],
      [{ reasoning_effort: 'medium' }],
      [{ reasoning_effort: 'high' }],
      [{ reasoning_effort: null }],
      [{ reasoning_effort: 'max' }, { ...PLAIN, reasoningEfforts: ['none', 'max'] }],
      [{ reasoning_effort: 'low' }, { ...PLAIN, reasoningEfforts: ['max'] }],
    ],
    fails: [
      [{ reasoning_effort: 'max' }, 'unsupported_value', 'reasoning_effort'],
      [
        { reasoning_effort: 'minimal' },
        'unsupported_value',
        'reasoning_effort',
        { ...PLAIN, reasoningEfforts: ['none'] },
      ],
    ],
  },
  '§7 1: priority needs priority scheduling': {
    passes: [
      [{ priority: 0 }],
      [{ priority: null }],
      [{ priority: -5 }, { ...PLAIN, prioritySchedulingEnabled: true }],
    ],
    fails: [
      [{ priority: 1 }, 'priority_unsupported', 'priority'],
      [{ priority: -1 }, 'priority_unsupported', 'priority'],
    ],
  },
  'logits_processors need a model that runs them': {
    passes: [
      [{ logits_processors: [] }],
      [{ logits_processors: null }],
      [{ logits_processors: ['a.B'] }, { ...PLAIN, logitsProcessors: true }],
    ],
    fails: [[{ logits_processors: [SECRET] }, 'unsupported_parameter', 'logits_processors']],
  },
}
