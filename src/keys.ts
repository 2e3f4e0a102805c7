/** Command line: makes, lists and revokes API keys in the data directory or in PostgreSQL, also while servers run. */
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { runCommand, UsageError } from './command-line.ts'
import { type Config, readConfig } from './config.ts'
import { KeyCreateRequest, SCOPES } from './schemas/access/key.ts'
import { toProblems } from './schemas/problems.ts'
import { renderTimestamp } from './schemas/timestamp.ts'
import { type KeyStore, listKeyParts, type StoredKey } from './store/api/access/keys.ts'
import { hasDatabase, requireDatabase } from './store/sqlite/db/connection.ts'
import { tryLockDataDirectory } from './store/sqlite/db/directory-lock.ts'

/** What programs that trace, chat and train need. */
const DEFAULT_SCOPES = 'traces:read,traces:write,inference,training'
const DEFAULT_PROJECTS = '*'
const USAGE = `usage:
  npm run keys -- create --user ID [--name NAME] [--scopes SCOPE,...] [--projects PATTERN,...]
  npm run keys -- list
  npm run keys -- revoke KEY_ID [KEY_ID ...]

scopes: ${SCOPES.join(', ')}; without --scopes ${DEFAULT_SCOPES.replaceAll(',', ', ')}
projects: patterns *, acme/* or acme/demo; without --projects ${DEFAULT_PROJECTS}`

/** Returns what the command does with keys. Throws for wrong arguments, which must not make a database. */
type Command = (args: string[]) => (keys: KeyStore) => Promise<void>
const COMMANDS: ReadonlyMap<string, Command> = new Map([
  ['create', create],
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
  const { svc_user_id, svc_username, scopes, projects } = readRequest(args)
  return async (keys) => {
    const { id, secret } = await keys.createKey({
      svc_user_id,
      svc_username: svc_username ?? svc_user_id,
      scopes,
      projects,
    })
    print(`id      ${id}\nsecret  ${secret}   (shown this once)`)
  }
}

/** The rules for a key are those of `POST /v1/keys`. */
function readRequest(args: string[]): KeyCreateRequest {
  const { user, name, scopes, projects } = parseArgs({
    args,
    options: {
      user: { type: 'string' },
      name: { type: 'string' },
      scopes: { type: 'string', default: DEFAULT_SCOPES },
      projects: { type: 'string', default: DEFAULT_PROJECTS },
    },
  }).values
  if (!user) throw new UsageError('--user is required')
  const request = {
    svc_user_id: user,
    svc_username: name ?? null,
    scopes: scopes.split(',').map((scope) => scope.trim()),
    projects: projects.split(',').map((pattern) => pattern.trim()),
  }
  const { data, error } = KeyCreateRequest.safeParse(request)
  if (data) return data
  const [problem] = toProblems(error.issues, request)
  const path = error.issues[0]?.path ?? []
  const [field, at] = path as [keyof typeof request, number?]
  const entry = at === undefined ? '' : ` ${JSON.stringify(request[field]?.[at])}`
  throw new Error(`${OPTION_OF[field]}${entry} ${problem?.message}`)
}

const OPTION_OF = {
  svc_user_id: '--user',
  svc_username: '--name',
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
  const state = key.revoked_at_us === null ? 'live' : 'revoked'
  const made = renderTimestamp(key.created_at_us).slice(0, 19)
  print(
    [key.id, state, made, key.svc_user_id, key.scopes.join(','), key.projects.join(',')]
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
      if (await keys.revokeKey(id)) print(`revoked ${id}`)
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
