/**
 * Constrains answers to grammars, with the WebAssembly build of the engine that vLLM uses. A compilation can run
 * forever and a failed one breaks the engine: use it only in a process that can be killed.
 */
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { pathToFileURL } from 'node:url'
import type * as XGrammar from '@mlc-ai/web-xgrammar'
import { ApiError } from '../../../errors.ts'
import type { Vocabulary } from '../model/model.ts'
import type { TokenMask } from '../sampling/vocabulary-limits.ts'
import type { Constraint, ConstraintForm } from './constraint-plan.ts'
import { type Library, renderForm, renderTag, toFormat } from './grammar-text.ts'
import { toTag } from './structural-tag.ts'
import { createUtf8Filters, type Utf8Filter } from './utf8-filter.ts'

/** Compiles grammars for one vocabulary. */
export interface GrammarEngine {
  /**
   * @param turn - whose it is, where several wait
   * @throws ApiError invalid_value naming the constraint's field when it is no grammar
   */
  compile(constraint: Constraint, turn?: Turn): Promise<Grammar>
}

/** The place of a request among others. */
export interface Turn {
  /** Id of the key. */
  readonly owner: string
  /** Lower is earlier. */
  readonly priority: number
  /** Aborted when the request ends. */
  readonly signal: AbortSignal
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
  /** Resolves when the mask is there, or cannot be. */
  ready(): Promise<void>
  accept(id: number): void
  /** Whether the answer has ended: nothing may follow. */
  isOver(): boolean
  end(): void
}

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
  const createFilter = createUtf8Filters(texts)
  return {
    async compile({ form, param }) {
      complaints.length = 0
      try {
        const compiled = await compileForm(library, compiler, form, param)
        return {
          follow: () => follow(library, compiled, createFilter()),
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

async function follow(
  library: Library,
  compiled: XGrammar.CompiledGrammar,
  utf8: Utf8Filter,
): Promise<GrammarFollower> {
  const matcher = await library.GrammarMatcher.createGrammarMatcher(compiled)
  let mask: TokenMask | null = null
  let failure: unknown = null
  let ready = Promise.resolve()
  const look = (): void => {
    mask = null
    ready = matcher.getNextTokenBitmask().then(
      (found) => {
        mask = utf8.filter(found)
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
    ready: () => ready,
    accept(id) {
      if (!matcher.acceptToken(id)) throw new Error(`the grammar does not take token ${id}`)
      utf8.accept(id)
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
