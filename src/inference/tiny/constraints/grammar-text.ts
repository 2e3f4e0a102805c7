/** Writes constraints as the text of grammars that the grammar engine enforces to the letter. */
import { createHash } from 'node:crypto'
import type * as XGrammar from '@mlc-ai/web-xgrammar'
import { refuse } from '../../../errors.ts'
import { renderCalls, SHARED_RULES } from './call-grammar.ts'
import { type ConstraintForm, type JsonForm, type JsonSpace, jsonForm } from './constraint-plan.ts'
import { hasWideBrackets, joinsRepeats, separateAlternatives } from './grammar-separation.ts'
import { renderPatterns } from './patterns/pattern-grammar.ts'
import {
  fillTag,
  listTagContents,
  type PartFormat,
  toRegexFormat,
  toTag,
} from './structural-tag.ts'

export type Library = typeof XGrammar

/** White space between two tokens of JSON. Limit: more of it would only fill the answer. */
const SPACE_MAX = '[ \\n\\t]{0,8}'
/** How the engine writes white space into the grammar of a schema. */
const SPACE_WRITTEN = '[ \\n\\t]*'
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
/** Characters of a digest that names rules. */
const DIGEST_CHARS = 16

/** A form as a grammar whose first rule is `root`. */
export async function renderForm(
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
export async function toFormat(library: Library, pattern: string): Promise<PartFormat> {
  const format = toRegexFormat(pattern)
  const printed = print(await library.Grammar.fromStructuralTag(toTag(format)))
  if (!joinsRepeats(printed)) return format
  return { type: 'grammar', grammar: separateAlternatives(printed) }
}

/** Spec: §4.3 structural_tag. Choice: its schemas and grammars are written anew, as those of an answer. */
export async function renderTag(library: Library, source: string, param: string): Promise<string> {
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
  const { schema, marks, space } = form
  const separators = typeof space === 'string' ? SEPARATORS[space] : undefined
  let source = await library.Testings._jsonSchemaToEBNF(
    schema,
    separators === undefined,
    ONE_LINE,
    separators,
    true,
  )
  source = source.replaceAll(TEXT_WRITTEN, TEXT_CHARACTER)
  const rules = new Map<string, string>()
  for (const [mark, patterns] of marks) {
    const digest = createHash('sha256').update(JSON.stringify(patterns)).digest('hex')
    const rule = `${SHARED_RULES}${digest.slice(0, DIGEST_CHARS)}`
    source = source.replaceAll(`"\\"${mark}\\""`, rule)
    rules.set(rule, renderPatterns(rule, patterns))
  }
  source = [source, ...rules.values(), ''].join('\n')
  if (separators !== undefined) return source
  const spaced = await renderSpace(library, source, space)
  // Why: sequences that begin with the same rule for white space would be joined too.
  return separateAlternatives(print(await library.Grammar.fromEBNF(spaced)))
}

/** The grammar with one rule for its white space. Written out at each place, it would take most of the time. */
async function renderSpace(library: Library, source: string, space: JsonSpace): Promise<string> {
  const spaced = source.replaceAll(SPACE_WRITTEN, 'json_space')
  if (typeof space === 'string') return `${spaced}\njson_space ::= ${SPACE_MAX}\n`
  const grammar = await library.Grammar.fromStructuralTag(toTag(toRegexFormat(space.pattern)))
  return `${spaced}\n${print(grammar).replaceAll(/\broot(?=\b|_)/gu, 'json_space')}`
}

/** The text of a grammar, which ends. */
function print(grammar: XGrammar.Grammar): string {
  const printed = grammar.toString()
  grammar.dispose()
  return printed
}
