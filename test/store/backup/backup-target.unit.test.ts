import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openBackupTarget } from '../../../src/store/sqlite/backup/backup-target.ts'
import { makeTempDir } from '../../support/temp-dir.ts'

/** More than any disk of this kind has. */
const TERABYTES = 8e12

function makeSource(): string {
  const dataDir = makeTempDir()
  writeFileSync(join(dataDir, 'weft.db'), '')
  return dataDir
}

describe('the target of a backup', () => {
  it('an invalid backup target is refused with the reason, and nothing is written', () => {
    const dataDir = makeSource()
    const root = makeTempDir()
    mkdirSync(join(root, 'full'))
    mkdirSync(join(root, 'foreign.partial'))
    for (const file of ['full/a', 'file', 'foreign.partial/a']) writeFileSync(join(root, file), '')
    symlinkSync(dataDir, join(root, 'link'))
    const refused: [string, string][] = [
      [join(root, 'full'), 'not an empty folder'],
      [join(root, 'file'), 'not an empty folder'],
      [join(root, 'nowhere', 'copy'), 'there is no folder'],
      [dataDir, 'is inside the data directory'],
      [join(dataDir, 'copy'), 'is inside the data directory'],
      [join(root, 'link', 'copy'), 'is inside the data directory'],
      [join(root, 'foreign'), 'was not created by a backup'],
    ]
    const before = readdirSync(root, { recursive: true })
    for (const [to, reason] of refused) expect(() => openBackupTarget(dataDir, to)).toThrow(reason)
    expect(readdirSync(root, { recursive: true })).toEqual(before)
    expect(readdirSync(dataDir)).toEqual(['weft.db'])
  })

  it('a backup target on a disk that is too small is refused', () => {
    const dataDir = makeSource()
    truncateSync(join(dataDir, 'weft.db'), TERABYTES)
    const to = join(makeTempDir(), 'copy')
    expect(() => openBackupTarget(dataDir, to)).toThrow(/has room for \d+ MB, and .* needs \d+ MB/)
    expect(existsSync(`${to}.partial`)).toBe(false)
  })

  it('a target takes one backup at a time, which replaces the remains of a killed one', () => {
    const dataDir = makeSource()
    const to = join(makeTempDir(), 'copy')
    const first = openBackupTarget(dataDir, to)
    expect(() => openBackupTarget(dataDir, to)).toThrow('is in use')
    writeFileSync(join(first.path, 'left'), '')
    // The end of a process gives up its lock, and removes nothing.
    const killed = readdirSync(first.path)
    first.discard()
    mkdirSync(`${to}.partial`)
    for (const file of killed) writeFileSync(join(`${to}.partial`, file), '')
    const second = openBackupTarget(dataDir, to)
    expect(existsSync(join(second.path, 'left'))).toBe(false)
    second.finish()
    expect(readdirSync(to).sort()).toEqual(['weft.db', 'weft.db-wal'])
  })

  it('a backup is readable by its owner alone, whatever modes the source and an empty folder have', () => {
    const dataDir = makeSource()
    chmodSync(dataDir, 0o755)
    const to = join(makeTempDir(), 'copy')
    mkdirSync(to, { mode: 0o755 })
    const target = openBackupTarget(dataDir, to)
    target.makeFolderOf('files/project/digest')
    writeFileSync(join(target.path, 'files/project/digest'), '', { mode: 0o644 })
    target.settle('files/project/digest')
    target.finish()
    const modeOf = (path: string) => (statSync(join(to, path)).mode & 0o777).toString(8)
    const paths = ['.', 'weft.db', 'weft.db-wal', 'files', 'files/project', 'files/project/digest']
    expect(paths.map(modeOf)).toEqual(['700', '600', '600', '700', '700', '600'])
  })
})
