/** The format in which the model writes a tool call. The chat template of the shipped model uses the same format. */

export const CALL_OPENING = '<tool_call>'
export const CALL_CLOSING = '</tool_call>'

/** The text between the opening and the arguments, which a brace and the closing follow. */
export function writeCallHead(name: string): string {
  return `{"name": ${JSON.stringify(name)}, "arguments": `
}

/** What `writeCallHead` wrote at the beginning of a text; its first group is the name as JSON. */
export const CALL_HEAD = /^\{"name": ("(?:[^"\\]|\\.)*"), "arguments": /u
