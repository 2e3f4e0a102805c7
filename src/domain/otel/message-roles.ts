/** The roles of messages as a chat names them. Pure. */
import { filledTextOrNull } from '../json/json-values.ts'

/** Koog (1.1.1) begins roles with a capital. */
const CAPITALISED = /^(?:System|Developer|User|Assistant|Tool)$/

/** Gemini names the assistant `model`; OpenLLMetry calls `unknown` what it cannot name. */
export function roleOf(told: unknown): string | null {
  const role = told === 'unknown' ? null : filledTextOrNull(told)
  if (role === 'model') return 'assistant'
  return role?.replace(CAPITALISED, (name) => name.toLowerCase()) ?? null
}

/** An event name like `gen_ai.user.message` contains the role of the message. */
export function roleOfEvent(name: unknown): string | null {
  if (typeof name !== 'string') return null
  const match = /^gen_ai\.(system|user|assistant|tool)\.message$/.exec(name)
  if (match?.[1]) return match[1]
  return name === 'gen_ai.choice' ? 'assistant' : null
}
