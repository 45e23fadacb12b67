import { ServiceError } from '@trunkline/core/domain/errors'
import type { FastifyInstance } from 'fastify'

/** Answers plain HTTP requests at the streams' paths with 426. */
export function answerPlainRequests(app: FastifyInstance, paths: readonly string[]): void {
  for (const path of paths) {
    app.get(path, { exposeHeadRoute: false }, (_request, reply) => {
      reply.header('upgrade', 'websocket').header('connection', 'Upgrade')
      throw new ServiceError('upgrade_required', 'This is a WebSocket address: connect to it with a WebSocket client.')
    })
  }
}
