/** Converts the parts of a content to texts and files of the AI SDK. */
import type { LanguageModelV4FilePart, LanguageModelV4TextPart } from '@ai-sdk/provider'
import { objectOrEmpty, textOrEmpty } from '../../domain/json/json-values.ts'
import { refuse } from '../../errors.ts'
import type { ChatMessage } from '../../schemas/chat/chat-message.ts'

type Fields = Readonly<Record<string, unknown>>
type UserPart = LanguageModelV4TextPart | LanguageModelV4FilePart

/** Which files a model takes. */
export interface FileRules {
  /** Patterns of addresses that the provider fetches itself, by media type; the package names them. */
  readonly supportedUrls: Readonly<Record<string, readonly RegExp[]>>
  /** Whether files other than images are refused. */
  readonly takesImagesOnly: boolean
}

/** Limit: a longer address is none; it bounds the work of the patterns. */
const URL_CHARS_MAX = 8_192

/** @throws ApiError unsupported_value, invalid_value */
export function toUserParts(
  content: ChatMessage['content'],
  place: string,
  rules: FileRules,
): UserPart[] {
  if (typeof content === 'string') return toText(content)
  return (content ?? []).flatMap((part, at): UserPart[] =>
    typeof part === 'string' ? toText(part) : toPart(part, `${place}[${at}]`, rules),
  )
}

/** Returns the texts of a content that has nothing else. @throws ApiError unsupported_value */
export function textsOf(content: ChatMessage['content'], place: string): string[] {
  if (typeof content === 'string') return content === '' ? [] : [content]
  return (content ?? []).flatMap((part, at) => {
    if (typeof part === 'string') return [part]
    if (part.type === 'text') return [textOrEmpty(part.text)]
    if (part.type === 'refusal') return [textOrEmpty(part.refusal)]
    const param = `${place}[${at}].type`
    return refuse('unsupported_value', param, `${param} must be text or refusal in this role.`)
  })
}

/** Providers refuse empty texts. */
function toText(text: string): UserPart[] {
  return text === '' ? [] : [{ type: 'text', text }]
}

function toPart(part: Fields, place: string, rules: FileRules): UserPart[] {
  switch (part.type) {
    case 'text':
      return toText(textOrEmpty(part.text))
    case 'image_url':
    case 'video_url':
    case 'audio_url': {
      const given = part[part.type]
      const url = typeof given === 'string' ? given : textOrEmpty(objectOrEmpty(given).url)
      const kind = part.type.slice(0, -'_url'.length)
      return [toFile(url, kind, `${place}.${part.type}`, rules)]
    }
    case 'input_audio': {
      const { data, format } = objectOrEmpty(part.input_audio)
      const type = AUDIO_TYPES[textOrEmpty(format)] ?? `audio/${textOrEmpty(format)}`
      const url = `data:${type};base64,${textOrEmpty(data)}`
      return [toFile(url, 'audio', `${place}.input_audio`, rules)]
    }
    case 'file': {
      const { file_data, filename } = objectOrEmpty(part.file)
      const file = toFile(textOrEmpty(file_data), 'application', `${place}.file.file_data`, rules)
      return [typeof filename === 'string' ? { ...file, filename } : file]
    }
    default:
      refuse(
        'unsupported_value',
        `${place}.type`,
        `${place}.type must be text, image_url, input_audio, audio_url, video_url or file.`,
      )
  }
}

const AUDIO_TYPES: Readonly<Record<string, string>> = { mp3: 'audio/mpeg', wav: 'audio/wav' }
const DATA_URL = /^data:([\w.+-]+\/[\w.+-]+)(?:;[\w-]+=[^;,]*)*;base64,/

function toFile(
  url: string,
  kind: string,
  param: string,
  rules: FileRules,
): LanguageModelV4FilePart {
  const [head = '', mediaType = kind] = DATA_URL.exec(url) ?? []
  if (rules.takesImagesOnly && !mediaType.startsWith('image')) {
    refuse('unsupported_value', param, `${param} must be an image: the model reads no other files.`)
  }
  if (head !== '') {
    return { type: 'file', mediaType, data: { type: 'data', data: url.slice(head.length) } }
  }
  const parsed = isFetched(url, kind, rules) ? URL.parse(url) : null
  if (parsed === null) {
    const rule = `${param} must be a data URL of base64: the provider does not fetch this address, and this server fetches none.`
    refuse('unsupported_value', param, rule)
  }
  return { type: 'file', mediaType: kind, data: { type: 'url', url: parsed } }
}

/** Whether the provider fetches an address of such a file itself. */
function isFetched(url: string, kind: string, { supportedUrls }: FileRules): boolean {
  if (url === '' || url.length > URL_CHARS_MAX) return false
  return Object.entries(supportedUrls).some(
    ([type, patterns]) =>
      (type === '*' || type === '*/*' || type.startsWith(kind)) &&
      patterns.some((pattern) => new RegExp(pattern, pattern.flags.replace('g', '')).test(url)),
  )
}
