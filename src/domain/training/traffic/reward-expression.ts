/** Rewards computed from feedback: arithmetic over the operations of the query language. Pure. */

import { ApiError } from '../../../errors.ts'
import { QUERY_DEPTH_MAX } from '../../../schemas/limits.ts'
import { isObject } from '../../json/is-object.ts'
import { type Expression, parseExpression, parsePath } from '../../query/query-expression.ts'
import { evaluate, type GetField } from '../../query/query-matcher.ts'

const ARITHMETIC = ['$add', '$subtract', '$multiply', '$divide', '$min', '$max'] as const
type Arithmetic = (typeof ARITHMETIC)[number]
const OWN: readonly string[] = [...ARITHMETIC, '$cond']

/** Limit: operands of one operation. */
const OPERANDS_MAX = 100

/** A checked reward; plain data. */
export type RewardExpression =
  | { readonly op: Arithmetic; readonly items: readonly RewardExpression[] }
  | { readonly op: '$cond'; readonly items: readonly RewardExpression[] }
  | { readonly op: 'query'; readonly expression: Expression }

interface RewardRules {
  /** First segments that a path may begin with. */
  readonly fields: ReadonlySet<string>
  /** Name of the expression in the request, for error params. */
  readonly param: string
}

/** The reward that is one field. @throws ApiError query_invalid */
export function parseRewardPath(path: string, rules: RewardRules): RewardExpression {
  const field = parsePath(path, rules.fields, rules.param)
  return { op: 'query', expression: { op: '$getField', path: field } }
}

/** @throws ApiError query_invalid for another grammar, too many levels or operands; param is the place */
export function parseReward(json: unknown, rules: RewardRules, depth = 1): RewardExpression {
  const { fields, param } = rules
  const [name, operands] = onlyEntry(json)
  if (!OWN.includes(name)) {
    return { op: 'query', expression: parseExpression(json, { ...rules, others: OWN }) }
  }
  if (depth > QUERY_DEPTH_MAX) throw invalid(param, `must be at most ${QUERY_DEPTH_MAX} deep`)
  const at = `${param}.${name}`
  const [least, most] = countsOf(name)
  if (!Array.isArray(operands) || operands.length < least || operands.length > most) {
    throw invalid(
      at,
      `must be a list of ${least === most ? least : `${least} to ${most}`} operands`,
    )
  }
  const items = operands.map((item, index) =>
    parseReward(item, { fields, param: `${at}[${index}]` }, depth + 1),
  )
  return { op: name as Arithmetic | '$cond', items }
}

/**
 * Returns the value of an expression as a number; booleans are 1 and 0. Null for anything that is no finite number,
 * a missing field among it.
 */
export function evaluateReward(reward: RewardExpression, getField: GetField): number | null {
  const number = compute(reward, getField)
  return number !== null && Number.isFinite(number) ? number : null
}

const VALUES: ReadonlySet<string> = new Set(['$literal', '$getField', '$convert'])

function compute(reward: RewardExpression, getField: GetField): number | null {
  if (reward.op === 'query') {
    const value = evaluate(reward.expression, getField)
    if (typeof value === 'boolean') return Number(value)
    if (typeof value === 'number') return value
    // As in SQL's CASE, a condition over something missing is not met.
    return value === null && !VALUES.has(reward.expression.op) ? 0 : null
  }
  if (reward.op === '$cond') {
    const [test, then, otherwise] = reward.items as [
      RewardExpression,
      RewardExpression,
      RewardExpression,
    ]
    const truth = compute(test, getField)
    return truth === null ? null : compute(truth === 0 ? otherwise : then, getField)
  }
  const numbers = reward.items.map((item) => compute(item, getField))
  return numbers.includes(null) ? null : calculate(reward.op, numbers as number[])
}

function calculate(op: Arithmetic, numbers: readonly number[]): number {
  const [first = 0, second = 0] = numbers
  switch (op) {
    case '$add':
      return numbers.reduce((sum, number) => sum + number, 0)
    case '$multiply':
      return numbers.reduce((product, number) => product * number, 1)
    case '$subtract':
      return first - second
    case '$divide':
      return first / second
    case '$min':
      return Math.min(...numbers)
    default:
      return Math.max(...numbers)
  }
}

function countsOf(name: string): readonly [least: number, most: number] {
  if (name === '$cond') return [3, 3]
  return name === '$subtract' || name === '$divide' ? [2, 2] : [1, OPERANDS_MAX]
}

function onlyEntry(json: unknown): readonly [name: string, value: unknown] {
  const [entry, ...more] = isObject(json) ? Object.entries(json) : []
  return entry === undefined || more.length > 0 ? ['', undefined] : entry
}

function invalid(param: string, message: string): ApiError {
  return new ApiError('query_invalid', { param, message: `${param} ${message}.` })
}
