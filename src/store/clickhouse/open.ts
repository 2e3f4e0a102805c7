/**
 * The stores with ClickHouse: it has calls, lists, threads, statistics and usage; keys, prices, feedback,
 * objects, files, models, jobs and responses stay in the node's own store.
 */
import { closeOnce, type Stores } from '../api/stores.ts'
import type { OnMigrate } from '../base/db/migration-files.ts'
import type { NodeStores } from '../base/node-stores.ts'
import { cacheKnownProjects } from '../base/projects/project-steps.ts'
import { createRecordings, unpackRecorded } from '../base/recordings/recordings.ts'
import { createAgentStore } from './agents/agents.ts'
import { createCallFeed } from './calls/call-feed.ts'
import { createCallStore } from './calls/calls.ts'
import { createCallsQueryStore } from './calls/query/calls-query.ts'
import { createCallRemoval } from './calls/removal/call-removal.ts'
import { createCallWrites, recordCalls } from './calls/write/call-writes.ts'
import { connectClickHouse } from './db/client.ts'
import { migrate } from './db/migrate.ts'
import { createReads } from './db/reads.ts'
import { createStoreHealth } from './health/store-health.ts'
import { createHourBuilder, type HourBuilder, type OnBuildFailure } from './hours/hour-builder.ts'
import { FIND_PROJECT, LIST_PROJECTS } from './projects/projects.sql.ts'
import { createStatsStore, type StatsLimits } from './stats/stats.ts'
import { createThreadStore } from './threads/thread-list.ts'
import { createUsageStore } from './usage/usage.ts'

export interface ClickHouseStoreOptions extends StatsLimits {
  /** Address with user, password and database. Secret. */
  readonly url: string
  /** Cluster on which tables are created; null: one server. */
  readonly cluster: string | null
  /** Limits of waiting writes: their number and bytes. */
  readonly ingestQueueMax: number
  readonly ingestQueueBytesMax: number
  /** Limits of reads: concurrent and waiting ones. */
  readonly readsMax: number
  readonly readQueueMax: number
  readonly readTimeoutMs: number
  readonly writeTimeoutMs?: number
  /** How long a write waits before its caller is told to retry; default 10 s. */
  readonly writeWaitMs?: number
  /** How long waiting writes may take when the store is closed. */
  readonly closeMs: number
  /** Whether hours of statistics are built by themselves; default: true. */
  readonly buildsHours?: boolean
  readonly onBuildFailure?: OnBuildFailure | undefined
  readonly onMigrate?: OnMigrate | undefined
}

export interface ClickHouseStores extends Stores {
  readonly hours: Pick<HourBuilder, 'buildAll' | 'poll'>
}

/**
 * Opens ClickHouse beside the node's own store, migrations included. Closing it closes both.
 *
 * @throws MigrationError; the node's store is then left open
 */
export async function openClickHouseStores(
  node: NodeStores,
  options: ClickHouseStoreOptions,
): Promise<ClickHouseStores> {
  const { url, cluster, readTimeoutMs, writeTimeoutMs, writeWaitMs } = options
  const db = connectClickHouse({ url, readTimeoutMs, writeTimeoutMs })
  try {
    await migrate(db, cluster, undefined, options.onMigrate)
  } catch (error) {
    await db.close()
    throw error
  }
  const writes = createCallWrites(db, {
    queueMax: options.ingestQueueMax,
    queueBytesMax: options.ingestQueueBytesMax,
    waitMs: writeWaitMs,
    closeMs: options.closeMs,
  })
  const reads = createReads(db, {
    slots: options.readsMax,
    queueMax: options.readQueueMax,
    waitMsMax: options.readTimeoutMs,
  })
  const { arrivals, joinedDataOf } = node
  const recordings = createRecordings(
    (calls) => recordCalls(writes, unpackRecorded(calls)),
    arrivals,
  )
  const builder = createHourBuilder(db, {
    nextVersion: writes.nextVersion,
    isAutomatic: options.buildsHours ?? true,
    onFailure: options.onBuildFailure,
  })
  const callsQuery = createCallsQueryStore({ reads, joinedDataOf, arrivals })
  return {
    ...node,
    calls: createCallStore(db, writes, arrivals),
    removal: createCallRemoval(db),
    recordings,
    callFeed: createCallFeed(db),
    callsQuery,
    threads: createThreadStore(reads),
    stats: createStatsStore(reads, options),
    usage: createUsageStore(reads),
    hours: {
      async buildAll() {
        await writes.flushChanges()
        return builder.buildAll()
      },
      poll: builder.poll,
    },
    projects: {
      sumContents: node.projects.sumContents,
      hasProject: cacheKnownProjects(
        async (project_id) =>
          (await node.projects.hasProject(project_id)) ||
          (await db.read(FIND_PROJECT, { project_id })).length > 0,
      ),
      async listProjects(caller) {
        const rows = await reads.read<{ project_id: string }>(LIST_PROJECTS, {}, caller)
        return rows.map(({ project_id }) => project_id)
      },
    },
    agents: createAgentStore(reads),
    annotation: node.annotationOf(callsQuery),
    checkStore: createStoreHealth(db, node).checkStore,
    async readMetrics() {
      const figures = await node.readMetrics()
      return {
        ...figures,
        writes: [...figures.writes, writes.figures()],
        reads: [...figures.reads, reads.figures()],
        elsewhere: [...figures.elsewhere, db.figures()],
        recordingsWaiting: recordings.waiting(),
      }
    },
    close: closeOnce(async () => {
      const flushed = recordings.flush()
      await builder.close()
      await writes.close()
      await flushed
      await db.close()
      await node.close()
    }),
  }
}
