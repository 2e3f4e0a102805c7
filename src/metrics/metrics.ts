/**
 * Counts events since the start of the server, at the place where they happen. Each count costs a map lookup; no label
 * holds text from a client.
 */
import type { AnsweredRequest, RequestWatch } from '../http/log/request-watch.ts'
import type { CompletedAnswer, CompletionWatch } from '../inference/chat/completion-watch.ts'
import type { StoreWatch } from '../store/api/figures.ts'
import type { StoreCounts } from './counted-stores.ts'
import { createCounter, createHistogram, renderGauge } from './tallies.ts'

export interface Metrics extends RequestWatch, StoreWatch, StoreCounts, CompletionWatch {
  /** Spans received over OpenTelemetry. */
  spansStored(count: number): void
  /** Recorded completions that could not be stored. */
  recordingsLost(count: number): void
  /** Renders all metrics in the Prometheus text format. */
  render(): string
}

/** By the first digit of the status. */
const STATUS_CLASSES = ['other', '1xx', '2xx', '3xx', '4xx', '5xx']
/** Upper bounds of buckets. WORK_SECONDS: of requests and of heavy reads. */
const WORK_SECONDS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 10, 60]
const COMMIT_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5]
const COMMIT_WRITES = [1, 3, 10, 30, 100, 300, 1000]
const ANSWER_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]
const OWN_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 1, 10]

/**
 * Spec: §4.7 (not shown). Choice: no metric has a label for a project, a key or a user, so that a scraper sees the
 * state of the server but not who does what.
 */
export function createMetrics(): Metrics {
  const requests = createRequestMetrics()
  const stores = createStoreMetrics()
  const completions = createCompletionMetrics()
  return {
    ...requests.watch,
    ...stores.watch,
    ...completions.watch,
    render: () => [...requests.list(), ...stores.list(), ...completions.list()].join(''),
  }
}

function createRequestMetrics() {
  const seconds = createHistogram(WORK_SECONDS, {
    name: 'weft_http_request_duration_seconds',
    help: 'Answered requests by route, and how long they took to the end of the answer.',
    labels: ['route', 'method', 'status'],
  })
  const refusals = createCounter({
    name: 'weft_refusals_total',
    help: 'Requests that were answered with an error, by its code.',
    labels: ['code'],
  })
  const watch: RequestWatch = {
    answered({ route, method, status, seconds: took, refusal }: AnsweredRequest) {
      seconds.observe([route, method, STATUS_CLASSES[Math.floor(status / 100)] ?? 'other'], took)
      if (refusal !== null) refusals.add([refusal])
    },
  }
  return { watch, list: () => [seconds.render(), refusals.render()] }
}

function createStoreMetrics() {
  const parts = createCounter({
    name: 'weft_call_parts_stored_total',
    help: 'Starts and ends of calls that were acknowledged as stored, without spans.',
    labels: ['part'],
  })
  const spans = createCounter({
    name: 'weft_spans_stored_total',
    help: 'OpenTelemetry spans that were acknowledged as stored.',
  })
  const commits = createHistogram(COMMIT_SECONDS, {
    name: 'weft_commit_duration_seconds',
    help: 'Duration of commits of the SQLite database until they are on disk.',
  })
  const writes = createHistogram(COMMIT_WRITES, {
    name: 'weft_commit_writes',
    help: 'Writes per commit of the SQLite database.',
  })
  const reads = createHistogram(WORK_SECONDS, {
    name: 'weft_read_duration_seconds',
    help: 'Duration of heavy reads of the SQLite database, including waits.',
    labels: ['kind'],
  })
  const lost = createCounter({
    name: 'weft_recordings_lost_total',
    help: 'Completions with a project that could not be recorded.',
  })
  const claims = createCounter({
    name: 'weft_training_claims_total',
    help: 'Training jobs claimed by workers.',
  })
  const attempts = createCounter({
    name: 'weft_training_attempts_total',
    help: 'Attempts at training jobs ended by their workers.',
    labels: ['end'],
  })
  const watch: StoreWatch & StoreCounts & Pick<Metrics, 'spansStored' | 'recordingsLost'> = {
    partsStored: (part, count) => parts.add([part], count),
    spansStored: (count) => spans.add([], count),
    committed(count, seconds) {
      commits.observe([], seconds)
      writes.observe([], count)
    },
    readEnded: (kind, seconds) => reads.observe([kind], seconds),
    recordingsLost: (count) => lost.add([], count),
    jobClaimed: () => claims.add([]),
    attemptEnded: (end) => attempts.add([end]),
  }
  const all = [parts, spans, commits, writes, reads, lost, claims, attempts]
  return { watch, list: () => all.map((metric) => metric.render()) }
}

function createCompletionMetrics() {
  const ended = createCounter({
    name: 'weft_completions_total',
    help: 'Completions by model and outcome: ok, cancelled, or the code of the error.',
    labels: ['model', 'outcome'],
  })
  const whole = createHistogram(ANSWER_SECONDS, {
    name: 'weft_completion_duration_seconds',
    help: 'Completed answers, from the validated request to their end.',
    labels: ['model', 'stream'],
  })
  const first = createHistogram(ANSWER_SECONDS, {
    name: 'weft_completion_first_event_seconds',
    help: 'Streamed answers, from the validated request to their first event.',
    labels: ['model'],
  })
  const own = createHistogram(OWN_SECONDS, {
    name: 'weft_completion_overhead_seconds',
    help: 'Relayed answers, from the validated request to their beginning, minus the wait for upstreams.',
    labels: ['model'],
  })
  const tokens = createCounter({
    name: 'weft_completion_tokens_total',
    help: 'Tokens of prompts and answers, as reported by upstreams.',
    labels: ['model', 'direction'],
  })
  const fallbacks = createCounter({
    name: 'weft_completion_fallbacks_total',
    help: 'Completions that a model passed to its fallback.',
    labels: ['model'],
  })
  const asked = createCounter({
    name: 'weft_upstream_requests_total',
    help: 'Requests to upstreams; retry is true for repeated attempts.',
    labels: ['model', 'retry'],
  })
  let streams = 0
  const watch: CompletionWatch = {
    completed(answer: CompletedAnswer) {
      const { model, failure, firstSeconds, ownSeconds, isStream } = answer
      ended.add([model, toOutcome(failure)])
      if (failure === null) whole.observe([model, String(isStream)], answer.seconds)
      if (isStream && firstSeconds !== null) first.observe([model], firstSeconds)
      if (ownSeconds !== null) own.observe([model], ownSeconds)
      tokens.add([model, 'in'], answer.promptTokens)
      tokens.add([model, 'out'], answer.outputTokens)
    },
    fellBack: (model) => fallbacks.add([model]),
    upstreamAsked: (model, isRetry) => asked.add([model, String(isRetry)]),
    streamBegan() {
      streams += 1
    },
    streamEnded() {
      streams -= 1
    },
  }
  const open = {
    name: 'weft_completion_streams_open',
    help: 'Streamed answers in progress.',
  }
  const all = [ended, whole, first, own, tokens, fallbacks, asked]
  return {
    watch,
    list: () => [...all.map((metric) => metric.render()), renderGauge(open, [[[], streams]])],
  }
}

function toOutcome(failure: CompletedAnswer['failure']): string {
  if (failure === null) return 'ok'
  return failure === 'client_closed_request' ? 'cancelled' : failure
}
