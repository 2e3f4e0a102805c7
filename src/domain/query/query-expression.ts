/** The query language: parses JSON to a validated tree. Pure. */

import { ApiError } from '../../errors.ts'
import { QUERY_DEPTH_MAX, QUERY_NODES_MAX } from '../../schemas/limits.ts'
import type { Query } from '../../schemas/query/query-expression.ts'
import { isObject } from '../json/is-object.ts'
import { toDouble } from '../json/json-text.ts'
import { type ConvertTarget, isConvertTarget } from './query-values.ts'

export type Comparison = '$eq' | '$gt' | '$gte' | '$lt' | '$lte'

/** A checked expression; plain data, so that it can be sent to a thread. */
export type Expression =
  | { readonly op: '$literal'; readonly value: unknown }
  | { readonly op: '$getField'; readonly path: readonly string[] }
  | { readonly op: '$convert'; readonly input: Expression; readonly to: ConvertTarget }
  | { readonly op: '$size'; readonly input: Expression }
  | { readonly op: '$and' | '$or'; readonly items: readonly Expression[] }
  | { readonly op: '$not'; readonly item: Expression }
  | { readonly op: Comparison; readonly left: Expression; readonly right: Expression }
  | { readonly op: '$in'; readonly left: Expression; readonly items: readonly Expression[] }
  | {
      readonly op: '$contains'
      readonly input: Expression
      readonly substr: Expression
      readonly ignoresCase: boolean
    }

interface QueryRules {
  /** First segments that a path may begin with. */
  readonly fields: ReadonlySet<string>
  /** Name of the query in the request, for error params. */
  readonly param?: string
  /** Operations that the caller handles itself in place of the outermost one; a refusal names them, too. */
  readonly others?: readonly string[]
}

/**
 * Checks a query; its tree in a form that evaluates quickly.
 *
 * @throws ApiError query_invalid for another grammar, unknown fields, more than QUERY_DEPTH_MAX levels or
 * QUERY_NODES_MAX nodes; `param` is the place, as `query.$expr.$and[0].$eq`
 */
export function parseQuery(query: Query, { fields, param = 'query' }: QueryRules): Expression {
  return parseExpression(query.$expr, { fields, param: `${param}.$expr` })
}

/** Checks an expression outside a query; `param` names it. @throws ApiError query_invalid, as parseQuery */
export function parseExpression(
  json: unknown,
  { fields, param = 'query', others = [] }: QueryRules,
): Expression {
  return createParser(fields, others).parse(json, param, 1)
}

/** The dotted paths that an expression reads. */
export function fieldPaths(expression: Expression): (readonly string[])[] {
  if (expression.op === '$getField') return [expression.path]
  return childrenOf(expression).flatMap(fieldPaths)
}

/** Whether an operand is a field itself, not a path inside it. */
export function isField(operand: Expression, field: string): boolean {
  return operand.op === '$getField' && operand.path.length === 1 && operand.path[0] === field
}

/** The operands of an expression, in order. */
function childrenOf(expression: Expression): readonly Expression[] {
  switch (expression.op) {
    case '$literal':
    case '$getField':
      return []
    case '$convert':
    case '$size':
      return [expression.input]
    case '$and':
    case '$or':
      return expression.items
    case '$not':
      return [expression.item]
    case '$in':
      return [expression.left, ...expression.items]
    case '$contains':
      return [expression.input, expression.substr]
    default:
      return [expression.left, expression.right]
  }
}

type Rule = (value: unknown, at: string, depth: number) => Expression

function createParser(fields: ReadonlySet<string>, others: readonly string[]) {
  let nodes = 0

  function parse(json: unknown, at: string, depth: number): Expression {
    nodes += 1
    if (depth > QUERY_DEPTH_MAX) throw invalid(at, `must be at most ${QUERY_DEPTH_MAX} deep`)
    if (nodes > QUERY_NODES_MAX) throw invalid(at, `must have at most ${QUERY_NODES_MAX} nodes`)
    const [name, ...more] = isObject(json) ? Object.keys(json) : []
    const rule = name !== undefined && Object.hasOwn(rules, name) ? rules[name] : undefined
    if (!rule || more.length > 0) {
      const names = [...Object.keys(rules), ...(depth === 1 ? others : [])]
      throw invalid(at, `must be an object with one of ${names.join(', ')}`)
    }
    return rule((json as Record<string, unknown>)[name as string], `${at}.${name}`, depth + 1)
  }

  function parseList(json: unknown, at: string, depth: number, length?: number): Expression[] {
    if (!Array.isArray(json)) throw invalid(at, 'must be a list of operands')
    if (length !== undefined && json.length !== length) {
      throw invalid(at, `must have ${length} operand${length === 1 ? '' : 's'}`)
    }
    return json.map((item, index) => parse(item, `${at}[${index}]`, depth))
  }

  const parsePair = (json: unknown, at: string, depth: number) =>
    parseList(json, at, depth, 2) as [Expression, Expression]

  const rules: Readonly<Record<string, Rule>> = {
    // Fields are compared as doubles.
    $literal: (value) => ({ op: '$literal', value: toDouble(value) }),
    $getField: (value, at) => ({ op: '$getField', path: parsePath(value, fields, at) }),
    $convert(value, at, depth) {
      const { input, to } = requireKeys(value, ['input', 'to'], at)
      if (!isConvertTarget(to)) {
        throw invalid(`${at}.to`, 'must be double, string, int, bool or exists')
      }
      return { op: '$convert', input: parse(input, `${at}.input`, depth), to }
    },
    $size: (value, at, depth) => ({
      op: '$size',
      input: Array.isArray(value)
        ? (parseList(value, at, depth, 1)[0] as Expression)
        : parse(value, at, depth),
    }),
    $and: (value, at, depth) => ({ op: '$and', items: parseList(value, at, depth) }),
    $or: (value, at, depth) => ({ op: '$or', items: parseList(value, at, depth) }),
    $not: (value, at, depth) => ({
      op: '$not',
      item: parseList(value, at, depth, 1)[0] as Expression,
    }),
    $in(value, at, depth) {
      if (!Array.isArray(value) || value.length !== 2) throw invalid(at, 'must have 2 operands')
      const left = parse(value[0], `${at}[0]`, depth)
      return { op: '$in', left, items: parseList(value[1], `${at}[1]`, depth) }
    },
    $contains(value, at, depth) {
      const keys = ['input', 'substr', 'case_insensitive']
      const { input, substr, case_insensitive = false } = requireKeys(value, keys, at)
      if (typeof (case_insensitive ?? false) !== 'boolean') {
        throw invalid(`${at}.case_insensitive`, 'must be true or false')
      }
      return {
        op: '$contains',
        input: parse(input, `${at}.input`, depth),
        substr: parse(substr, `${at}.substr`, depth),
        ignoresCase: case_insensitive === true,
      }
    },
    ...Object.fromEntries(
      (['$eq', '$gt', '$gte', '$lt', '$lte'] as const).map((op): [string, Rule] => [
        op,
        (value, at, depth) => {
          const [left, right] = parsePair(value, at, depth)
          return { op, left, right }
        },
      ]),
    ),
  }

  return { parse }
}

/** The segments of a dotted name; a backslash before a dot, and brackets behind `feedback.`, keep dots in a segment. */
function splitPath(field: string): string[] {
  const bracketed = /^feedback\.\[(.+?)\]\.(.+)$/u.exec(field)
  if (bracketed) return ['feedback', bracketed[1] as string, ...splitPath(bracketed[2] as string)]
  return field.split(/(?<!\\)\./u).map((segment) => segment.replaceAll('\\.', '.'))
}

/**
 * The segments of a dotted field name.
 *
 * @throws ApiError query_invalid when the first is none of `fields`
 */
export function parsePath(field: unknown, fields: ReadonlySet<string>, at: string): string[] {
  if (typeof field !== 'string') throw invalid(at, 'must be the name of a field')
  const path = splitPath(field)
  if (!fields.has(path[0] ?? '')) {
    throw invalid(at, `is not a field that can be queried; these are: ${[...fields].join(', ')}`)
  }
  return path
}

function requireKeys(value: unknown, known: readonly string[], at: string) {
  if (!isObject(value)) throw invalid(at, `must be an object of ${known.join(', ')}`)
  const unknown = Object.keys(value).find((key) => !known.includes(key))
  if (unknown !== undefined) throw invalid(at, `must be an object of ${known.join(', ')}`)
  return value
}

function invalid(param: string, rule: string): ApiError {
  return new ApiError('query_invalid', { param, message: `${param} ${rule}.` })
}
