/** Entry of the thread that moves the log into the database. */
import { serveWalCheckpoints } from './wal-serve.ts'

serveWalCheckpoints()
