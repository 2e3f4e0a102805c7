/** Parses large bodies of training jobs off the event loop, in one thread, in order. */

import { extname } from 'node:path'
import type { JobContent } from '../../domain/training/training-job.ts'
import { type BodyThreadEntry, createBodyThread } from '../../threads/body-thread.ts'
import type { BodyRequest } from './training-body-entry.ts'

/** Limit: memory of the thread, 4 GiB for a body of 256 MiB. Strings and numbers become some 10 times their length. */
const HEAP_BYTES_PER_BODY_BYTE = 16
const HEAP_MIB_MIN = 4096
const MIB = 1024 * 1024

export interface TrainingBodyThread {
  /**
   * Reads a body from one file and writes its groups to another. The caller bounds how many wait.
   *
   * @throws ApiError invalid_json, validation_failed, request_too_large when the memory does not suffice,
   * store_unavailable, server_draining
   */
  read(body: BodyRequest): Promise<JobContent>
  /** Fails the waiting bodies and stops the thread. */
  close(): Promise<void>
}

/** @param bodyBytesMax - of the largest body */
export function optionsOfBodyThread(bodyBytesMax: number): BodyThreadEntry {
  return {
    heapMibMax: heapMibOf(bodyBytesMax),
    entry: new URL(`./training-body-entry${extname(import.meta.url)}`, import.meta.url),
  }
}

/** Returns the MiB of heap for a thread that parses a training body, or the groups of one. */
export function heapMibOf(bodyBytesMax: number): number {
  return Math.max(HEAP_MIB_MIN, Math.ceil((bodyBytesMax * HEAP_BYTES_PER_BODY_BYTE) / MIB))
}

export function createTrainingBodyThread(options: BodyThreadEntry): TrainingBodyThread {
  const { run, close } = createBodyThread<BodyRequest, JobContent>(options)
  return { read: ({ file, payloadFile }) => run({ file, payloadFile }), close }
}
