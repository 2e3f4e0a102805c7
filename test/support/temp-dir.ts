/** Folders of a test's own, removed when it ends. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

export function makeTempDir(): string {
  const path = mkdtempSync(join(tmpdir(), 'weft-test-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}
