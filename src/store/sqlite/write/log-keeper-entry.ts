/** Entry of the log keeper. */
import { serveLogKeeper } from './log-keeper-serve.ts'

serveLogKeeper()
