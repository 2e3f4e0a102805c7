/** Gauges: current queues, running work and free capacity, read from their owners at each scrape. */
import type { UpstreamState } from '../inference/backend.ts'
import type { AdmissionFigures } from '../inference/chat/admission.ts'
import type { ReadFigures, StoreFigures, WriteFigures } from '../store/api/figures.ts'
import { renderGauge } from './tallies.ts'

interface ServerFigures {
  readonly version: string
  readonly stores: StoreFigures
  readonly admission: AdmissionFigures
  readonly upstreams: readonly (UpstreamState & { readonly model: string })[]
}

/** Renders all gauges in the Prometheus text format. */
export function renderGauges(figures: ServerFigures): string {
  const { version, stores } = figures
  const build = { name: 'weft_build_info', help: 'The running version.', labels: ['version'] }
  return [
    renderGauge(build, [[[version], 1]]),
    ...renderWrites(stores),
    ...renderReads(stores),
    ...renderStores(stores),
    ...renderCompletions(figures),
  ].join('')
}

type Value = readonly [readonly string[], number]

function renderWrites({ writes }: StoreFigures): string[] {
  const list = (value: (store: WriteFigures) => number): Value[] =>
    writes.map((found) => [[found.store], value(found)])
  const labels = ['store']
  return [
    renderGauge(
      { name: 'weft_writes_waiting', help: 'Writes that are not acknowledged yet.', labels },
      list(({ waiting }) => waiting),
    ),
    renderGauge(
      { name: 'weft_writes_waiting_bytes', help: 'Memory used by waiting writes.', labels },
      list(({ waitingBytes }) => waitingBytes),
    ),
    renderGauge(
      {
        name: 'weft_writes_refused_total',
        help: 'Writes refused because the queue was full.',
        labels,
      },
      list(({ refused }) => refused),
      'counter',
    ),
  ]
}

function renderReads({ reads }: StoreFigures): string[] {
  const list = (value: (kind: ReadFigures) => number): Value[] =>
    reads.map((found) => [[found.kind], value(found)])
  const labels = ['kind']
  return [
    renderGauge(
      { name: 'weft_reads_running', help: 'Running heavy reads.', labels },
      list(({ running }) => running),
    ),
    renderGauge(
      { name: 'weft_reads_waiting', help: 'Heavy reads that wait for a thread or a turn.', labels },
      list(({ waiting }) => waiting),
    ),
    renderGauge(
      {
        name: 'weft_reads_refused_total',
        help: 'Heavy reads refused because too many waited.',
        labels,
      },
      list(({ refused }) => refused),
      'counter',
    ),
  ]
}

function renderStores({
  disk,
  elsewhere,
  recordingsWaiting,
  trainingJobs,
}: StoreFigures): string[] {
  const recordings = {
    name: 'weft_recordings_waiting',
    help: 'Recorded completions that are not stored yet.',
  }
  const jobs = {
    name: 'weft_training_jobs',
    help: 'Unfinished training jobs, 10,000 at most; running ones are leased to a worker.',
    labels: ['state'],
  }
  const faults = {
    name: 'weft_store_faults_total',
    help: 'Statements that failed because ClickHouse or PostgreSQL was unavailable, slow or full.',
    labels: ['store'],
  }
  const bytes = (name: string, help: string, value: number | undefined) =>
    renderGauge({ name, help }, value === undefined ? [] : [[[], value]])
  return [
    bytes('weft_database_bytes', 'The SQLite database.', disk?.database),
    bytes('weft_database_log_bytes', 'The write-ahead log of the SQLite database.', disk?.log),
    bytes('weft_disk_free_bytes', 'Free space on the disk of the data directory.', disk?.free),
    renderGauge(
      faults,
      elsewhere.map((found) => [[found.store], found.faults]),
      'counter',
    ),
    renderGauge(recordings, [[[], recordingsWaiting]]),
    renderGauge(
      jobs,
      Object.entries(trainingJobs ?? {}).map(([state, count]) => [[state], count]),
    ),
  ]
}

function renderCompletions({ admission, upstreams }: ServerFigures): string[] {
  const { running, waiting, refused } = admission
  const labels = ['model', 'upstream']
  const list = (value: (state: UpstreamState) => number): Value[] =>
    upstreams.map((state) => [[state.model, String(state.number)], value(state)])
  return [
    renderGauge({ name: 'weft_completions_running', help: 'Running requests to models.' }, [
      [[], running],
    ]),
    renderGauge(
      { name: 'weft_completions_waiting', help: 'Requests to models that wait for a slot.' },
      [[[], waiting]],
    ),
    renderGauge(
      {
        name: 'weft_completions_refused_total',
        help: 'Requests to models refused because the queue was full.',
      },
      [[[], refused]],
      'counter',
    ),
    renderGauge(
      {
        name: 'weft_upstream_requests_running',
        help: 'Requests in progress at an upstream.',
        labels,
      },
      list(({ busyCount }) => busyCount),
    ),
    renderGauge(
      { name: 'weft_upstream_failures', help: 'Consecutive failures of an upstream.', labels },
      list(({ failureCount }) => failureCount),
    ),
    renderGauge(
      {
        name: 'weft_upstream_resting',
        help: '1 while an upstream gets no requests after failures.',
        labels,
      },
      list(({ restsMs }) => (restsMs > 0 ? 1 : 0)),
    ),
  ]
}
