/** Command line: makes, lists and revokes API keys in the data directory or in PostgreSQL, also while servers run. */
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { runCommand, UsageError } from './command-line.ts'
import { type Config, readConfig } from './config.ts'
import type { AuditOrigin } from './domain/access/audit.ts'
import { resolveNewKey } from './domain/access/key-view.ts'
import type { Principal } from './domain/access/permissions.ts'
import { KeyCreateRequest, KeyRotateRequest, SCOPES } from './schemas/access/key.ts'
import { toProblems } from './schemas/problems.ts'
import { renderTimestamp } from './schemas/timestamp.ts'
import { type KeyStore, listKeyParts, type StoredKey } from './store/api/access/keys.ts'
import { hasDatabase, requireDatabase } from './store/sqlite/db/connection.ts'
import { tryLockDataDirectory } from './store/sqlite/db/directory-lock.ts'

/** What programs that trace, chat and train need. */
const DEFAULT_SCOPES = 'traces:read,traces:write,inference,training'
const DEFAULT_PROJECTS = '*'
const USAGE = `usage:
  weft keys create --user ID [--name NAME] [--scopes SCOPE,...] [--projects PATTERN,...]
                         [--label TEXT] [--models PATTERN,...] [--expires TIME]
  weft keys rotate KEY_ID [--overlap SECONDS]
  weft keys list
  weft keys revoke KEY_ID [KEY_ID ...]

scopes: ${SCOPES.join(', ')}; without --scopes ${DEFAULT_SCOPES.replaceAll(',', ', ')}
projects: patterns *, acme/* or acme/demo; without --projects ${DEFAULT_PROJECTS}
label: what the key is for; models: names, or beginnings of names and *, without --models all
expires: when the key ends, such as 2027-01-31T00:00:00Z; without --expires never
overlap: how long the replaced secret is still accepted; without --overlap a day`

/** Returns what the command does with keys. Throws for wrong arguments, which must not make a database. */
type Command = (args: string[]) => (keys: KeyStore) => Promise<void>
const COMMANDS: ReadonlyMap<string, Command> = new Map([
  ['create', create],
  ['rotate', rotate],
  ['list', list],
  ['revoke', revoke],
])

async function main([name = '', ...args]: string[]): Promise<void> {
  const command = COMMANDS.get(name)
  if (!command)
    throw new UsageError(`the command must be one of ${[...COMMANDS.keys()].join(', ')}`)
  const run = command(args)
  const store = await openStore(readConfig(), command === create)
  try {
    await run(store.keys)
  } finally {
    await store.close()
  }
}

/**
 * A server that runs has the lock; the database is then its own, except for the rows of keys. Of the stores only the one
 * that has the keys is loaded.
 */
async function openStore({ dataDir, metaUrl }: Config, mayCreate: boolean) {
  if (metaUrl !== null) {
    const { openPostgresKeys } = await import('./store/postgres/open.ts')
    return openPostgresKeys(metaUrl)
  }
  if (!hasDatabase(dataDir)) {
    if (!mayCreate) requireDatabase(dataDir)
    const note = 'has no database yet; a new one is created there'
    process.stderr.write(`note: the data directory ${resolve(dataDir)} ${note}\n`)
  }
  const { openSqliteKeys } = await import('./store/sqlite/open.ts')
  const lock = tryLockDataDirectory(dataDir)
  try {
    return openSqliteKeys(dataDir, lock !== null)
  } finally {
    // The lock is released before the command runs: a server that starts meanwhile must not be refused.
    lock?.release()
  }
}

function create(args: string[]): ReturnType<Command> {
  const key = resolveNewKey(readRequest(args), COMMAND_LINE)
  return async (keys) => {
    const { id, secret } = await keys.createKey(key, ORIGIN)
    print(`id      ${id}\nsecret  ${secret}   (shown this once)`)
  }
}

/** Who has the machine has all rights. */
const COMMAND_LINE: Principal = {
  keyId: 'command-line',
  svc_user_id: 'command-line',
  svc_username: 'command-line',
  scopes: ['admin'],
  projects: ['*'],
}

/** In the audit list. */
const ORIGIN: AuditOrigin = {
  svc_user_id: COMMAND_LINE.svc_user_id,
  key_id: COMMAND_LINE.keyId,
  address: null,
  forwarded_for: null,
}

/** Gives a key another secret. */
function rotate(args: string[]): ReturnType<Command> {
  const { positionals, values } = parseArgs({
    args,
    options: { overlap: { type: 'string' } },
    allowPositionals: true,
  })
  const [id, ...others] = positionals
  if (id === undefined || others.length > 0) throw new UsageError('rotate takes one KEY_ID')
  const sent = values.overlap === undefined ? {} : { overlap_seconds: Number(values.overlap) }
  const { data, error } = KeyRotateRequest.safeParse(sent)
  if (error) throw new Error(`--overlap ${toProblems(error.issues, sent)[0]?.message}`)
  return async (keys) => {
    const previous_expires_at_us = (Date.now() + data.overlap_seconds * 1000) * 1000
    const secret = await keys.rotateKey({ id, previous_expires_at_us }, ORIGIN)
    if (secret === null) throw new Error(`there is no such key, or it was revoked: ${id}`)
    print(`id      ${id}\nsecret  ${secret}   (shown this once)`)
  }
}

/** The rules for a key are those of `POST /v1/keys`. */
function readRequest(args: string[]): KeyCreateRequest {
  const { user, name, label, scopes, projects, models, expires } = parseArgs({
    args,
    options: {
      user: { type: 'string' },
      name: { type: 'string' },
      label: { type: 'string' },
      models: { type: 'string' },
      expires: { type: 'string' },
      scopes: { type: 'string', default: DEFAULT_SCOPES },
      projects: { type: 'string', default: DEFAULT_PROJECTS },
    },
  }).values
  if (!user) throw new UsageError('--user is required')
  const request = {
    svc_user_id: user,
    svc_username: name ?? null,
    name: label ?? null,
    scopes: splitList(scopes),
    projects: splitList(projects),
    models: models === undefined ? null : splitList(models),
    expires_at: expires ?? null,
  }
  const { data, error } = KeyCreateRequest.safeParse(request)
  if (data) return data
  const [problem] = toProblems(error.issues, request)
  const path = error.issues[0]?.path ?? []
  const [field, at] = path as [keyof typeof request, number?]
  const value = request[field]
  const entry = at === undefined || !Array.isArray(value) ? '' : ` ${JSON.stringify(value[at])}`
  throw new Error(`${OPTION_OF[field]}${entry} ${problem?.message}`)
}

function splitList(text: string): string[] {
  return text.split(',').map((entry) => entry.trim())
}

const OPTION_OF = {
  svc_user_id: '--user',
  svc_username: '--name',
  name: '--label',
  models: '--models',
  expires_at: '--expires',
  scopes: '--scopes',
  projects: '--projects',
}

function list(args: string[]): ReturnType<Command> {
  if (args.length > 0) throw new UsageError('list takes no arguments')
  return async (keys) => {
    for await (const part of listKeyParts(keys)) part.forEach(printKey)
  }
}

/** One line a key: control characters in the name of a user must not begin another. */
function printKey(key: StoredKey): void {
  const isExpired = key.expires_at_us !== null && key.expires_at_us <= Date.now() * 1000
  const state = key.revoked_at_us !== null ? 'revoked' : isExpired ? 'expired' : 'live'
  const made = renderTimestamp(key.created_at_us).slice(0, 19)
  print(
    [
      key.id,
      state,
      made,
      key.svc_user_id,
      key.scopes.join(','),
      key.projects.join(','),
      key.name ?? [],
    ]
      .flat()
      .map((text) => text.replaceAll(/\p{C}/gu, '\ufffd'))
      .join('  '),
  )
}

/** Revokes all keys that exist, and then reports the others. */
function revoke(ids: string[]): ReturnType<Command> {
  if (ids.length === 0) throw new UsageError('no KEY_ID is given')
  return async (keys) => {
    const failed: string[] = []
    for (const id of ids) {
      if (await keys.revokeKey(id, ORIGIN)) print(`revoked ${id}`)
      else failed.push(id)
    }
    if (failed.length > 0) {
      throw new Error(`there is no such key, or it was revoked: ${failed.join(', ')}`)
    }
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

await runCommand(USAGE, main)
