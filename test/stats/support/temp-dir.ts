/** A directory that is removed when the test ends. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** Call it before anything that keeps files open in it: what is made later is closed first. */
export function makeTempDir(): string {
  const directory = mkdtempSync(join(tmpdir(), 'weft-test-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}
