/** The same tests of an app or a server, with calls in SQLite and with calls in ClickHouse. */
import { describe } from 'vitest'
import type { Config } from '../../../src/config.ts'
import { buildTestApp, type TestApp } from '../../support/build-test-app.ts'
import { TEST_KEY } from '../../support/spawn-server.ts'
import { makeTempDir } from '../../support/temp-dir.ts'
import { borrowDatabase, createDatabase, hasClickHouse } from './clickhouse-server.ts'

/** An app over a ClickHouse database of its own, closed by itself when the test ends. */
export async function buildClickHouseApp(overrides: Partial<Config> = {}): Promise<TestApp> {
  const clickhouse = { url: await borrowDatabase(), cluster: null }
  return buildTestApp({ ...overrides, store: 'clickhouse', clickhouse })
}

/** A server in this process beside spawned ones on the same stores, with their key; ends with the test. */
export async function openServer(
  shared: Pick<Config, 'clickhouse'> & Partial<Config>,
): Promise<{ readonly url: string }> {
  const own = { store: 'clickhouse', dataDir: makeTempDir(), bootstrapKey: TEST_KEY } as const
  const { app } = await buildTestApp({ ...own, ...shared })
  return { url: await app.listen({ host: '127.0.0.1', port: 0 }) }
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
