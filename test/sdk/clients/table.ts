/**
 * The table of docs/clients.md out of the lines that run.sh has collected. Ends with 1 when a cell fails. The page is
 * written only where no cell fails and no client was skipped.
 */
import { readFileSync, writeFileSync } from 'node:fs'

const [, , linesPath, pagePath] = process.argv
const MODELS = ['tiny', 'relayed']
const COLUMNS = ['plain', 'stream', 'tools', 'structured']
const BEGIN = '<!-- begin of the table: made by test/sdk/clients/run.sh -->'
const END = '<!-- end of the table -->'

interface Cell {
  readonly model: string
  readonly way: string
  readonly outcome: string
}
interface Client {
  readonly language: string
  readonly name: string
  readonly version: string
  readonly cells: Cell[]
}

const clients: Client[] = []
let faults = 0
let skips = 0
for (const line of readFileSync(linesPath ?? '', 'utf8')
  .trim()
  .split('\n')) {
  const [, kind, text = ''] = /^(\w+):(.*)$/.exec(line) ?? []
  const [language = '', name = '', packages = ''] = text.split('|')
  if (kind === 'client') {
    const version = packages.slice(packages.search(/[=@][^=@]*$/) + 1)
    clients.push({ language, name, version, cells: [] })
  } else if (kind === 'cell') {
    clients.at(-1)?.cells.push(JSON.parse(text))
  } else if (kind === 'skip') {
    skips += 1
  } else if (kind === 'broke') {
    process.stderr.write(`not ok: ${text} ended early\n`)
    faults += 1
  }
}

const notes: string[] = []

/** The cells of a way, in the order of the models: `ok`, or the number of a note. */
function render(cells: readonly Cell[]): string {
  const marks = MODELS.map((model) => {
    const outcome = cells.find((cell) => cell.model === model)?.outcome
    if (outcome === 'ok') return 'ok'
    if (outcome === undefined || outcome.startsWith('fails')) faults += 1
    const note = outcome ?? 'It was not reached.'
    if (!notes.includes(note)) notes.push(note)
    return `[${notes.indexOf(note) + 1}]`
  })
  return new Set(marks).size === 1 ? (marks[0] ?? '') : marks.join(' / ')
}

const rows = clients.map(({ language, name, version, cells }) => {
  const ofWay = (way: string) => render(cells.filter((cell) => cell.way === way))
  const more = [...new Set(cells.map(({ way }) => way))].filter((way) => !COLUMNS.includes(way))
  const rest = more.map((way) => `${way} ${ofWay(way)}`).join(', ')
  return `| ${name} | ${language} | ${version} | ${COLUMNS.map(ofWay).join(' | ')} | ${rest} |`
})
const table = [
  `| library | | version | ${COLUMNS.join(' | ')} | more |`,
  `|---|---|---|${COLUMNS.map(() => '---').join('|')}|---|`,
  ...rows,
  ...notes.map((note, place) => `${place === 0 ? '\n' : ''}- [${place + 1}] ${note}`),
].join('\n')
process.stdout.write(`${table}\n`)

if (pagePath !== undefined && faults + skips === 0) {
  const page = readFileSync(pagePath, 'utf8')
  const [before] = page.split(BEGIN)
  const [, after] = page.split(END)
  writeFileSync(pagePath, `${before}${BEGIN}\n${table}\n${END}${after}`)
}
process.exitCode = faults === 0 ? 0 : 1
