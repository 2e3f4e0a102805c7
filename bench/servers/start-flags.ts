/** How `npm start` starts Node, for scripts that start the server themselves. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

interface Start {
  readonly flags: readonly string[]
  /** Without the compile cache a server starts slower and takes some 20 MB more. */
  readonly environment: Readonly<Record<string, string>>
}

/** @param checkout - the folder of package.json */
export function readStart(checkout: string): Start {
  const text = readFileSync(join(checkout, 'package.json'), 'utf8')
  const { start } = (JSON.parse(text) as { scripts: { start: string } }).scripts
  const [before = '', after = ''] = start.split('exec node')
  const settings = [...before.matchAll(/(\w+)=(\S+)/g)].map(([, name = '', value = '']) => [
    name,
    name === 'NODE_COMPILE_CACHE' ? join(checkout, value) : value,
  ])
  return { flags: after.match(/--\S+/g) ?? [], environment: Object.fromEntries(settings) }
}

const own = readStart(fileURLToPath(new URL('../..', import.meta.url)))
export const START_FLAGS = own.flags
export const START_ENVIRONMENT = own.environment
