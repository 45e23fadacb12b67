/** JSON bodies of requests: bounded in depth where they are read. */

import { parseJson } from '@trunkline/core/domain/json'
import { Malformed } from '@trunkline/core/domain/malformed'
import type { FastifyInstance } from 'fastify'

/** Replaces Fastify's own parser, which takes any depth. `empty`: what a request with the content type and no body is. */
export function takeJsonBodies(app: FastifyInstance, { empty }: { readonly empty: 'refused' | 'absent' }): void {
  app.removeContentTypeParser('application/json')
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => {
    try {
      done(null, body === '' && empty === 'absent' ? undefined : parseJson(String(body), { what: 'the body' }))
    } catch (cause) {
      done(Object.assign(new Error(cause instanceof Malformed ? cause.message : 'the body is unreadable', { cause }), { statusCode: 400 }))
    }
  })
}
