/** The Markdown table of the lines that run.sh has collected; fails when a program broke. */
import { readFileSync } from 'node:fs'

const COLUMNS = [
  'call',
  'tokens',
  'cost',
  'cached',
  'written',
  'reasoning',
  'messages',
  'tools',
  'stream',
  'error',
  'conversation',
  'user',
  'tree',
]
const rows: string[] = []
let name = ''
for (const line of readFileSync(process.argv[2] ?? '', 'utf8')
  .trim()
  .split('\n')) {
  const [, kind, text = ''] = /^(\w+):(.*)$/.exec(line) ?? []
  if (kind === 'emitter') name = text
  if (kind === 'skip') rows.push(`| ${text} |${' |'.repeat(COLUMNS.length)}`)
  if (kind === 'broke') process.exitCode = 1
  if (kind !== 'cells') continue
  const cells = JSON.parse(text)
  rows.push(`| ${name} | ${COLUMNS.map((column) => cells[column] ?? '-').join(' | ')} |`)
}
process.stdout.write(
  `| library | ${COLUMNS.join(' | ')} |\n|---|${'---|'.repeat(COLUMNS.length)}\n${rows.join('\n')}\n`,
)
