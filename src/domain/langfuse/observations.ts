/**
 * Calls as observations of Langfuse's API. Pure.
 *
 * Spec: none, an addition. Choice: what its SDKs sent in a span is shown as it was sent; calls of other clients have
 * their own fields in its place.
 */
import {
  parseTimestampUs,
  renderTimestamp,
  renderTimestampOrNull,
} from '../../schemas/timestamp.ts'
import type { StoredCall } from '../calls/call-view.ts'
import { isObject } from '../json/is-object.ts'
import { renderJson } from '../json/json-text.ts'
import { filledTextOrNull, objectOrEmpty, textOrNull } from '../json/json-values.ts'
import { parseRef } from '../objects/refs.ts'
import type { StepKind } from '../otel/dialects/step-kinds.ts'
import { parseText } from '../otel/span-reader.ts'
import type { CallCosts } from '../prices/cost.ts'
import { valueAt } from '../query/query-values.ts'
import { costDetails, usageDetails } from './observation-usage.ts'

export const DEFAULT_ENVIRONMENT = 'default'

/** The types of observations by the kinds of calls; others are spans. */
export const KIND_TYPES: Readonly<Partial<Record<StepKind, string>>> = {
  llm: 'GENERATION',
  embedding: 'EMBEDDING',
  retriever: 'RETRIEVER',
  tool: 'TOOL',
  agent: 'AGENT',
  chain: 'CHAIN',
  guardrail: 'GUARDRAIL',
  evaluator: 'EVALUATOR',
}

export interface PricedObservation {
  readonly call: StoredCall
  readonly costs: CallCosts
}

/** Reads what a span of the SDKs has below `langfuse.`; a text that is JSON stays one. */
function sentReader({ attributes, otel_dump }: StoredCall) {
  const sent = objectOrEmpty(otel_dump?.attributes)
  return (path: string): unknown =>
    sent[`langfuse.${path}`] ?? valueAt(attributes, ['langfuse', ...path.split('.')]) ?? null
}

/** The name of a call, as its list shows it. */
export function observationName({ display_name, op_name }: StoredCall): string {
  return display_name ?? parseRef(op_name)?.name ?? op_name
}

function typeOf(call: StoredCall): string {
  const said = valueAt(call.attributes, ['langfuse', 'observation', 'type'])
  const kind = call.attributes.kind as StepKind
  return filledTextOrNull(said)?.toUpperCase() ?? KIND_TYPES[kind] ?? 'SPAN'
}

/** The fields that observations share with the trace around them. */
export function contextOf(call: StoredCall) {
  const sent = sentReader(call)
  return {
    sessionId: call.thread_id,
    userId: call.end_user_id,
    environment: textOrNull(sent('environment')) ?? DEFAULT_ENVIRONMENT,
    version: textOrNull(sent('version')),
    release: textOrNull(sent('release')),
    tags: tagsOf(sent('trace.tags')),
    traceName: textOrNull(sent('trace.name')),
    public: false,
    bookmarked: false,
  }
}

function tagsOf(value: unknown): string[] {
  const tags = parseText(value)
  return Array.isArray(tags) ? tags.filter((tag) => typeof tag === 'string') : []
}

/** What a call was given and returned, as texts where an SDK sent JSON texts. */
function sentBodies(call: StoredCall) {
  const sent = sentReader(call)
  const { inputs, output } = call
  const isValue = 'value' in inputs && Object.keys(inputs).length === 1
  const given = isValue ? inputs.value : Object.keys(inputs).length === 0 ? null : inputs
  return {
    input: sent('observation.input') ?? given,
    output: sent('observation.output') ?? output ?? null,
  }
}

/** What a call was given and returned, as values. */
export function parsedBodies(call: StoredCall) {
  const { input, output } = sentBodies(call)
  return { input: parseText(input), output: parseText(output) }
}

/** The metadata of an observation, or of the trace; without any of an SDK the attributes of the call. */
export function metadataOf(call: StoredCall, about: 'observation' | 'trace'): object {
  const { langfuse } = call.attributes
  if (isObject(langfuse)) return parsedValues(valueAt(langfuse, [about, 'metadata']))
  if (about === 'trace') return {}
  const { kind: _kind, user: _user, ...attributes } = call.attributes
  return attributes
}

function parsedValues(metadata: unknown): object {
  const value = parseText(metadata)
  if (!isObject(value)) return (value ?? null) === null ? {} : { metadata: value }
  const entries = Object.entries(value)
  return Object.fromEntries(entries.map(([key, item]) => [key, parseText(item)]))
}

function usageOf({ call, costs }: PricedObservation) {
  const sent = sentReader(call)
  return {
    usageDetails: usageDetails(sent('observation.usage_details'), call.summary),
    costDetails: costDetails(sent('observation.cost_details'), costs),
  }
}

/** The cost of an observation in US dollars; null where nothing is known of it. */
export function totalCostOf(priced: PricedObservation): number | null {
  // Two calls report one request: it counts in the other.
  const countedIn = priced.call.usage_counted_in ?? priced.call.id
  if (countedIn !== priced.call.id) return null
  const { total, ...parts } = usageOf(priced).costDetails
  if (total !== undefined) return total
  const known = Object.values(parts)
  return known.length === 0 ? null : known.reduce((sum, part) => sum + part, 0)
}

function modelOf(call: StoredCall) {
  const sent = sentReader(call)
  const { model } = call.inputs
  const [reported] = Object.keys(objectOrEmpty(call.summary.usage))
  const counted = reported === 'unknown' ? null : (reported ?? null)
  return {
    model: textOrNull(sent('observation.model.name')) ?? textOrNull(model) ?? counted,
    modelParameters: parseText(sent('observation.model.parameters')),
  }
}

/** The first token, in microseconds; null where no SDK sent its time. */
function firstTokenUs(call: StoredCall): number | null {
  const text = parseText(sentReader(call)('observation.completion_start_time'))
  return typeof text === 'string' ? parseTimestampUs(text) : null
}

function promptOf(call: StoredCall) {
  const sent = sentReader(call)
  const version = Number(sent('observation.prompt.version') ?? Number.NaN)
  return {
    promptId: null,
    promptName: textOrNull(sent('observation.prompt.name')),
    promptVersion: Number.isSafeInteger(version) ? version : null,
  }
}

function timesOf(call: StoredCall) {
  const { started_at_us, ended_at_us } = call
  const first = firstTokenUs(call)
  const secondsTo = (us: number | null) => (us === null ? null : (us - started_at_us) / 1e6)
  return {
    latency: secondsTo(ended_at_us),
    timeToFirstToken: secondsTo(first),
    completionStartTime: renderTimestampOrNull(first),
  }
}

function coreOf(call: StoredCall) {
  return {
    id: call.id,
    traceId: call.trace_id,
    startTime: renderTimestamp(call.started_at_us),
    endTime: renderTimestampOrNull(call.ended_at_us),
    projectId: call.project_id,
    parentObservationId: call.parent_id,
    type: typeOf(call),
  }
}

function basicOf(call: StoredCall) {
  const sent = sentReader(call)
  const { exception } = call
  return {
    name: observationName(call),
    level: textOrNull(sent('observation.level')) ?? (exception === null ? 'DEFAULT' : 'ERROR'),
    statusMessage: textOrNull(sent('observation.status_message')) ?? exception,
  }
}

const NO_PRICES = { modelId: null, inputPrice: null, outputPrice: null, totalPrice: null }

/** An observation of `/observations` and of a trace: everything, with bodies as values. */
export function renderObservation(priced: PricedObservation) {
  const { call } = priced
  const { environment, version } = contextOf(call)
  const { usageDetails, costDetails } = usageOf(priced)
  const { input = 0, output = 0, total = input + output } = usageDetails
  return {
    ...coreOf(call),
    ...basicOf(call),
    ...timesOf(call),
    ...parsedBodies(call),
    ...modelOf(call),
    ...promptOf(call),
    ...NO_PRICES,
    environment,
    version,
    metadata: metadataOf(call, 'observation'),
    usage: { input, output, total, unit: 'TOKENS' },
    usageDetails,
    costDetails,
    calculatedInputCost: costDetails.input ?? null,
    calculatedOutputCost: costDetails.output ?? null,
    calculatedTotalCost: totalCostOf(priced),
  }
}

/** The groups of fields of `/v2/observations`, besides the core. */
export const FIELD_GROUPS = {
  basic: ({ call }: PricedObservation) => {
    const { tags: _tags, release: _release, traceName: _name, ...context } = contextOf(call)
    const isMarked = valueAt(call.attributes, ['langfuse', 'internal', 'is_app_root']) === true
    return { ...basicOf(call), ...context, isRootObservation: call.parent_id === null || isMarked }
  },
  time: ({ call }: PricedObservation) => ({
    completionStartTime: timesOf(call).completionStartTime,
    createdAt: renderTimestamp(call.started_at_us),
    updatedAt: renderTimestamp(call.ended_at_us ?? call.started_at_us),
  }),
  io: ({ call }: PricedObservation) => {
    const { input, output } = sentBodies(call)
    return { input: asText(input), output: asText(output) }
  },
  metadata: ({ call }: PricedObservation) => ({ metadata: metadataOf(call, 'observation') }),
  model: ({ call }: PricedObservation) => ({ ...modelOf(call), internalModelId: null }),
  usage: (priced: PricedObservation) => ({
    ...usageOf(priced),
    totalCost: totalCostOf(priced),
    usagePricingTierName: null,
  }),
  prompt: ({ call }: PricedObservation) => promptOf(call),
  metrics: ({ call }: PricedObservation) => {
    const { latency, timeToFirstToken } = timesOf(call)
    return { latency, timeToFirstToken }
  },
  trace_context: ({ call }: PricedObservation) => {
    const { tags, release, traceName } = contextOf(call)
    return { tags, release, traceName }
  },
} as const
export type FieldGroup = keyof typeof FIELD_GROUPS

/** Bodies of `/v2/observations` are texts. */
function asText(value: unknown): string | null {
  return value === null || typeof value === 'string' ? value : renderJson(value)
}

/** An observation of `/v2/observations`: its core, and the groups of fields that are asked for. */
export function renderObservationV2(priced: PricedObservation, groups: readonly FieldGroup[]) {
  const shown = groups.map((group) => FIELD_GROUPS[group](priced))
  return Object.assign({ ...coreOf(priced.call), ...NO_PRICES }, ...shown) as object
}
