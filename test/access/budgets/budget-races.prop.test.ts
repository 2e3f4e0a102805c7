import { onTestFinished } from 'vitest'
import { openSqliteStore } from '../../../src/store/sqlite/open.ts'
import { describeBudgetRaces } from './budget-races-contract.ts'

describeBudgetRaces('sqlite', async () => {
  const store = openSqliteStore({ ingestQueueMax: 1000, dataDir: ':memory:' })
  onTestFinished(() => store.close())
  return store.budgets
})
