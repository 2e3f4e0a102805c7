/**
 * Does everything of a release but to publish it: checks, tests, packs, installs the package in an empty folder without a
 * checkout, and makes the first call there.
 *
 * npm run release
 * npm run release -- --installed
 *
 * --installed: without the checks and tests of the checkout.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { readArguments } from '../../examples/script-arguments.ts'

const INSTALLED_BYTES_MAX = 120_000_000
const KEY = 'wk_release_key_of_a_temporary_server'

const { installed } = readArguments({
  options: { installed: { type: 'boolean', default: false } },
}).values
process.chdir(`${import.meta.dirname}/../..`)
const folder = mkdtempSync(join(tmpdir(), 'weft-release-'))
try {
  if (!installed) for (const script of ['check', 'test', 'test:slow']) npm('run', script)
  npm('pack', '--pack-destination', folder)
  const [archive = ''] = readdirSync(folder)
  npm('install', '--prefix', folder, '--omit=dev', '--no-audit', '--no-fund', join(folder, archive))
  const bytes = bytesOf(join(folder, 'node_modules'))
  console.log(`release: ${(bytes / 1e6).toFixed(0)} MB are installed`)
  if (bytes > INSTALLED_BYTES_MAX) throw new Error(`at most ${INSTALLED_BYTES_MAX} bytes may be`)
  await makeFirstCall()
  console.log(`release: ${archive} can be published`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function npm(...args: readonly string[]): void {
  console.log(`release: npm ${args.join(' ')}`)
  execFileSync('npm', ['--loglevel=error', ...args], { stdio: 'inherit' })
}

function bytesOf(path: string): number {
  const found = lstatSync(path)
  if (!found.isDirectory()) return found.size
  return readdirSync(path).reduce((sum, name) => sum + bytesOf(join(path, name)), 0)
}

/** Starts the installed command with its own folders and records a call. */
async function makeFirstCall(): Promise<void> {
  const begun = performance.now()
  const server = spawn('npx', ['weft'], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, WEFT_PORT: '0', WEFT_BOOTSTRAP_KEY: KEY },
    stdio: ['ignore', 'pipe', 'inherit'],
    // The signal below is for npx and what it started.
    detached: true,
  })
  try {
    const url = await findAddress(server)
    const project_id = 'acme/demo'
    const started_at = new Date().toISOString()
    const start = {
      project_id,
      id: 'call-1',
      op_name: 'answer',
      started_at,
      attributes: {},
      inputs: {},
    }
    await post(`${url}/call/start`, { start })
    await post(`${url}/call/end`, { end: { project_id, id: 'call-1', ended_at: started_at } })
    await post(`${url}/call/read`, { project_id, id: 'call-1' })
    const seconds = ((performance.now() - begun) / 1000).toFixed(1)
    console.log(`release: the first call was read ${seconds} s after the command`)
  } finally {
    process.kill(-(server.pid ?? 0), 'SIGTERM')
    await once(server, 'exit')
  }
}

function findAddress(server: ChildProcess): Promise<string> {
  return new Promise((found, failed) => {
    if (server.stdout === null) throw new Error('the output is not read')
    createInterface({ input: server.stdout }).on('line', (line) => {
      const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(line) ?? []
      if (url !== undefined) found(url)
    })
    server.once('exit', (code) => failed(new Error(`the server ended with ${code}`)))
  })
}

async function post(url: string, body: unknown): Promise<void> {
  const authorization = `Basic ${btoa(`api:${KEY}`)}`
  const headers = { 'content-type': 'application/json', authorization }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`)
}
