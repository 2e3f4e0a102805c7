/**
 * The heavy reads that run off the event loop, by name. A reader runs nothing else: messages never carry SQL.
 * To add a read, add an entry here.
 */
import { listSpans, performRead } from '../agents/span-scan.ts'
import { listItems, listQueues, sumQueues } from '../annotation/annotation-reads.ts'
import { countSelected, selectCalls } from '../calls/query/calls-scan.ts'
import { pageFeedbackAbout } from '../feedback/feedback-about.ts'
import {
  aggregateFeedback,
  findPayloadPaths,
  measureFeedback,
  queryFeedback,
} from '../feedback/feedback-reads.ts'
import { findObjects, listAliases, listTags } from '../objects/object-list.ts'
import { sortTable } from '../objects/table-reads.ts'
import { listProjects, sumContents } from '../projects/project-reads.ts'
import { groupStats } from '../stats/groups.ts'
import { buildSegment } from '../stats/segments/build/build-job.ts'
import { aggregateStats, renderStats } from '../stats/stats.ts'
import { listThreads } from '../threads/thread-list.ts'
import { findFailures } from '../usage/failures.ts'
import { sumCallsUsage, sumTraceUsage } from '../usage/usage.ts'
import type { ReadJobs } from './read-job.ts'

/** All jobs of the server. */
export const READ_JOBS = {
  annotation_items: listItems,
  annotation_queues: listQueues,
  annotation_sums: sumQueues,
  build_segment: buildSegment,
  count_calls: countSelected,
  content_sizes: sumContents,
  calls_usage: sumCallsUsage,
  feedback_about: pageFeedbackAbout,
  feedback_query: queryFeedback,
  feedback_scores: aggregateFeedback,
  feedback_stats: measureFeedback,
  objects: findObjects,
  object_aliases: listAliases,
  object_tags: listTags,
  payload_paths: findPayloadPaths,
  projects: listProjects,
  select_calls: selectCalls,
  span_list: listSpans,
  span_reads: performRead,
  stats: aggregateStats,
  stats_groups: groupStats,
  stats_texts: renderStats,
  threads: listThreads,
  trace_usage: sumTraceUsage,
  tree_failures: findFailures,
  table_order: sortTable,
} as const satisfies ReadJobs

export type ReadJobRegistry = typeof READ_JOBS
