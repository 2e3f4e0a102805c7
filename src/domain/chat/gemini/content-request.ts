/**
 * Converts a request in the format of Google's Gemini API to a chat request. Pure. Every field is carried over, refused
 * by name, or a hint that changes nothing in the response.
 */
import { refuse } from '../../../errors.ts'
import {
  GENERATION_CONFIG_FIELDS,
  GenerateContentRequest,
  type GenerationConfig,
} from '../../../schemas/chat/gemini/content-request.ts'
import { isObject } from '../../json/is-object.ts'
import {
  type ChatDraft,
  carryOver,
  type FrontFieldUse,
  findRefusedFields,
} from '../front-fields.ts'
import { toReasoningEffort } from '../messages/messages-tables.ts'
import { toChatMessages } from './contents.ts'
import { toJsonSchema } from './json-schema.ts'

type Fields = Readonly<Record<string, unknown>>

/** Total over the fields, so that a new one does not compile until it is decided. */
const REQUEST_FIELDS: Readonly<Record<keyof GenerateContentRequest, FrontFieldUse>> = {
  contents: 'translated',
  systemInstruction: 'translated',
  tools: 'translated',
  toolConfig: 'translated',
  generationConfig: 'translated',
  safetySettings: 'kept',
  labels: 'kept',
  serviceTier: 'kept',
  store: 'kept',
  model: 'kept',
  cachedContent: { refusal: 'nothing is kept here, send the whole conversation' },
}

const GENERATION_FIELDS: Readonly<Record<keyof GenerationConfig, FrontFieldUse>> = {
  temperature: { as: 'temperature' },
  topP: { as: 'top_p' },
  topK: { as: 'top_k' },
  seed: { as: 'seed' },
  presencePenalty: { as: 'presence_penalty' },
  frequencyPenalty: { as: 'frequency_penalty' },
  candidateCount: { as: 'n' },
  maxOutputTokens: { as: 'max_completion_tokens' },
  stopSequences: { as: 'stop' },
  responseMimeType: 'translated',
  responseSchema: 'translated',
  responseJsonSchema: 'translated',
  thinkingConfig: 'translated',
  mediaResolution: 'kept',
  enableAffectiveDialog: 'kept',
  responseFormat: { refusal: 'responseJsonSchema has the schema' },
  responseModalities: 'translated',
  responseLogprobs: { refusal: 'responses have no log-probabilities', allowed: false },
  logprobs: { refusal: 'responses have no log-probabilities' },
  speechConfig: { refusal: 'responses are texts' },
  imageConfig: { refusal: 'responses are texts' },
}

interface TranslatedContents {
  readonly draft: ChatDraft
  /** Names of what was left out. */
  readonly dropped: readonly string[]
}

interface TranslationOptions {
  /** Name of the model. */
  readonly model: string
  readonly stream: boolean
  /** Whether what a chat does not have is left out; if not, it is refused. */
  readonly dropsUnsupported: boolean
}

/** @throws ApiError unsupported_parameter, unsupported_value, invalid_value */
export function toChatDraft(
  request: GenerateContentRequest,
  { model, stream, dropsUnsupported }: TranslationOptions,
): TranslatedContents {
  const config = (request.generationConfig ?? {}) as Fields
  const refused = [...listRefused(request, config), ...listRefusedTools(request)]
  const [first] = refused
  if (first !== undefined && !dropsUnsupported) {
    refuse('unsupported_parameter', first.param, first.message)
  }
  const { messages, dropped } = toChatMessages(request, dropsUnsupported)
  const draft = {
    model,
    ...carryOver(GENERATION_FIELDS, config),
    messages,
    ...toTools(request),
    ...toFormat(config),
    ...toEffort(config),
    ...(stream ? { stream: true, stream_options: { include_usage: true } } : {}),
  }
  const names = [...refused.map(({ param }) => param), ...dropped]
  return { draft, dropped: [...new Set(names)] }
}

function listRefused(request: GenerateContentRequest, config: Fields) {
  const inConfig = (name: string) => `generationConfig.${name}`
  const found = findRefusedFields(GENERATION_FIELDS, config)
  const message = 'The field is not one of the Gemini API that chats have.'
  const unknown = [
    ...Object.keys(request).filter((name) => !Object.hasOwn(GenerateContentRequest.shape, name)),
    ...Object.keys(config)
      .filter((name) => !GENERATION_CONFIG_FIELDS.has(name))
      .map(inConfig),
  ].map((param) => ({ param, message }))
  const others = ((config.responseModalities ?? []) as string[]).filter((one) => one !== 'TEXT')
  const modality = { param: inConfig('responseModalities'), message: 'Responses are TEXT only.' }
  return [
    ...findRefusedFields(REQUEST_FIELDS, request),
    ...found.map(({ param, message: told }) => ({ param: inConfig(param), message: told })),
    ...(others.length > 0 ? [modality] : []),
    ...unknown,
  ]
}

/** Tools that the vendor runs, by their names; other text of a client is not repeated. */
const VENDOR_TOOL = /^[a-zA-Z]{1,40}$/

function listRefusedTools({ tools }: GenerateContentRequest) {
  const names = (tools ?? []).flatMap((tool) => Object.keys(tool))
  return names
    .filter((name) => name !== 'functionDeclarations')
    .map((name) => {
      const param = VENDOR_TOOL.test(name) ? `tools.${name}` : 'tools'
      return { param, message: 'Only functionDeclarations are supported: no tools are run here.' }
    })
}

const MODES: Readonly<Record<string, string>> = { NONE: 'none', ANY: 'required' }

/**
 * Spec: §4 (contents are an addition).
 * Choice: where only some functions may be called, the others are left out of the request: few engines have such a list.
 */
function toTools({ tools, toolConfig }: GenerateContentRequest): Fields {
  const declared = (tools ?? []).flatMap((tool) => tool.functionDeclarations ?? [])
  const { mode, allowedFunctionNames } = toolConfig?.functionCallingConfig ?? {}
  const allowed = new Set(allowedFunctionNames ?? [])
  const isLimited = allowed.size > 0 && (mode === 'ANY' || mode === 'VALIDATED')
  const functions = declared
    .filter(({ name }) => !isLimited || allowed.has(name))
    .map(({ name, description, parameters, parametersJsonSchema }) => {
      const schema = parametersJsonSchema ?? parameters ?? { type: 'object', properties: {} }
      const about = description ? { description } : {}
      return { type: 'function', function: { name, ...about, parameters: toJsonSchema(schema) } }
    })
  if (declared.length > 0 && functions.length === 0) {
    const param = 'toolConfig.functionCallingConfig.allowedFunctionNames'
    refuse('invalid_value', param, `${param} must name declared functions.`)
  }
  const choice = MODES[mode ?? '']
  return {
    ...(functions.length > 0 ? { tools: functions } : {}),
    ...(choice === undefined ? {} : { tool_choice: choice }),
  }
}

const JSON_TYPE = 'application/json'

/** Spec: §4.3 response_format. Choice: not strict, since the schemas of this API seldom exclude further members. */
function toFormat({ responseMimeType: type, responseSchema, responseJsonSchema }: Fields): Fields {
  const schema = responseJsonSchema ?? responseSchema
  if (type !== JSON_TYPE) {
    if (!schema && (type === undefined || type === null || type === 'text/plain')) return {}
    const param = 'generationConfig.responseMimeType'
    const rule = schema ? 'for a schema' : 'or text/plain'
    refuse('unsupported_value', param, `${param} must be ${JSON_TYPE} ${rule}.`)
  }
  if (!schema) return { response_format: { type: 'json_object' } }
  const json_schema = { name: 'response', schema: toJsonSchema(schema as object) }
  return { response_format: { type: 'json_schema', json_schema } }
}

function toEffort({ thinkingConfig }: Fields): Fields {
  const { thinkingLevel, thinkingBudget } = (thinkingConfig ?? {}) as Fields
  if (typeof thinkingLevel === 'string' && !/UNSPECIFIED$/.test(thinkingLevel)) {
    return { reasoning_effort: thinkingLevel.toLowerCase() }
  }
  if (typeof thinkingBudget !== 'number' || thinkingBudget === -1) return {}
  return { reasoning_effort: thinkingBudget === 0 ? 'none' : toReasoningEffort(thinkingBudget) }
}

/** Returns the field of a generation that corresponds to the path of a chat's field. */
export function toContentParam(param: string): string {
  const [, head = ''] = /^(\w+)/.exec(param) ?? []
  if (head === 'messages') return 'contents'
  if (head === 'tools') return 'tools'
  if (head === 'tool_choice') return 'toolConfig'
  if (head === 'reasoning_effort') return 'generationConfig.thinkingConfig'
  if (head === 'response_format') return 'generationConfig.responseMimeType'
  const name = Object.entries(GENERATION_FIELDS).find(
    ([, use]) => typeof use === 'object' && 'as' in use && use.as === head,
  )?.[0]
  return name === undefined ? param : `generationConfig.${name}`
}

/** Members whose names are those of the user's own data. */
const FREE_MEMBERS = new Set([
  'args',
  'response',
  'labels',
  'parameters',
  'parametersJsonSchema',
  'responseSchema',
  'responseJsonSchema',
])

/** Returns a body with names in camelCase: the API's JSON has both, and its library for Python sends a mixture. */
export function toCamelCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toCamelCase)
  if (!isObject(value)) return value
  const entries = Object.entries(value).map(([name, member]) => {
    const known = name.replace(/(?<=[a-z])_([a-z])/g, (_match, letter) => letter.toUpperCase())
    return [known, FREE_MEMBERS.has(known) ? member : toCamelCase(member)] as const
  })
  return Object.fromEntries(entries)
}
