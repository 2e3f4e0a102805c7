/** The fields of the form of an evaluator, and the definition that they make. Pure. */
import type { EvaluatorDefinition, EvaluatorResponse } from '../../schemas/evaluators/evaluator.ts'
import type { Scorer } from '../../schemas/evaluators/scorer.ts'
import { shortOp } from '../parts/format.ts'
import { EMPTY_RULE, isRuleKind, textOfNumber, toRule, toRuleFields } from './rule-fields.ts'

/** As texts; empty: not set. */
export const EMPTY = {
  name: '',
  operations: '',
  sampling: '1',
  target: 'call',
  usd: '',
  kind: 'judge',
  model: '',
  prompt: '',
  variables: 'inputs = $.inputs\noutput = $.output',
  ...EMPTY_RULE,
  passes: 'holds',
  url: '',
}

export type Fields = typeof EMPTY

/** What is replaced by a form: what versions of an evaluator differ in. */
const DEFINED = [
  'description',
  'filter',
  'query',
  'sampling',
  'target',
  'rest_seconds',
  'scorer',
  'concurrency',
  'max_usd_per_day',
] as const

/** What the form reads of an evaluator. */
export type StoredDefinition = Pick<EvaluatorResponse, 'name' | (typeof DEFINED)[number]>

/** The kind of a scorer that the form cannot show; it stays as it is. */
export const UNSUPPORTED = 'kept'

/** The fields of a stored evaluator. */
export function toFields(evaluator: StoredDefinition): Fields {
  const { name, sampling, target, filter, max_usd_per_day } = evaluator
  const names = new Set((filter?.op_names ?? []).map(shortOp))
  return {
    ...EMPTY,
    name,
    sampling: String(sampling),
    target,
    operations: [...names].join('\n'),
    usd: textOfNumber(max_usd_per_day),
    ...toScorerFields(evaluator.scorer as Scorer),
  }
}

function toScorerFields(scorer: Scorer): Partial<Fields> {
  if (scorer.kind === 'webhook') return { kind: 'webhook', url: scorer.url }
  if (scorer.kind === 'rule') {
    const { type } = scorer.rule
    const fields = toRuleFields(scorer.rule) ?? { kind: UNSUPPORTED }
    return { kind: type, passes: scorer.negate ? 'fails' : 'holds', ...fields }
  }
  const { model, messages, variables } = scorer
  const names = Object.keys(variables)
  if (names.some((name) => name !== name.trim() || /[=\n]/.test(name))) return { kind: UNSUPPORTED }
  return {
    kind: 'judge',
    model,
    prompt: messages.at(-1)?.content ?? '',
    variables: names.map((name) => `${name} = ${variables[name]}`).join('\n'),
  }
}

/**
 * The definition that the fields make; what they do not show stays as it is stored.
 *
 * @param stored - null: a new one
 * @param toRef - the ref of all versions of an operation
 * @throws Error for variables without a path, and for text that is not JSON
 */
export function toDefinition(
  fields: Fields,
  stored: StoredDefinition | null,
  toRef: (operation: string) => string,
): Partial<EvaluatorDefinition> {
  const kept = Object.fromEntries(
    DEFINED.flatMap((key) => (stored && key in stored ? [[key, stored[key]]] : [])),
  )
  const { op_names, ...others } = stored?.filter ?? {}
  const names = linesOf(fields.operations).flatMap((name) => {
    const known = (op_names ?? []).filter((one) => shortOp(one) === name)
    return known.length > 0 ? known : [toRef(name), name]
  })
  const filter = names.length > 0 ? { op_names: names, ...others } : others
  const isFiltered = Object.keys(filter).length > 0 || op_names
  return {
    ...kept,
    ...(isFiltered ? { filter } : {}),
    ...(fields.usd !== '' || stored?.max_usd_per_day != null
      ? { max_usd_per_day: fields.usd === '' ? null : Number(fields.usd) }
      : {}),
    sampling: Number(fields.sampling),
    target: fields.target as EvaluatorDefinition['target'],
    scorer: toScorer(fields, (stored?.scorer ?? null) as Scorer | null) as Scorer,
  }
}

/** Defaults that are absent are set by the server. @throws Error for variables without a path, and for text that is not JSON */
export function toScorer(fields: Fields, stored: Scorer | null): object {
  const { kind, model, prompt, url } = fields
  if (kind === UNSUPPORTED) {
    return stored?.kind === 'rule'
      ? { ...stored, negate: fields.passes === 'fails' }
      : (stored ?? {})
  }
  if (kind === 'webhook') return { ...(stored?.kind === kind ? stored : {}), kind, url }
  if (kind === 'judge') {
    const judge = stored?.kind === kind ? stored : null
    const last = { role: judge?.messages.at(-1)?.role ?? 'user', content: prompt }
    const messages = [...(judge?.messages.slice(0, -1) ?? []), last]
    return { ...judge, kind, model, messages, variables: readVariables(fields.variables) }
  }
  if (!isRuleKind(kind)) throw new Error(`${kind} is no kind of scorer.`)
  const rule = toRule(kind, fields, stored?.kind === 'rule' ? stored.rule : null)
  return { kind: 'rule', rule, negate: fields.passes === 'fails' }
}

/** Reads lines such as `answer = $.output`. */
function readVariables(text: string): Record<string, string> {
  return Object.fromEntries(
    linesOf(text).map((line) => {
      const [name = '', ...path] = line.split('=')
      if (name.trim() === '' || path.length === 0)
        throw new Error(`Variables are lines such as "answer = $.output", not "${line}".`)
      return [name.trim(), path.join('=').trim()]
    }),
  )
}

function linesOf(text: string): string[] {
  const lines = text.split('\n').map((line) => line.trim())
  return lines.filter((line) => line !== '')
}
