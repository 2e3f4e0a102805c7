/**
 * Reads the file of certificates trusted for an upstream. The error for an unusable file is one line.
 */
import { X509Certificate } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'

/** Limit: bytes of the file; the bundle of a whole system has a quarter of it. */
const BYTES_MAX = 1024 * 1024
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g

/**
 * Returns the text of a file of PEM certificates.
 *
 * @throws Error with the reason in its message, without the path
 */
export function readCaFile(path: string): string {
  const text = readBounded(path)
  const certificates = text.match(CERTIFICATE)
  if (certificates === null) throw new Error('holds no certificate in PEM')
  for (const [index, certificate] of certificates.entries()) {
    // TLS itself would silently skip a broken certificate.
    if (!isCertificate(certificate))
      throw new Error(`holds a broken certificate, number ${index + 1}`)
  }
  return text
}

function readBounded(path: string): string {
  try {
    if (statSync(path).size <= BYTES_MAX) return readFileSync(path, 'latin1')
  } catch (error) {
    throw new Error(`cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
  throw new Error(`has more than ${BYTES_MAX} bytes`)
}

function isCertificate(text: string): boolean {
  try {
    return new X509Certificate(text).raw.length > 0
  } catch {
    return false
  }
}
