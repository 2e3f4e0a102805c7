/**
 * Constrains answers to grammars, with the WebAssembly build of the engine that vLLM uses. A compilation can run
 * forever and a failed one breaks the engine: use it only in a process that can be killed.
 */
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { pathToFileURL } from 'node:url'
import type * as XGrammar from '@mlc-ai/web-xgrammar'
import { ApiError, refuse } from '../../../errors.ts'
import type { Vocabulary } from '../model/model.ts'
import type { TokenMask } from '../sampling/vocabulary-limits.ts'
import { renderCalls } from './call-grammar.ts'
import { type Constraint, type ConstraintForm, type JsonForm, jsonForm } from './constraint-plan.ts'
import { excludeNames } from './further-names.ts'
import { hasWideBrackets, joinsRepeats, separateAlternatives } from './grammar-separation.ts'
import { renderPatterns } from './patterns/pattern-grammar.ts'
import {
  fillTag,
  listTagContents,
  type PartFormat,
  toRegexFormat,
  toTag,
} from './structural-tag.ts'
import { createUtf8Filter, type Utf8Answer } from './utf8-filter.ts'

/** Compiles grammars for one vocabulary. */
export interface GrammarEngine {
  /** @throws ApiError invalid_value naming the constraint's field when it is no grammar */
  compile(constraint: Constraint): Promise<Grammar>
}

/** A compiled grammar. The caller ends it and everything that follows it. */
export interface Grammar {
  follow(): Promise<GrammarFollower>
  end(): void
}

/** The state of one answer in a grammar. */
export interface GrammarFollower {
  /** The tokens that may come next; null while the engine still computes them. */
  mask(): TokenMask | null
  accept(id: number): void
  /** Whether the answer has ended: nothing may follow. */
  isOver(): boolean
  end(): void
}

type Library = typeof XGrammar

/** White space between two tokens of JSON. Limit: more of it would only fill the answer. */
const SPACE_MAX = '[ \\n\\t]{0,8}'
/** How the engine writes white space into the grammar of a schema. */
const SPACE_WRITTEN = '[ \\n\\t]*'
/** What it writes between the name of a property and its value. */
const COLON_WRITTEN = ` ${SPACE_WRITTEN} ":" ${SPACE_WRITTEN} `
/** The separators between JSON tokens where white space is fixed. */
const SEPARATORS: Readonly<Record<string, [string, string] | undefined>> = {
  none: [',', ':'],
  line: [', ', ': '],
}
/** The engine's sign for JSON without line ends; it counts only where white space is fixed. */
const ONE_LINE = -1
/** How the engine writes a character of a text of bounded length, and one that JSON allows there. */
const TEXT_WRITTEN = '[^"\\\\\\r\\n]'
const TEXT_CHARACTER = '[^\\0-\\x1f"\\\\]'
const REASON_CHARS_MAX = 200

/** Loads the engine for a vocabulary; takes a tenth of a second. */
export async function openGrammarEngine(vocabulary: Vocabulary): Promise<GrammarEngine> {
  const complaints: string[] = []
  const library = await loadLibrary()
  const { tokens, controlIds, endIds } = vocabulary
  // Why: control tokens have no text, so that no grammar can ask for one.
  const texts = tokens.map((token, id) => (controlIds.includes(id) ? '' : token))
  const compiler = await withComplaints(complaints, async () => {
    const info = await library.TokenizerInfo.createTokenizerInfo(
      texts,
      'byte_level',
      false,
      texts.length,
      [...endIds],
    )
    return await library.GrammarCompiler.createGrammarCompiler(info, false)
  })
  const beginAnswer = createUtf8Filter(texts)
  return {
    async compile({ form, param }) {
      complaints.length = 0
      try {
        const compiled = await compileForm(library, compiler, form, param)
        return {
          follow: () => follow(library, compiled, beginAnswer()),
          end: () => compiled.dispose(),
        }
      } catch (cause) {
        if (cause instanceof ApiError) throw cause
        const found = complaints.map((line) => line.match(/\.cc:\d+: ([^\n]*)/)?.[1])
        const reason = found.find((line) => line !== undefined) ?? 'it is not valid or too large'
        throw new ApiError('invalid_value', {
          message: `${param} cannot be used: ${reason.slice(0, REASON_CHARS_MAX)}`,
          param,
          cause,
        })
      }
    },
  }
}

async function compileForm(
  library: Library,
  compiler: XGrammar.GrammarCompiler,
  form: ConstraintForm,
  param: string,
): Promise<XGrammar.CompiledGrammar> {
  if (form.kind === 'regex') {
    return await compiler.compileStructuralTag(toTag(await toFormat(library, form.pattern)))
  }
  if (form.kind === 'tag') {
    return await compiler.compileStructuralTag(await renderTag(library, form.source, param))
  }
  return await compiler.compileGrammar(await renderForm(library, form, param))
}

/** A form as a grammar whose first rule is `root`. */
async function renderForm(
  library: Library,
  form: Exclude<ConstraintForm, { kind: 'tag' }>,
  param: string,
): Promise<string> {
  if (form.kind === 'grammar') return await renderGrammar(library, form.source, param)
  if (form.kind === 'texts') return renderTexts(form.texts)
  if (form.kind === 'regex') {
    return print(await library.Grammar.fromStructuralTag(toTag(toRegexFormat(form.pattern))))
  }
  if (form.kind === 'json') return await renderSchema(library, form)
  const tools = await Promise.all(
    form.tools.map(async (tool) => ({
      name: tool.name,
      source: await renderSchema(library, tool.form),
    })),
  )
  const plain = form.otherwise
  const otherwise =
    plain === null || plain.kind === 'tag' ? null : await renderForm(library, plain, param)
  const source = renderCalls({ ...form, tools, otherwise })
  // Why: names of tools may begin alike, and the engine would join their calls.
  return separateAlternatives(print(await library.Grammar.fromEBNF(source)))
}

/** A client's grammar, written so that the engine keeps to it. */
async function renderGrammar(library: Library, source: string, param: string): Promise<string> {
  const printed = print(await library.Grammar.fromEBNF(source))
  if (hasWideBrackets(printed)) {
    const rule = 'has characters beyond ASCII in brackets, which cannot be enforced.'
    refuse('invalid_value', param, `${param} ${rule}`)
  }
  return separateAlternatives(printed)
}

/** A grammar of the texts and nothing else. */
function renderTexts(texts: readonly string[]): string {
  const distinct = [...new Set(texts.map((text) => text.toWellFormed()))]
  return renderPatterns(
    'root',
    distinct.map((text) => Array.from(text)),
  )
}

/** A pattern so that the engine keeps to it; as a grammar only where it must be, since that takes longer. */
async function toFormat(library: Library, pattern: string): Promise<PartFormat> {
  const format = toRegexFormat(pattern)
  const printed = print(await library.Grammar.fromStructuralTag(toTag(format)))
  if (!joinsRepeats(printed)) return format
  return { type: 'grammar', grammar: separateAlternatives(printed) }
}

/** Spec: §4.3 structural_tag. Choice: its schemas and grammars are written anew, as those of an answer. */
async function renderTag(library: Library, source: string, param: string): Promise<string> {
  const tag: unknown = JSON.parse(source)
  const formats: PartFormat[] = []
  for (const content of listTagContents(tag)) {
    if (content.kind === 'regex') {
      formats.push(await toFormat(library, content.pattern))
      continue
    }
    const grammar =
      content.kind === 'schema'
        ? await renderSchema(library, jsonForm(content.schema, 'any'))
        : await renderGrammar(library, content.source, param)
    formats.push({ type: 'grammar', grammar })
  }
  return JSON.stringify(fillTag(tag, formats))
}

/** The grammar of a schema with the requested white space. */
async function renderSchema(library: Library, form: JsonForm): Promise<string> {
  const { schema, marks, taken, space } = form
  const separators = typeof space === 'string' ? SEPARATORS[space] : undefined
  let source = await library.Testings._jsonSchemaToEBNF(
    schema,
    separators === undefined,
    ONE_LINE,
    separators,
    true,
  )
  const colon = separators === undefined ? COLON_WRITTEN : ` "${separators[1]}" `
  source = excludeNames(source.replaceAll(TEXT_WRITTEN, TEXT_CHARACTER), taken, colon)
  for (const [place, [mark, patterns]] of [...marks].entries()) {
    const rule = `marked_${place}`
    source = `${source.replaceAll(`"\\"${mark}\\""`, rule)}\n${renderPatterns(rule, patterns)}\n`
  }
  if (typeof space === 'string') {
    if (separators === undefined) source = source.replaceAll(SPACE_WRITTEN, SPACE_MAX)
    // Why: a further name may begin as a named one, and the engine would join the two.
    return taken.size === 0
      ? source
      : separateAlternatives(print(await library.Grammar.fromEBNF(source)))
  }
  const grammar = await library.Grammar.fromStructuralTag(toTag(toRegexFormat(space.pattern)))
  const rules = print(grammar).replaceAll(/\broot(?=\b|_)/gu, 'json_space')
  const spaced = `${source.replaceAll(SPACE_WRITTEN, 'json_space')}\n${rules}`
  // Why: sequences that begin with the same rule for white space would be joined too.
  return separateAlternatives(print(await library.Grammar.fromEBNF(spaced)))
}

/** The text of a grammar, which ends. */
function print(grammar: XGrammar.Grammar): string {
  const printed = grammar.toString()
  grammar.dispose()
  return printed
}

async function follow(
  library: Library,
  compiled: XGrammar.CompiledGrammar,
  answer: Utf8Answer,
): Promise<GrammarFollower> {
  const matcher = await library.GrammarMatcher.createGrammarMatcher(compiled)
  let mask: TokenMask | null = null
  let failure: unknown = null
  const look = (): void => {
    mask = null
    matcher.getNextTokenBitmask().then(
      (found) => {
        mask = answer.filter(found)
      },
      (error: unknown) => {
        failure = error
      },
    )
  }
  look()
  return {
    mask() {
      if (failure !== null) throw failure
      return mask
    },
    accept(id) {
      if (!matcher.acceptToken(id)) throw new Error(`the grammar does not take token ${id}`)
      answer.accept(id)
      if (!matcher.isTerminated()) look()
    },
    isOver: () => matcher.isTerminated(),
    end: () => matcher.dispose(),
  }
}

/**
 * The package says that it is a module and is not: it wants the names of an older module system, and
 * leaves its own in the global scope.
 */
async function loadLibrary(): Promise<Library> {
  const path = createRequire(import.meta.url).resolve('@mlc-ai/web-xgrammar')
  const scope = globalThis as unknown as Record<string, unknown>
  Object.assign(scope, {
    require: createRequire(path),
    __filename: path,
    __dirname: dirname(path),
  })
  await import(pathToFileURL(path).href)
  return scope.xgrammar as Library
}

/** Runs what starts the engine, which from then on complains to the list and not to the log. */
async function withComplaints<T>(complaints: string[], work: () => Promise<T>): Promise<T> {
  const { error } = console
  console.error = (...words: unknown[]) => {
    complaints.push(words.join(' '))
  }
  try {
    return await work()
  } finally {
    console.error = error
  }
}
