import { globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const PAGES = ['ARCHITECTURE.md', 'docs/storage.md', 'docs/relay.md', 'docs/reliability.md']
/** What a page may name a path from, and leave out at its end. */
const ROOTS = [
  '',
  'test/',
  ...['', 'http/', 'store/sqlite/', 'inference/', 'training/'].map((to) => `src/${to}`),
]
const ENDS = ['', '.ts', '*.ts']

/** Names of files and folders of the project in a page: with a slash inside, in small letters. */
function pathsOf(page: string): string[] {
  const names = [...page.matchAll(/`([a-z][\w-]*(?:\/[\w.*-]*)+)`/g)].map(([, name]) => name ?? '')
  return names.filter((name) => !/^(?:calls|trace|call)\/(?:stats|usage|read)$/.test(name))
}

/** Files with their folder that comments name. */
function filesOf(text: string): string[] {
  const comments = text.match(/\/\*\*[\s\S]*?\*\/|^\s*\/\/.*$/gm) ?? []
  return comments.flatMap(
    (comment) => comment.match(/(?<![\w./-])[a-z][\w-]*\/[\w/-]+\.ts\b/g) ?? [],
  )
}

function isThere(name: string): boolean {
  const path = name.replace(/\/$/, '')
  return ROOTS.some((root) => ENDS.some((end) => globSync(`${root}${path}${end}`).length > 0))
}

describe('paths in the pages for engineers', () => {
  it.each(PAGES)('exist: %s', (page) => {
    const paths = pathsOf(readFileSync(page, 'utf8'))
    expect(paths.length).toBeGreaterThan(5)
    expect(paths.filter((path) => !isThere(path))).toEqual([])
  })

  it('exist, in the comments of src', () => {
    const lost = globSync('src/**/*.ts').flatMap((path) =>
      filesOf(readFileSync(path, 'utf8'))
        .filter((name) => globSync([`src/${name}`, `src/**/${name}`]).length === 0)
        .map((name) => `${path}: ${name}`),
    )
    expect(lost).toEqual([])
    expect(filesOf("/** See domain/rules.ts. */ import x from './domain/y.ts'")).toEqual([
      'domain/rules.ts',
    ])
  })

  it('would be missed', () => {
    expect(pathsOf('see `domain/nowhere` and `calls/stats`')).toEqual(['domain/nowhere'])
    expect(isThere('domain/nowhere')).toBe(false)
  })
})
