import { describe, expect, it } from 'vitest'
import { openPostgresKeys } from '../../../src/store/postgres/open.ts'
import { describeAuditContract } from '../../access/audit/audit-store-contract.ts'
import { describeBudgetRaces } from '../../access/budgets/budget-races-contract.ts'
import { describePasswordContract } from '../../access/sign-in/password-store-contract.ts'
import { describeAlertStoreContract } from '../../alerts/alert-store-contract.ts'
import { describeAnnotationStoreContract } from '../../annotation/annotation-store-contract.ts'
import { describeQueueRulesContract } from '../../annotation/queue-rules-contract.ts'
import { describeExportTicketContract } from '../../calls/export-ticket-contract.ts'
import { describeCallsQueryContract } from '../../calls/query/calls-query-contract.ts'
import { describeCallsRefsContract } from '../../calls/query/calls-refs-contract.ts'
import { describeEvaluationJobContract } from '../../evaluations/evaluation-job-store-contract.ts'
import { describeEvaluatorContract } from '../../evaluators/evaluator-store-contract.ts'
import { describeFeedbackQueryContract } from '../../feedback/store/feedback-query-contract.ts'
import { describeFeedbackStatsContract } from '../../feedback/store/feedback-stats-contract.ts'
import { describeFeedbackStoreContract } from '../../feedback/store/feedback-store-contract.ts'
import { describeServedAliasContract } from '../../models/served-alias-store-contract.ts'
import { describeObjectChangesContract } from '../../objects/object-changes-contract.ts'
import { describeContentStoresContract } from '../../objects/object-store-contract.ts'
import { describeRetentionStoreContract } from '../../projects/retention-store-contract.ts'
import { describePreviewListsContract } from '../../training/store/preview-lists-contract.ts'
import { describePreviewStoreContract } from '../../training/store/preview-store-contract.ts'
import { describeTrainingQueueContract } from '../../training/store/training-queue-contract.ts'
import { hasClickHouse } from '../clickhouse/clickhouse-server.ts'
import { describeClosingContract } from '../closing-contract.ts'
import { describeCompletionCacheContract } from '../completion-cache-contract.ts'
import {
  describeFileStoreContract,
  describeResponseStoreContract,
} from '../files-and-responses-contract.ts'
import {
  describeKeyStoreContract,
  describePriceStoreContract,
} from '../keys-and-prices-contract.ts'
import { openTestStores, openWithCalls } from './open-postgres.ts'
import { borrowDatabase, hasPostgres } from './postgres-server.ts'

describe.skipIf(!hasPostgres)('with PostgreSQL', () => {
  describeClosingContract('postgres', openTestStores)
  describeClosingContract('keys of postgres', async () => openPostgresKeys(await borrowDatabase()))
  describeBudgetRaces('postgres', async () => (await openTestStores()).budgets)
  describeAuditContract('postgres', openTestStores)
  describeEvaluationJobContract('postgres', async () => (await openTestStores()).evaluationJobs)
  describeServedAliasContract('postgres', async () => (await openTestStores()).servedAliases)
  describePasswordContract('postgres', openTestStores)
  describeAlertStoreContract('postgres', openTestStores)
  describeKeyStoreContract('postgres', async () => (await openTestStores()).keys)
  describePriceStoreContract('postgres', async () => (await openTestStores()).prices)
  describeRetentionStoreContract('postgres', async () => (await openTestStores()).retention)
  describeContentStoresContract('postgres', openTestStores)
  describeObjectChangesContract('postgres', openTestStores)
  describeFileStoreContract('postgres', async () => (await openTestStores()).files)
  describeResponseStoreContract('postgres', async () => (await openTestStores()).responses)
  describeExportTicketContract('postgres', async () => (await openTestStores()).exportTickets)
  describeCompletionCacheContract('postgres', async () => (await openTestStores()).completionCache)
  describeAnnotationStoreContract('postgres', () => openTestStores())
  describeQueueRulesContract('postgres', openTestStores)
  describePreviewStoreContract('postgres', openTestStores)
  describeTrainingQueueContract('postgres', openTestStores)
  describePreviewListsContract('postgres', openTestStores)
  describeFeedbackStoreContract('postgres', async () => (await openTestStores()).feedback)
  describeFeedbackStatsContract('postgres', async () => (await openTestStores()).feedback)
  describeEvaluatorContract('postgres', async () => (await openTestStores()).evaluators)
  describeFeedbackQueryContract('postgres', async () => (await openTestStores()).feedback)

  it('the project list in PostgreSQL has the projects with data other than calls, and no others', async () => {
    const { projects, retention } = await openTestStores()
    expect(await projects.hasProject('acme/set')).toBe(false)
    await retention.setRetention({ project_id: 'acme/set', retention_days: 30 })
    const found = await Promise.all(['acme/set', 'acme/other'].map(projects.hasProject))
    expect(found).toEqual([true, false])
  })
})

describe.skipIf(!hasPostgres || !hasClickHouse)('with calls beside PostgreSQL', () => {
  describeCallsQueryContract('clickhouse with postgres', openWithCalls)
  describeCallsRefsContract('clickhouse with postgres', openWithCalls)
})
