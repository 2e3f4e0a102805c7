/** The same tests of an app or a server, with calls in SQLite and with calls in ClickHouse. */
import { describe } from 'vitest'
import type { Config } from '../../../src/config.ts'
import { buildTestApp, type TestApp } from '../../support/build-test-app.ts'
import { borrowDatabase, createDatabase, hasClickHouse } from './clickhouse-server.ts'

/** An app over a ClickHouse database of its own, closed by itself when the test ends. */
export async function buildClickHouseApp(overrides: Partial<Config> = {}): Promise<TestApp> {
  const clickhouse = { url: await borrowDatabase(), cluster: null }
  return buildTestApp({ ...overrides, store: 'clickhouse', clickhouse })
}

export function describeEachStore(
  name: string,
  tests: (build: (overrides?: Partial<Config>) => Promise<TestApp>) => void,
): void {
  describe(`${name}, in SQLite`, () => tests((overrides) => buildTestApp(overrides)))
  describe.skipIf(!hasClickHouse)(`${name}, with calls in ClickHouse`, () =>
    tests(buildClickHouseApp),
  )
}

/** Settings of a server process, and what to do when it has ended. */
interface StoreSettings {
  readonly settings: Readonly<Record<string, string>>
  drop(): Promise<void>
}

/** @param tests - ask for the settings before a server starts, and drop the store when it has ended */
export function describeServerOnEachStore(
  name: string,
  tests: (openStore: () => Promise<StoreSettings>) => void,
): void {
  describe(`${name}, in SQLite`, () =>
    tests(async () => ({ settings: {}, drop: async () => undefined })))
  describe.skipIf(!hasClickHouse)(`${name}, with calls in ClickHouse`, () =>
    tests(async () => {
      const { url, drop } = await createDatabase()
      return { settings: { WEFT_STORE: 'clickhouse', WEFT_CLICKHOUSE_URL: url }, drop }
    }),
  )
}
