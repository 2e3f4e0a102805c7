/** What both programs stand on: a client, and a call that it made. */
import { init, op } from 'weave'

export const project_id = 'acme/npm-methods'
export const client = await init(project_id)

export const double = op(async (x: number) => x * 2, { name: 'double' })
const [, call] = await double.invoke(4)
await client.waitForBatchProcessing()
/** A call that has arrived. */
export const doubled = call

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape, of which the package's types tell less than comes.
export type Json = any

/** What drives each method and looks at what it did, in the order in which they run. */
export type Programs = Readonly<Record<string, () => Promise<void>>>
