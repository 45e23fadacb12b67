import { createHash, timingSafeEqual } from 'node:crypto'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { isLoopbackHost } from '../config/loopback.ts'
import type { MetricsPage } from './metrics-page.ts'
import type { Parts } from './parts.ts'
import type { Readiness } from './readiness.ts'

export interface OperationsOptions {
  readonly readiness: Readiness
  readonly metrics: MetricsPage
  /** A separate loopback port for the metrics, or the token that opens them on the main port. */
  readonly metricsAt: { readonly port: number } | { readonly token: string }
  readonly parts: Parts
  /** The error of an unknown address. */
  readonly nothingHere: () => Error
}

/** Health, readiness and metrics. Health and readiness answer one word, without version, names or counts. */
export async function operations(
  app: FastifyInstance,
  { readiness, metrics, metricsAt, parts, nothingHere }: OperationsOptions
): Promise<void> {
  app.get('/healthz', { config: { limit: 'probe' } }, async () => ({ status: 'ok' }))
  app.get('/readyz', { config: { limit: 'probe' } }, async (_request, reply: FastifyReply) => {
    const problem = await readiness.problem()
    if (problem !== null) reply.code(503).header('retry-after', '1')
    return { status: problem ?? 'ready' }
  })
  if ('token' in metricsAt) {
    const opens = tokenCheck(metricsAt.token)
    // Without the token the address is unknown, for every method.
    app.get('/metrics', { config: { isHidden: true } }, async (request, reply) => {
      if (!opens(request)) throw nothingHere()
      return await answer(reply, metrics)
    })
    return
  }
  const internal = metricsServer(metrics)
  parts.add('metrics', () => internal.close())
  await internal.listen({ host: '127.0.0.1', port: metricsAt.port })
}

/** For this machine only: a request by another name than the loopback interface's comes from another site's page. */
export function metricsServer(metrics: Pick<MetricsPage, 'read'>): FastifyInstance {
  const server = Fastify({ logger: false, forceCloseConnections: true })
  server.addHook('onRequest', (request, reply, done) => {
    if (isLoopbackHost(request.headers.host)) return done()
    reply.code(403).type('text/plain; charset=utf-8').send('Ask for this by 127.0.0.1 or localhost.\n')
  })
  server.get('/metrics', (_request, reply) => answer(reply, metrics))
  return server
}

async function answer(reply: FastifyReply, metrics: Pick<MetricsPage, 'read'>): Promise<FastifyReply> {
  const { number, text } = await metrics.read()
  return reply.type('text/plain; version=0.0.4; charset=utf-8').header('etag', `"${number}"`).send(text)
}

/** Compares hashes in constant time, so that neither the token's length nor its beginning leaks. */
function tokenCheck(token: string): (request: FastifyRequest) => boolean {
  const expected = digest(`Bearer ${token}`)
  return ({ headers }) => timingSafeEqual(digest(headers.authorization ?? ''), expected)
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text, 'utf8').digest()
}
