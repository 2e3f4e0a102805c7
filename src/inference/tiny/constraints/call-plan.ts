/**
 * Determines which tools an answer may call, and the schema of each call: that of the tool, as far as the grammar engine
 * enforces it. Pure.
 */
import { resolveToolChoice } from '../../../domain/chat/chat-rules.ts'
import { type FunctionTool, isFunctionTool } from '../../../domain/chat/field-rules.ts'
import { isObject } from '../../../domain/json/is-object.ts'
import { refuse } from '../../../errors.ts'
import type { ChatCompletionRequest } from '../../../schemas/chat/chat-request.ts'
import {
  type Constraint,
  type ConstraintForm,
  jsonForm,
  requireConstraintSize,
  requireSchemaSize,
} from './constraint-plan.ts'
import { findUnsupportedKeyword } from './json-schema-support.ts'
import { loosenSchema } from './schema-loosening.ts'

/** The schema of a tool without parameters: no arguments. */
const NO_ARGUMENTS = { type: 'object', properties: {}, additionalProperties: false }

/**
 * Lists the tools that the answer may call. The model sees these tools only.
 *
 * @param callsTools - whether the model is served as one that calls tools
 *
 * Spec: §4.3 tools, tool_choice.
 * Choice: with tool_choice none the model does not see the tools, as it would call them; a named function is
 * the only one that it sees.
 */
export function listCallable(
  request: ChatCompletionRequest,
  callsTools: boolean,
): readonly FunctionTool[] {
  const choice = resolveToolChoice(request, { tools: callsTools })
  const tools = (request.tools ?? []).filter(isFunctionTool)
  if (choice === 'none') return []
  if (typeof choice === 'string') return tools
  return tools.filter((tool) => tool.function.name === choice.function?.name)
}

/**
 * Plans the constraint of an answer that may contain calls.
 *
 * @param callable - at least one
 * @param otherwise - constraint of an answer without a call, or null for any text
 * @throws ApiError invalid_value naming the strict schema that cannot be enforced
 *
 * Spec: §4.3 tools, tool_choice, parallel_tool_calls.
 * Choice: auto leaves it to the model whether it calls; required makes the answer nothing but calls, a named
 * function one call of it.
 */
export function planCalls(
  request: ChatCompletionRequest,
  callable: readonly FunctionTool[],
  otherwise: Constraint | null,
): Constraint {
  const { tool_choice: choice, parallel_tool_calls: isParallel } = request
  const isNamed = typeof choice === 'object' && choice !== null
  if (otherwise?.form.kind === 'tag') {
    const message = `tools cannot be called beside ${otherwise.param}: it is a structural tag.`
    refuse('invalid_value', 'tools', message)
  }
  const tools = callable.map((tool) => {
    const place = request.tools?.indexOf(tool) ?? 0
    return { name: tool.function.name, form: planArguments(tool, `tools[${place}]`) }
  })
  const form: ConstraintForm = {
    kind: 'calls',
    tools,
    isRequired: isNamed || choice === 'required',
    isParallel: !isNamed && isParallel !== false,
    otherwise: otherwise?.form ?? null,
  }
  return requireConstraintSize({ form, param: 'tools' })
}

/**
 * Spec: §4.3 tools.
 * Choice: parameters that are not said to be an object are one. With `strict` a schema that cannot be enforced is
 * refused; without, it is loosened.
 */
function planArguments({ function: { name, parameters, strict } }: FunctionTool, place: string) {
  if (!isObject(parameters) || Object.keys(parameters).length === 0) {
    return jsonForm(NO_ARGUMENTS, 'line')
  }
  const isSaid = ['type', '$ref', 'anyOf', 'oneOf', 'allOf', 'const', 'enum'].some(
    (name) => parameters[name] !== undefined,
  )
  const schema = isSaid ? parameters : { ...parameters, type: 'object' }
  const path = `${place}.function.parameters`
  requireSchemaSize(schema, path)
  if (strict !== true) return jsonForm(loosenSchema(schema), 'line')
  const fault = findUnsupportedKeyword(schema, true)
  if (fault === null) return jsonForm(schema, 'line')
  const message = `${path} of the strict tool ${name} uses ${fault}, which cannot be enforced.`
  refuse('invalid_value', path, message)
}
