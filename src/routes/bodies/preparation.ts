/** Preparations: what routes do with a body that may be large before they write, on the event loop or in a thread. */
import type { z } from 'zod'
import type { Principal } from '../../domain/access/permissions.ts'

/** What a preparation knows of its request, as data that threads can pass on. */
export interface PreparationContext {
  readonly principal: Principal | null
  /** The parameters of the address. */
  readonly params: object
  /** Whether unknown fields are refused, and names are neutral. */
  readonly isStrict: boolean
  /** Scheme of the refs that are looked for. */
  readonly refScheme: string
  readonly nowUs: number
  /** The body as it arrived; empty for an exact one. */
  readonly text: string
}

export interface Preparation<Body, Prepared> {
  readonly schema: z.ZodType<Body>
  /** Whether the digits of numbers are kept that a double would round. */
  readonly isLossless?: boolean
  /**
   * @param body - valid, with neutral names
   * @returns what can be sent between threads
   * @throws ApiError
   */
  prepare(body: Body, context: PreparationContext): Prepared | Promise<Prepared>
}
