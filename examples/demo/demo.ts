/**
 * A project to look around in: starts a server of its own in a temporary folder, or takes one that runs, fills a
 * project in less than a minute, and prints a link that signs in.
 *
 * npm run demo
 * npm run demo -- --url http://127.0.0.1:8080 --key wk_... --project demo/shop
 *
 * --once: ends when the project is filled; the server of its own is gone then.
 */
import { startOwnServer } from '../own-server.ts'
import { readArguments, refuseArguments } from '../script-arguments.ts'
import { fillDemo } from './fill.ts'

const JOBS = 5
const ROLLOUTS = 16

const { values } = readArguments({
  options: {
    url: { type: 'string' },
    key: { type: 'string' },
    project: { type: 'string', default: 'demo/shop' },
    once: { type: 'boolean', default: false },
  },
})
if ((values.url === undefined) !== (values.key === undefined)) {
  refuseArguments('Give --url and --key together, or neither for a server of its own.')
}

const { project, once } = values
const given =
  values.url && values.key ? { url: values.url.replace(/\/$/, ''), key: values.key } : null
const { url, key } = given ?? (await startOwnServer())
const begun = performance.now()
try {
  await fillDemo({ url, key, project, jobs: JOBS, rollouts: ROLLOUTS, tell: console.log })
} catch (error) {
  const { message, cause } = error as Error
  console.error(cause instanceof Error ? `${url} cannot be asked: ${cause.message}` : message)
  process.exit(1)
}
const seconds = ((performance.now() - begun) / 1000).toFixed(0)
console.log(
  `\nFilled ${project} in ${seconds} s. Look at it:\n${url}/${project}/weave?range=30d#key=${key}\n`,
)
if (given !== null || once) process.exit(0)
console.log('The server and all that is in it are gone when this ends (Ctrl-C).')
