/** Imports in the process of a test: from pages, or from an API that responds with recorded shapes. */

import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { createProjectWriter } from '../../src/imports/project-writer.ts'
import { openCheckpoint, runImport } from '../../src/imports/run-import.ts'
import type { ImportSource, OpenSource, SourceOptions } from '../../src/imports/source.ts'
import {
  contentsOf,
  exportTo,
  inSqlite,
  PROJECT,
  type Settings,
  withStores,
} from '../project-files/project-folders.ts'

type Secrets = Readonly<Record<string, string>>

export function optionsOf(location: string, secrets: Secrets = {}): SourceOptions {
  return {
    location,
    sourceName: null,
    project_id: PROJECT,
    refScheme: 'weave',
    feedbackPayloadBytesMax: 1024 * 1024,
    messageBytesMax: 1024 * 1024,
    readSecret: (name) => secrets[name] ?? null,
  }
}

/**
 * Imports into a data directory, or where settings say; what the command reports.
 *
 * @param pagesMax - pages until it fails after the next one is stored and before its position is; default: all
 */
export async function importInto(
  place: string | Settings,
  source: ImportSource,
  pagesMax = Number.POSITIVE_INFINITY,
) {
  let report: Awaited<ReturnType<typeof runImport>> | null = null
  const settings = typeof place === 'string' ? inSqlite(place) : place
  await withStores(settings, async (stores) => {
    const writer = createProjectWriter(stores, optionsOf(''), () => 1_800_000_000_000_000)
    let pages = 0
    report = await runImport({
      source,
      async write(page) {
        const written = await writer.write(page)
        pages += 1
        if (pages > pagesMax) throw new Error('killed')
        return written
      },
      checkpoint: openCheckpoint(settings.WEFT_DATA_DIR ?? '', ['test']),
      onPage: () => undefined,
    })
  })
  return report as unknown as Awaited<ReturnType<typeof runImport>>
}

type Line = Readonly<Record<string, unknown>>

/** The records of the project as the export writes them, and all files for comparison. */
export async function recordsOf(place: string | Settings) {
  const { folder } = await exportTo(typeof place === 'string' ? inSqlite(place) : place)
  const read = (name: string): Line[] =>
    readFileSync(join(folder, `${name}.jsonl`), 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line))
  return {
    calls: read('calls'),
    feedback: read('feedback'),
    objects: read('objects'),
    rows: read('table_rows').map(({ val }) => val),
    files: contentsOf(folder),
  }
}

interface Received {
  readonly method: string
  readonly url: string
  readonly authorization: string | undefined
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: unknown
}

/**
 * Responds by method and path with query; a number is a status, a URL a redirect, and Turns respond in turn, the last again.
 * Unknown requests are 404.
 */
export async function serveApi(
  responses: Readonly<Record<string, unknown>>,
): Promise<{ url: string; requests: Received[] }> {
  const requests: Received[] = []
  const turns = new Map<string, number>()
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString()
    const { method = '', url = '', headers } = request
    const body: unknown = text === '' ? null : JSON.parse(text)
    requests.push({ method, url, authorization: headers.authorization, headers, body })
    const name = decodeURIComponent(`${method} ${url}${text}`)
    const found = responses[name] ?? responses[decodeURIComponent(`${method} ${url}`)]
    const turn = turns.get(name) ?? 0
    turns.set(name, turn + 1)
    const value =
      found instanceof Turns ? found.values[Math.min(turn, found.values.length - 1)] : found
    if (typeof value === 'number' || value === undefined) response.statusCode = value ?? 404
    if (value instanceof URL) response.writeHead(302, { location: value.href })
    response.end(typeof value === 'string' ? value : JSON.stringify(value ?? { missing: name }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const address = server.address() as { port: number }
  return { url: `http://127.0.0.1:${address.port}`, requests }
}

/** Responses to the same request, one after the other. */
export class Turns {
  readonly values: readonly unknown[]
  constructor(...values: readonly unknown[]) {
    this.values = values
  }
}

/** Imports twice into empty stores and demands that the second time reports and changes nothing else; the records. */
export async function importTwice(
  open: OpenSource,
  options: SourceOptions,
  settings: Settings = inSqlite(),
) {
  const report = await importInto(settings, open(options))
  const records = await recordsOf(settings)
  expect(await importInto(settings, open(options))).toEqual(report)
  expect((await recordsOf(settings)).files).toEqual(records.files)
  return { report, records }
}

/** Responses by request of an API; `test/sdk/imports/shapes_python.py` reads them by the types of its client. */
export function recordedResponses(name: string): Record<string, unknown> {
  return JSON.parse(readFileSync(new URL(`./fixtures/${name}.json`, import.meta.url), 'utf8'))
}

/** Imports twice from an API that responds as given. */
export async function importServed(
  open: OpenSource,
  responses: Readonly<Record<string, unknown>>,
  settings?: Settings,
) {
  const { url } = await serveApi(responses)
  return importTwice(open, optionsOf(url), settings)
}
