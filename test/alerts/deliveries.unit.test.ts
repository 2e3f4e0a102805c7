/** Deliveries to receivers that fail, over restarts and by several processes. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { alertOf, openReceiver, settingsOf, startRunner } from './alert-fixtures.ts'

const POLL = { timeout: 10_000 }

/** Stores, a receiver, and runners whose clock the test sets. */
async function open(dataDir = ':memory:') {
  const stores = openSqliteStore({ dataDir, ingestQueueMax: 1000 })
  onTestFinished(() => stores.close())
  const receiver = await openReceiver()
  const clock = { us: 1_000_000_000 }
  const start = () => startRunner(stores, () => clock.us)
  const settings = settingsOf({ threshold: -1, webhook: { url: receiver.url } })
  const create = (id = 'a') => stores.alerts.createAlert(alertOf({ id, settings }))
  const event = async () => (await stores.alerts.listEvents('a'))[0]
  return { stores, receiver, clock, start, create, event, settings }
}

describe('a delivery', () => {
  it('is repeated under one id while the receiver fails, and delivered when it is back', async () => {
    const { receiver, clock, start, create, event } = await open()
    receiver.respond = (response) => void response.writeHead(500).end('no')
    await create()
    start()
    await expect.poll(async () => (await event())?.attempts, POLL).toBe(1)
    expect(await event()).toMatchObject({ delivery: 'pending', response_status: 500 })
    clock.us += 5_000_000
    await expect.poll(async () => (await event())?.attempts, POLL).toBe(2)
    receiver.respond = (response) => void response.socket?.destroy()
    clock.us += 30_000_000
    await expect.poll(async () => (await event())?.attempts, POLL).toBe(3)
    expect(await event()).toMatchObject({ response_status: null, error: expect.any(String) })
    receiver.respond = (response) => void response.writeHead(200).end('ok')
    clock.us += 120_000_000
    await expect.poll(async () => (await event())?.delivery, POLL).toBe('delivered')
    const id = (await event())?.id
    expect(receiver.received.map(({ headers }) => headers['webhook-id'])).toEqual([id, id, id, id])
    const times = receiver.received.map(({ headers }) => Number(headers['webhook-timestamp']))
    expect(times.map((time) => time - (times[0] ?? 0))).toEqual([0, 5, 35, 155])
  })

  it('to a receiver that is slow holds up no other', async () => {
    const { stores, receiver, start, create } = await open()
    const slow = await openReceiver()
    slow.respond = () => undefined
    const settings = settingsOf({ threshold: -1, webhook: { url: slow.url } })
    await stores.alerts.createAlert(alertOf({ id: 'slow', settings }))
    await create()
    start()
    await expect.poll(() => receiver.received.length, POLL).toBe(1)
    await expect.poll(() => slow.received.length, POLL).toBe(1)
    expect((await stores.alerts.listEvents('slow'))[0]).toMatchObject({ attempts: 0 })
  })

  it('that a stop interrupts is made after the next start', async () => {
    const dataDir = makeTempDir()
    const first = await open(dataDir)
    first.receiver.respond = () => undefined
    await first.create()
    const runner = first.start()
    await expect.poll(() => first.receiver.received.length, POLL).toBe(1)
    await runner.stop()
    await first.stores.close()
    const next = await open(dataDir)
    const { settings } = next
    const moved = {
      ...alertOf({ settings }),
      replaced: [],
      now_us: first.clock.us + 1_000_000_000_000,
    }
    await next.stores.alerts.updateAlert(moved)
    next.clock.us = first.clock.us + 60_000_000
    next.start()
    await expect.poll(async () => (await next.event())?.delivery, POLL).toBe('delivered')
    expect(next.receiver.received[0]?.headers['webhook-id']).toBe(
      first.receiver.received[0]?.headers['webhook-id'],
    )
  })

  it('and a check are made once, however many processes share the store', async () => {
    const { stores, receiver, start, create } = await open()
    const names = Array.from({ length: 30 }, (_, n) => `a${n}`)
    for (const name of names) await create(name)
    for (let n = 0; n < 3; n++) start()
    const events = async () =>
      (await Promise.all(names.map((name) => stores.alerts.listEvents(name)))).flat()
    await expect
      .poll(async () => (await events()).filter((one) => one.delivery === 'delivered').length, POLL)
      .toBe(30)
    expect(await events()).toHaveLength(30)
    expect(receiver.received).toHaveLength(30)
  })
})
