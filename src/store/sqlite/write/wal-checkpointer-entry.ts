/** Entry of the WAL checkpointer. */
import { serveWalCheckpointer } from './wal-checkpointer-serve.ts'

serveWalCheckpointer()
