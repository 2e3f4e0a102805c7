/** Alerts for tests, and receivers of their messages. */
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { startAlertRunner } from '../../src/alerts/alert-runner.ts'
import type { Alert, AlertSettings } from '../../src/domain/alerts/alert.ts'
import { newId } from '../../src/http/new-id.ts'
import { createWebhooks } from '../../src/outbound/webhooks.ts'

export const PROJECT = 'acme/demo'
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

export function settingsOf(more: Partial<AlertSettings> = {}): AlertSettings {
  return {
    name: 'errors',
    is_enabled: true,
    metric: { kind: 'calls', metric: 'call_count' },
    window_s: 300,
    direction: 'above',
    threshold: 10,
    fire_after_checks: 1,
    clear_after_checks: 1,
    no_value: 'keep',
    webhook: { url: 'https://hooks.example.com/secret-path' },
    ...more,
  }
}

export function alertOf(more: Partial<Alert> = {}): Alert {
  return {
    id: 'a',
    project_id: PROJECT,
    created_at_us: 1,
    settings: settingsOf(),
    secret: SECRET,
    is_firing: false,
    streak: 0,
    value: null,
    checked_at_us: null,
    changed_at_us: null,
    error: null,
    ...more,
  }
}

interface Received {
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** A receiver on this machine that ends with the test. `respond` may be replaced at any time. */
export async function openReceiver(port = 0) {
  const received: Received[] = []
  const receiver = {
    received,
    respond: (response: ServerResponse) => void response.writeHead(204).end(),
  }
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    received.push({ headers: request.headers, body })
    receiver.respond(response)
  })
  await once(server.listen(port, '127.0.0.1'), 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port: bound } = server.address() as AddressInfo
  return Object.assign(receiver, { url: `http://127.0.0.1:${bound}/hook`, port: bound })
}

/** Checks and deliveries of one process, which end with the test. */
export function startRunner(stores: RunnerStores, nowUs: () => number) {
  const webhooks = createWebhooks(['*'])
  onTestFinished(webhooks.close)
  const log = () => undefined
  const settings = { intervalMs: 60_000, tickMs: 5, nowUs, newId, log }
  const runner = startAlertRunner({ stores, webhooks, ...settings })
  onTestFinished(() => runner.stop())
  return runner
}

type RunnerStores = Parameters<typeof startAlertRunner>[0]['stores']
