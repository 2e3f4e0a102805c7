/** A reader with the jobs of the tests. */
import { serveReadJobs } from '../../../src/store/sqlite/read/reader-serve.ts'
import { TEST_READ_JOBS } from './test-read-jobs.ts'

serveReadJobs(TEST_READ_JOBS)
