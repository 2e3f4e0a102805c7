/**
 * Preparations: what routes with the body mode `bytes` do with a body before they write, on the event loop or in a
 * thread.
 */
import type { z } from 'zod'
import type { Principal } from '../../domain/access/permissions.ts'

/** Data about the request that a preparation gets; it can be cloned between threads. */
export interface PreparationContext {
  readonly principal: Principal | null
  /** The parameters of the address. */
  readonly params: object
  /** Whether unknown fields are refused, and names are neutral. */
  readonly isStrict: boolean
  /** Scheme of the refs that are extracted. */
  readonly refScheme: string
  readonly nowUs: number
  /** Text of the body as it arrived. */
  readonly text: string
}

export interface Preparation<Body, Prepared> {
  readonly schema: z.ZodType<Body>
  /** Whether numbers that a double would round are parsed with all digits. */
  readonly isLossless?: boolean
  /**
   * @param body - valid, with neutral names
   * @returns what can be sent between threads
   * @throws ApiError
   */
  prepare(body: Body, context: PreparationContext): Prepared | Promise<Prepared>
}
