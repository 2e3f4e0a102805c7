/** Alerts over HTTP. Additions to the spec. */
import { randomBytes } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { deliverNews } from '../../alerts/deliver.ts'
import { canUseProject, requireAccess, requireScope } from '../../domain/access/permissions.ts'
import {
  type Alert,
  type AlertSettings,
  renderAlert,
  renderAlertEvent,
  resolveAlertSettings,
} from '../../domain/alerts/alert.ts'
import { resolvePageQuery, rowsToRead, toPage } from '../../domain/query/page.ts'
import type { Clock } from '../../domain/time/clock.ts'
import { ApiError, refuseField } from '../../errors.ts'
import type { App } from '../../http/app-type.ts'
import { originOf } from '../../http/audit-origin.ts'
import { newId } from '../../http/new-id.ts'
import { findAddressFault, type Webhooks } from '../../outbound/webhooks.ts'
import {
  AlertCreateRequest,
  AlertCreateResponse,
  AlertDeleteResponse,
  AlertHistoryQuery,
  AlertHistoryResponse,
  AlertListQuery,
  AlertListResponse,
  AlertParams,
  AlertQuery,
  AlertResponse,
  AlertTestResponse,
  AlertUpdateRequest,
} from '../../schemas/alerts/alert.ts'
import type { Stores } from '../../store/api/stores.ts'

const tags = ['server']
const url = '/v1/alerts'
const SECRET_BYTES = 32
/** Limit: tests at once. */
const TESTS_MAX = 4

interface AlertRoutesOptions extends Pick<Stores, 'alerts'>, Pick<Clock, 'nowUs'> {
  readonly webhooks: Pick<Webhooks, 'post'>
  /** Hosts of private networks that may be called. */
  readonly webhookHosts: readonly string[]
}

/**
 * Spec: §6 (notifications not shown). Choice: an admin of a project manages its alerts; others do not see them, since
 * addresses of webhooks may hold secrets.
 */
export async function alertRoutes(app: App, options: AlertRoutesOptions): Promise<void> {
  const { alerts, nowUs } = options
  app.get(
    url,
    {
      schema: {
        tags,
        operationId: 'listAlerts',
        summary: 'List the alerts of a project and their states (addition to the spec).',
        querystring: AlertListQuery,
        response: { 200: AlertListResponse },
      },
    },
    async (request) => {
      const { project_id } = request.query
      requireAccess(request.principal, 'admin', project_id)
      const data = (await alerts.listAlerts(project_id)).map(renderAlert)
      return { object: 'list' as const, data }
    },
  )

  app.post(
    url,
    {
      schema: {
        tags,
        operationId: 'createAlert',
        summary: 'Create an alert, which is checked at once (addition to the spec).',
        body: AlertCreateRequest,
        response: { 200: AlertCreateResponse },
      },
    },
    async (request) => {
      const { project_id, secret: given, ...body } = request.body
      const caller = requireAccess(request.principal, 'admin', project_id)
      const settings = resolveAlertSettings({}, body)
      requireCallable(settings, options)
      const secret = given ?? `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`
      const alert: Alert = {
        id: newId(),
        project_id,
        created_at_us: nowUs(),
        settings,
        secret,
        is_firing: false,
        streak: 0,
        value: null,
        checked_at_us: null,
        changed_at_us: null,
        error: null,
      }
      await alerts.createAlert(alert, originOf(request, caller))
      return { ...renderAlert(alert), secret }
    },
  )

  addReads(app, options)
  addChanges(app, options)
  addTest(app, options)
}

function addReads(app: App, options: AlertRoutesOptions): void {
  app.get(
    `${url}/:alert_id`,
    {
      schema: {
        tags,
        operationId: 'getAlert',
        summary: 'Read an alert and its state (addition to the spec).',
        params: AlertParams,
        querystring: AlertQuery,
        response: { 200: AlertResponse },
      },
    },
    async (request) => renderAlert((await requireOwn(options, request)).alert),
  )

  app.get(
    `${url}/:alert_id/history`,
    {
      schema: {
        tags,
        operationId: 'listAlertHistory',
        summary: 'List when an alert fired and cleared, the newest first (addition to the spec).',
        params: AlertParams,
        querystring: AlertHistoryQuery,
        response: { 200: AlertHistoryResponse },
      },
    },
    async (request) => {
      const { alert } = await requireOwn(options, request)
      const { after, limit } = resolvePageQuery(request.query)
      const events = (await options.alerts.listEvents(alert.id)).map(renderAlertEvent)
      const at = after === null ? -1 : events.findIndex(({ id }) => id === after)
      if (after !== null && at === -1)
        throw new ApiError('alert_event_not_found', { param: 'after' })
      return toPage(events.slice(at + 1, at + 1 + rowsToRead(limit)), limit)
    },
  )
}

function addChanges(app: App, options: AlertRoutesOptions): void {
  const { alerts, nowUs } = options
  app.patch(
    `${url}/:alert_id`,
    {
      schema: {
        tags,
        operationId: 'updateAlert',
        summary: 'Change an alert, which is checked at once (addition to the spec).',
        params: AlertParams,
        body: AlertUpdateRequest,
        response: { 200: AlertResponse },
      },
    },
    async (request) => {
      const { alert, caller } = await requireOwn(options, request)
      const settings = resolveAlertSettings(request.body, alert.settings)
      requireCallable(settings, options)
      const secret = request.body.secret ?? alert.secret
      const replaced = [
        ...(settings.webhook.url === alert.settings.webhook.url ? [] : ['webhook.url']),
        ...(secret === alert.secret ? [] : ['secret']),
      ]
      const change = { id: alert.id, settings, secret, replaced, now_us: nowUs() }
      if (!(await alerts.updateAlert(change, originOf(request, caller)))) throw notFound()
      return renderAlert((await requireOwn(options, request)).alert)
    },
  )

  app.delete(
    `${url}/:alert_id`,
    {
      schema: {
        tags,
        operationId: 'deleteAlert',
        summary: 'Delete an alert, its history and what is not delivered (addition to the spec).',
        params: AlertParams,
        response: { 200: AlertDeleteResponse },
      },
    },
    async (request) => {
      const { alert, caller } = await requireOwn(options, request)
      if (!(await alerts.deleteAlert(alert.id, originOf(request, caller)))) throw notFound()
      return { id: alert.id, deleted: true as const }
    },
  )
}

function addTest(app: App, options: AlertRoutesOptions): void {
  const { webhooks, nowUs } = options
  let running = 0
  app.post(
    `${url}/:alert_id/test`,
    {
      schema: {
        tags,
        operationId: 'testAlert',
        summary: 'Send a message of the type alert.test, once (addition to the spec).',
        params: AlertParams,
        body: AlertQuery,
        response: { 200: AlertTestResponse },
      },
    },
    async (request, reply) => {
      const { alert } = await requireOwn(options, request)
      if (running >= TESTS_MAX) throw new ApiError('server_overloaded', { retryAfterS: 1 })
      running += 1
      try {
        const { threshold, window_s } = alert.settings
        const now = nowUs()
        const about = { id: newId(), created_at_us: now, value: alert.value, threshold, window_s }
        const news = { ...about, kind: 'test' } as const
        const { signal } = app.openAbort(reply)
        const { response_status, error } = await deliverNews(webhooks, alert, news, now, signal)
        return { delivered: error === null, response_status, error }
      } finally {
        running -= 1
      }
    },
  )
}

/** @throws ApiError validation_failed */
function requireCallable({ webhook }: AlertSettings, { webhookHosts }: AlertRoutesOptions): void {
  const fault = findAddressFault(webhook.url, webhookHosts)
  if (fault !== null) refuseField('webhook.url', fault)
}

/** @throws ApiError alert_not_found, also for an alert of others */
async function requireOwn({ alerts }: AlertRoutesOptions, { principal, params }: AlertRequest) {
  const caller = requireScope(principal, 'admin')
  const alert = await alerts.findAlert(params.alert_id)
  if (alert === null || !canUseProject(caller, alert.project_id)) throw notFound()
  return { alert, caller }
}

interface AlertRequest extends Pick<FastifyRequest, 'principal'> {
  readonly params: { readonly alert_id: string }
}

function notFound(): ApiError {
  return new ApiError('alert_not_found', { param: 'alert_id' })
}
