/**
 * Drives every public method of the unmodified npm client, run as a child process by the test beside it. It knows of the
 * server only by environment variables. Its last line of output is the names of what it drove, as JSON.
 */
import { API } from './api-methods.ts'
import { CLIENT } from './client-methods.ts'

for (const [name, drive] of [...Object.entries(CLIENT), ...Object.entries(API)]) {
  await drive().catch((error: unknown) => {
    throw new Error(`${name} does not work`, { cause: error })
  })
}
process.stdout.write(
  `\n${JSON.stringify({ client: Object.keys(CLIENT), api: Object.keys(API) })}\n`,
)
