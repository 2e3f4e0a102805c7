/** Converts the evaluations in a span to feedback about its call. Pure. */

import type { FeedbackCreateRequest } from '../../schemas/feedback/feedback.ts'
import { callRef } from '../calls/call-ref.ts'
import { hashedUuid } from '../objects/hashed-uuid.ts'
import { findAt, growTree } from './attribute-tree.ts'
import type { Attributes, Span } from './span.ts'

/** Limit: evaluations of one span. */
const EVALUATIONS_MAX = 100
const NAME_MAX = 100

/** Feedback whose id is given. */
export type SpanFeedback = FeedbackCreateRequest & { readonly id: string }

/** What one evaluation says. */
interface Evaluation {
  readonly name: string
  readonly payload: Record<string, unknown>
}

/**
 * The feedback of a span: its own evaluation in the semantic conventions, those of its events, and OpenInference's
 * annotations and evaluations.
 *
 * Choice: each is feedback of the type `otel.evaluation.<name>` with `score`, `label` and `explanation`; its id follows
 * from what it says, so that a span that comes twice leaves one. Spec: §2.2 feedback_type (free string).
 */
export function readSpanFeedback(
  span: Span,
  project_id: string,
  refScheme: string,
): SpanFeedback[] {
  const events = span.events.filter(({ name }) => name === 'gen_ai.evaluation.result')
  const found = [
    ...[span.attributes, ...events.map(({ attributes }) => attributes)].flatMap(genAi),
    ...openInference(span.attributes),
  ]
  const weave_ref = callRef(refScheme, project_id, span.span_id)
  return found.slice(0, EVALUATIONS_MAX).map(({ name, payload }, index) => ({
    project_id,
    id: hashedUuid([project_id, span.trace_id, span.span_id, index, name, JSON.stringify(payload)]),
    weave_ref,
    feedback_type: `otel.evaluation.${typeName(name)}`,
    creator: span.scope.name.slice(0, NAME_MAX) || null,
    payload,
  }))
}

function genAi(attributes: Attributes): Evaluation[] {
  const name = attributes['gen_ai.evaluation.name']
  if (typeof name !== 'string' || name === '') return []
  return [
    {
      name,
      payload: present({
        score: attributes['gen_ai.evaluation.score.value'],
        label: attributes['gen_ai.evaluation.score.label'],
        explanation: attributes['gen_ai.evaluation.explanation'],
      }),
    },
  ]
}

function openInference(attributes: Attributes): Evaluation[] {
  const isAny = Object.keys(attributes).some((key) => /^(?:annotations|evaluations)\./.test(key))
  if (!isAny) return []
  const tree = growTree(attributes)
  return (['annotation', 'evaluation'] as const).flatMap((word) => {
    const list = findAt(tree, `${word}s`)
    if (!Array.isArray(list)) return []
    return list.flatMap((item): Evaluation[] => {
      const { name, score, label, explanation } = item?.[word] ?? {}
      if (typeof name !== 'string' || name === '') return []
      return [{ name, payload: present({ score, label, explanation }) }]
    })
  })
}

function present(values: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
}

function typeName(name: string): string {
  return name.slice(0, NAME_MAX).replace(/[^\w.-]/g, '_')
}
