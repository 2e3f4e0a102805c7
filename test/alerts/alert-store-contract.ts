/** What the store of alerts promises in every database. */
import { describe, expect, it } from 'vitest'
import { ALERT_EVENTS_MAX, type CheckResult } from '../../src/store/api/alerts/alerts.ts'
import type { Stores } from '../../src/store/api/stores.ts'
import { alertOf, PROJECT, settingsOf } from './alert-fixtures.ts'

type AlertStores = Pick<Stores, 'alerts' | 'audit'>

const MINUTE_US = 60_000_000
const claimAt = (now_us: number, claim_id: string, limit = 10) => ({
  claim_id,
  now_us,
  until_us: now_us + MINUTE_US,
  limit,
})

let ids = 0

/** The result of a check that finds a value. */
const found = (value: number | null, more: Partial<CheckResult> = {}): CheckResult => ({
  alert_id: 'a',
  claim_id: 'c',
  now_us: 10,
  next_check_at_us: 11,
  value,
  error: null,
  event_id: `e${String(ids++).padStart(6, '0')}`,
  ...more,
})

/** @param create - empty stores that close themselves when the test ends */
export function describeAlertStoreContract(name: string, create: () => Promise<AlertStores>): void {
  const open = async () => {
    const stores = await create()
    await stores.alerts.createAlert(alertOf())
    return stores
  }
  /** Checks the alert at a time. */
  const check = async ({ alerts }: AlertStores, now_us: number, value: number) => {
    await alerts.claimChecks(claimAt(now_us, 'c'))
    return alerts.settleCheck(found(value, { now_us, next_check_at_us: now_us + 1 }))
  }

  describe(`the store of alerts: ${name}`, () => {
    it('hands a check out once until the claim ends, and ignores who claimed it before', async () => {
      const { alerts } = await open()
      expect(await alerts.hasDue(10)).toEqual({ checks: true, deliveries: false })
      const claims = await Promise.all(
        ['c1', 'c2'].map((id) => alerts.claimChecks(claimAt(10, id))),
      )
      expect(claims.flat()).toEqual([alertOf()])
      const holder = claims[0]?.length === 1 ? 'c1' : 'c2'
      expect(await alerts.hasDue(10)).toEqual({ checks: false, deliveries: false })
      expect(await alerts.claimChecks(claimAt(10 + MINUTE_US, 'c3'))).toHaveLength(1)
      expect(await alerts.settleCheck(found(11, { claim_id: holder }))).toBeNull()
      expect(await alerts.settleCheck(found(11, { claim_id: 'c3' }))).toBe('fired')
      expect(await alerts.settleCheck(found(11, { claim_id: 'c3' }))).toBeNull()
      expect(await alerts.listEvents('a')).toHaveLength(1)
    })

    it('is due again when a clock that was ahead is set back', async () => {
      const { alerts } = await open()
      await alerts.claimChecks(claimAt(86_400_000_000, 'c'))
      expect(await alerts.claimChecks(claimAt(20, 'd'))).toHaveLength(1)
    })

    it('changes no state by a check that failed, and says why', async () => {
      const stores = await open()
      await check(stores, 10, 11)
      await stores.alerts.claimChecks(claimAt(20, 'c'))
      const failed = found(null, { now_us: 20, error: 'The read took too long.' })
      expect(await stores.alerts.settleCheck(failed)).toBeNull()
      expect(await stores.alerts.findAlert('a')).toMatchObject({
        is_firing: true,
        checked_at_us: 20,
        changed_at_us: 10,
        error: 'The read took too long.',
      })
    })

    it('hands out the deliveries of an alert in the order of its changes', async () => {
      const stores = await open()
      const { alerts } = stores
      for (const [now, value] of [
        [10, 11],
        [20, 0],
        [30, 11],
      ] as const) {
        await check(stores, now, value)
      }
      const [first, ...others] = await alerts.claimDeliveries(claimAt(40, 'd'))
      expect([first?.event.kind, first?.event.created_at_us, others]).toEqual(['fired', 10, []])
      expect(await alerts.claimDeliveries(claimAt(40, 'd2'))).toEqual([])
      const settle = (error: string | null, now_us: number) =>
        alerts.settleDelivery({
          event_id: first?.event.id ?? '',
          claim_id: 'd',
          now_us,
          response_status: error === null ? 204 : 500,
          error,
        })
      await settle('no', 40)
      await settle(null, 50)
      expect(await alerts.claimDeliveries(claimAt(40 + 4_000_000, 'd'))).toEqual([])
      const [again] = await alerts.claimDeliveries(claimAt(40 + 5_000_000, 'd'))
      expect(again?.event).toMatchObject({ id: first?.event.id, attempts: 1, response_status: 500 })
      await settle(null, 60)
      const [second] = await alerts.claimDeliveries(claimAt(40 + 5_000_000, 'd'))
      expect([second?.event.kind, second?.event.created_at_us]).toEqual(['cleared', 20])
    })

    it(`keeps the newest ${ALERT_EVENTS_MAX} events of an alert`, async () => {
      const stores = await open()
      for (let now = 1; now <= ALERT_EVENTS_MAX + 3; now++) {
        await check(stores, now * 10, now % 2 === 1 ? 11 : 0)
      }
      const events = await stores.alerts.listEvents('a')
      expect([events.length, events[0]?.created_at_us, events.at(-1)?.created_at_us]).toEqual([
        ALERT_EVENTS_MAX,
        (ALERT_EVENTS_MAX + 3) * 10,
        40,
      ])
    })

    it('checks an edited alert at once, and a disabled one neither checks nor fires', async () => {
      const stores = await open()
      const { alerts } = stores
      await check(stores, 10, 11)
      const change = { ...alertOf(), replaced: [] }
      const disabled = { ...change, settings: settingsOf({ is_enabled: false }), now_us: 20 }
      expect(await alerts.updateAlert(disabled)).toBe(true)
      expect(await alerts.findAlert('a')).toMatchObject({ is_firing: false })
      expect(await alerts.claimChecks(claimAt(MINUTE_US, 'c'))).toEqual([])
      await alerts.updateAlert({ ...change, settings: settingsOf(), now_us: 30 })
      expect(await alerts.claimChecks(claimAt(30, 'c'))).toHaveLength(1)
      await alerts.updateAlert({ ...change, settings: settingsOf({ threshold: 50 }), now_us: 40 })
      expect(await alerts.settleCheck(found(11))).toBeNull()
    })

    it('deletes an alert with its events, and lists changes in the audit without secrets', async () => {
      const stores = await open()
      const { alerts, audit } = stores
      await check(stores, 10, 11)
      const secret = `whsec_${'B'.repeat(32)}`
      const change = { ...alertOf({ secret }), replaced: ['secret'], now_us: 20 }
      await alerts.updateAlert({ ...change, settings: settingsOf({ threshold: 3 }) })
      expect([await alerts.deleteAlert('a'), await alerts.deleteAlert('a')]).toEqual([true, false])
      expect(await alerts.updateAlert({ ...change, settings: settingsOf() })).toBe(false)
      expect([await alerts.listAlerts(PROJECT), await alerts.listEvents('a')]).toEqual([[], []])
      expect(await alerts.hasDue(1e15)).toEqual({ checks: false, deliveries: false })
      const listing = { from_us: 0, until_us: 1e18, svc_user_id: null, action: null, after: null }
      const { entries } = await audit.listEntries({ ...listing, order: 'asc' })
      expect(entries.map(({ action, projects }) => [action, projects])).toEqual([
        ['alert.create', [PROJECT]],
        ['alert.update', [PROJECT]],
        ['alert.delete', [PROJECT]],
      ])
      expect(JSON.parse(entries[1]?.after_json ?? '')).toEqual({
        threshold: 3,
        replaced: ['secret'],
      })
      for (const hidden of ['secret-path', 'whsec_']) {
        expect(JSON.stringify(entries)).not.toContain(hidden)
      }
    })
  })
}
