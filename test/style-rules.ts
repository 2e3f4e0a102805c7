/** The rules of the house as pure checks over a tree of texts, so that each can be tried on a bad sample. */
import { dirname, join } from 'node:path/posix'

/** Path from the project's root to text. */
export type Tree = Readonly<Record<string, string>>

/** What the stores of each database may import. */
const STORE_IMPORTS: readonly string[] = [
  'src/threads/',
  'src/schemas/',
  'src/domain/',
  'src/store/api/',
  'src/store/base/',
]

/** What each layer may import, besides errors.ts and its own folder. */
const LAYERS: Readonly<Record<string, readonly string[]>> = {
  'src/errors.ts': [],
  'src/schemas/': [],
  'src/domain/': ['src/schemas/'],
  'src/store/api/': ['src/schemas/', 'src/domain/'],
  'src/store/base/': ['src/threads/', 'src/schemas/', 'src/domain/', 'src/store/api/'],
  'src/store/sqlite/': STORE_IMPORTS,
  'src/store/postgres/': STORE_IMPORTS,
  'src/store/clickhouse/': STORE_IMPORTS,
  'src/store/copy/': ['src/schemas/', 'src/domain/', 'src/store/api/'],
  'src/threads/': [],
  'src/otel/': ['src/threads/', 'src/schemas/', 'src/domain/', 'src/store/api/'],
  'src/inference/': [
    'src/threads/',
    'src/outbound/',
    'src/schemas/',
    'src/domain/',
    'src/store/api/',
  ],
  'src/training/': [
    'src/threads/',
    'src/schemas/',
    'src/domain/',
    'src/store/api/',
    'src/inference/tiny/',
  ],
  'src/outbound/': [],
  'src/alerts/': ['src/outbound/', 'src/schemas/', 'src/domain/', 'src/store/api/'],
  'src/evaluations/': ['src/inference/', 'src/schemas/', 'src/domain/', 'src/store/api/'],
  'src/evaluators/': ['src/schemas/', 'src/domain/', 'src/store/api/', 'src/inference/scorers/'],
  'src/retention/': ['src/schemas/', 'src/domain/', 'src/store/api/'],
  'src/redaction/': ['src/threads/', 'src/schemas/', 'src/domain/', 'src/store/api/'],
  // Other layers report to it through interfaces of their own, whose types it imports.
  'src/metrics/': ['src/http/', 'src/schemas/', 'src/domain/', 'src/store/api/', 'src/inference/'],
  'src/http/': ['src/schemas/', 'src/domain/'],
  'src/page/': ['src/schemas/'],
  'src/routes/': [
    'src/threads/',
    'src/http/',
    'src/schemas/',
    'src/domain/',
    'src/store/api/',
    'src/inference/',
    'src/metrics/',
    'src/evaluators/',
    'src/training/jobs/',
    'src/otel/',
    'src/alerts/',
    'src/evaluations/',
    'src/outbound/',
    // Read as files, for browsers.
    'src/page/',
  ],
  'src/sign-in-config.ts': ['src/schemas/'],
  'src/config.ts': ['src/sign-in-config.ts'],
  'src/deps.ts': [
    'src/config.ts',
    'src/store/',
    'src/inference/',
    'src/metrics/',
    'src/otel/',
    'src/outbound/',
    'src/redaction/',
    'src/http/',
    'src/domain/',
    'src/schemas/',
  ],
  'src/route-groups.ts': [
    'src/config.ts',
    'src/deps.ts',
    'src/domain/',
    'src/http/',
    'src/routes/',
  ],
  'src/app.ts': [
    'src/config.ts',
    'src/deps.ts',
    'src/route-groups.ts',
    'src/domain/',
    'src/http/',
    'src/otel/',
    'src/routes/',
    'src/schemas/',
    'package.json',
  ],
  'src/server.ts': [
    'src/alerts/',
    'src/app.ts',
    'src/config.ts',
    'src/deps.ts',
    'src/domain/',
    'src/http/',
    'src/threads/',
    'src/retention/',
    'src/schemas/',
    'src/training/',
    'package.json',
  ],
  'src/command-line.ts': [],
  'src/keys.ts': [
    'src/command-line.ts',
    'src/config.ts',
    'src/domain/',
    'src/schemas/',
    'src/store/',
  ],
  'src/backup.ts': ['src/command-line.ts', 'src/config.ts', 'src/store/'],
  'src/migrate.ts': ['src/command-line.ts', 'src/config.ts', 'src/store/'],
  'src/store-copy.ts': ['src/command-line.ts', 'src/config.ts', 'src/deps.ts', 'src/store/'],
  'src/project-files/': ['src/schemas/', 'src/domain/', 'src/store/api/'],
  'src/export.ts': ['src/command-line.ts', 'src/config.ts', 'src/deps.ts', 'src/project-files/'],
  'src/imports/': ['src/outbound/', 'src/schemas/', 'src/domain/', 'src/store/api/', 'src/otel/'],
  'src/import.ts': [
    'src/command-line.ts',
    'src/config.ts',
    'src/deps.ts',
    'src/imports/',
    'src/project-files/',
    'src/schemas/',
  ],
  'src/doctor.ts': ['src/command-line.ts', 'src/config.ts', 'src/inference/', 'src/store/'],
  // A client of the server, which it starts as a process.
  'src/demo/': ['src/command-line.ts', 'src/server.ts'],
}

/** Entries that nothing imports. */
const ENTRIES =
  /^src\/(?:server|keys|backup|migrate|store-copy|doctor|export|import|demo\/demo)\.ts$|-(?:entry|worker)\.ts$/

/** Everyday words that no documentation of Node, HTTP, SQLite or OpenTelemetry uses for what they name here. */
const PRIVATE_WORDS = new Set(
  [
    'answer answers answered tell tells told look looks looking place places placed piece pieces kept keeper',
    'beside spoil spoils spoiled bell spell spells spelled spelling spellings question questions figure figures',
    'tally tallies meter meters elsewhere ask asks asked asker asking shelf riddle stretch mend mended mending',
    'say says said words heard hears lent borrowed',
  ].flatMap((line) => line.split(' ')),
)

/** Names that have such a word from the interface: `bad_words`. */
const TERMS: readonly string[] = ['bad-words', 'tokenizeBadWords']

/** The private words in a name, in camel, kebab or upper case. */
function privateWordsOf(name: string): string[] {
  if (TERMS.includes(name)) return []
  const words = name.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g) ?? []
  return words.filter((word) => PRIVATE_WORDS.has(word.toLowerCase()))
}

/** Words of SQL that stand only in *.sql.ts and migrations/. */
const SQL =
  /\b(?:SELECT\s[\s\S]*?\sFROM|INSERT\s+INTO|UPDATE\s+\w+\s+SET|DELETE\s+FROM|CREATE\s+(?:TABLE|INDEX))\b/

function layerOf(path: string): string | undefined {
  return Object.keys(LAYERS)
    .filter((layer) => path.startsWith(layer))
    .sort((left, right) => right.length - left.length)[0]
}

/**
 * The project's own files that a file imports, as paths from the root.
 *
 * @param withThreads - whether the entries of threads that it starts count
 */
function importsOf(path: string, text: string, withThreads = true): string[] {
  const imports = /(?:from|import|import\(|(new URL\())\s*'(\.{1,2}\/[^']+)'/g
  return [...text.matchAll(imports)]
    .filter(([, startsThread]) => withThreads || startsThread === undefined)
    .map(([, , target]) => join(dirname(path), target ?? ''))
}

function isAllowedImport(path: string, target: string): boolean {
  const layer = layerOf(path)
  if (layer === undefined) return false
  if (target === 'src/errors.ts' || (layer.endsWith('/') && target.startsWith(layer))) return true
  if (layer === 'src/routes/' && /^src\/inference\/(?:tiny|openai)\//.test(target)) return false
  return (LAYERS[layer] ?? []).some((allowed) => target.startsWith(allowed))
}

function sources(tree: Tree): [string, string][] {
  return Object.entries(tree).filter(([path]) => path.startsWith('src/') && path.endsWith('.ts'))
}

/** What a text exports, by name. */
function exportsOf(text: string): string[] {
  const declared = /^export (?:async )?(?:function\*?|const|class|interface|type) (\w+)/gm
  return [...text.matchAll(declared)].map(([, name]) => name ?? '')
}

/** What a file imports by name, each as `path#name`; `path#*` where it imports all when it runs. */
function namesImported(path: string, text: string): string[] {
  const listed = /(?:import|export) (?:type )?\{([^}]*)\} from '(\.{1,2}\/[^']+)'/g
  const lists = [...text.matchAll(listed)].flatMap(([, names = '', target = '']) =>
    names.split(',').map((name) => {
      const [first = ''] = name
        .trim()
        .replace(/^type /, '')
        .split(' as ')
      return `${join(dirname(path), target)}#${first}`
    }),
  )
  const whole = /import (?:type )?\* as (\w+) from '(\.{1,2}\/[^']+)'/g
  const spaces = [...text.matchAll(whole)].flatMap(([, space = '', target = '']) =>
    [...text.matchAll(new RegExp(`\\b${space}\\.(\\w+)`, 'g'))].map(
      ([, name]) => `${join(dirname(path), target)}#${name}`,
    ),
  )
  const later = [...text.matchAll(/\bimport\('(\.{1,2}\/[^']+)'\)/g)].map(
    ([, target = '']) => `${join(dirname(path), target)}#*`,
  )
  return [...lists, ...spaces, ...later]
}

function lineCount(text: string): number {
  return text.trimEnd().split('\n').length
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|(^|\s)\/\/.*$/gm, '')
}

/** All files that a file loads at run time, directly or indirectly; types are not loaded. */
function loadedBy(entry: string, tree: Tree): Set<string> {
  const loaded = new Set([entry])
  for (const path of loaded) {
    const values = (tree[path] ?? '').replaceAll(/^import type [^']*'[^']*'/gm, '')
    for (const target of importsOf(path, values, false)) loaded.add(target)
  }
  return loaded
}

function longerThan(lines: number, paths: RegExp, tree: Tree): string[] {
  return Object.entries(tree)
    .filter(([path, text]) => paths.test(path) && lineCount(text) > lines)
    .map(([path, text]) => `${path} has ${lineCount(text)} lines`)
}

/** Every rule by its name: the violations that it finds in a tree. */
export const RULES: Readonly<Record<string, (tree: Tree) => string[]>> = {
  'imports point one way': (tree) =>
    sources(tree).flatMap(([path, text]) =>
      importsOf(path, text)
        .filter((target) => !target.includes('/migrations/') && !/^migrations\//.test(target))
        .filter((target) => !target.endsWith('.gguf') && !isAllowedImport(path, target))
        .map((target) => `${path} imports ${target}`),
    ),
  'imports run in no circle, types included': (tree) => {
    const left = new Map(sources(tree).map(([path, text]) => [path, importsOf(path, text, false)]))
    // A file that imports none of the remaining ones is in no cycle, nor is one that none of them imports.
    for (let size = -1; size !== left.size; ) {
      size = left.size
      const imported = new Set([...left.values()].flat())
      for (const [path, targets] of left) {
        if (!imported.has(path) || !targets.some((target) => left.has(target))) left.delete(path)
      }
    }
    return [...left].map(
      ([path, targets]) => `${path} imports ${targets.filter((target) => left.has(target))}`,
    )
  },
  'the threads of the store load no Zod: it is most of their memory': (tree) =>
    Object.keys(tree)
      .filter((path) => /^src\/store\/.*-entry\.ts$/.test(path))
      .flatMap((entry) =>
        [...loadedBy(entry, tree)]
          .filter((path) => /^import (?!type )[^']*'zod'/m.test(tree[path] ?? ''))
          .map((path) => `${entry} loads it by ${path}`),
      ),
  'every file is imported by another': (tree) => {
    const used = new Set(sources(tree).flatMap(([path, text]) => importsOf(path, text)))
    return sources(tree)
      .map(([path]) => path)
      .filter((path) => !used.has(path) && !ENTRIES.test(path))
  },
  'what is exported is imported by another file': (tree) => {
    const used = new Set(Object.entries(tree).flatMap(([path, text]) => namesImported(path, text)))
    const others = Object.entries(tree).filter(
      ([path]) => path.endsWith('.ts') && !ENTRIES.test(path),
    )
    return others.flatMap(([path, text]) =>
      exportsOf(text)
        .filter((name) => !used.has(`${path}#${name}`) && !used.has(`${path}#*`))
        .map((name) => `${path} exports ${name}`),
    )
  },
  'files have at most 300 lines': (tree) => longerThan(300, /^(?:src|bench|tools)\/.*\.ts$/, tree),
  'files of tests have at most 400 lines': (tree) => longerThan(400, /^test\/.*\.ts$/, tree),
  'files open with what they are': (tree) =>
    sources(tree)
      .filter(([, text]) => !text.startsWith('/**'))
      .map(([path]) => path),
  'SQL stands in *.sql.ts and migrations/': (tree) =>
    sources(tree)
      .filter(([path]) => !path.endsWith('.sql.ts'))
      .filter(([, text]) => SQL.test(withoutComments(text)))
      .map(([path]) => path),
  'modules that are named by a URL have the extension of this one, for the package': (tree) =>
    sources(tree)
      .filter(([, text]) => /new URL\(\s*['"`][^'"`]*\.ts['"`]/.test(text))
      .map(([path]) => path),
  'the environment is read in config.ts': (tree) =>
    sources(tree)
      .filter(
        ([path, text]) => path !== 'src/config.ts' && withoutComments(text).includes('process.env'),
      )
      .map(([path]) => path),
  'schemas tell faults without superRefine, which keeps requests in memory': (tree) =>
    sources(tree)
      .filter(([, text]) => withoutComments(text).includes('superRefine'))
      .map(([path]) => path),
  'no object literal is spread into another': (tree) =>
    Object.entries(tree)
      .filter(([path]) => path.endsWith('.ts') && path !== 'test/style.tidy.test.ts')
      .filter(([, text]) => /\.\.\.\{/.test(withoutComments(text)))
      .map(([path]) => path),
  'the domain knows no clock and no chance': (tree) =>
    sources(tree)
      .filter(([path]) => path.startsWith('src/domain/'))
      .filter(([, text]) =>
        /Date\.now|new Date\(\)|Math\.random|randomBytes|node:fs|Temporal\.Now/.test(text),
      )
      .map(([path]) => path),
  'error statuses stand in errors.ts': (tree) =>
    sources(tree)
      .filter(([, text]) => /\.(?:code|status)\((?:4|5)\d\d\)|statusCode = (?:4|5)\d\d/.test(text))
      .map(([path]) => path),
  'the drivers stay in their stores': (tree) =>
    sources(tree)
      .filter(
        ([path, text]) =>
          (text.includes("'better-sqlite3'") && !path.startsWith('src/store/sqlite/')) ||
          (text.includes("'pg'") && !path.startsWith('src/store/postgres/')) ||
          (text.includes("'@clickhouse/client'") && !path.startsWith('src/store/clickhouse/')),
      )
      .map(([path]) => path),
  'a choice stands beside the rule it fills': (tree) =>
    sources(tree).flatMap(([path, text]) =>
      [...text.matchAll(/\/\*\*(?:(?!\*\/)[\s\S])*?\*\//g)]
        .map(([comment]) => comment)
        .filter((comment) => comment.includes('Choice:') && !comment.includes('Spec:'))
        .map((comment) => `${path}: ${comment.slice(0, 80)}`),
    ),
  'migrations are numbered without gaps, each number once': (tree) => {
    const files = Object.keys(tree).filter((path) => path.startsWith('migrations/'))
    const folders = Map.groupBy(files.sort(), (path) => dirname(path))
    return [...folders.values()].flatMap((paths) =>
      paths.filter((path, at) => Number(/(\d{4})-[^/]*$/.exec(path)?.[1]) !== at + 1).slice(0, 1),
    )
  },
  'nothing is left undone': (tree) =>
    Object.entries(tree)
      .filter(
        ([path]) => /^(?:src|test|bench|tools)\//.test(path) && path !== 'test/style-rules.ts',
      )
      .filter(([path]) => path !== 'test/style.tidy.test.ts')
      .filter(([, text]) => /\b(?:TODO|FIXME|XXX|HACK)\b/.test(text))
      .map(([path]) => path),
  'exported names and names of files use terms that one can look up': (tree) =>
    sources(tree).flatMap(([path, text]) =>
      [...path.slice('src/'.length, -'.ts'.length).split(/[/.]/), ...exportsOf(text)].flatMap(
        (name) => privateWordsOf(name).map((word) => `${path}: ${name} says "${word}"`),
      ),
    ),
  'no file has an empty name': (tree) =>
    sources(tree)
      .map(([path]) => path)
      .filter((path) =>
        /(?:^|\/)(?:utils?|helpers?|common|misc|types|manager|service|data|index)(?:\.ts|\/)/.test(
          path,
        ),
      ),
}
