/** Counters and histograms of events since the start of the server. No label holds text from a client. */
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { FinishedRequest, RequestObserver } from '../http/log/request-observer.ts'
import type { CompletionWatch, FinishedCompletion } from '../inference/chat/track-completion.ts'
import type { StoreObserver } from '../store/api/metrics.ts'
import type { StoreCounts } from './counted-stores.ts'

export interface Metrics extends RequestObserver, StoreObserver, StoreCounts, CompletionWatch {
  /** Spans received over OpenTelemetry. */
  spansStored(count: number): void
  /** Recorded completions that could not be stored. */
  recordingsLost(count: number): void
  /** Renders all metrics in the Prometheus text format. */
  render(): Promise<string>
}

/** Labels of statuses, by the first digit. */
const STATUS_CLASSES = ['other', '1xx', '2xx', '3xx', '4xx', '5xx']
/** Upper bounds of buckets. WORK_SECONDS: of requests and of heavy reads. */
const WORK_SECONDS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 10, 60]
const COMMIT_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5]
const COMMIT_WRITES = [1, 3, 10, 30, 100, 300, 1000]
const COMPLETION_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]
const OWN_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 1, 10]

/**
 * Spec: §4.7 (not shown). Choice: no metric has a label for a project, a key or a user, so that a scraper sees the
 * state of the server but not who does what.
 */
export function createMetrics(): Metrics {
  const registry = new Registry()
  return {
    ...createRequestMetrics(registry),
    ...createStoreMetrics(registry),
    ...createCompletionMetrics(registry),
    render: () => registry.metrics(),
  }
}

function createRequestMetrics(registry: Registry): RequestObserver {
  const registers = [registry]
  const seconds = new Histogram({
    name: 'weft_http_request_duration_seconds',
    help: 'Answered requests by route, and how long they took to the end of the answer.',
    labelNames: ['route', 'method', 'status'],
    buckets: WORK_SECONDS,
    registers,
  })
  const refusals = new Counter({
    name: 'weft_refusals_total',
    help: 'Requests that were answered with an error, by its code.',
    labelNames: ['code'],
    registers,
  })
  return {
    requestFinished({ route, method, refusal, ...request }: FinishedRequest) {
      const status = STATUS_CLASSES[Math.floor(request.status / 100)] ?? 'other'
      seconds.observe({ route, method, status }, request.seconds)
      if (refusal !== null) refusals.inc({ code: refusal })
    },
  }
}

function createStoreMetrics(
  registry: Registry,
): StoreObserver & StoreCounts & Pick<Metrics, 'spansStored' | 'recordingsLost'> {
  const registers = [registry]
  const parts = new Counter({
    name: 'weft_call_parts_stored_total',
    help: 'Starts and ends of calls that were acknowledged as stored, without spans.',
    labelNames: ['part'],
    registers,
  })
  const spans = new Counter({
    name: 'weft_spans_stored_total',
    help: 'OpenTelemetry spans that were acknowledged as stored.',
    registers,
  })
  const commits = new Histogram({
    name: 'weft_commit_duration_seconds',
    help: 'Duration of commits of the SQLite database until they are on disk.',
    buckets: COMMIT_SECONDS,
    registers,
  })
  const writes = new Histogram({
    name: 'weft_commit_writes',
    help: 'Writes per commit of the SQLite database.',
    buckets: COMMIT_WRITES,
    registers,
  })
  const reads = new Histogram({
    name: 'weft_read_duration_seconds',
    help: 'Duration of heavy reads of the SQLite database, including waits.',
    labelNames: ['kind'],
    buckets: WORK_SECONDS,
    registers,
  })
  const lost = new Counter({
    name: 'weft_recordings_lost_total',
    help: 'Completions with a project that could not be recorded.',
    registers,
  })
  const claims = new Counter({
    name: 'weft_training_claims_total',
    help: 'Training jobs claimed by workers.',
    registers,
  })
  const attempts = new Counter({
    name: 'weft_training_attempts_total',
    help: 'Attempts at training jobs ended by their workers.',
    labelNames: ['end'],
    registers,
  })
  return {
    partsStored: (part, count) => parts.inc({ part }, count),
    spansStored: (count) => spans.inc(count),
    committed(count, seconds) {
      commits.observe(seconds)
      writes.observe(count)
    },
    readEnded: (kind, seconds) => reads.observe({ kind }, seconds),
    recordingsLost: (count) => lost.inc(count),
    jobClaimed: () => claims.inc(),
    attemptEnded: (end) => attempts.inc({ end }),
  }
}

function createCompletionMetrics(registry: Registry): CompletionWatch {
  const registers = [registry]
  const ended = new Counter({
    name: 'weft_completions_total',
    help: 'Completions by model and outcome: ok, cancelled, or the code of the error.',
    labelNames: ['model', 'outcome'],
    registers,
  })
  const whole = new Histogram({
    name: 'weft_completion_duration_seconds',
    help: 'Completed answers, from the validated request to their end.',
    labelNames: ['model', 'stream'],
    buckets: COMPLETION_SECONDS,
    registers,
  })
  const first = new Histogram({
    name: 'weft_completion_first_event_seconds',
    help: 'Streamed answers, from the validated request to their first event.',
    labelNames: ['model'],
    buckets: COMPLETION_SECONDS,
    registers,
  })
  const own = new Histogram({
    name: 'weft_completion_overhead_seconds',
    help: 'Relayed answers, from the validated request to their beginning, minus the wait for upstreams.',
    labelNames: ['model'],
    buckets: OWN_SECONDS,
    registers,
  })
  const tokens = new Counter({
    name: 'weft_completion_tokens_total',
    help: 'Tokens of prompts and answers, as reported by upstreams.',
    labelNames: ['model', 'direction'],
    registers,
  })
  const fallbacks = new Counter({
    name: 'weft_completion_fallbacks_total',
    help: 'Completions that a model passed to its fallback.',
    labelNames: ['model'],
    registers,
  })
  const upstreamRequests = new Counter({
    name: 'weft_upstream_requests_total',
    help: 'Requests to upstreams; retry is true for repeated attempts.',
    labelNames: ['model', 'retry'],
    registers,
  })
  const streams = new Gauge({
    name: 'weft_completion_streams_open',
    help: 'Streamed answers in progress.',
    registers,
  })
  return {
    completed(completion: FinishedCompletion) {
      const { model, failure, firstSeconds, ownSeconds, isStream } = completion
      ended.inc({ model, outcome: toOutcome(failure) })
      if (failure === null) whole.observe({ model, stream: String(isStream) }, completion.seconds)
      if (isStream && firstSeconds !== null) first.observe({ model }, firstSeconds)
      if (ownSeconds !== null) own.observe({ model }, ownSeconds)
      tokens.inc({ model, direction: 'in' }, completion.promptTokens)
      tokens.inc({ model, direction: 'out' }, completion.outputTokens)
    },
    fellBack: (model) => fallbacks.inc({ model }),
    upstreamRequested: (model, isRetry) => upstreamRequests.inc({ model, retry: String(isRetry) }),
    streamBegan: () => streams.inc(),
    streamEnded: () => streams.dec(),
  }
}

function toOutcome(failure: FinishedCompletion['failure']): string {
  if (failure === null) return 'ok'
  return failure === 'client_closed_request' ? 'cancelled' : failure
}
