/** JSON bodies of requests: bounded in depth where they are read. */

import { parseJson } from '@trunkline/core/domain/json'
import { Malformed } from '@trunkline/core/domain/malformed'
import type { FastifyInstance } from 'fastify'

export interface JsonBodies {
  /** What a request with the content type and no body is. */
  readonly empty: 'refused' | 'absent'
  /** The message for a body that cannot be read, where a broker has its own. */
  readonly message?: string
}

/** Replaces Fastify's own parser, which takes any depth. */
export function takeJsonBodies(app: FastifyInstance, { empty, message }: JsonBodies): void {
  app.removeContentTypeParser('application/json')
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => {
    try {
      done(null, body === '' && empty === 'absent' ? undefined : parseJson(String(body), { what: 'the body' }))
    } catch (cause) {
      const text = message ?? (cause instanceof Malformed ? cause.message : 'the body is unreadable')
      done(Object.assign(new Error(text, { cause }), { statusCode: 400 }))
    }
  })
}
