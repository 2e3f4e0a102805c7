/** Runs a benchmark of this folder by its name: `npm run bench -- ingest`, its own arguments behind it. */
import { globSync } from 'node:fs'
import { join } from 'node:path'

const NAMES = globSync('*.ts', { cwd: import.meta.dirname })
  .map((file) => file.replace(/\.ts$/, ''))
  .filter((name) => name !== 'run')
  .sort()

const [name = '', ...benchmarkArguments] = process.argv.slice(2)
if (!NAMES.includes(name)) {
  const isAsked = name === '--help' || name === '-h'
  const write = isAsked ? console.log : console.error
  write(`npm run bench -- <name> [its own arguments]; the names are ${NAMES.join(', ')}`)
  process.exit(isAsked ? 0 : 1)
}
const path = join(import.meta.dirname, `${name}.ts`)
// The benchmarks read their arguments as if they had been started by themselves.
process.argv.splice(1, process.argv.length, path, ...benchmarkArguments)
await import(path)
