/**
 * Wraps the stores of calls so that what the settings of a project name is redacted before anything is stored. Little text
 * is redacted at once, much in a thread.
 */
import { extname } from 'node:path'
import type { SpanLog } from '../domain/calls/call-logs.ts'
import { type CallParts, projectOfParts } from '../domain/calls/new-call.ts'
import { type PackedCalls, packCalls, unpackCalls } from '../domain/calls/packed-calls.ts'
import type { RecordedCall } from '../domain/calls/recorded-call.ts'
import {
  type FindRedactor,
  redactLogs,
  redactParts,
  redactRecorded,
} from '../domain/projects/redacted-calls.ts'
import {
  createRedactor,
  type Redaction,
  type Redactor,
  readRedaction,
} from '../domain/projects/redaction.ts'
import { ApiError } from '../errors.ts'
import type { CallStore } from '../store/api/calls/calls.ts'
import type { RecordingLoss, RecordingStore } from '../store/api/chat/recordings.ts'
import type { RedactionStore } from '../store/api/projects/projects.ts'
import { type BodyThread, createBodyThread } from '../threads/body-thread.ts'

/** How long settings are used before they are read again: a change by another process takes effect after that. */
const SETTINGS_MS_MAX = 5_000
/** Characters that are redacted at once. */
const INLINE_CHARS_MAX = 64 * 1024
/** Limit: memory of the thread. */
const HEAP_MIB_MAX = 1024
/** Limit: batches that wait for the thread. */
const WAITING_MAX = 256

/** What the thread gets, and returns redacted: one of these. */
export interface RedactableTexts {
  readonly packed?: PackedCalls<CallParts> | undefined
  readonly recorded?: RecordedCall | undefined
  readonly logs?: readonly SpanLog[] | undefined
}
export interface RedactionWork extends RedactableTexts {
  readonly rules: RulesByProject
}

type RulesByProject = ReadonlyMap<string, Redaction>

interface Rules {
  /** The settings of those of some projects that have one. */
  pick(projects: readonly string[]): RulesByProject
  readonly find: FindRedactor
  readonly readAtMs: number
}

interface RedactingStores {
  readonly calls: CallStore
  readonly recordings: RecordingStore
  /** Settings that take effect at once in this process. */
  readonly redactions: RedactionStore
  close(): Promise<void>
}

interface StoresToRedact {
  readonly calls: CallStore
  readonly recordings: RecordingStore
  readonly redactions: RedactionStore
}

export function createRedactingStores(
  { calls, recordings, redactions }: StoresToRedact,
  nowMs: () => number = () => performance.now(),
): RedactingStores {
  const entry = new URL(`./redaction-entry${extname(import.meta.url)}`, import.meta.url)
  const thread: RedactionThread = createBodyThread({ entry, heapMibMax: HEAP_MIB_MAX }, WAITING_MAX)
  const settings = createSettings(redactions, nowMs)
  const redacting = redactRecordings(recordings, settings, thread)
  return {
    calls: redactCalls(calls, settings, thread),
    recordings: redacting.store,
    redactions: {
      ...redactions,
      // Also after a failure: the write may be durable.
      setRedaction: (setting, by) =>
        redactions.setRedaction(setting, by).finally(settings.invalidate),
    },
    async close() {
      await redacting.settled()
      await thread.close()
    },
  }
}

type RedactionThread = BodyThread<RedactionWork, RedactableTexts>
type Settings = ReturnType<typeof createSettings>

function redactCalls(calls: CallStore, settings: Settings, thread: RedactionThread): CallStore {
  async function redactPacked(
    packed: PackedCalls<CallParts>,
    projects: readonly string[],
  ): Promise<PackedCalls<CallParts>> {
    const { pick, find } = await settings.read()
    const rules = pick(projects)
    if (rules.size === 0) return packed
    if (packed.byteLength <= INLINE_CHARS_MAX) {
      return packCalls(redactParts(unpackCalls(packed), find))
    }
    return requireReturned((await thread.run({ rules, packed })).packed)
  }

  async function redactSome(parts: readonly CallParts[]): Promise<readonly CallParts[]> {
    const { pick, find } = await settings.read()
    const rules = pick(parts.map(projectOfParts))
    if (rules.size === 0) return parts
    if (sumLengths(parts) <= INLINE_CHARS_MAX) return redactParts(parts, find)
    const { packed } = await thread.run({ rules, packed: packCalls(parts) })
    return unpackCalls(requireReturned(packed))
  }

  async function redactSpanLogs(logs: readonly SpanLog[]): Promise<readonly SpanLog[]> {
    const { pick, find } = await settings.read()
    const rules = pick(logs.map(({ project_id }) => project_id))
    if (rules.size === 0) return logs
    const length = logs.reduce((sum, { event_json }) => sum + event_json.length, 0)
    if (length <= INLINE_CHARS_MAX) return redactLogs(logs, find)
    return requireReturned((await thread.run({ rules, logs })).logs)
  }

  return {
    ...calls,
    async startCall(start) {
      const [redacted] = await redactSome([{ start, end: null }])
      return await calls.startCall(redacted?.start ?? start)
    },
    async endCall(end) {
      const [redacted] = await redactSome([{ start: null, end }])
      return await calls.endCall(redacted?.end ?? end)
    },
    writeParts: async (parts) => await calls.writeParts(await redactSome(parts)),
    writePacked: async (packed, projects) =>
      await calls.writePacked(await redactPacked(packed, projects), projects),
    writeLogs: async (batch) =>
      await calls.writeLogs({ ...batch, logs: await redactSpanLogs(batch.logs) }),
    async renameCall(rename) {
      const { find } = await settings.read()
      const { project_id, display_name } = rename
      const redacted = display_name && find(project_id)?.redactText(display_name, {})
      return await calls.renameCall(redacted ? { ...rename, display_name: redacted } : rename)
    },
  }
}

function redactRecordings(recordings: RecordingStore, settings: Settings, thread: RedactionThread) {
  const pending = new Set<Promise<void>>()
  let onLoss: (loss: RecordingLoss) => void = () => {}

  async function addLater(call: RecordedCall, arrive?: () => void): Promise<void> {
    try {
      const rules = (await settings.read()).pick([call.facts.project_id])
      const redacted =
        rules.size === 0
          ? call
          : requireReturned((await thread.run({ rules, recorded: call })).recorded)
      recordings.add(redacted, arrive)
    } catch (error) {
      onLoss({ count: 1, error })
      arrive?.()
    }
  }

  const store: RecordingStore = {
    ...recordings,
    add(call, arrive) {
      const rules = settings.peek()
      const isOff = rules?.find(call.facts.project_id) === null
      const chars = call.inputs_json.length + call.output_json.length
      if (rules !== null && (isOff || chars <= INLINE_CHARS_MAX)) {
        return recordings.add(redactRecorded(call, rules.find), arrive)
      }
      const added = addLater(call, arrive).finally(() => pending.delete(added))
      pending.add(added)
    },
    async flush() {
      await Promise.all(pending)
      await recordings.flush()
    },
    onLoss(listener) {
      onLoss = listener
      recordings.onLoss(listener)
    },
  }
  return { store, settled: () => Promise.all(pending) }
}

/** Nothing is stored that the thread has not returned. @throws ApiError internal_error */
function requireReturned<Texts>(texts: Texts | undefined): Texts {
  if (texts === undefined) throw new ApiError('internal_error')
  return texts
}

function sumLengths(parts: readonly CallParts[]): number {
  return parts.reduce((sum, { start, end }) => {
    const length = (start?.start_size_bytes ?? 0) + (end?.end_size_bytes ?? 0)
    return sum + length + (end?.exception?.length ?? 0)
  }, 0)
}

/** Caches the settings of all projects. Settings that cannot be read again stay in effect. */
function createSettings({ listRedactions }: RedactionStore, nowMs: () => number) {
  let rules: Rules | null = null
  let reading: Promise<Rules> | null = null

  async function load(): Promise<Rules> {
    const listed = await listRedactions()
    const byProject = new Map(
      listed.map(({ project_id, rules_json }) => [project_id, readRedaction(rules_json)]),
    )
    const redactors = new Map<string, Redactor>()
    return {
      pick(projects) {
        const picked = new Map<string, Redaction>()
        for (const project_id of projects) {
          const redaction = byProject.get(project_id)
          if (redaction !== undefined) picked.set(project_id, redaction)
        }
        return picked
      },
      find(project_id) {
        const redaction = byProject.get(project_id)
        if (redaction === undefined) return null
        const known = redactors.get(project_id) ?? createRedactor(redaction)
        redactors.set(project_id, known)
        return known
      },
      readAtMs: nowMs(),
    }
  }

  const peek = () => (rules !== null && nowMs() - rules.readAtMs < SETTINGS_MS_MAX ? rules : null)
  return {
    /** The settings if they are fresh. */
    peek,
    /** @throws ApiError store_unavailable */
    async read(): Promise<Rules> {
      const fresh = peek()
      if (fresh !== null) return fresh
      reading ??= load()
      const own = reading
      try {
        const read = await own
        // What was read before a change is not used after it.
        if (reading === own) rules = read
        return read
      } catch (error) {
        if (rules === null) throw error
        rules = { ...rules, readAtMs: nowMs() }
        return rules
      } finally {
        if (reading === own) reading = null
      }
    },
    invalidate(): void {
      rules = null
      reading = null
    },
  }
}
