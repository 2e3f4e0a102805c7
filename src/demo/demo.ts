/** Command line: a project to look around in, on a server of its own in a temporary folder or on one that runs. */
import { parseArgs } from 'node:util'
import { runCommand, UsageError } from '../command-line.ts'
import { fillDemo } from './fill.ts'
import { startOwnServer } from './own-server.ts'

const USAGE = `usage:
  weft demo [--project ENTITY/PROJECT] [--once]
  weft demo --url URL --key KEY [--project ENTITY/PROJECT]

Fills a project in less than a minute and prints a link that signs in. Without --url it starts a server in a temporary
folder, which ends with the command; with --once as soon as the project is filled.`
const JOBS = 5
const ROLLOUTS = 16

async function main(args: string[]): Promise<void> {
  const { url, key, project, once } = parseArgs({
    args,
    options: {
      url: { type: 'string' },
      key: { type: 'string' },
      project: { type: 'string', default: 'demo/shop' },
      once: { type: 'boolean', default: false },
    },
  }).values
  if (!url !== !key) {
    throw new UsageError('--url and --key are needed together, or neither for a server of its own')
  }
  const given = url && key ? { url: url.replace(/\/$/, ''), key } : null
  const server = given ?? (await startOwnServer())
  const begun = performance.now()
  await fillDemo({ ...server, project, jobs: JOBS, rollouts: ROLLOUTS, report: print }).catch(
    ({ message, cause }: Error) => {
      throw new Error(cause instanceof Error ? `${server.url}: ${cause.message}` : message)
    },
  )
  const seconds = ((performance.now() - begun) / 1000).toFixed(0)
  const link = `${server.url}/${project}/weave?range=30d#key=${server.key}`
  print(`\nFilled ${project} in ${seconds} s. Open it:\n${link}\n`)
  if (given !== null || once) process.exit(0)
  print('The server and all its data are gone when this ends (Ctrl-C).')
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

await runCommand(USAGE, main)
// A server of its own would keep the process alive, and ends with it.
if (process.exitCode) process.exit()
