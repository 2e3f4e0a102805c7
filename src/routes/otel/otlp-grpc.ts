/** Opens and closes the port of OTLP over gRPC with the app. */
import type { App } from '../../http/app-type.ts'
import type { GrpcServer, GrpcServerOptions } from '../../otel/grpc-server.ts'

/** @throws GrpcPortError when the app becomes ready and the port cannot be bound */
export async function otlpGrpc(
  app: App,
  options: Omit<GrpcServerOptions, 'onFault'>,
): Promise<void> {
  let server: GrpcServer | null = null
  app.addHook('onReady', async () => {
    const onFault = (error: unknown) => app.log.error({ err: error }, 'OTLP over gRPC failed')
    // Loaded only with the port: its library is large, and most servers run without.
    const { openGrpcServer } = await import('../../otel/grpc-server.ts')
    server = await openGrpcServer({ ...options, onFault })
    app.log.info(`OTLP over gRPC listening at ${options.host}:${server.port}`)
  })
  app.addHook('preClose', async () => server?.close())
}
