import { describe, expect, it } from 'vitest'
import { alertOf, openReceiver, settingsOf, startRunner } from '../../alerts/alert-fixtures.ts'
import { openTestStores } from './open-postgres.ts'
import { hasPostgres, makeDatabase } from './postgres-server.ts'

describe.skipIf(!hasPostgres)('alerts in PostgreSQL', () => {
  it('fire once and are delivered once, however many processes share them', async () => {
    const url = await makeDatabase()
    const [one, other] = [await openTestStores(url), await openTestStores(url)]
    const { alerts } = one
    const receiver = await openReceiver()
    const settings = settingsOf({ threshold: -1, webhook: { url: receiver.url } })
    const ids = Array.from({ length: 30 }, (_, n) => `a${n}`)
    for (const id of ids) await alerts.createAlert(alertOf({ id, settings }))
    for (const stores of [one, other]) startRunner(stores, () => 1_000_000_000)
    const events = async () => (await Promise.all(ids.map((id) => alerts.listEvents(id)))).flat()
    const delivered = async () =>
      (await events()).filter(({ delivery }) => delivery === 'delivered').length
    await expect.poll(delivered, { timeout: 20_000 }).toBe(30)
    expect(await events()).toHaveLength(30)
    expect(receiver.received).toHaveLength(30)
  })
})
