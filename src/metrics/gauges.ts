/** Gauges: current queues, running work and free capacity, read from their owners at each scrape. */
import { Counter, Gauge, Registry } from 'prom-client'
import type { UpstreamState } from '../inference/backend.ts'
import type { AdmissionMetrics } from '../inference/chat/admission.ts'
import type {
  DiskMetrics,
  FaultMetrics,
  ReadMetrics,
  StoreMetrics,
  WriteMetrics,
} from '../store/api/metrics.ts'

interface ServerMetrics {
  readonly version: string
  readonly stores: StoreMetrics
  readonly admission: AdmissionMetrics
  readonly upstreams: readonly (UpstreamState & { readonly model: string })[]
}

/** Metrics of owners of one kind: name, help, and the property that is the value. */
type Rows<Owner> = readonly (readonly [name: string, help: string, value: keyof Owner])[]

const BUILD: Rows<{ readonly one: number }> = [['weft_build_info', 'The running version.', 'one']]
const WRITES: Rows<WriteMetrics> = [
  ['weft_writes_waiting', 'Writes that are not acknowledged yet.', 'waiting'],
  ['weft_writes_waiting_bytes', 'Memory used by waiting writes.', 'waitingBytes'],
  ['weft_writes_refused_total', 'Writes refused because the queue was full.', 'refused'],
]
const READS: Rows<ReadMetrics> = [
  ['weft_reads_running', 'Running heavy reads.', 'running'],
  ['weft_reads_waiting', 'Heavy reads that wait for a thread or a turn.', 'waiting'],
  ['weft_reads_refused_total', 'Heavy reads refused because too many waited.', 'refused'],
]
const DISK: Rows<DiskMetrics> = [
  ['weft_database_bytes', 'The SQLite database.', 'database'],
  ['weft_database_log_bytes', 'The write-ahead log of the SQLite database.', 'log'],
  ['weft_disk_free_bytes', 'Free space on the disk of the data directory.', 'free'],
]
const FAULTS: Rows<FaultMetrics> = [
  [
    'weft_store_faults_total',
    'Statements that failed because ClickHouse or PostgreSQL was unavailable, slow or full.',
    'faults',
  ],
]
const RECORDINGS: Rows<StoreMetrics> = [
  ['weft_recordings_waiting', 'Recorded completions that are not stored yet.', 'recordingsWaiting'],
]
const JOBS: Rows<{ readonly count: number }> = [
  [
    'weft_training_jobs',
    'Unfinished training jobs, 10,000 at most; running ones are leased to a worker.',
    'count',
  ],
]
const COMPLETIONS: Rows<AdmissionMetrics> = [
  ['weft_completions_running', 'Running requests to models.', 'running'],
  ['weft_completions_waiting', 'Requests to models that wait for a slot.', 'waiting'],
  [
    'weft_completions_refused_total',
    'Requests to models refused because the queue was full.',
    'refused',
  ],
]
const UPSTREAMS: Rows<UpstreamState & { readonly isResting: boolean }> = [
  ['weft_upstream_requests_running', 'Requests in progress at an upstream.', 'busyCount'],
  ['weft_upstream_failures', 'Consecutive failures of an upstream.', 'failureCount'],
  ['weft_upstream_resting', '1 while an upstream gets no requests after failures.', 'isResting'],
]

/** Renders all gauges in the Prometheus text format. */
export function renderGauges({
  version,
  stores,
  admission,
  upstreams,
}: ServerMetrics): Promise<string> {
  const registry = new Registry()
  const jobs = Object.entries(stores.trainingJobs ?? {}).map(([state, count]) => ({ state, count }))
  const states = upstreams.map((state) => {
    return { ...state, upstream: state.number, isResting: state.restsMs > 0 }
  })
  addRows(registry, [{ version, one: 1 }], BUILD, 'version')
  addRows(registry, stores.writes, WRITES, 'store')
  addRows(registry, stores.reads, READS, 'kind')
  addRows(registry, stores.disk === null ? [] : [stores.disk], DISK)
  addRows(registry, stores.elsewhere, FAULTS, 'store')
  addRows(registry, [stores], RECORDINGS)
  addRows(registry, jobs, JOBS, 'state')
  addRows(registry, [admission], COMPLETIONS)
  addRows(registry, states, UPSTREAMS, 'model', 'upstream')
  return registry.metrics()
}

/** @param labelNames - properties of owners that are labels under the same name */
function addRows<Owner>(
  registry: Registry,
  owners: readonly Owner[],
  rows: Rows<Owner>,
  ...labelNames: readonly (keyof Owner & string)[]
): void {
  for (const [name, help, value] of rows) {
    // A counter in its owner is one for the scraper, too.
    const Metric = name.endsWith('_total') ? Counter : Gauge
    const metric = new Metric({ name, help, labelNames, registers: [registry] })
    // One without labels has a sample from the start.
    if (owners.length === 0) metric.remove({})
    for (const owner of owners) {
      const labels = labelNames.map((label) => [label, String(owner[label])])
      metric.inc(Object.fromEntries(labels), Number(owner[value]))
    }
  }
}
