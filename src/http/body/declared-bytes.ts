/** The length of a body as its client declares it, known before any byte is read. */
import type { IncomingHttpHeaders } from 'node:http'
import { bodyTooLarge } from '../../errors.ts'

/** Bytes; 0 for a body of unknown length. */
export function declaredBytes(headers: IncomingHttpHeaders): number {
  return Number(headers['content-length'] ?? 0)
}

/** @throws ApiError request_too_large */
export function requireDeclaredBytes(headers: IncomingHttpHeaders, bytesMax: number): void {
  if (declaredBytes(headers) > bytesMax) throw bodyTooLarge(bytesMax)
}
