/** Prompts of other tools as objects of the classes of the SDKs. */

interface PromptFields {
  readonly name: string
  readonly description: string | null
  /** A text, or messages of the chat API; variables stay as the tool writes them. */
  readonly content: unknown
  /** What the tool has beside them, such as the model; undefined members are left out. */
  readonly rest?: Readonly<Record<string, unknown>>
}

/** A StringPrompt of a text, a MessagesPrompt of messages. */
export function toPrompt({ name, description, content, rest = {} }: PromptFields): object {
  const isText = typeof content === 'string'
  const _class_name = isText ? 'StringPrompt' : 'MessagesPrompt'
  const given = Object.entries(rest).filter(([, value]) => value !== undefined && value !== null)
  return {
    ...Object.fromEntries(given),
    _type: _class_name,
    _class_name,
    _bases: ['Prompt', 'Object', 'BaseModel'],
    name,
    description,
    ...(isText ? { content } : { messages: content }),
  }
}
