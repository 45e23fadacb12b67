// The balancer, on real sockets, with servers of this process in place of nodes.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { until } from '@trunkline/testkit/until'
import type { Backend } from '../../cluster/backends.ts'
import { Balancer } from '../../cluster/balancer.ts'

const LOOPBACK = '127.0.0.1'

interface Node {
  readonly backend: Backend
  readonly server: Server
  readonly sockets: Socket[]
}

async function node(t: TestContext, name: string, serve: (socket: Socket) => void = socket => socket.end(name)): Promise<Node> {
  const sockets: Socket[] = []
  const server = createServer({ allowHalfOpen: true }, socket => {
    sockets.push(socket.on('error', () => undefined))
    serve(socket)
  }).listen(0, LOOPBACK)
  await once(server, 'listening')
  t.after(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  const { port } = server.address() as AddressInfo
  return { backend: { name, host: LOOPBACK, port }, server, sockets }
}

async function balancer(t: TestContext, candidates: () => readonly Backend[]): Promise<{ balancer: Balancer; open: () => Socket }> {
  const made = new Balancer(candidates)
  const port = await made.listen({ host: LOOPBACK, port: 0 })
  t.after(() => made.stop())
  return { balancer: made, open: () => connect({ host: LOOPBACK, port, allowHalfOpen: true }) }
}

test('a connection goes to the first candidate that accepts it', async t => {
  const [gone, second] = [await node(t, 'gone'), await node(t, 'second')]
  gone.server.close()
  const { open } = await balancer(t, () => [gone.backend, second.backend])
  assert.equal(await text(open()), 'second')
})

test('without a candidate a connection is closed', async t => {
  const { open } = await balancer(t, () => [])
  assert.equal(await text(open()), '')
})

test('a client that ends its side receives the whole answer', async t => {
  const long = 'x'.repeat(4_000_000)
  const one = await node(t, 'one', socket => {
    socket.resume().on('end', () => socket.end(long))
  })
  const { open, balancer: made } = await balancer(t, () => [one.backend])
  const client = open()
  client.end('request')
  assert.equal((await text(client)).length, long.length)
  await until(() => made.connectionsOf('one') === 0, 'the connection was forgotten')
})

test('what a node wrote before it closed arrives, although the client is slow', async t => {
  const long = 'x'.repeat(4_000_000)
  const one = await node(t, 'one', socket => socket.end(long, () => socket.destroySoon()))
  const { open } = await balancer(t, () => [one.backend])
  const client = open()
  await once(client, 'readable')
  await until(() => one.sockets[0]?.writableFinished === true || client.readableLength > 0, 'the node wrote')
  assert.equal((await text(client)).length, long.length)
})

test('bytes pass both ways, in order and unchanged', async t => {
  const one = await node(t, 'echo', socket => socket.pipe(socket))
  const { open } = await balancer(t, () => [one.backend])
  const client = open()
  const sent = Buffer.from(Array.from({ length: 200_000 }, (_, index) => index % 251))
  client.end(sent)
  const received: Buffer[] = []
  for await (const chunk of client) received.push(chunk)
  assert.ok(Buffer.concat(received).equals(sent))
})

test('a node that resets a connection resets the client’s', async t => {
  const one = await node(t, 'one', () => undefined)
  const { open } = await balancer(t, () => [one.backend])
  const client = open()
  const failed = once(client, 'error')
  await until(() => one.sockets.length === 1, 'the node was connected')
  one.sockets[0]?.resetAndDestroy()
  const [error] = await failed
  assert.equal(error.code, 'ECONNRESET')
})

test('a client that goes away ends the node’s connection', async t => {
  const one = await node(t, 'one', socket => {
    socket.resume().on('end', () => socket.end())
  })
  const { open, balancer: made } = await balancer(t, () => [one.backend])
  const client = open()
  await until(() => made.connectionsOf('one') === 1, 'the connection was counted')
  client.destroy()
  await until(() => one.sockets[0]?.destroyed === true, 'the node’s side was closed')
  await until(() => made.connectionsOf('one') === 0, 'the connection was forgotten')
})

test('the connections of one node can be closed, and no others', async t => {
  const [one, two] = [await node(t, 'one', () => undefined), await node(t, 'two', () => undefined)]
  let next = one.backend
  const { open, balancer: made } = await balancer(t, () => [next])
  const first = open()
  await until(() => made.connectionsOf('one') === 1, 'the first is connected')
  next = two.backend
  const second = open()
  await until(() => made.connectionsOf('two') === 1, 'the second is connected')
  const failed = once(first, 'error')
  made.closeConnectionsOf('one')
  await failed
  assert.equal(made.connectionsOf('two'), 1)
  assert.equal(second.destroyed, false)
})

test('when the balancer stops, its port is free and nothing stays open', async t => {
  const one = await node(t, 'one', () => undefined)
  const { open, balancer: made } = await balancer(t, () => [one.backend])
  const client = open()
  client.on('error', () => undefined)
  const closed = once(client.resume(), 'end').catch(() => undefined)
  await until(() => made.connectionsOf('one') === 1, 'it is connected')
  await made.stop()
  await closed
  await assert.rejects(once(open(), 'connect'), { code: 'ECONNREFUSED' })
})
