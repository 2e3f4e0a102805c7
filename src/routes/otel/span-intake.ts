/** Where spans come in, over HTTP and gRPC. */
import { ERRORS } from '../../errors.ts'
import type { App } from '../../http/app-type.ts'
import { useEitherAuthentication } from '../../http/authentication.ts'
import { documentScope } from '../../http/document/openapi.ts'
import type { RequestWatch } from '../../http/request-watch.ts'
import type { GrpcAnswer, GrpcServerOptions } from '../../otel/grpc-server.ts'
import { createSpanRecorder, type SpanRecorderOptions } from '../../otel/record-spans.ts'
import { RpcStatus } from '../../schemas/otel/otlp.ts'
import { otlpRoutes } from './otlp.ts'
import { otlpGrpc } from './otlp-grpc.ts'

interface SpanIntakeOptions extends SpanRecorderOptions {
  readonly findPrincipal: GrpcServerOptions['findPrincipal']
  readonly host: string
  /** Port of OTLP over gRPC; null: it is not taken. */
  readonly otlpGrpcPort: number | null
  readonly otlpBodyBytesMax: number
  /** Told of what came over gRPC; of HTTP the app tells. */
  readonly watch: RequestWatch
}

export async function spanIntake(otlp: App, options: SpanIntakeOptions): Promise<void> {
  const { findPrincipal, host, otlpGrpcPort: port, otlpBodyBytesMax, watch } = options
  documentScope(otlp, ['basic', 'bearer'], RpcStatus)
  useEitherAuthentication(otlp, findPrincipal)
  const recordSpans = createSpanRecorder(options)
  await otlp.register(otlpRoutes, { recordSpans, otlpBodyBytesMax })
  if (port === null) return
  await otlp.register(otlpGrpc, {
    ...{ host, port, bodyBytesMax: otlpBodyBytesMax, findPrincipal, recordSpans },
    onAnswer: (answer) => watch.answered(toAnswered(answer)),
  })
}

/** As the same refusal over HTTP is told. */
function toAnswered({ path: route, refusal, seconds }: GrpcAnswer) {
  const status = refusal === null ? 200 : ERRORS[refusal].status
  return { route, method: 'POST', status, seconds, refusal }
}
