/** What a request says about cached completions, in `Cache-Control` and in `X-Weft-Cache`. Pure. */
import { ApiError } from '../../errors.ts'

/** The header that asks for a cached completion, or for none. */
const CACHE_HEADER = 'X-Weft-Cache'

export interface CacheDirectives {
  /** True: cached completions are asked for. False: none may be read nor stored. Null: the model decides. */
  readonly isWanted: boolean | null
  /** `no-cache`: a stored completion is not used, but replaced. */
  readonly isRefreshed: boolean
  /** `max-age`: seconds that a stored completion may be old; null: any. */
  readonly ageMaxS: number | null
}

interface CacheHeaders {
  readonly 'x-weft-cache'?: string | readonly string[] | undefined
  readonly 'cache-control'?: string | undefined
}

const MAX_AGE = /^max-age="?(\d{1,9})"?$/

/**
 * Spec: §4.3 (no such header). Choice: directives that HTTP does not define for requests are ignored, as HTTP has it.
 *
 * @throws ApiError invalid_header
 */
export function readCacheDirectives(headers: CacheHeaders): CacheDirectives {
  const wanted = headers['x-weft-cache']
  if (wanted !== undefined && wanted !== 'on' && wanted !== 'off') {
    const message = `${CACHE_HEADER} must be on or off.`
    throw new ApiError('invalid_header', { message, param: CACHE_HEADER })
  }
  const directives = (headers['cache-control'] ?? '').toLowerCase().split(',', 100)
  const names = directives.map((directive) => directive.trim())
  const age = names.flatMap((name) => MAX_AGE.exec(name)?.[1] ?? [])[0]
  const isForbidden = wanted === 'off' || names.includes('no-store')
  return {
    isWanted: isForbidden ? false : wanted === 'on' ? true : null,
    isRefreshed: names.includes('no-cache'),
    ageMaxS: age === undefined ? null : Number(age),
  }
}
