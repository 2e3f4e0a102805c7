import { onTestFinished } from 'vitest'
import { openSqliteKeys, openSqliteStore } from '../../src/store/sqlite/open.ts'
import { describeAuditContract } from '../access/audit/audit-store-contract.ts'
import { describePasswordContract } from '../access/sign-in/password-store-contract.ts'
import { describeAlertStoreContract } from '../alerts/alert-store-contract.ts'
import { describeExportTicketContract } from '../calls/export-ticket-contract.ts'
import { describeEvaluationJobContract } from '../evaluations/evaluation-job-store-contract.ts'
import { describeServedAliasContract } from '../models/served-alias-store-contract.ts'
import { describeRetentionStoreContract } from '../projects/retention-store-contract.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { describeThreadStoreContract } from '../threads/threads-contract.ts'
import { describeCallRemovalContract } from './calls/call-removal-contract.ts'
import { describeCallSumsContract } from './calls/call-sums-contract.ts'
import { describeClosingContract } from './closing-contract.ts'
import { describeCompletionCacheContract } from './completion-cache-contract.ts'
import {
  describeFileStoreContract,
  describeResponseStoreContract,
} from './files-and-responses-contract.ts'
import { describeKeyStoreContract, describePriceStoreContract } from './keys-and-prices-contract.ts'

async function open(dataDir: string) {
  const store = openSqliteStore({ ingestQueueMax: 1000, dataDir })
  onTestFinished(() => store.close())
  return store
}

describeClosingContract('sqlite', () => open(':memory:'))
describeClosingContract('sqlite with threads', () => open(makeTempDir()))
describeClosingContract('keys of sqlite', async () => openSqliteKeys(makeTempDir(), true))
describeCallSumsContract('sqlite', () => open(':memory:'))
describeCallSumsContract('sqlite with threads', () => open(makeTempDir()))
describeCallRemovalContract('sqlite', () => open(':memory:'))
describeCallRemovalContract('sqlite with threads', () => open(makeTempDir()))
describeThreadStoreContract('sqlite', () => open(':memory:'))
describeThreadStoreContract('sqlite with threads', () => open(makeTempDir()))
describeAlertStoreContract('sqlite', () => open(':memory:'))
describeAlertStoreContract('sqlite with threads', () => open(makeTempDir()))
describeEvaluationJobContract('sqlite', async () => (await open(':memory:')).evaluationJobs)
describeServedAliasContract('sqlite', async () => (await open(':memory:')).servedAliases)
describeAuditContract('sqlite', () => open(':memory:'))
describeAuditContract('sqlite with threads', () => open(makeTempDir()))
describePasswordContract('sqlite', () => open(':memory:'))
describePasswordContract('sqlite with threads', () => open(makeTempDir()))
describeKeyStoreContract('sqlite', async () => (await open(':memory:')).keys)
describePriceStoreContract('sqlite', async () => (await open(':memory:')).prices)
describeRetentionStoreContract('sqlite', async () => (await open(':memory:')).retention)
describeFileStoreContract('sqlite', async () => (await open(makeTempDir())).files)
describeResponseStoreContract('sqlite', async () => (await open(':memory:')).responses)
describeExportTicketContract('sqlite', async () => (await open(':memory:')).exportTickets)
describeCompletionCacheContract('sqlite', async () => (await open(':memory:')).completionCache)
