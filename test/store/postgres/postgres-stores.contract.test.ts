import { describe } from 'vitest'
import {
  describeKeyStoreContract,
  describePriceStoreContract,
} from '../keys-and-prices-contract.ts'
import { openTestStores } from './open-postgres.ts'
import { hasPostgres } from './postgres-server.ts'

describe.skipIf(!hasPostgres)('with PostgreSQL', () => {
  describeKeyStoreContract('postgres', async () => (await openTestStores()).keys)
  describePriceStoreContract('postgres', async () => (await openTestStores()).prices)
})
