// A stream of a broker over TLS: the certificate of its host.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:https'
import { test } from 'node:test'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { selfSigned } from '@trunkline/testkit/certificate'
import { WebSocketServer } from 'ws'
import { WebSocketTransport } from '../../src/kit/web-socket.ts'
import { systemClock } from '../support/clocks.ts'

/** What comes of one connection to `url`: opened, or why not. */
async function outcomeOf(url: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  const hearer = {
    opened: () => resolve('opened'),
    failed: (fault: Error) => resolve(fault.message),
    refused: () => resolve('refused'),
    closed: () => resolve('closed'),
    ...{ beat() {}, frame() {}, bytes() {} }
  }
  const transport = new WebSocketTransport({ url, hello: ['secret'] }, hearer, { handshakeMs: 60_000, frameMax: 1_000 }, systemClock)
  const outcome = await promise
  await transport.end(false)
  return outcome
}

test('a stream’s certificate must hold, whatever the environment says, and nothing is sent before it does [S78]', async context => {
  const good = selfSigned(30)
  const expired = selfSigned(30, Date.now() - 90 * 86_400_000)
  const [before, trusted] = [process.env.NODE_TLS_REJECT_UNAUTHORIZED, getCACertificates('default')]
  context.after(() => {
    setDefaultCACertificates(trusted)
    if (before === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
    else process.env.NODE_TLS_REJECT_UNAUTHORIZED = before
  })
  for (const [certificate, isTrusted, host, expected] of [
    [good, true, '127.0.0.1', /^opened$/],
    [good, false, '127.0.0.1', /self-signed/],
    [expired, true, '127.0.0.1', /expired/],
    // The certificate is for 127.0.0.1 and for no other name of the same machine.
    [good, true, 'localhost', /altnames/]
  ] as const) {
    const server = createServer(certificate).listen(0, '127.0.0.1')
    server.on('tlsClientError', () => undefined)
    await once(server, 'listening')
    const streams = new WebSocketServer({ server })
    let sockets = 0
    streams.on('connection', () => (sockets += 1))
    const address = server.address()
    assert.ok(typeof address === 'object' && address !== null)
    setDefaultCACertificates(isTrusted ? [...trusted, certificate.cert] : trusted)
    const isGood = String(expected) === '/^opened$/'
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = isGood ? '1' : '0'
    assert.match(await outcomeOf(`wss://${host}:${address.port}`), expected)
    assert.equal(sockets, isGood ? 1 : 0)
    for (const socket of streams.clients) socket.terminate()
    streams.close()
    server.closeAllConnections()
    server.close()
  }
})
