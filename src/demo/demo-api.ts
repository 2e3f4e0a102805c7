/** The requests of the demo, and the shapes in which the tracing SDKs send calls. Only `fetch` is needed. */

export interface DemoTarget {
  readonly url: string
  /** A key with the scopes traces:read, traces:write, inference and training; with admin there is an alert, too. */
  readonly key: string
  /** `<entity>/<project>` that is filled. */
  readonly project: string
}

export interface Usage {
  readonly model: string
  readonly prompt_tokens: number
  readonly completion_tokens: number
}

/** A call with all calls below it. */
export interface DemoCall {
  readonly op: string
  readonly startMs: number
  readonly endMs: number
  readonly inputs: object
  readonly output?: unknown
  readonly exception?: string
  /** What it used itself. */
  readonly usage?: Usage
  readonly attributes?: object
  readonly displayName?: string
  readonly children?: readonly DemoCall[]
  /** Default: chance. */
  readonly id?: string
}

export interface Thread {
  readonly thread_id: string
  readonly turn_id: string
}

/** Limit: parts of calls in one request. */
const BATCH_PARTS = 2000

export type DemoApi = ReturnType<typeof createDemoApi>

export function createDemoApi({ url, key, project }: DemoTarget) {
  const basic = `Basic ${Buffer.from(`api:${key}`).toString('base64')}`

  async function ask<T>(path: string, body?: object | FormData): Promise<T> {
    const isForm = body instanceof FormData
    const response = await fetch(url + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        authorization: path.startsWith('/v1/') ? `Bearer ${key}` : basic,
        ...(isForm || body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
    })
    if (!response.ok)
      throw new Error(`${path} answered ${response.status}: ${await response.text()}`)
    return (await response.json()) as T
  }

  const send = <T>(path: string, body: object | FormData) => ask<T>(path, body)

  return {
    project,
    send,
    get: <T>(path: string) => ask<T>(path),

    /** Publishes a version of an object; its ref. */
    async publish(object_id: string, val: object, kind: 'object' | 'op' = 'object') {
      const { digest } = await send<{ digest: string }>('/obj/create', {
        obj: { project_id: project, object_id, val },
      })
      return `weave:///${project}/${kind}/${object_id}:${digest}`
    },

    /** Publishes the code of an op, as the Python SDK does; its ref. */
    async publishOp(name: string, code: string): Promise<string> {
      const form = new FormData()
      form.set('project_id', project)
      form.set('file', new Blob([code]), 'obj.py')
      const { digest } = await send<{ digest: string }>('/file/create', form)
      const val = {
        _type: 'CustomWeaveType',
        weave_type: { type: 'Op' },
        files: { 'obj.py': digest },
      }
      return this.publish(name, val, 'op')
    },

    /** Publishes rows; the ref of the table and the digest of each row. */
    async publishTable(rows: readonly object[]) {
      const { digest, row_digests } = await send<{ digest: string; row_digests: string[] }>(
        '/table/create',
        { table: { project_id: project, rows } },
      )
      return { ref: `weave:///${project}/table/${digest}`, rowDigests: row_digests }
    },

    /** Records traces; the ids of their roots. */
    async record(roots: readonly { call: DemoCall; thread?: Thread }[]): Promise<string[]> {
      const ids: string[] = []
      const parts: object[] = []
      for (const { call, thread } of roots) {
        const id = call.id ?? crypto.randomUUID()
        ids.push(id)
        const place = { project, trace_id: crypto.randomUUID(), thread: thread ?? null }
        writeCall({ ...call, id }, null, place, parts)
      }
      for (let at = 0; at < parts.length; at += BATCH_PARTS) {
        await send('/call/upsert_batch', { batch: parts.slice(at, at + BATCH_PARTS) })
      }
      return ids
    },

    /** Feedback about calls. */
    async rate(rows: readonly { callId: string; feedback_type: string; payload: object }[]) {
      const batch = rows.map(({ callId, ...row }) => {
        return { project_id: project, weave_ref: `weave:///${project}/call/${callId}`, ...row }
      })
      const { errors } = await send<{ errors: object[] }>('/traces/feedback/batch/create', {
        batch,
      })
      if (errors.length > 0) throw new Error(`feedback was refused: ${JSON.stringify(errors[0])}`)
    },
  }
}

interface TraceContext {
  readonly project: string
  readonly trace_id: string
  readonly thread: Thread | null
  /** Of the calls above. */
  readonly attributes?: object
}

type Sums = Record<string, Record<string, number>>

/** Adds the parts of a call and of all below it. @returns what they used together, as SDKs report it */
function writeCall(
  call: DemoCall,
  parent_id: string | null,
  place: TraceContext,
  parts: object[],
): Sums {
  const { project: project_id, trace_id, thread } = place
  const id = call.id ?? crypto.randomUUID()
  const named = { project_id, id }
  // As the SDK does it, calls inherit the attributes of those above them.
  const attributes = { ...place.attributes, ...call.attributes }
  const start = {
    ...named,
    trace_id,
    parent_id,
    op_name: call.op,
    inputs: call.inputs,
    started_at: new Date(call.startMs).toISOString(),
    attributes: { weave: { client_version: '0.54.0', source: 'python-sdk' }, ...attributes },
    ...(call.displayName === undefined ? {} : { display_name: call.displayName }),
    ...thread,
  }
  parts.push({ mode: 'start', req: { start } })
  const usage: Sums = {}
  if (call.usage !== undefined) {
    const { model, ...own } = call.usage
    const total_tokens = own.prompt_tokens + own.completion_tokens
    usage[model] = { requests: 1, ...own, total_tokens }
  }
  for (const child of call.children ?? []) {
    addUsage(usage, writeCall(child, id, { ...place, attributes }, parts))
  }
  const end = {
    ...named,
    ended_at: new Date(call.endMs).toISOString(),
    output: call.output ?? null,
    exception: call.exception ?? null,
    summary: Object.keys(usage).length === 0 ? {} : { usage },
  }
  parts.push({ mode: 'end', req: { end } })
  return usage
}

function addUsage(sums: Sums, more: Sums): void {
  for (const [model, counts] of Object.entries(more)) {
    const known = sums[model] ?? {}
    for (const [name, count] of Object.entries(counts)) known[name] = (known[name] ?? 0) + count
    sums[model] = known
  }
}
