/** API keys in SQLite and PostgreSQL alike, with a short cache: a key revoked by another process is refused within a second. */
import { randomBytes } from 'node:crypto'
import { type AuditAction, diffStates, SERVER_ORIGIN } from '../../../domain/access/audit.ts'
import { renderKeyRow } from '../../../domain/access/key-view.ts'
import { hashKey, isSameBytes, KEY_BYTES, renderKey } from '../../../domain/access/keys.ts'
import type { Principal, Scope } from '../../../domain/access/permissions.ts'
import { createOrderedIds } from '../../../domain/time/ordered-ids.ts'
import {
  KEYS_PER_PART,
  type KeyRotation,
  type KeySettings,
  type KeyStore,
  type NewKey,
  type StoredKey,
} from '../../api/access/keys.ts'
import type { Dialect } from '../db/dialect.ts'
import { cursorBehind } from '../db/listing.ts'
import { all, first, run, type StepRuns, type Steps } from '../db/steps.ts'
import { type AuditStamp, record, stamp } from './audit-store.ts'
import * as SQL from './keys.sql.ts'
import { createPrincipalCache } from './principal-cache.ts'

interface KeyRevocation {
  readonly id: string
  readonly revoked_at_us: number
}

interface KeyUse {
  readonly id: string
  /** In days since 1970, UTC. */
  readonly day: number
}

/** A change and who makes it. */
type Audited<Change> = Change & { readonly by: AuditStamp }

type KeyWrites = ReturnType<typeof createKeyWrites>

export function createKeyWrites({ forUpdate }: Pick<Dialect, 'forUpdate'>) {
  const lockKey = `${SQL.FIND_KEY_BY_ID} ${forUpdate}`

  /** Runs a statement that changes a live key, and records it. @returns whether there was one */
  function* change(
    { id, by, ...parameters }: Audited<{ readonly id: string }>,
    { sql, action }: { readonly sql: string; readonly action: AuditAction },
  ): Steps<boolean> {
    const before = yield* findKey(id, lockKey)
    if (before === null || (yield* run(sql, { id, ...parameters })) === 0) return false
    const after = (yield* findKey(id)) ?? before
    yield* record(by, {
      action,
      subject_id: id,
      projects: [...before.projects, ...after.projects],
      ...diffStates(renderKeyRow(before), renderKeyRow(after)),
    })
    return true
  }

  return {
    *create_key({ by, ...key }: Audited<NewKeyRow>): Steps<void> {
      yield* run(SQL.INSERT_KEY, key)
      const { id } = key
      const made = yield* findKey(id)
      if (made === null) return
      const { projects } = made
      const after = renderKeyRow(made)
      yield* record(by, { action: 'key.create', subject_id: id, projects, before: null, after })
    },
    /** Replaces what can be edited; returns whether there was a live key. */
    update_key: (update: Audited<SettingsRow & { readonly id: string }>): Steps<boolean> =>
      change(update, { sql: SQL.UPDATE_KEY, action: 'key.update' }),
    /** Replaces the secret; returns whether there was a live key. */
    rotate_key: (rotation: Audited<KeyRotation & { readonly hash: Uint8Array }>): Steps<boolean> =>
      change(rotation, { sql: SQL.ROTATE_KEY, action: 'key.rotate' }),
    /** Revokes a key; returns whether there was a live one. */
    revoke_key: (revocation: Audited<KeyRevocation>): Steps<boolean> =>
      change(revocation, { sql: SQL.REVOKE_KEY, action: 'key.revoke' }),
    *touch_key(use: KeyUse): Steps<void> {
      yield* run(SQL.TOUCH_KEY, use)
    },
  }
}

export function createKeyStore({ read, write }: StepRuns<KeyWrites>): KeyStore {
  const newKeyId = createOrderedIds(readClockUs, randomBytes)
  const cache = createPrincipalCache(async (secret) => {
    const row = await read(findLiveKey(secret))
    if (row === null) return null
    const day = Math.floor(readClockUs() / DAY_US)
    // Not awaited: a request does not wait for it, and a day that is not noted is noted with the next look-up.
    if (row.last_used_day !== day) write('touch_key', { id: row.id, day }).catch(() => undefined)
    return toPrincipal(row)
  })

  /** Clears the cache also after a failure: the write may be durable. */
  const change: typeof write = (name, input) => write(name, input).finally(cache.clear)

  return {
    async createKey(key, by = SERVER_ORIGIN) {
      const { row, secret } = makeKey(key, newKeyId(), readClockUs())
      await write('create_key', { ...row, by: stamp(by) })
      return { id: row.id, secret }
    },
    findPrincipal: cache.find,
    hasExpired: async (secret) =>
      (await read(
        first(SQL.FIND_EXPIRED_KEY, { hash: hashKey(secret), now_us: readClockUs() }),
      )) !== undefined,
    findKey: (id) => read(findKey(id)),
    listKeys: (after) => read(listKeys(after)),
    updateKey: ({ id, settings }, by = SERVER_ORIGIN) =>
      change('update_key', { id, ...toSettingsRow(settings), by: stamp(by) }),
    async rotateKey(rotation, by = SERVER_ORIGIN) {
      const secret = newSecret()
      const rotated = { ...rotation, hash: hashKey(secret), by: stamp(by) }
      return (await change('rotate_key', rotated)) ? secret : null
    },
    revokeKey: (id, by = SERVER_ORIGIN) =>
      change('revoke_key', { id, revoked_at_us: readClockUs(), by: stamp(by) }),
  }
}

function readClockUs(): number {
  return Date.now() * 1000
}

const DAY_US = 86_400_000_000
/** What can be edited, as columns of `keys`. */
interface SettingsRow extends Omit<KeySettings, 'scopes' | 'projects' | 'models'> {
  readonly scopes_json: string
  readonly projects_json: string
  readonly models_json: string | null
}

/** A row of `keys` for a new key. */
interface NewKeyRow extends SettingsRow {
  readonly id: string
  /** SHA-256 of the key. */
  readonly hash: Uint8Array
  readonly svc_user_id: string
  readonly created_at_us: number
}

interface KeyRow extends Omit<NewKeyRow, 'hash'> {
  readonly revoked_at_us: number | null
  readonly last_used_day: number | null
  readonly previous_expires_at_us: number | null
}

/** With the SHA-256 of its secrets. */
interface LiveKeyRow extends KeyRow {
  readonly hash: Buffer
  readonly previous_hash: Buffer | null
}

function newSecret(): string {
  return renderKey(randomBytes(KEY_BYTES))
}

/** Creates a key: its row, and its text, which is not stored. */
function makeKey(key: NewKey, id: string, created_at_us: number) {
  const { svc_user_id } = key
  const secret = newSecret()
  const row: NewKeyRow = {
    id,
    hash: hashKey(secret),
    svc_user_id,
    created_at_us,
    ...toSettingsRow({ ...NO_SETTINGS, ...key }),
  }
  return { row, secret }
}

const NO_SETTINGS = {
  name: null,
  models: null,
  expires_at_us: null,
  requests_per_minute: null,
  tokens_per_minute: null,
  parallel_requests: null,
}

function toSettingsRow({ scopes, projects, models, ...settings }: KeySettings): SettingsRow {
  return {
    name: settings.name,
    svc_username: settings.svc_username,
    scopes_json: JSON.stringify(scopes),
    projects_json: JSON.stringify(projects),
    models_json: models && JSON.stringify(models),
    expires_at_us: settings.expires_at_us,
    requests_per_minute: settings.requests_per_minute,
    tokens_per_minute: settings.tokens_per_minute,
    parallel_requests: settings.parallel_requests,
  }
}

function toStoredKey({ scopes_json, projects_json, models_json, ...row }: KeyRow): StoredKey {
  return {
    ...row,
    scopes: JSON.parse(scopes_json) as Scope[],
    projects: JSON.parse(projects_json) as string[],
    models: models_json === null ? null : (JSON.parse(models_json) as string[]),
  }
}

function toPrincipal(row: KeyRow): Principal {
  const { id, svc_user_id, svc_username, scopes, projects, models, ...key } = toStoredKey(row)
  const { requests_per_minute, tokens_per_minute, parallel_requests } = key
  const limits = { requests_per_minute, tokens_per_minute, parallel_requests }
  return Object.freeze({
    keyId: id,
    svc_user_id,
    svc_username,
    scopes,
    projects,
    ...(models === null ? {} : { models }),
    ...(Object.values(limits).some((limit) => limit !== null) ? { limits } : {}),
  })
}

/** Returns the live key of a secret, or null. */
function* findLiveKey(secret: string): Steps<LiveKeyRow | null> {
  const hash = hashKey(secret)
  const row = yield* first<LiveKeyRow>(SQL.FIND_KEY, { hash, now_us: readClockUs() })
  if (row === undefined) return null
  const { previous_hash } = row
  const isKnown = isSameBytes(hash, row.hash) || (previous_hash && isSameBytes(hash, previous_hash))
  return isKnown ? row : null
}

function* findKey(id: string, sql = SQL.FIND_KEY_BY_ID): Steps<StoredKey | null> {
  const row = yield* first<KeyRow>(sql, { id })
  return row ? toStoredKey(row) : null
}

/** Returns the keys behind one, or the first. */
function* listKeys(after: StoredKey | undefined): Steps<StoredKey[]> {
  const place = cursorBehind(after ?? null, 'asc')
  const rows = yield* all<KeyRow>(SQL.LIST_KEYS, { ...place, limit: KEYS_PER_PART })
  return rows.map(toStoredKey)
}
