/** Entry of the write thread. */
import { serveWrites } from './write-serve.ts'

serveWrites()
