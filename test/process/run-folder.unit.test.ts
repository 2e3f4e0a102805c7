import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { makeTempDir } from '../support/temp-dir.ts'

const MODULE = new URL('../support/run-folder.ts', import.meta.url).href

/** A process that makes its folder with something in it, and then ends as the code says. */
function run(parent: string, code = '') {
  const script = `
    import { mkdirSync } from 'node:fs'
    import { makeRunFolder } from ${JSON.stringify(MODULE)}
    const folder = makeRunFolder(${JSON.stringify(parent)})
    mkdirSync(folder + '/weft-test-1/inner', { recursive: true })
    ${code}`
  return spawnSync(process.execPath, ['--input-type=module', '--eval', script])
}

it('is gone when its process ends, also by an error', () => {
  const parent = makeTempDir()
  expect(run(parent).status).toBe(0)
  expect(readdirSync(parent)).toEqual([])
  expect(run(parent, "throw new Error('odd')").status).toBe(1)
  expect(readdirSync(parent)).toEqual([])
})

it('is removed by the next run when its process was killed, and no other folder is', () => {
  const parent = makeTempDir()
  const { pid, signal } = run(parent, "process.kill(process.pid, 'SIGKILL')")
  expect(signal).toBe('SIGKILL')
  expect(existsSync(join(parent, `weft-run-${pid}`, 'weft-test-1'))).toBe(true)
  const others = [`weft-run-${process.pid}`, 'weft-run-1x', 'weft-files-1']
  for (const name of others) mkdirSync(join(parent, name))
  expect(run(parent).status).toBe(0)
  expect(readdirSync(parent).toSorted()).toEqual(others.toSorted())
})
