/** Draws the same worlds in every run that sets `PROPERTY_SEED`, as CI does; without it each run draws new ones. */
import { configureGlobal, readConfigureGlobal } from 'fast-check'

const seed = Number(process.env.PROPERTY_SEED)
if (process.env.PROPERTY_SEED) {
  if (!Number.isInteger(seed)) throw new Error('PROPERTY_SEED must be an integer')
  configureGlobal({ ...readConfigureGlobal(), seed })
}
