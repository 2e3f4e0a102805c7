/** OTLP over gRPC, on a port of its own: the same spans and logs, read and stored as those over HTTP. */
import {
  logVerbosity,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type sendUnaryData,
  setLogVerbosity,
  status,
} from '@grpc/grpc-js'
import type { Principal } from '../domain/access/permissions.ts'
import { encodeTraceResponse } from '../domain/otel/otlp-protobuf.ts'
import { rpcCodeOf } from '../domain/otel/rpc-code.ts'
import { ApiError, ERRORS, type ErrorCode } from '../errors.ts'
import { createGrpcAdmission, type GrpcAdmission, headersOf } from './grpc-admission.ts'
import type { RecordExport } from './record-spans.ts'

export interface GrpcServerOptions {
  readonly host: string
  readonly port: number
  readonly bodyBytesMax: number
  /** Milliseconds within which a request must arrive completely. */
  readonly requestTimeoutMs: number
  /** Returns the caller of a key. @throws ApiError invalid_api_key */
  readonly identify: (key: string) => Promise<Principal>
  readonly recordSpans: RecordExport
  readonly recordLogs: RecordExport
  /** Called for each answer. */
  readonly onAnswer: (answer: GrpcResponse) => void
  /** Called for unexpected errors. */
  readonly onFault: (error: unknown) => void
}

export interface GrpcResponse {
  /** Of the method. */
  readonly path: string
  readonly seconds: number
  /** Why it was refused, or null. */
  readonly refusal: ErrorCode | null
}

export interface GrpcServer {
  /** The port that was bound. */
  readonly port: number
  /** Refuses new requests and waits for those that run, at most some seconds. */
  close(): Promise<void>
}

const TRACES = '/opentelemetry.proto.collector.trace.v1.TraceService/Export'
const LOGS = '/opentelemetry.proto.collector.logs.v1.LogsService/Export'
/** Limits of one connection and of the end. */
const STREAMS_MAX = 100
const CLOSE_MS_MAX = 2_000

const asBytes = (bytes: Buffer): Buffer => bytes
const toService = (path: string) => ({
  Export: {
    path,
    requestStream: false as const,
    responseStream: false as const,
    requestSerialize: asBytes,
    requestDeserialize: asBytes,
    responseSerialize: asBytes,
    responseDeserialize: asBytes,
  },
})

/** The port cannot be bound; the message is one line. */
class GrpcPortError extends Error {
  constructor(port: number, cause: unknown) {
    super(`the port ${port} cannot be bound for gRPC (set WEFT_OTLP_GRPC_PORT)`, { cause })
    this.name = 'GrpcPortError'
  }
}

/** Listens without TLS, as the HTTP port does. @throws GrpcPortError */
export async function openGrpcServer(options: GrpcServerOptions): Promise<GrpcServer> {
  // The library writes to stderr by itself; what fails here is thrown or answered.
  setLogVerbosity(logVerbosity.NONE)
  const tellFrom = (path: string, beganMs: number) => (refusal: ErrorCode | null) =>
    options.onAnswer({ path, seconds: (performance.now() - beganMs) / 1000, refusal })
  const refuse = (error: unknown, tell: (refusal: ErrorCode) => void) => {
    tell(error instanceof ApiError ? error.code : 'internal_error')
    return toRefusal(error, options)
  }
  const admission = createGrpcAdmission({
    identify: options.identify,
    requestTimeoutMs: options.requestTimeoutMs,
    onRefusal: (error, beganMs, path) => refuse(error, tellFrom(path, beganMs)),
  })
  const server = new Server({
    'grpc.max_receive_message_length': options.bodyBytesMax,
    'grpc.max_concurrent_streams': STREAMS_MAX,
    interceptors: [admission.interceptor],
  })
  const addExport = (path: string, record: RecordExport) =>
    server.addService(toService(path), {
      Export: (call: ServerUnaryCall<Buffer, Buffer>, done: sendUnaryData<Buffer>) => {
        const tell = tellFrom(path, performance.now())
        void answer(call, admission, record).then(
          (bytes) => {
            tell(null)
            done(null, bytes)
          },
          (error: unknown) => done(refuse(error, tell)),
        )
      },
    })
  addExport(TRACES, options.recordSpans)
  addExport(LOGS, options.recordLogs)
  const port = await new Promise<number>((resolve, reject) => {
    const address = `${options.host.includes(':') ? `[${options.host}]` : options.host}:${options.port}`
    server.bindAsync(address, ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(new GrpcPortError(options.port, error)) : resolve(bound),
    )
  })
  return { port, close: () => close(server) }
}

async function answer(
  { metadata, request }: ServerUnaryCall<Buffer, Buffer>,
  { callerOf }: GrpcAdmission,
  record: RecordExport,
): Promise<Buffer> {
  const headers = headersOf(metadata)
  const caller = callerOf(metadata)
  const notStored = await record({ encoding: 'protobuf', bytes: request, headers, caller })
  return Buffer.from(encodeTraceResponse(notStored))
}

function toRefusal(error: unknown, { onFault }: GrpcServerOptions) {
  if (error instanceof ApiError) {
    return { code: rpcCodeOf(ERRORS[error.code].status), details: error.message }
  }
  onFault(error)
  return { code: status.INTERNAL, details: ERRORS.internal_error.text }
}

async function close(server: Server): Promise<void> {
  const timer = setTimeout(() => server.forceShutdown(), CLOSE_MS_MAX)
  await new Promise<void>((resolve) => server.tryShutdown(() => resolve()))
  clearTimeout(timer)
}
