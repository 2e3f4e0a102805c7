/** Reads W&B Weave or another Weft by their API, or calls out of a file of JSON lines. */
import { createReadStream, existsSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { type CallParts, resolveCallEnd, resolveCallStart } from '../domain/calls/new-call.ts'
import type { Feedback } from '../domain/feedback/new-feedback.ts'
import {
  filledTextOrNull,
  isGiven,
  objectOrEmpty,
  textOrEmpty,
} from '../domain/json/json-values.ts'
import { EndedCallSchemaForInsert, StartedCallSchemaForInsert } from '../schemas/calls/call.ts'
import { LooseFeedbackCreateRequest } from '../schemas/feedback/feedback.ts'
import { parseTimestampUs } from '../schemas/timestamp.ts'
import { createApiClient, type Json, objectsOf, parseJson } from './api-client.ts'
import { TOO_LARGE, tryFeedback } from './scores.ts'
import {
  createLeftCounts,
  IMPORT_USER,
  ImportError,
  type ImportPage,
  type ImportSource,
  type SourceOptions,
} from './source.ts'
import { collectCalls } from './step-calls.ts'
import { filesOf, moveRefs, readObjects, type WeaveProject } from './weave-objects.ts'

const PAGE_CALLS = 200
const PAGE_FEEDBACK = 500

export function openWeave(options: SourceOptions): ImportSource {
  const unread = ['costs, annotation queues and deleted versions of objects']
  if (!/^https?:/.test(options.location)) {
    if (!existsSync(options.location)) throw new ImportError(`${options.location} is missing`)
    return {
      stages: [{ name: 'traces', pages: (after) => readLines(options, after) }],
      unread: ['objects, tables and files', ...unread],
    }
  }
  const key = options.readSecret('WANDB_API_KEY')
  const basic = Buffer.from(`api:${key}`).toString('base64')
  const api = createApiClient(options.location, key ? { authorization: `Basic ${basic}` } : {})
  if (options.sourceName === null) throw new ImportError('--name must be <entity>/<project> there')
  const project_id = options.sourceName
  const source = { api, project_id }
  return {
    stages: [
      { name: 'traces', pages: (after) => readCalls(source, options, after) },
      { name: 'feedback', pages: (after) => readFeedback(source, options, after) },
      { name: 'objects', pages: (after) => readObjects(source, options, after) },
    ],
    unread,
  }
}

/** A cursor is the number of calls before the next page, in the order of their starts. */
async function* readCalls(
  { api, project_id }: WeaveProject,
  options: SourceOptions,
  after: string | null,
): AsyncGenerator<ImportPage> {
  for (let offset = Number(after ?? 0); ; offset += PAGE_CALLS) {
    const text = await api.postForText('/calls/stream_query', {
      project_id,
      limit: PAGE_CALLS,
      offset,
      sort_by: ['started_at', 'id'].map((field) => ({ field, direction: 'asc' })),
    })
    const lines = text.split('\n').filter((line) => line.trim() !== '')
    const isLast = lines.length < PAGE_CALLS
    const moved = lines.map((line) => moveRefs(line, project_id, options))
    const files = filesOf(lines, { api, project_id })
    yield { files, ...toPage(moved, options), cursor: isLast ? '' : String(offset + PAGE_CALLS) }
    if (isLast) return
  }
}

async function* readLines(
  options: SourceOptions,
  after: string | null,
): AsyncGenerator<ImportPage> {
  let [lines, number] = [[] as string[], 0]
  const input = createReadStream(options.location, { encoding: 'utf8' })
  for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    number += 1
    if (number > Number(after ?? 0) && line.trim() !== '') lines.push(line)
    if (lines.length < PAGE_CALLS) continue
    yield { ...toPage(lines, options), cursor: String(number) }
    lines = []
  }
  yield { ...toPage(lines, options), cursor: '' }
}

function toPage(lines: readonly string[], options: SourceOptions) {
  const items = objectsOf(lines.map((line) => parseJson(line, 'a line of calls')))
  const { calls, left } = collectCalls(items, (call) => toParts(call, options))
  return { calls, left: left.counts }
}

/** What a client could have sent, as it is. @throws ApiError */
function toParts(call: Json, { project_id, refScheme }: SourceOptions): CallParts | null {
  const { id, op_name, display_name, thread_id, turn_id, parent_id, output, exception } = call
  // What the server derives from the rest of the call; it is derived here, too.
  const { weave: _derived, ...summary } = objectOrEmpty(call.summary)
  const begun = StartedCallSchemaForInsert.safeParse({
    project_id,
    id,
    trace_id: filledTextOrNull(call.trace_id) ?? id,
    parent_id: filledTextOrNull(parent_id),
    thread_id: filledTextOrNull(thread_id),
    turn_id: filledTextOrNull(turn_id),
    op_name: filledTextOrNull(op_name) ?? 'call',
    display_name: filledTextOrNull(display_name),
    started_at: call.started_at,
    attributes: objectOrEmpty(call.attributes),
    inputs: objectOrEmpty(call.inputs),
  })
  if (!begun.success) return null
  const given = { id: textOrEmpty(id), trace_id: textOrEmpty(id), ...userOf(call) }
  const start = resolveCallStart(begun.data, given, refScheme)
  if (!isGiven(call.ended_at)) return { start, end: null }
  const ended_at = call.ended_at
  const ended = EndedCallSchemaForInsert.safeParse({
    project_id,
    id,
    ended_at,
    output,
    exception,
    summary,
  })
  return ended.success ? { start, end: resolveCallEnd(ended.data, refScheme) } : null
}

/** The vendor names its users `wb_user_id`. */
function userOf(call: Json) {
  const svc_user_id = filledTextOrNull(call.svc_user_id) ?? filledTextOrNull(call.wb_user_id)
  const svc_username = filledTextOrNull(call.svc_username) ?? filledTextOrNull(call.wb_username)
  return {
    svc_user_id: svc_user_id ?? IMPORT_USER.svc_user_id,
    svc_username: svc_username ?? svc_user_id ?? IMPORT_USER.svc_username,
  }
}

async function* readFeedback(
  { api, project_id }: WeaveProject,
  options: SourceOptions,
  after: string | null,
): AsyncGenerator<ImportPage> {
  for (let offset = Number(after ?? 0); ; offset += PAGE_FEEDBACK) {
    const text = await api.postForText('/feedback/query', {
      project_id,
      limit: PAGE_FEEDBACK,
      offset,
      sort_by: ['created_at', 'id'].map((field) => ({ field, direction: 'asc' })),
    })
    const page = objectOrEmpty(parseJson(moveRefs(text, project_id, options), 'feedback'))
    const left = createLeftCounts()
    const feedback: Feedback[] = []
    const rows = objectsOf(page.result)
    for (const row of rows) {
      const one = toFeedback(row, options)
      if (typeof one === 'string') left.add(one)
      else feedback.push(one)
    }
    const isLast = rows.length < PAGE_FEEDBACK
    yield { feedback, left: left.counts, cursor: isLast ? '' : String(offset + PAGE_FEEDBACK) }
    if (isLast) return
  }
}

/** Feedback as it is; why not where it cannot be stored. */
function toFeedback(row: Json, options: SourceOptions): Feedback | string {
  const { project_id } = options
  const ref = (name: string) => filledTextOrNull(row[name])
  const created_at_us = parseTimestampUs(textOrEmpty(row.created_at)) ?? 0
  const request = LooseFeedbackCreateRequest.safeParse({
    project_id,
    id: row.id,
    weave_ref: textOrEmpty(row.weave_ref),
    feedback_type: textOrEmpty(row.feedback_type),
    creator: filledTextOrNull(row.creator),
    payload: objectOrEmpty(row.payload),
    annotation_ref: ref('annotation_ref'),
    runnable_ref: ref('runnable_ref'),
    call_ref: ref('call_ref'),
    trigger_ref: ref('trigger_ref'),
  })
  if (!request.success) return 'feedback that cannot be stored'
  const given = { id: textOrEmpty(row.id), created_at_us }
  return tryFeedback(request.data, given, options) ?? TOO_LARGE
}
