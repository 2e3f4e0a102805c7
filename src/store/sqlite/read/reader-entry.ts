/** Entry of a reader. Serves the registry and nothing else. */
import { READ_JOBS } from './read-jobs.ts'
import { serveReadJobs } from './reader-serve.ts'

serveReadJobs(READ_JOBS)
