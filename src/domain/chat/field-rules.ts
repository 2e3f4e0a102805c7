/**
 * Rules of single fields: tools, constraints of the output and 64-bit integers. Rules between fields are in chat-rules.ts.
 * Messages never repeat what a client sent. Whether a schema or grammar compiles is up to the engine. Pure.
 */

import { ApiError, refuse } from '../../errors.ts'
import { CHAT_DEFAULTS, type ChatCompletionRequest } from '../../schemas/chat/chat-request.ts'
import { INT64_BOUND } from '../../schemas/chat/chat-sampling-fields.ts'
import type { ChatTool } from '../../schemas/chat/chat-tool-fields.ts'
import {
  type ResponseFormat,
  STRUCTURED_OUTPUT_KINDS,
  type StructuredOutputs,
} from '../../schemas/chat/structured-outputs.ts'
import { findMembers } from '../json/json-members.ts'
import { isGiven, parseObject } from '../json/json-values.ts'
import { resolveResponseFormatType } from './response-format-type.ts'

/** Abilities of a model with tools. */
interface ToolCapabilities {
  readonly tools: boolean
  readonly otherTools?: boolean
}

/** A tool that is a function. */
export type FunctionTool = ChatTool & { readonly function: NonNullable<ChatTool['function']> }

export function isFunctionTool(tool: ChatTool): tool is FunctionTool {
  return (tool.type ?? 'function') === 'function' && (tool.function ?? null) !== null
}

/**
 * Refuses tools that the model does not know, also where they are not called.
 *
 * Spec: §4.3 tools.
 * Choice: other types than function only for models whose engine gets them as they are.
 */
export function requireKnownTools(
  { tools, tool_choice: choice }: ChatCompletionRequest,
  { otherTools = false }: ToolCapabilities,
): void {
  if (otherTools) return
  const place = (tools ?? []).findIndex((tool) => !isFunctionTool(tool))
  const isOther = typeof choice === 'object' && choice !== null && choice.type !== 'function'
  const param = place >= 0 ? `tools[${place}].type` : isOther ? 'tool_choice.type' : null
  if (param === null) return
  refuse('unsupported_value', param, `${param} must be function: the model knows no other tools.`)
}

/** Spec: §4.3 tool_choice. Choice: which other types name a known tool is for the engine to say. */
export function requireKnownToolChoice(
  request: ChatCompletionRequest,
  { tools }: ToolCapabilities,
): void {
  const choice = request.tool_choice ?? CHAT_DEFAULTS.tool_choice
  if (choice === 'none') return
  if (!tools) {
    const rule = 'tool_choice must be none: the model does not call tools. Allowed values: none.'
    refuse('unsupported_value', 'tool_choice', rule)
  }
  if (typeof choice === 'string' && choice !== 'auto' && choice !== 'required') {
    const rule = 'tool_choice must be one of none, auto, required, or an object naming a function.'
    refuse('unsupported_value', 'tool_choice', rule)
  }
  const known = request.tools ?? []
  if (known.length === 0) {
    refuse('invalid_value', 'tool_choice', 'tool_choice other than none needs tools to be given.')
  }
  if (typeof choice === 'string' || choice.type !== 'function') return
  if (known.some((tool) => isFunctionTool(tool) && tool.function.name === choice.function?.name)) {
    return
  }
  const rule = 'tool_choice must name a function that is listed in tools.'
  refuse('invalid_value', 'tool_choice.function.name', rule)
}

/**
 * Lets the constraints of a request pass or throws for the first rule that they break.
 *
 * @throws ApiError invalid_value, missing_required_parameter
 *
 * Spec: §4.3 response_format, structured_outputs.
 * Choice: exactly one kind in structured_outputs, where json_object false is none; not together with a constraining
 * response_format nor with a named tool_choice.
 */
export function requireValidConstraints(request: ChatCompletionRequest): void {
  const { response_format: format, structured_outputs: outputs } = request
  if (isGiven(format)) requireValidFormat(format)
  if (!isGiven(outputs)) return
  requireOneKind(outputs)
  requireJsonText(outputs.json, 'structured_outputs.json')
  requireJsonText(outputs.structural_tag, 'structured_outputs.structural_tag')
  if (isGiven(format) && isConstraining(format)) {
    const rule = 'structured_outputs and response_format cannot both constrain.'
    refuse('invalid_value', 'structured_outputs', rule)
  }
  const { tool_choice: choice } = request
  if (isGiven(choice) && typeof choice === 'object' && choice.type !== 'allowed_tools') {
    const rule = 'structured_outputs cannot be combined with a named tool_choice.'
    refuse('invalid_value', 'structured_outputs', rule)
  }
}

function isConstraining(format: ResponseFormat): boolean {
  const type = resolveResponseFormatType(format)
  return type !== null && type !== 'text'
}

function requireValidFormat(format: ResponseFormat): void {
  const type = resolveResponseFormatType(format)
  if (type === null && Object.keys(format).length > 0) {
    const rule = 'response_format needs a type: text, json_object, json_schema or structural_tag.'
    refuse('missing_required_parameter', 'response_format.type', rule)
  }
  if (type === 'json_schema' && !isGiven(format.json_schema)) {
    const rule = 'response_format of type json_schema needs json_schema.'
    refuse('missing_required_parameter', 'response_format.json_schema', rule)
  }
}

function requireOneKind(outputs: StructuredOutputs): void {
  const isSet = (kind: (typeof STRUCTURED_OUTPUT_KINDS)[number]) =>
    isGiven(outputs[kind]) && outputs[kind] !== false
  const count = STRUCTURED_OUTPUT_KINDS.filter(isSet).length
  if (count === 1) return
  const kinds = STRUCTURED_OUTPUT_KINDS.join(', ')
  const rule = `structured_outputs must set exactly one of ${kinds}, not ${count}.`
  refuse('invalid_value', 'structured_outputs', rule)
}

function requireJsonText(value: unknown, param: string): void {
  if (typeof value !== 'string') return
  if (parseObject(value) !== null) return
  refuse('invalid_value', param, `${param} must be the JSON text of an object.`)
}

/** Spec: §4.3, §8. */
const BOUND = 9_223_372_036_854_776_000n
const LOWEST = { seed: -BOUND, truncate_prompt_tokens: -1n } as const
const NAMES = Object.keys(LOWEST) as (keyof typeof LOWEST)[]

/** Limit: characters of a number whose digits are compared. */
const NUMBER_CHARS_MAX = 64
const DECIMAL = /^(-?\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/

/**
 * Lets a parsed request pass, or throws for an integer just outside its range.
 *
 * @param body - the request's text, which has been parsed before
 * @throws ApiError invalid_value
 */
export function requireIntegerBounds(request: ChatCompletionRequest, body: string): void {
  for (const name of NAMES) {
    if (Math.abs(request[name] ?? 0) < INT64_BOUND) continue
    const place = findMembers(body).findLast((member) => member.name === name)
    if (place === undefined) continue
    const source = body.slice(place.valueStart, place.valueEnd)
    if (isWithin(source, LOWEST[name])) continue
    const message = `${name} must be a whole number from ${LOWEST[name]} to ${BOUND}`
    throw new ApiError('invalid_value', { message, param: name })
  }
}

function isWithin(source: string, lowest: bigint): boolean {
  const match = source.length <= NUMBER_CHARS_MAX ? DECIMAL.exec(source) : null
  if (match === null) return false
  const [, whole = '', fraction = '', exponent = '0'] = match
  const shift = Number(exponent) - fraction.length
  const digits = BigInt(whole + fraction)
  // The double lies on the bound, so neither power can be large.
  const up = 10n ** BigInt(Math.max(shift, 0))
  const down = 10n ** BigInt(Math.max(-shift, 0))
  return digits * up <= BOUND * down && digits * up >= lowest * down
}
