/** Checks alerts and delivers their changes in the background; processes that share a store share the work. */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Alert } from '../domain/alerts/alert.ts'
import { ApiError } from '../errors.ts'
import type { Webhooks } from '../outbound/webhooks.ts'
import type { ClaimedDelivery } from '../store/api/alerts/alerts.ts'
import type { Stores } from '../store/api/stores.ts'
import { ATTEMPT_MS_MAX, deliverNews } from './deliver.ts'
import { type MeasuredStores, measureAlert } from './measure.ts'

/** Limits: checks and deliveries of a process at once. */
const CHECKS_MAX = 4
const DELIVERIES_MAX = 16
/** Limit: time of one check. */
const CHECK_MS_MAX = 60_000
/** By then a check has ended, or its process. */
const CHECK_CLAIM_US = (CHECK_MS_MAX + 5_000) * 1000
/** By then an attempt has ended, or its process. */
const DELIVERY_CLAIM_US = (ATTEMPT_MS_MAX + 20_000) * 1000
/** Pause between two reads of what is due. */
const TICK_MS = 1_000
/** Limit: how long running work delays the exit of the process. */
const STOP_MS_MAX = 500

interface AlertRunnerOptions {
  readonly stores: MeasuredStores & Pick<Stores, 'alerts'>
  readonly webhooks: Pick<Webhooks, 'post'>
  /** From one check of an alert to the next. */
  readonly intervalMs: number
  readonly nowUs: () => number
  readonly newId: () => string
  readonly log: (level: 'info' | 'warn' | 'error', fields: object, message: string) => void
  readonly tickMs?: number
}

export interface AlertRunner {
  /** Aborts what runs; resolves within a second. Claimed work is done by others, or after the next start. */
  stop(): Promise<void>
}

/** Starts the work. The caller must stop it before it closes the stores. */
export function startAlertRunner(options: AlertRunnerOptions): AlertRunner {
  const { stores, intervalMs, nowUs, newId, log, tickMs = TICK_MS } = options
  const { alerts } = stores
  const stopping = new AbortController()
  const { signal } = stopping
  const [checks, deliveries] = [new Set<Promise<void>>(), new Set<Promise<void>>()]

  /** Runs work in a slot. What cannot be stored is claimed again once the claim has ended. */
  function begin(slots: Set<Promise<void>>, work: Promise<void>): void {
    const slot = work
      .catch((err) => {
        if (!signal.aborted) log('error', { err }, 'an alert could not be stored')
      })
      .finally(() => slots.delete(slot))
    slots.add(slot)
  }

  async function check(alert: Alert, claim_id: string): Promise<void> {
    const endUs = nowUs()
    const { id: alert_id, project_id } = alert
    const limited = AbortSignal.any([signal, AbortSignal.timeout(CHECK_MS_MAX)])
    let [value, error]: [number | null, string | null] = [null, null]
    try {
      value = await measureAlert(stores, alert, endUs, limited)
    } catch (err) {
      signal.throwIfAborted()
      if (!(err instanceof ApiError)) log('error', { err, alert_id }, 'an alert failed')
      error = err instanceof ApiError ? err.message : 'The check failed inside the server.'
    }
    const next_check_at_us = endUs + intervalMs * 1000
    const settled = { alert_id, claim_id, now_us: endUs, next_check_at_us, event_id: newId() }
    const change = await alerts.settleCheck({ ...settled, value, error })
    if (change !== null) log('info', { alert_id, project_id, change }, 'an alert changed')
  }

  async function deliver({ event, alert }: ClaimedDelivery, claim_id: string): Promise<void> {
    const result = await deliverNews(options.webhooks, alert, event, nowUs(), signal)
    signal.throwIfAborted()
    if (result.error !== null) {
      const { response_status: status } = result
      log('warn', { alert_id: alert.id, event_id: event.id, status }, 'an alert was not delivered')
    }
    await alerts.settleDelivery({ ...result, event_id: event.id, claim_id, now_us: nowUs() })
  }

  async function tick(): Promise<void> {
    const due = await alerts.hasDue(nowUs())
    const claiming = (limit: number, lengthUs: number) => {
      const now_us = nowUs()
      return { claim_id: randomUUID(), now_us, until_us: now_us + lengthUs, limit }
    }
    if (due.checks && checks.size < CHECKS_MAX) {
      const claim = claiming(CHECKS_MAX - checks.size, CHECK_CLAIM_US)
      for (const alert of await alerts.claimChecks(claim)) {
        begin(checks, check(alert, claim.claim_id))
      }
    }
    if (due.deliveries && deliveries.size < DELIVERIES_MAX) {
      const claim = claiming(DELIVERIES_MAX - deliveries.size, DELIVERY_CLAIM_US)
      for (const claimed of await alerts.claimDeliveries(claim)) {
        begin(deliveries, deliver(claimed, claim.claim_id))
      }
    }
  }

  async function run(): Promise<void> {
    let isFailing = false
    while (!signal.aborted) {
      try {
        await tick()
        isFailing = false
      } catch (err) {
        if (!isFailing && !signal.aborted) log('error', { err }, 'alerts could not be read')
        isFailing = true
      }
      const pause = sleep(tickMs, undefined, { ref: false, signal }).catch(() => undefined)
      // More may be due than there were slots.
      await (checks.size === 0 ? pause : Promise.race([pause, ...checks]))
    }
    await Promise.allSettled([...checks, ...deliveries])
  }

  const running = run()
  return {
    async stop() {
      stopping.abort()
      await Promise.race([running, sleep(STOP_MS_MAX, undefined, { ref: false })])
    },
  }
}
