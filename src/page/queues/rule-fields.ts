/** The fields of the form of a queue's rules, and the rules that they make. Pure. */
import type { QueueRules } from '../../schemas/annotation/queue-rules.ts'

/** As texts; empty: not set. */
const EMPTY = {
  thumbs: false,
  random: '',
  scores: '',
  disputed: false,
  difference: '0.5',
  roots: true,
  perDay: '100',
  waiting: '1000',
}

export type RuleFields = typeof EMPTY

/** @param rules - as stored; null: none */
export function toRuleFields(rules: QueueRules | null): RuleFields {
  if (rules === null) return EMPTY
  const { thumbs_down, random, scores, disagreement, filter, max_per_day, max_waiting } = rules
  return {
    thumbs: thumbs_down ?? false,
    random: random ? String(random) : '',
    scores: (scores ?? []).flatMap(linesOfScore).join('\n'),
    disputed: Boolean(disagreement),
    difference: String(disagreement?.difference ?? EMPTY.difference),
    roots: filter?.trace_roots_only ?? false,
    perDay: String(max_per_day),
    waiting: String(max_waiting),
  }
}

function linesOfScore({ feedback_type, below, above }: NonNullable<QueueRules['scores']>[number]) {
  return [
    ...(typeof below === 'number' ? [`${feedback_type} < ${below}`] : []),
    ...(typeof above === 'number' ? [`${feedback_type} > ${above}`] : []),
  ]
}

/**
 * The rules that the fields make; what they do not show stays as it is stored.
 *
 * @throws Error for a score of another form
 */
export function toRules(fields: RuleFields, stored: QueueRules | null): object {
  const { trace_roots_only: _before, ...filter } = stored?.filter ?? {}
  const given = fields.roots ? { ...filter, trace_roots_only: true } : filter
  return {
    ...stored,
    filter: Object.keys(given).length > 0 ? given : null,
    thumbs_down: fields.thumbs,
    random: fields.random === '' ? null : Number(fields.random),
    scores: fields.scores
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '')
      .map(readScoreLine),
    disagreement: fields.disputed
      ? { ...stored?.disagreement, difference: Number(fields.difference) }
      : null,
    max_per_day: Number(fields.perDay),
    max_waiting: Number(fields.waiting),
  }
}

/** Reads a line such as `rating < 3`. */
function readScoreLine(line: string) {
  const [, feedback_type = '', sign, bound = ''] = /^(\S.*?)\s*([<>])\s*(\S+)$/.exec(line) ?? []
  if (sign === undefined || Number.isNaN(Number(bound))) {
    throw new Error(`Scores are lines such as "wandb.runnable.helpful < 0.4", not "${line}".`)
  }
  return { feedback_type, [sign === '<' ? 'below' : 'above']: Number(bound) }
}
