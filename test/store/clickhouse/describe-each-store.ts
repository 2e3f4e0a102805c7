/** The same tests over HTTP, with calls in SQLite and with calls in ClickHouse. */
import { describe } from 'vitest'
import type { Config } from '../../../src/config.ts'
import { buildTestApp, type TestApp } from '../../support/build-test-app.ts'
import { hasClickHouse, makeDatabase } from './clickhouse-server.ts'

/** An app over a ClickHouse database of its own, closed by itself when the test ends. */
export async function buildClickHouseApp(overrides: Partial<Config> = {}): Promise<TestApp> {
  const clickhouse = { url: await makeDatabase(), cluster: null }
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
