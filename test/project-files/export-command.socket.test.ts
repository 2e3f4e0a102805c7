import { execFile } from 'node:child_process'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { readConfig } from '../../src/config.ts'
import { openProjectSource } from '../../src/deps.ts'
import { digestOfJson } from '../../src/domain/objects/digests.ts'
import { readManifest } from '../../src/project-files/export-folder.ts'
import { exportProject } from '../../src/project-files/export-project.ts'
import { INHERITED } from '../support/inherited.ts'
import { spawnServer } from '../support/spawn-server.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import {
  contentsOf,
  describeEachPlace,
  exportTo,
  filled,
  importFrom,
  inSqlite,
  PROJECT,
  type Settings,
  withStores,
} from './project-folders.ts'

const run = promisify(execFile)

async function weft(settings: Settings, ...args: string[]) {
  const ended = await run(process.execPath, ['src/weft.cjs', ...args], {
    env: { ...INHERITED, ...settings },
  }).catch((error: { code: number; stdout: string; stderr: string }) => error)
  return { code: 'code' in ended ? ended.code : 0, stdout: ended.stdout, stderr: ended.stderr }
}

/** The open files of this process, on Linux. */
const FILE_DESCRIPTORS = '/proc/self/fd'

describeEachPlace('weft export', (open) => {
  it('writes a project beside a running server, and weft import reads it into another', async () => {
    const settings = await open()
    const server = await spawnServer(settings)
    const start = { project_id: PROJECT, id: 'call-1', op_name: 'answer' }
    const begun = {
      ...start,
      started_at: '2026-01-01T09:00:00.000001Z',
      attributes: {},
      inputs: {},
    }
    await server.postJson('/call/start', { start: begun })
    const val = { text: 'hello' }
    await server.postJson('/obj/create', {
      obj: { project_id: PROJECT, object_id: 'greeting', val },
    })
    const folder = join(makeTempDir(), 'out')
    const exported = await weft(settings, 'export', PROJECT, '--to', folder)
    expect(exported).toMatchObject({ code: 0, stderr: '' })
    expect(exported.stdout).toMatch(/ 1 objects, 0 feedback, 1 calls\n$/)
    const [line = ''] = readFileSync(join(folder, 'calls.jsonl'), 'utf8').split('\n')
    expect(JSON.parse(line)).toMatchObject({ id: 'call-1', started_at: begun.started_at })

    expect((await weft(settings, 'import', folder)).stderr).toMatch(/is in use by the process/)
    await server.stop()
    const other = await open()
    expect(await weft(other, 'import', folder)).toMatchObject({ code: 0, stderr: '' })
    const out = join(makeTempDir(), 'out')
    const again = await weft(other, 'export', PROJECT, '--to', out)
    expect(again).toMatchObject({ code: 0, stderr: '' })
    expect(contentsOf(out)).toEqual(contentsOf(folder))
  })
})

describe('weft export', () => {
  it.each([
    [['acme/nothing', '--to', 'DIR'], 'there is nothing of a project acme/nothing'],
    [[PROJECT, '--to', 'DIR', '--format', 'csv'], '--format must be jsonl or parquet'],
    [[PROJECT], '--to is required'],
    [['--to', 'DIR'], 'one project is needed'],
    [[PROJECT, '--to', '.'], 'is not empty'],
  ])('%j is refused', async (args, message) => {
    const settings = await filled()
    const folder = join(makeTempDir(), 'out')
    const given = args.map((word) => (word === 'DIR' ? folder : word))
    const { code, stdout, stderr } = await weft(settings, 'export', ...given)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain(message)
    expect(existsSync(join(folder, 'manifest.json'))).toBe(false)
  })

  it.each(['jsonl', 'parquet'] as const)(
    'writes %s that its owner alone can read',
    async (format) => {
      const { folder } = await exportTo(await filled(), format)
      const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .map((name) => statSync(join(folder, name)))
        .filter((found) => found.isFile())
      expect(files.map(({ mode }) => mode & 0o077)).toEqual(files.map(() => 0))
    },
  )

  it('closes the database after a failed write, and leaves the folder empty', async () => {
    const source = await openProjectSource(readConfig(await filled()), PROJECT)
    const folder = join(makeTempDir(), 'out')
    const failing = {
      ...source,
      files: () => {
        throw new Error('no space left on device')
      },
    }
    const target = { folder, format: 'jsonl', project_id: PROJECT } as const
    await expect(exportProject(failing, target)).rejects.toThrow('no space left on device')
    await source.close()
    expect(readdirSync(folder)).toEqual([])
  })

  it.runIf(existsSync(FILE_DESCRIPTORS))('leaves no file open when it fails', async () => {
    const source = await openProjectSource(readConfig(await filled()), PROJECT)
    const folder = join(makeTempDir(), 'out')
    const files = () => {
      throw new Error('the disk is gone')
    }
    const target = { folder, format: 'jsonl', project_id: PROJECT } as const
    await expect(exportProject({ ...source, files }, target)).rejects.toThrow('the disk')
    await source.close()
    const names = readdirSync(FILE_DESCRIPTORS).flatMap((name) => {
      try {
        return readlinkSync(join(FILE_DESCRIPTORS, name))
      } catch {
        return []
      }
    })
    expect(names.filter((name) => name.startsWith(folder))).toEqual([])
  })

  it('leaves no folder that looks whole when it is killed, and empties what it left the next time', async () => {
    const source = await openProjectSource(readConfig(await filled()), PROJECT)
    const folder = join(makeTempDir(), 'out')
    const target = { folder, format: 'jsonl', project_id: PROJECT } as const
    const never = Promise.withResolvers<void>()
    const reached = Promise.withResolvers<void>()
    async function* calls() {
      reached.resolve()
      await never.promise
      yield []
    }
    // It stands where a killed process would.
    const killed = exportProject({ ...source, calls }, target)
    await reached.promise
    expect(readdirSync(folder)).toEqual([`.partial-${process.pid}`])
    expect(() => readManifest(folder)).toThrow(/cannot be read/)
    // What was moved before the kill has no manifest.
    writeFileSync(join(folder, 'objects.jsonl'), '')
    const { records } = await exportProject(source, target)
    expect(records).toMatchObject({ feedback: 1, files: 1 })
    expect(readManifest(folder).records).toEqual(records)
    expect(readdirSync(folder).filter((name) => name.startsWith('.'))).toEqual([])
    never.reject(new Error('killed'))
    await expect(killed).rejects.toThrow('killed')
    await source.close()
  })

  it.each([
    ['of a process that runs', `.partial-${process.ppid}`, /the process \d+ exports to/],
    ['with a file of another program', '.partial-999999999', /is not empty/],
  ])('refuses a folder %s', async (_what, partial, message) => {
    const source = await openProjectSource(readConfig(await filled()), PROJECT)
    const folder = makeTempDir()
    mkdirSync(join(folder, partial))
    writeFileSync(join(folder, 'notes.txt'), 'mine')
    const target = { folder, format: 'jsonl', project_id: PROJECT } as const
    await expect(exportProject(source, target)).rejects.toThrow(message)
    expect(readFileSync(join(folder, 'notes.txt'), 'utf8')).toBe('mine')
    await source.close()
  })

  it('leaves out files whose bytes are missing, with exit code 2', async () => {
    const dataDir = makeTempDir()
    const settings = await filled(inSqlite(dataDir))
    rmSync(join(dataDir, 'files'), { recursive: true })
    const folder = join(dataDir, 'out')
    const { code, stderr } = await weft(settings, 'export', PROJECT, '--to', folder)
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: `weft: the bytes of 1 files are missing in ${dataDir}\n`,
    })
  })
})

describe('weft import', () => {
  const change = (path: string, edit: (text: string) => string) => (folder: string) =>
    writeFileSync(join(folder, path), edit(readFileSync(join(folder, path), 'utf8')))

  it.each([
    [
      'no manifest',
      (folder: string) => rmSync(join(folder, 'manifest.json')),
      /manifest\.json cannot be read/,
    ],
    [
      'another version',
      change('manifest.json', (text) => text.replace('"version": 1', '"version": 2')),
      /manifest\.json: version/,
    ],
    [
      'a project that is none',
      change('manifest.json', (text) => text.replace(PROJECT, 'acme/demo/../other')),
      /manifest\.json: project_id must have the shape <entity>\/<project>/,
    ],
    [
      'fewer records than the manifest says',
      change('feedback.jsonl', () => ''),
      /feedback\.jsonl has 0 records, the manifest says 1/,
    ],
    [
      'a missing file',
      (folder: string) => rmSync(join(folder, 'calls.jsonl')),
      /calls\.jsonl is missing/,
    ],
    [
      'a line that is not JSON',
      change('feedback.jsonl', (text) => text.slice(0, -3)),
      /feedback\.jsonl:1: is not a JSON object/,
    ],
    [
      'a column that is not known',
      change('feedback.jsonl', (text) => text.replace('{"id"', '{"ip":1,"id"')),
      /feedback\.jsonl:1: ip is not a column/,
    ],
    [
      'a missing column',
      change('feedback.jsonl', (text) => text.replace('"id":"f1",', '')),
      /feedback\.jsonl:1: id is missing/,
    ],
    [
      'a time that is none',
      change('feedback.jsonl', (text) => text.replace(/"20[^"]*Z"/, '"x"')),
      /created_at is missing/,
    ],
    [
      'changed bytes of a file',
      (folder: string) => appendFileSync(join(folder, 'files/1'), 'y'),
      /files\/1 has the digest/,
    ],
    [
      'a path outside of the folder',
      change('files.jsonl', (text) => text.replace('files/1', '../files/1')),
      /\.\.\/files\/1 is not a file of/,
    ],
  ])('refuses a folder with %s', async (_what, break_, message) => {
    const { folder } = await exportTo(await filled())
    break_(folder)
    await expect(importFrom(folder)).rejects.toThrow(message)
  })

  it('says what is wrong in one line', async () => {
    const { code, stderr } = await weft(inSqlite(), 'import', 'nowhere')
    expect(code).toBe(1)
    expect(stderr).toMatch(/^weft: nowhere\/manifest\.json cannot be read: .*\n$/)
  })

  it('refuses a Parquet file that is none', async () => {
    const { folder } = await exportTo(await filled(), 'parquet')
    writeFileSync(join(folder, 'calls.parquet'), 'PAR1')
    await expect(importFrom(folder)).rejects.toThrow(/calls\.parquet: is not Parquet/)
  })

  it('refuses a version that has another number in the project already', async () => {
    const settings = inSqlite()
    const object = {
      project_id: PROJECT,
      object_id: 'a',
      kind: 'object',
      base_object_class: null,
      leaf_object_class: null,
      svc_user_id: 'u',
      created_at_us: 1,
    } as const
    const versions = ['1', '2'].map((val_json) => ({
      ...object,
      val_json,
      digest: digestOfJson(val_json),
    }))
    await withStores(settings, async ({ objects }) => {
      for (const version of versions) await objects.createObject(version)
    })
    const { folder } = await exportTo(settings)
    const other = inSqlite()
    await withStores(other, async ({ objects }) => {
      for (const version of versions.reverse()) await objects.createObject(version)
    })
    await expect(importFrom(folder, other)).rejects.toThrow(/of a is v1 in acme\/demo, not v0/)
  })
})
