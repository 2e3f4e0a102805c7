/**
 * Rules of `response_format` and `structured_outputs`: each must be well-formed, and only one may constrain the
 * response. Whether a schema or grammar compiles is up to the engine.
 */
import { refuse } from '../../errors.ts'
import type { ChatCompletionRequest } from '../../schemas/chat/chat-request.ts'
import {
  type ResponseFormat,
  STRUCTURED_OUTPUT_KINDS,
  type StructuredOutputs,
} from '../../schemas/chat/structured-outputs.ts'
import { isGiven, parseObject } from '../json/json-values.ts'
import { resolveResponseFormatType } from './response-format-type.ts'

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
