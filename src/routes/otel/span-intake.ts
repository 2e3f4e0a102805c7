/** Receives spans, and records of logs that belong to them, over HTTP and gRPC. */
import { ERRORS } from '../../errors.ts'
import type { App } from '../../http/app-type.ts'
import { identify, type KnownKeys, useEitherAuthentication } from '../../http/authentication.ts'
import { documentScope } from '../../http/document/openapi.ts'
import type { RequestObserver } from '../../http/log/request-observer.ts'
import type { GrpcResponse } from '../../otel/grpc-server.ts'
import { createLogRecorder } from '../../otel/record-logs.ts'
import { createSpanRecorder, type SpanRecorderOptions } from '../../otel/record-spans.ts'
import { RpcStatus } from '../../schemas/otel/otlp.ts'
import { otlpRoutes } from './otlp.ts'
import { otlpGrpc } from './otlp-grpc.ts'

interface SpanIntakeOptions extends SpanRecorderOptions {
  readonly keys: KnownKeys
  readonly host: string
  /** Port of OTLP over gRPC; null: disabled. */
  readonly otlpGrpcPort: number | null
  readonly otlpBodyBytesMax: number
  readonly requestTimeoutMs: number
  /** Counts gRPC requests; the app counts those over HTTP. */
  readonly watch: RequestObserver
}

export async function spanIntake(otlp: App, options: SpanIntakeOptions): Promise<void> {
  const { keys, host, otlpGrpcPort: port, otlpBodyBytesMax, requestTimeoutMs, watch } = options
  documentScope(otlp, ['basic', 'bearer'], RpcStatus)
  useEitherAuthentication(otlp, keys)
  const recordSpans = createSpanRecorder(options)
  const recordLogs = createLogRecorder(options)
  await otlp.register(otlpRoutes, { recordSpans, recordLogs, otlpBodyBytesMax })
  if (port === null) return
  await otlp.register(otlpGrpc, {
    host,
    port,
    bodyBytesMax: otlpBodyBytesMax,
    requestTimeoutMs,
    identify: (key) => identify(keys, key),
    recordSpans,
    recordLogs,
    onAnswer: (response) => watch.requestFinished(toFinishedRequest(response)),
  })
}

/** Reports an error like the same one over HTTP. */
function toFinishedRequest({ path: route, refusal, seconds }: GrpcResponse) {
  const status = refusal === null ? 200 : ERRORS[refusal].status
  return { route, method: 'POST', status, seconds, refusal }
}
