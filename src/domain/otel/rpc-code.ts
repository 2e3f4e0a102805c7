/** Maps HTTP statuses to gRPC codes. Pure. */

const CODES: Readonly<Record<number, number>> = {
  400: 3,
  401: 16,
  403: 7,
  404: 5,
  405: 12,
  408: 4,
  413: 8,
  415: 3,
  422: 3,
  429: 8,
  503: 14,
}

/** The code of a status; INTERNAL (13) for one that has none of its own. */
export function rpcCodeOf(status: number): number {
  return CODES[status] ?? 13
}
