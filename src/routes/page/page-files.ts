/**
 * The files of the page, compressed: JavaScript in the package, TypeScript with its types stripped in a checkout. Each is
 * prepared on first use: preparing all at once would delay other requests, and most servers never serve the page.
 */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire, stripTypeScriptTypes } from 'node:module'
import { dirname, extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { constants, gzipSync } from 'node:zlib'
import { ICON_NAMES } from '../../page/parts/icon-names.ts'
import type { View } from '../../page/shell/page-route.ts'

const ROOT = fileURLToPath(new URL('../../page/', import.meta.url))

/** Of modules: `.ts` in a checkout, `.js` in the package. */
const EXTENSION = extname(import.meta.url)
const TYPES: Readonly<Record<string, string>> = {
  [EXTENSION]: 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** The libraries that the page imports by name, and the file of each in its package. */
const LIBRARIES: Readonly<Record<string, string>> = {
  preact: 'preact/dist/preact.mjs',
  'preact/hooks': 'preact/hooks/dist/hooks.mjs',
  '@preact/signals-core': '@preact/signals-core/dist/signals-core.mjs',
  '@preact/signals': '@preact/signals/dist/signals.mjs',
  htm: 'htm/dist/htm.mjs',
  'htm/preact': 'htm/preact/index.mjs',
  uplot: 'uplot/dist/uPlot.esm.js',
}
const LIBRARY_STYLES = { 'lib/uplot.css': 'uplot/dist/uPlot.min.css' }
/** The outlines of all icons of the set; the page gets those that it names. */
const ICON_SET = '@iconify-json/lucide/icons.json'
/** Stylesheets in the order of the cascade: elements, then components, then views. */
const STYLE_ORDER = [/^[^/]+$/, /^parts\//, /^/]

/** A reader of the page has no use for them, and waits for the stylesheet. */
const STYLE_COMMENTS = /\/\*.*?\*\//gs

const ENTRY = `page-entry${EXTENSION}`
/** File that names the module of each view. */
const VIEWS = `shell/views${EXTENSION}`
const VIEW_IMPORTS = /^\s*(\w+): async \(\) => \(await import\('\.\.\/([\w./-]+)'\)/gm

/** Static imports of a module; views are imported dynamically when they are opened. */
const IMPORTS = /\b(?:from|import)\s*["']([@\w./-]+)["']/g
/** Imports of types, which are stripped. */
const TYPE_IMPORTS = /^import type [^'"]*["'][^'"]*["']/gm

export interface PageFile {
  readonly type: string
  readonly body: Buffer
  readonly gzipped: Buffer
}

export interface Page {
  /**
   * Returns the HTML document of an address, which refers to its files below `/assets/<version>/`.
   *
   * @param view - the view that is shown first
   */
  findDocument(view: View): PageFile
  /** Value of the Content-Security-Policy header. */
  readonly policy: string
  /** Changes with any byte of any file. */
  readonly version: string
  /** Returns the file of a path after the version; undefined when there is none. */
  findFile(path: string): PageFile | undefined
}

/**
 * Reads the page.
 *
 * @param refScheme - scheme of the refs that the page creates
 * @throws when a file or a library is missing
 */
export function readPage(refScheme: string): Page {
  const texts = new Map([...readOwnFiles(), ...readLibraries()])
  texts.set('icons.svg', readIcons())
  const hash = createHash('sha256')
  for (const [path, text] of texts) hash.update(path).update('\0').update(text).update('\0')
  const version = hash.digest('hex').slice(0, 16)
  const imports = Object.fromEntries(
    Object.keys(LIBRARIES).map((name) => [name, `/assets/${version}/lib/${name}.js`]),
  )
  const importMap = JSON.stringify({ imports })
  const html = readFileSync(join(ROOT, 'index.html'), 'utf8')
    .replaceAll('{{version}}', version)
    .replace('{{entry}}', ENTRY)
    .replace('{{refScheme}}', refScheme)
    .replace('{{imports}}', importMap)
  const ready = new Map<string, PageFile>()
  const documents = new Map<string, PageFile>()
  const modules = readModules(texts)
  const views = new Map(
    [...(texts.get(VIEWS) ?? '').matchAll(VIEW_IMPORTS)].map(([, view, path]) => [view, path]),
  )
  return {
    findDocument(view) {
      const entry = views.get(view)
      const name = entry ?? ENTRY
      const known = documents.get(name)
      if (known !== undefined) return known
      const preloads = listNeeded(modules, entry === undefined ? [ENTRY] : [ENTRY, entry]).map(
        (path) => `<link rel="modulepreload" href="/assets/${version}/${path}">`,
      )
      const text = html.replace('{{preloads}}', preloads.join('\n    '))
      const document = pack('text/html; charset=utf-8', text)
      documents.set(name, document)
      return document
    },
    policy: renderPolicy(importMap),
    version,
    findFile(path) {
      const text = texts.get(path)
      if (text === undefined) return ready.get(path)
      const file = pack(typeOf(path), path.endsWith('.ts') ? stripTypeScriptTypes(text) : text)
      ready.set(path, file)
      texts.delete(path)
      return file
    },
  }
}

/** Yields each file but the stylesheets, which are joined into one: a browser fetches it before it paints. */
function* readOwnFiles(): Generator<[string, string]> {
  const names = readdirSync(ROOT, { recursive: true, encoding: 'utf8' }).sort()
  const read = (name: string) => readFileSync(join(ROOT, name), 'utf8')
  const styles: [string, string][] = []
  for (const name of names) {
    if (!(extname(name) in TYPES)) continue
    const file: [string, string] = [name.replaceAll('\\', '/'), read(name)]
    if (extname(name) === '.css') styles.push(file)
    else yield file
  }
  const orderOf = (path: string) => STYLE_ORDER.findIndex((pattern) => pattern.test(path))
  styles.sort(([a], [b]) => orderOf(a) - orderOf(b))
  yield ['page.css', styles.map(([, text]) => text.replaceAll(STYLE_COMMENTS, '')).join('\n')]
}

interface IconSet {
  readonly icons: Readonly<Record<string, { readonly body: string }>>
  /** Former names. */
  readonly aliases: Readonly<Record<string, { readonly parent: string }>>
}

/** Returns one file with a symbol for each icon of the page. @throws Error for a name that the set does not have */
function readIcons(): string {
  const { icons, aliases } = JSON.parse(
    readFileSync(join(findPackages(), ICON_SET), 'utf8'),
  ) as IconSet
  const symbols = ICON_NAMES.map((name) => {
    const icon = icons[aliases[name]?.parent ?? name]
    if (icon === undefined) throw new Error(`the icon set has no icon ${name}`)
    return `<symbol id="${name}" viewBox="0 0 24 24">${icon.body}</symbol>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg">${symbols.join('')}</svg>`
}

function* readLibraries(): Generator<[string, string]> {
  const folder = findPackages()
  for (const [name, file] of Object.entries(LIBRARIES)) {
    yield [`lib/${name}.js`, readFileSync(join(folder, file), 'utf8')]
  }
  for (const [path, file] of Object.entries(LIBRARY_STYLES)) {
    yield [path, readFileSync(join(folder, file), 'utf8')]
  }
}

/** The folder that holds the installed packages. */
function findPackages(): string {
  const entry = createRequire(import.meta.url).resolve('preact/package.json')
  return dirname(dirname(entry))
}

/** The imports of each module. */
function readModules(texts: ReadonlyMap<string, string>): ReadonlyMap<string, readonly string[]> {
  const importsIn = (path: string, text: string) =>
    [...text.replaceAll(TYPE_IMPORTS, '').matchAll(IMPORTS)]
      .map(([, name = '']) =>
        name.startsWith('.') ? join(dirname(path), name).replaceAll('\\', '/') : `lib/${name}.js`,
      )
      .filter((found) => texts.has(found))
  return new Map([...texts].map(([path, text]) => [path, importsIn(path, text)]))
}

/** Returns all direct and indirect imports of modules: a browser would discover them level by level. */
function listNeeded(
  modules: ReadonlyMap<string, readonly string[]>,
  entries: readonly string[],
): string[] {
  const needed = new Set(entries)
  for (const path of needed) for (const found of modules.get(path) ?? []) needed.add(found)
  return [...needed].sort()
}

function typeOf(path: string): string {
  return TYPES[extname(path)] ?? 'text/javascript; charset=utf-8'
}

function pack(type: string, text: string): PageFile {
  const body = Buffer.from(text)
  return { type, body, gzipped: gzipSync(body, { level: constants.Z_BEST_COMPRESSION }) }
}

/** The import map is the only inline script, and is allowed by its hash. */
function renderPolicy(importMap: string): string {
  const hash = createHash('sha256').update(importMap).digest('base64')
  return [
    "default-src 'none'",
    `script-src 'self' 'sha256-${hash}'`,
    "style-src 'self'",
    // Pictures and sounds embedded in traces; none is fetched from elsewhere.
    "img-src 'self' data:",
    'media-src data:',
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}
