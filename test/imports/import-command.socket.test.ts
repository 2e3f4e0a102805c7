import { execFile } from 'node:child_process'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { INHERITED } from '../support/inherited.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { recordsOf, serveApi } from './importing.ts'

const run = promisify(execFile)

async function weftImport(dataDir: string, args: readonly string[], more: object = {}) {
  const env = { ...INHERITED, WEFT_DATA_DIR: dataDir, ...more }
  const ended = await run(process.execPath, ['src/weft.cjs', 'import', ...args], { env }).catch(
    (error: { code: number; stdout: string; stderr: string }) => error,
  )
  return { code: 'code' in ended ? ended.code : 0, stdout: ended.stdout, stderr: ended.stderr }
}

const SPAN = {
  traceId: '5b8efff798038103d269b633813fc60c',
  spanId: 'eee19b7ec3c1b171',
  name: 'chat',
  startTimeUnixNano: '1780000000123456789',
  endTimeUnixNano: '1780000001123456789',
}

describe('weft import --from', () => {
  it('imports, reports counts and what is not read, and leaves no checkpoint', async () => {
    const dataDir = makeTempDir()
    const path = join(dataDir, 'traces.json')
    writeFileSync(path, JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [SPAN] }] }] }))
    const args = ['--from', 'otlp', '--project', 'acme/demo', path]
    const { code, stdout, stderr } = await weftImport(dataDir, args)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toBe(
      [
        `acme/demo has what ${path} has: 1 calls, 0 feedback, 0 datasets, 0 rows, 0 objects, 0 files`,
        'not read, because nothing here corresponds: metrics; logs\n',
      ].join('\n'),
    )
    expect((await recordsOf(dataDir)).calls).toMatchObject([{ id: SPAN.spanId }])
    expect(readdirSync(join(dataDir, 'imports'))).toEqual([])
  })

  it('reports why a tool refuses, without the key', async () => {
    const { url } = await serveApi({})
    const args = ['--from', 'phoenix', '--project', 'acme/demo', url]
    const ended = await weftImport(makeTempDir(), args, { PHOENIX_API_KEY: 'px-secret' })
    expect(ended).toMatchObject({ code: 1, stdout: '' })
    expect(ended.stderr).toMatch(/^weft: GET http:\S+\/projects\/default\/spans responds with 404/)
    expect(ended.stderr).not.toContain('px-secret')
  })

  it.each([
    [['--from', 'other', '--project', 'acme/demo', 'x'], '--from must be one of otlp, phoenix'],
    [['--from', 'otlp', 'x'], '--project must be <entity>/<project>'],
    [['--from', 'otlp', '--project', 'acme', 'x'], '--project must be <entity>/<project>'],
    [['--project', 'acme/demo', 'x'], '--project and --name need --from'],
    [['--from', 'otlp', '--project', 'acme/demo'], 'one folder, file or address is needed'],
    [['--from', 'otlp', '--project', 'acme/demo', '/nowhere'], '/nowhere cannot be read'],
  ])('%j is refused', async (args, message) => {
    const { code, stdout, stderr } = await weftImport(makeTempDir(), args)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain(message)
  })
})
