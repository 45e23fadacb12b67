import Fastify, { type FastifyInstance, type FastifyReply } from 'fastify'
import type { PromMeter } from './metrics.ts'
import type { Parts } from './parts.ts'
import type { Readiness } from './readiness.ts'

export interface OperationsOptions {
  readonly readiness: Readiness
  readonly meter: PromMeter
  /** Null: metrics are served beside everything else. */
  readonly metricsPort: number | null
  readonly parts: Parts
}

/** Health, readiness and metrics. They say one word, and never a version, a name or a count, but for the metrics themselves. */
export async function operations(app: FastifyInstance, { readiness, meter, metricsPort, parts }: OperationsOptions): Promise<void> {
  app.get('/healthz', async () => ({ status: 'ok' }))
  app.get('/readyz', async (_request, reply: FastifyReply) => {
    const trouble = await readiness.trouble()
    if (trouble !== null) reply.code(503).header('retry-after', '1')
    return { status: trouble ?? 'ready' }
  })
  if (metricsPort === null) {
    serveMetrics(app, meter)
    return
  }
  const internal = Fastify({ logger: false, forceCloseConnections: true })
  serveMetrics(internal, meter)
  parts.add('metrics', () => internal.close())
  await internal.listen({ host: '127.0.0.1', port: metricsPort })
}

function serveMetrics(app: FastifyInstance, meter: PromMeter): void {
  app.get('/metrics', async (_request, reply) => reply.type(meter.registry.contentType).send(await meter.registry.metrics()))
}
