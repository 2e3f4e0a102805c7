/** Refuses requests over gRPC before their message is read, which the library holds in memory, or when it is late. */
import {
  type Metadata,
  ServerInterceptingCall,
  type ServerInterceptingCallInterface,
  type ServerInterceptor,
  type StatusObject,
} from '@grpc/grpc-js'
import { keyOfHeaders } from '../domain/access/credentials.ts'
import type { Principal } from '../domain/access/permissions.ts'
import { ApiError } from '../errors.ts'

interface GrpcAdmissionOptions {
  readonly identify: (key: string) => Promise<Principal>
  /** Milliseconds within which a request must arrive completely. */
  readonly requestTimeoutMs: number
  /**
   * Returns the status to send.
   *
   * @param beganMs - when the headers of the request arrived
   * @param path - of the method
   */
  readonly onRefusal: (
    error: unknown,
    beganMs: number,
    path: string,
  ) => Pick<StatusObject, 'code' | 'details'>
}

export interface GrpcAdmission {
  readonly interceptor: ServerInterceptor
  /** Who sent an admitted request. */
  callerOf(metadata: Metadata): Principal | null
}

export function createGrpcAdmission(options: GrpcAdmissionOptions): GrpcAdmission {
  const callers = new WeakMap<Metadata, Principal>()
  return {
    interceptor: ({ path }, call) => admit(call, callers, { ...options, path }),
    callerOf: (metadata) => callers.get(metadata) ?? null,
  }
}

function admit(
  call: ServerInterceptingCallInterface,
  callers: WeakMap<Metadata, Principal>,
  { identify, requestTimeoutMs, onRefusal, path }: GrpcAdmissionOptions & { readonly path: string },
): ServerInterceptingCall {
  const beganMs = performance.now()
  const refuse = (error: unknown) => call.sendStatus(onRefusal(error, beganMs, path))
  let timer: NodeJS.Timeout | undefined
  return new ServerInterceptingCall(call, {
    start: (next) =>
      next({
        onReceiveMetadata: (metadata, pass) => {
          timer = setTimeout(() => refuse(new ApiError('request_timeout')), requestTimeoutMs)
          void identifyCaller(metadata, identify).then((caller) => {
            callers.set(metadata, caller)
            pass(metadata)
          }, refuse)
        },
        onReceiveHalfClose: (pass) => {
          clearTimeout(timer)
          pass()
        },
        // Called at the end of every request, refused or not.
        onCancel: () => clearTimeout(timer),
      }),
  })
}

/** @throws ApiError missing_api_key, invalid_api_key */
async function identifyCaller(
  metadata: Metadata,
  identify: GrpcAdmissionOptions['identify'],
): Promise<Principal> {
  const key = keyOfHeaders(headersOf(metadata))
  if (key === null) throw new ApiError('missing_api_key')
  return identify(key)
}

export function headersOf(metadata: Metadata): Record<string, string> {
  return Object.fromEntries(
    Object.entries(metadata.getMap()).map(([name, value]) => [name, String(value)]),
  )
}
