/** Evaluates query expressions over rows. Pure. */
import type { Comparison, Expression } from './query-expression.ts'
import {
  convert,
  eachOf,
  equals,
  isMissing,
  order,
  severalValues,
  sizeOf,
  textForTextComparison,
  toText,
} from './query-values.ts'

/** Returns the value of a row's field: a JSON value, a TimeValue, or undefined for a missing one. */
export type GetField = (path: readonly string[]) => unknown

/** The fields read from one row. */
interface RowView {
  readonly getField: GetField
  /** Cached reads by number of the field: its value, its texts, its texts in lower case. */
  readonly values: Map<number, unknown>
  readonly texts: Map<number, Texts>
  readonly lowered: Map<number, Texts>
}

/** The text of each of a field's values; null for what is missing. */
type Texts = readonly (string | null)[]
type Contains = Extract<Expression, { readonly op: '$contains' }>

/** Fields of calls, feedback and evaluation results that hold free JSON. */
const JSON_FIELDS: ReadonlySet<string> = new Set([
  'attributes',
  'feedback',
  'inputs',
  'output',
  'outputs',
  'payload',
  'scores',
  'summary',
])

type Evaluate = (row: RowView) => unknown

/**
 * Prepares an expression for many rows: each field of a row is read, converted to text and lowered once, however
 * often the expression names it.
 *
 * Spec: §2.7 (a query is an addition). Choice: the three values of truth of SQL. What is compared with a missing
 * value, or with one that has no order beside it, is null, and so is `$not` of null; `$eq` with a literal null asks
 * whether the other side is missing. A field with several values meets a comparison when one of them does.
 *
 * @returns whether a row meets the expression
 */
export function createMatcher(expression: Expression): (getField: GetField) => boolean {
  const evaluate = createPlan().plan(expression)
  return (getField) =>
    truthOf(evaluate({ getField, values: new Map(), texts: new Map(), lowered: new Map() })) ===
    true
}

/** The value of an operand; operations give true, false or null. */
export function evaluate(expression: Expression, getField: GetField): unknown {
  const row = { getField, values: new Map(), texts: new Map(), lowered: new Map() }
  return createPlan().plan(expression)(row)
}

/** A truth value of SQL; null is unknown. */
type Truth = boolean | null

/** True when one is, else null when one is. */
function anyTrue<Item>(items: readonly Item[], ask: (item: Item) => Truth): Truth {
  let truth: Truth = false
  for (const item of items) {
    const answer = ask(item)
    if (answer === true) return true
    if (answer === null) truth = null
  }
  return truth
}

function negate(truth: Truth): Truth {
  return truth === null ? null : !truth
}

function truthOf(value: unknown): Truth {
  if (typeof value === 'boolean') return value
  return anyTrue(eachOf(value), (one) => (typeof one === 'boolean' ? one : null))
}

/** A comparison of each of several values. */
function compareEach(
  left: unknown,
  right: unknown,
  compare: (left: unknown, right: unknown) => Truth,
): Truth {
  return anyTrue(eachOf(left), (one) => anyTrue(eachOf(right), (other) => compare(one, other)))
}

function mapEach(getValue: Evaluate, map: (value: unknown) => unknown): Evaluate {
  return (row) => severalValues(eachOf(getValue(row)).map(map))
}

function createPlan() {
  const fields = new Map<string, number>()

  function planField(path: readonly string[]) {
    const name = JSON.stringify(path)
    const field = fields.get(name) ?? fields.size
    fields.set(name, field)
    const getValue: Evaluate = ({ values, getField }) => keep(values, field, () => getField(path))
    const textsOf = (row: RowView) => keep(row.texts, field, () => textsIn(getValue(row), false))
    const loweredOf = (row: RowView) => keep(row.lowered, field, () => lower(textsOf(row)))
    return { getValue, textsOf, loweredOf }
  }

  /** Plans the texts that a `$contains` searches. */
  function planTexts(input: Expression, ignoresCase: boolean): (row: RowView) => Texts {
    if (input.op === '$getField') {
      const { textsOf, loweredOf } = planField(input.path)
      return ignoresCase ? loweredOf : textsOf
    }
    const prepare = (value: unknown): Texts => textsIn(value, ignoresCase)
    if (input.op === '$literal') return constant(prepare(input.value))
    const getValue = plan(input)
    return (row) => prepare(getValue(row))
  }

  function planTruth(item: Expression): (row: RowView) => Truth {
    const getValue = plan(item)
    return (row) => truthOf(getValue(row))
  }

  function planContains({ input, substr, ignoresCase }: Contains): Evaluate {
    const [textsOf, partsOf] = [planTexts(input, ignoresCase), planTexts(substr, ignoresCase)]
    const part = plan(substr)
    return (row) => {
      if (typeof part(row) !== 'string') return null
      const [sought = ''] = partsOf(row) as readonly string[]
      // The vendor finds nothing in everything, missing values included.
      if (sought === '') return true
      return anyTrue(textsOf(row), (text) => text?.includes(sought) ?? null)
    }
  }

  function planBeside(operand: Expression, other: Expression): Evaluate {
    const getValue = plan(operand)
    return isComparedAsText(operand, other) ? mapEach(getValue, textForTextComparison) : getValue
  }

  function planEqual(left: Expression, right: Expression): Evaluate {
    const [leftOf, rightOf] = [planBeside(left, right), planBeside(right, left)]
    if (isNull(right)) return (row) => isMissing(leftOf(row))
    if (isNull(left)) return (row) => isMissing(rightOf(row))
    return (row) => compareEach(leftOf(row), rightOf(row), equals)
  }

  function plan(expression: Expression): Evaluate {
    switch (expression.op) {
      case '$literal':
        return constant(expression.value)
      case '$getField':
        return planField(expression.path).getValue
      case '$convert': {
        const { input, to } = expression
        return mapEach(plan(input), (value) => convert(value, to))
      }
      case '$size':
        return mapEach(plan(expression.input), sizeOf)
      case '$and': {
        const items = expression.items.map(planTruth)
        return (row) => negate(anyTrue(items, (truth) => negate(truth(row))))
      }
      case '$or': {
        const items = expression.items.map(planTruth)
        return (row) => anyTrue(items, (truth) => truth(row))
      }
      case '$not': {
        const truth = planTruth(expression.item)
        return (row) => negate(truth(row))
      }
      case '$in': {
        const { left } = expression
        const pairs = expression.items.map((item) => [planBeside(left, item), plan(item)] as const)
        return (row) => anyTrue(pairs, ([of, item]) => compareEach(of(row), item(row), equals))
      }
      case '$contains':
        return planContains(expression)
      case '$eq':
        return planEqual(expression.left, expression.right)
      default: {
        const { op, left, right } = expression
        const [leftOf, rightOf] = [planBeside(left, right), planBeside(right, left)]
        return (row) =>
          compareEach(leftOf(row), rightOf(row), (one, other) => isInOrder(op, one, other))
      }
    }
  }

  return { plan }
}

/**
 * Whether numbers and booleans of an operand are compared as JSON texts: inside free JSON beside a literal text, as
 * the service behind weave 0.54 does (`$eq` of `inputs.flag` and "true"). Fields with a type of their own are not.
 */
function isComparedAsText(operand: Expression, other: Expression): boolean {
  if (operand.op !== '$getField') return false
  if (other.op !== '$literal' || typeof other.value !== 'string') return false
  const [field = '', inner] = operand.path
  return JSON_FIELDS.has(field) && !(field === 'summary' && inner === 'weave')
}

function textsIn(value: unknown, ignoresCase: boolean): Texts {
  const texts = eachOf(value).map(toText)
  return ignoresCase ? lower(texts) : texts
}

function constant<T>(value: T): () => T {
  return () => value
}

function isNull(expression: Expression): boolean {
  return expression.op === '$literal' && expression.value === null
}

function lower(texts: Texts): Texts {
  return texts.map((text) => text?.toLowerCase() ?? null)
}

/** The value of a key, computed on first use. */
function keep<Value>(kept: Map<number, Value>, key: number, make: () => Value): Value {
  const known = kept.get(key)
  if (known !== undefined || kept.has(key)) return known as Value
  const made = make()
  kept.set(key, made)
  return made
}

function isInOrder(op: Exclude<Comparison, '$eq'>, left: unknown, right: unknown): Truth {
  const sign = order(left, right)
  if (sign === null) return null
  if (op === '$gt') return sign > 0
  if (op === '$gte') return sign >= 0
  return op === '$lt' ? sign < 0 : sign <= 0
}
