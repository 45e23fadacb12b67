/** The floor: a bare Fastify route that answers with the bytes of the files named in `FLOOR_FILES` (`name=path`, comma-separated). */

import { readFileSync } from 'node:fs'
import Fastify from 'fastify'

const app = Fastify({ logger: false })
for (const pair of (process.env.FLOOR_FILES ?? '').split(',')) {
  const [name = '', path = ''] = pair.split('=')
  const body = readFileSync(path, 'utf8')
  app.get(`/${name}`, (_request, reply) => {
    reply.type('application/json; charset=utf-8').send(body)
  })
}
await app.listen({ host: '127.0.0.1', port: 0 })
const address = app.server.address()
process.stdout.write(`floor ${typeof address === 'object' && address !== null ? address.port : 0}\n`)
process.once('SIGTERM', () => process.exit(0))
