/** Command line: makes, lists and revokes API keys in the data directory or in PostgreSQL, also while servers run. */
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { type Config, readConfig } from './config.ts'
import { isProjectPattern, type Scope } from './domain/access/permissions.ts'
import { SCOPES } from './schemas/access/key.ts'
import { renderTimestamp } from './schemas/timestamp.ts'
import { type KeyStore, listKeyParts, type StoredKey } from './store/api/access/keys.ts'
import { openPostgresKeys } from './store/postgres/open.ts'
import { hasDatabase, requireDatabase } from './store/sqlite/db/connection.ts'
import { tryLockDataDirectory } from './store/sqlite/db/directory-lock.ts'
import { openSqliteKeys } from './store/sqlite/open.ts'

const USAGE = `usage:
  npm run keys -- create --user ID [--name NAME] [--scopes ${SCOPES.join(',')}] [--projects acme/*,other/demo]
  npm run keys -- list
  npm run keys -- revoke KEY_ID`

class UsageError extends Error {}

async function main(args: readonly string[]): Promise<void> {
  if (args.includes('--help')) return print(USAGE)
  const [command, ...rest] = args
  const run = { create, list, revoke }[command ?? '']
  if (!run) throw new UsageError(USAGE)
  const store = await openStore(readConfig(), run === create)
  try {
    await run(store.keys, rest)
  } finally {
    await store.close()
  }
}

/** A server that runs has the lock; the database is then its own, except for the rows of keys. */
async function openStore({ dataDir, metaUrl }: Config, mayCreate: boolean) {
  if (metaUrl !== null) return openPostgresKeys(metaUrl)
  if (!hasDatabase(dataDir)) {
    if (!mayCreate) requireDatabase(dataDir)
    const note = 'has no database yet; a new one is created there'
    process.stderr.write(`note: the data directory ${resolve(dataDir)} ${note}\n`)
  }
  const lock = tryLockDataDirectory(dataDir)
  try {
    return openSqliteKeys(dataDir, lock !== null)
  } finally {
    // Before the command runs: a server that starts meanwhile must not be refused.
    lock?.release()
  }
}

async function create(keys: KeyStore, args: readonly string[]): Promise<void> {
  const values = readOptions(args)
  if (!values.user) throw new UsageError(`--user is required\n${USAGE}`)
  const { id, secret } = await keys.createKey({
    svc_user_id: values.user,
    svc_username: values.name ?? values.user,
    scopes: values.scopes.split(',').map(requireScopeName),
    projects: values.projects.split(',').map(requirePattern),
  })
  print(`id      ${id}\nsecret  ${secret}   (shown this once)`)
}

function readOptions(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        user: { type: 'string' },
        name: { type: 'string' },
        scopes: { type: 'string', default: 'traces:read,traces:write,inference,training' },
        projects: { type: 'string', default: '*' },
      },
    }).values
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\n${USAGE}`)
  }
}

async function list(keys: KeyStore): Promise<void> {
  for await (const part of listKeyParts(keys)) part.forEach(printKey)
}

function printKey(key: StoredKey): void {
  const state = key.revoked_at_us === null ? 'live' : 'revoked'
  const made = renderTimestamp(key.created_at_us).slice(0, 19)
  print(
    [key.id, state, made, key.svc_user_id, key.scopes.join(','), key.projects.join(',')].join('  '),
  )
}

async function revoke(keys: KeyStore, [id]: readonly string[]): Promise<void> {
  if (!id) throw new UsageError(USAGE)
  if (!(await keys.revokeKey(id))) throw new Error(`there is no such key, or it was revoked: ${id}`)
  print(`revoked ${id}`)
}

function requireScopeName(text: string): Scope {
  const scope = SCOPES.find((name) => name === text)
  if (!scope) throw new UsageError(`${text} is not a scope (${SCOPES.join(', ')})`)
  return scope
}

function requirePattern(text: string): string {
  if (!isProjectPattern(text)) {
    throw new UsageError(`${text} is not a project pattern (*, acme/*, acme/demo)`)
  }
  return text
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

try {
  await main(process.argv.slice(2))
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
