import { globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { RULES, type Tree } from './style-rules.ts'

const TREE: Tree = Object.fromEntries(
  globSync([
    '{src,test,bench,examples,tools}/**/*.{ts,mjs}',
    'vitest.config.ts',
    'migrations/*/*.sql',
  ]).map((path) => [path, readFileSync(path, 'utf8')]),
)

/** For each rule a tree that breaks it, and what the rule must say. */
const BAD_SAMPLES: Record<string, { tree: Tree; found: RegExp }> = {
  'imports point one way': {
    tree: { 'src/domain/a.ts': "import { b } from '../routes/b.ts'" },
    found: /src\/domain\/a\.ts imports src\/routes\/b\.ts/,
  },
  'imports run in no circle, types included': {
    tree: {
      'src/a.ts': "import type { B } from './b.ts'",
      'src/b.ts': "import { c } from './b.ts'",
      'src/c.ts': "import { b } from './b.ts'",
    },
    found: /^src\/b\.ts imports src\/b\.ts$/,
  },
  'the threads of the store load no Zod: it is most of their memory': {
    tree: {
      'src/store/a-entry.ts': "import { b } from './b.ts'\nimport type { D } from './d.ts'",
      'src/store/b.ts': "import { c } from './c.ts'",
      'src/store/c.ts': "import { z } from 'zod'",
      'src/store/d.ts': "import { z } from 'zod'",
    },
    found: /^src\/store\/a-entry\.ts loads it by src\/store\/c\.ts$/,
  },
  'every file is imported by another': {
    tree: { 'src/server.ts': '', 'src/domain/dead.ts': '' },
    found: /^src\/domain\/dead\.ts$/,
  },
  'what is exported is imported by another file': {
    tree: {
      'src/a.ts':
        'export const a = 1\nexport function b() {}\nexport interface C {}\nexport type D = 1',
      'src/b.ts': "import { type C, a as other } from './a.ts'\nimport * as A from './a.ts'\nA.b()",
    },
    found: /^src\/a\.ts exports D$/,
  },
  'files have at most 300 lines': {
    tree: { 'src/a.ts': 'x\n'.repeat(301) },
    found: /has 301 lines/,
  },
  'files of tests have at most 400 lines': {
    tree: { 'test/a.ts': 'x\n'.repeat(401), 'test/b.ts': 'x\n'.repeat(400) },
    found: /^test\/a\.ts has 401 lines$/,
  },
  'files open with what they are': { tree: { 'src/a.ts': 'export {}' }, found: /src\/a\.ts/ },
  'SQL stands in *.sql.ts and migrations/': {
    tree: {
      'src/routes/a.ts': 'db.exec(`SELECT a\nFROM b`)',
      'src/store/sqlite/a.sql.ts': 'SELECT a FROM b',
    },
    found: /src\/routes\/a\.ts/,
  },
  'modules that are named by a URL have the extension of this one, for the package': {
    tree: {
      'src/a.ts': "new URL('./b-entry.ts', import.meta.url)",
    },
    found: /^src\/a\.ts$/,
  },
  'the environment is read in config.ts': {
    tree: { 'src/app.ts': 'process.env.PORT', 'src/config.ts': 'process.env' },
    found: /src\/app\.ts/,
  },
  'schemas tell faults without superRefine, which keeps requests in memory': {
    tree: { 'src/schemas/a.ts': 'z.array(a).superRefine(check)' },
    found: /src\/schemas\/a\.ts/,
  },
  'no object literal is spread into another': {
    tree: { 'src/a.ts': 'const a = { ...{ b, c } }' },
    found: /src\/a\.ts/,
  },
  'the domain knows no clock and no chance': {
    tree: { 'src/domain/a.ts': 'Date.now()' },
    found: /src\/domain\/a\.ts/,
  },
  'error statuses stand in errors.ts': {
    tree: { 'src/a.ts': 'reply.code(404)' },
    found: /src\/a\.ts/,
  },
  'the drivers stay in their stores': {
    tree: { 'src/routes/a.ts': "import Database from 'better-sqlite3'" },
    found: /src\/routes\/a\.ts/,
  },
  'a choice stands beside the rule it fills': {
    tree: { 'src/a.ts': '/** Choice: mine. */' },
    found: /src\/a\.ts/,
  },
  'migrations are numbered without gaps, each number once': {
    tree: {
      'migrations/a/0001-b.sql': '',
      'migrations/a/0002-c.sql': '',
      'migrations/a/0002-d.sql': '',
    },
    found: /0002-d/,
  },
  'nothing is left undone': { tree: { 'src/a.ts': '// TODO later' }, found: /src\/a\.ts/ },
  'exported names and names of files use terms that one can look up': {
    tree: {
      'src/a.ts': 'export function openToldBy() {}\nexport const BAD_PLACEMENT = 1',
      'src/bad-words.ts': 'const answer = 1',
    },
    found: /^src\/a\.ts: openToldBy says "Told"$/,
  },
  'no file has an empty name': { tree: { 'src/domain/utils.ts': '' }, found: /utils/ },
}

describe('the house', () => {
  it.each(Object.keys(RULES))('%s', (name) => {
    expect(RULES[name]?.(TREE)).toEqual([])
  })

  it.each(Object.keys(RULES))('would see it broken: %s', (name) => {
    const sample = BAD_SAMPLES[name]
    const found = RULES[name]?.(sample?.tree ?? {})
    expect(found).toHaveLength(1)
    expect(found?.[0]).toMatch(sample?.found ?? /never/)
  })
})
