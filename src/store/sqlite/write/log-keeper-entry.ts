/** Entry of the thread that moves the log into the database. */
import { serveWalCheckpoints } from './log-keeper-serve.ts'

serveWalCheckpoints()
