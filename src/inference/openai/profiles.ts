/**
 * What each kind of engine does with each request field: one row per field, one column per engine. The
 * table must be complete: a new field does not compile until each engine has a rule for it.
 */
import type { FieldSupport, FieldUse } from '../../domain/chat/chat-rules.ts'
import type { ChatCompletionRequest } from '../../schemas/chat/chat-request.ts'
import type { TextCompletionRequest } from '../../schemas/chat/services/text-completion.ts'
import { CAPABILITIES, type Capability } from '../backend.ts'
import {
  asMaxTokens,
  choiceGrammar,
  choiceRegex,
  clampSeed,
  closeTurn,
  developerAsSystem,
  dropImpliedTurn,
  type FieldEdit,
  llamaToolChoice,
  namedToolChoice,
  nameModel,
  ollamaToolChoice,
  plainFormat,
  requireLastMessage,
  someTools,
  someTopLogprobs,
  stripBackend,
  toEngineConstraint,
  withoutHugeTruncation,
  withUsage,
} from './field-edits.ts'

/** Kinds of engines that the models file may name. */
export const ENGINES = ['vllm', 'sglang', 'llama-server', 'ollama', 'openai', 'generic'] as const
export type Engine = (typeof ENGINES)[number]

interface EngineOffers {
  /** Capabilities of its models if the models file lists none. */
  readonly usual: readonly Capability[]
  /** Further capabilities that the models file may list. */
  readonly more: readonly Capability[]
}

/** What hosted engines usually have, and what local ones have. */
const HOSTED: readonly Capability[] = ['chat', 'completions', 'embeddings']
const LOCAL: readonly Capability[] = [...HOSTED, 'tokenize']
/** Further capabilities of the OpenAI API: all others. */
const VENDOR_SERVICES = CAPABILITIES.filter((name) => !LOCAL.includes(name))

/**
 * The capabilities for which each kind of engine has an endpoint.
 *
 * A generic engine decides itself what it supports. Tokenizing is offered only where the endpoints are those of
 * vLLM, SGLang or llama-server.
 */
export const ENGINE_OFFERS: Readonly<Record<Engine, EngineOffers>> = {
  vllm: { usual: LOCAL, more: ['responses', 'transcriptions', 'translations'] },
  sglang: { usual: LOCAL, more: ['responses', 'transcriptions'] },
  'llama-server': { usual: LOCAL, more: ['responses'] },
  ollama: { usual: HOSTED, more: ['responses'] },
  openai: { usual: HOSTED, more: VENDOR_SERVICES.filter((name) => name !== 'messages') },
  generic: { usual: HOSTED, more: ['tokenize', ...VENDOR_SERVICES] },
}

/**
 * The engines that are sent tools of other types than function, and a tool_choice such as allowed_tools.
 *
 * Spec: §4.3 tools, tool_choice.
 * Choice: the local engines know functions only.
 */
export const OTHER_TOOL_ENGINES: readonly Engine[] = ['openai', 'generic']

/**
 * The rule for a field: it passes unchanged, passes under another name, is edited, is rejected when a
 * request uses it, is dropped and named in the answer, or is handled by this server and not sent.
 */
export type FieldRule =
  | 'pass'
  | 'reject'
  | 'drop'
  | 'own'
  | { readonly rename: string }
  | { readonly edit: FieldEdit }

/** In the order of ENGINES. */
type Row = readonly [FieldRule, FieldRule, FieldRule, FieldRule, FieldRule, FieldRule]

const pass = 'pass'
const no = 'reject'
const named: FieldRule = { edit: namedToolChoice }
const all = (rule: FieldRule): Row => [rule, rule, rule, rule, rule, rule]
/** Known only to vLLM; a generic engine decides itself. */
const vllmOnly: Row = [pass, no, no, no, no, pass]
/** Known to the two GPU engines. */
const gpuOnly: Row = [pass, pass, no, no, no, pass]
/** Sampling fields known to all local engines except Ollama. */
const localOnly: Row = [pass, pass, pass, no, no, pass]

const sglangConstraint = toEngineConstraint({
  regex: 'regex',
  grammar: 'ebnf',
  choice: choiceRegex,
})
const llamaConstraint = toEngineConstraint({ grammar: 'grammar', choice: choiceGrammar })
const formatConstraint = toEngineConstraint({})

/**
 * Spec: §4.3 (every field).
 * Choice: fields that an engine is known not to honour are rejected rather than sent, since most engines
 * silently ignore unknown fields; a generic engine gets everything unchanged.
 */
const FIELDS: Readonly<Record<keyof ChatCompletionRequest, Row>> = {
  messages: [pass, pass, pass, { edit: developerAsSystem }, pass, pass],
  model: all({ edit: nameModel }),
  frequency_penalty: all(pass),
  logit_bias: [pass, pass, pass, no, pass, pass],
  logprobs: all(pass),
  top_logprobs: [pass, pass, { edit: someTopLogprobs }, pass, pass, pass],
  max_tokens: all(pass),
  max_completion_tokens: [pass, pass, { edit: asMaxTokens }, { edit: asMaxTokens }, pass, pass],
  n: [pass, pass, pass, no, pass, pass],
  presence_penalty: all(pass),
  response_format: [
    pass,
    pass,
    { edit: plainFormat },
    { edit: plainFormat },
    { edit: plainFormat },
    pass,
  ],
  seed: all({ edit: clampSeed }),
  stop: all(pass),
  stream: all(pass),
  stream_options: all({ edit: withUsage }),
  temperature: all(pass),
  top_p: all(pass),
  tools: all({ edit: someTools }),
  tool_choice: [named, named, { edit: llamaToolChoice }, { edit: ollamaToolChoice }, named, named],
  reasoning_effort: all(pass),
  include_reasoning: vllmOnly,
  parallel_tool_calls: [pass, pass, pass, 'drop', pass, pass],
  user: all(pass),
  use_beam_search: vllmOnly,
  top_k: localOnly,
  min_p: localOnly,
  repetition_penalty: [pass, pass, { rename: 'repeat_penalty' }, no, no, pass],
  length_penalty: vllmOnly,
  stop_token_ids: gpuOnly,
  include_stop_str_in_output: [pass, { rename: 'no_stop_trim' }, no, no, no, pass],
  ignore_eos: localOnly,
  min_tokens: gpuOnly,
  skip_special_tokens: gpuOnly,
  spaces_between_special_tokens: vllmOnly,
  truncate_prompt_tokens: [
    { edit: withoutHugeTruncation },
    no,
    no,
    no,
    no,
    { edit: withoutHugeTruncation },
  ],
  prompt_logprobs: vllmOnly,
  allowed_token_ids: vllmOnly,
  bad_words: vllmOnly,
  echo: vllmOnly,
  add_generation_prompt: [
    { edit: closeTurn },
    { edit: dropImpliedTurn },
    { edit: closeTurn },
    no,
    no,
    { edit: closeTurn },
  ],
  continue_final_message: [pass, pass, { edit: requireLastMessage }, no, no, pass],
  add_special_tokens: vllmOnly,
  documents: vllmOnly,
  chat_template: vllmOnly,
  chat_template_kwargs: localOnly,
  mm_processor_kwargs: gpuOnly,
  structured_outputs: [
    { edit: stripBackend },
    { edit: sglangConstraint },
    { edit: llamaConstraint },
    { edit: formatConstraint },
    { edit: formatConstraint },
    { edit: stripBackend },
  ],
  priority: [pass, pass, 'own', 'own', 'own', pass],
  request_id: [pass, 'own', 'own', 'own', 'own', pass],
  logits_processors: vllmOnly,
  return_tokens_as_token_ids: vllmOnly,
  return_token_ids: gpuOnly,
  cache_salt: gpuOnly,
  kv_transfer_params: vllmOnly,
  engine_xargs: [{ rename: 'vllm_xargs' }, no, no, no, no, pass],
}

/** Returns the column of one engine. */
export type Profile = Readonly<Record<keyof ChatCompletionRequest, FieldRule>>

export const PROFILES: Readonly<Record<Engine, Profile>> = Object.fromEntries(
  ENGINES.map((engine, column) => [
    engine,
    Object.fromEntries(Object.entries(FIELDS).map(([name, row]) => [name, row[column]])),
  ]),
) as Record<Engine, Profile>

/** Returns the profile of a backend that passes some fields on, uses some itself, and has none of the others. */
export function createProfile(
  passed: readonly (keyof Profile)[],
  own: readonly (keyof Profile)[],
): Profile {
  const names = Object.keys(FIELDS) as (keyof Profile)[]
  const rule = (name: keyof Profile): FieldRule => {
    if (passed.includes(name)) return 'pass'
    return own.includes(name) ? 'own' : 'reject'
  }
  return Object.fromEntries(names.map((name) => [name, rule(name)])) as Profile
}

/**
 * Converts a profile to the field support of the backend contract.
 *
 * @param unsupported - how to treat the fields that the engine does not honour
 */
export function toFieldSupport(profile: Profile, unsupported: 'reject' | 'drop'): FieldSupport {
  const uses = Object.entries(profile).map(([name, rule]) => [name, toUse(rule, unsupported)])
  return Object.fromEntries(uses) as FieldSupport
}

function toUse(rule: FieldRule, unsupported: 'reject' | 'drop'): FieldUse {
  if (rule === 'own') return 'honoured'
  if (rule === 'drop') return 'dropped'
  if (rule === 'reject') return unsupported === 'drop' ? 'dropped' : 'rejected'
  return 'forwarded'
}

/** Fields of legacy completions that an engine may not honour. */
type CompletionField = 'echo' | 'best_of' | 'logprobs' | 'n' | 'logit_bias'

/**
 * The fields of legacy completions that an engine ignores, or answers in another form.
 *
 * Spec: §4 (legacy completions are an addition).
 * Choice: as in chats, a field that an engine is known not to honour is rejected, or dropped where the model allows it.
 */
const UNKNOWN_COMPLETION_FIELDS: Readonly<Partial<Record<Engine, readonly CompletionField[]>>> = {
  // Removed from its sampling parameters.
  vllm: ['best_of'],
  // Its log-probabilities have the form of chats.
  'llama-server': ['echo', 'best_of', 'logprobs'],
  ollama: ['echo', 'best_of', 'logprobs', 'n', 'logit_bias'],
}

/**
 * Returns the fields that a legacy completion uses and the engine does not honour. `best_of` counts only if more
 * choices are made than returned.
 */
export function findUnknownCompletionFields(
  engine: Engine,
  request: TextCompletionRequest,
): readonly CompletionField[] {
  const isUsed = (name: CompletionField): boolean => {
    const value = request[name] ?? null
    if (value === null || value === false) return false
    if (name === 'best_of') return value !== (request.n ?? 1)
    if (name === 'logit_bias') return Object.keys(value).length > 0
    return name !== 'n' || value !== 1
  }
  return (UNKNOWN_COMPLETION_FIELDS[engine] ?? []).filter(isUsed)
}
