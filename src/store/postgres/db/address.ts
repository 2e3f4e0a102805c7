/** Checks the address of PostgreSQL for what the driver would ignore without a word. */
import { MigrationError } from '../../base/db/migration-files.ts'

/** The parameters that `pg` and its parser of addresses read. */
const KNOWN: readonly string[] = [
  ...['user', 'password', 'host', 'port', 'options', 'client_encoding'],
  ...['ssl', 'sslmode', 'sslcert', 'sslkey', 'sslrootcert', 'sslnegotiation', 'uselibpqcompat'],
  ...['application_name', 'fallback_application_name', 'query_timeout', 'statement_timeout'],
  ...['lock_timeout', 'idle_in_transaction_session_timeout'],
]

/**
 * Refuses parameters that the driver ignores: a connection whose TLS was misspelled would not be encrypted.
 *
 * @throws MigrationError in one line, with the name of the parameter and no part of a password
 */
export function requireKnownParameters(url: string): void {
  const [, query = ''] = /^[^?#]*\?([^#]*)/s.exec(url) ?? []
  for (const [name, value] of new URLSearchParams(query)) {
    if (KNOWN.includes(name) && value !== '') continue
    // With an @, it may be the rest of a password that contains a question mark.
    if (query.includes('@')) throw new MigrationError('WEFT_META_URL: its parameters are not valid')
    const known = KNOWN.includes(name) ? 'has no value' : `is not one of ${KNOWN.join(', ')}`
    throw new MigrationError(`WEFT_META_URL: the parameter ${JSON.stringify(name)} ${known}`)
  }
}
