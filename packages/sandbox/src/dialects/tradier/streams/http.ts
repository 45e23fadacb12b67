/** The market stream as an answer that does not end: one message a line. Authenticated by its session, not by a token. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { DialectBrokerage } from '../../../brokerage/dialect.ts'
import { NO_FACTS } from '../../../brokerage/faults.ts'
import { texts } from '../../frame/sign-in.ts'
import type { MarketStream } from './market.ts'

/** Lists are comma-separated here. */
export function mountHttpStream(app: FastifyInstance, { faults, counters }: DialectBrokerage, stream: MarketStream): void {
  const serve = (request: FastifyRequest, reply: FastifyReply) => {
    reply.hijack()
    counters.request('stream.connect')
    const fault = faults.none ? undefined : faults.take('stream.connect', NO_FACTS)
    if (fault !== undefined) {
      reply.raw.writeHead(fault.status ?? 503).end()
      return
    }
    const fields = texts(request.method === 'GET' ? request.query : request.body)
    reply.raw.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-store' })
    reply.raw.flushHeaders()
    stream.gateway.answer(reply.raw, {
      sessionid: fields.sessionid,
      symbols: listOf(fields.symbols),
      filter: listOf(fields.filter),
      linebreak: true,
      validOnly: fields.validOnly !== 'false'
    })
  }
  app.get('/markets/events', serve)
  app.post('/markets/events', serve)
}

function listOf(text = ''): readonly string[] {
  return text.split(',').filter(item => item !== '')
}
