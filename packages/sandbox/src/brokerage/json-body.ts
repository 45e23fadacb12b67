/** JSON request bodies, read with a bound on their depth. */

import { parseJson } from '@trunkline/core/domain/json'
import { Malformed } from '@trunkline/core/domain/malformed'
import type { FastifyInstance } from 'fastify'

export interface JsonBodies {
  /** The value for a request with the content type but no body. */
  readonly empty: 'refused' | 'absent'
  /** The message for an unreadable body, if the broker has its own. */
  readonly message?: string
}

/** Replaces Fastify's parser, which accepts any depth. */
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
