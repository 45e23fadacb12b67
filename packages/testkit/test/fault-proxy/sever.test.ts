// A connection that is cut is gone, whatever state it was in: the state in which Node forgets about it among them.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { test } from 'node:test'
import { PATIENCE_MS } from '@trunkline/testkit/patience'
import { sever } from '../../src/fault-proxy/sever.ts'
import { within } from '../../src/within.ts'

const MORE_THAN_A_KERNEL_TAKES = Buffer.alloc(32 * 1024 * 1024)

const READY_STATES: readonly { readonly name: string; readonly bring: (socket: Socket) => unknown; readonly isReset: boolean }[] = [
  { name: 'open', bring: () => undefined, isReset: true },
  { name: 'with its shutdown under way', bring: socket => socket.end(), isReset: false },
  { name: 'ended with bytes that do not get out', bring: socket => socket.end(MORE_THAN_A_KERNEL_TAKES), isReset: true },
  { name: 'gone already', bring: socket => socket.destroy(), isReset: false }
]

for (const { name, bring, isReset } of READY_STATES) {
  test(`a connection is gone once it is severed: ${name}`, async () => {
    const { near, far } = await pair()
    const gone = Promise.all([closed(near), closed(far)])
    bring(near)
    sever(near)
    far.resume().end()
    const [, hadError] = await within(PATIENCE_MS, gone, () => 'both ends were closed')
    assert.equal(hadError, isReset)
  })
}

test('a connection that is not there yet is gone once it is severed', async () => {
  const socket = connect({ host: '127.0.0.1', port: 9 })
  const gone = closed(socket)
  sever(socket)
  await within(PATIENCE_MS, gone, () => 'it was closed')
})

/** Gives whether it was by an error. */
function closed(socket: Socket): Promise<boolean> {
  socket.on('error', () => undefined)
  return new Promise(resolve => socket.once('close', resolve))
}

async function pair(): Promise<{ readonly near: Socket; readonly far: Socket }> {
  const server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  const arrived = new Promise<Socket>(resolve => server.once('connection', resolve))
  const near = connect({ host: '127.0.0.1', port: address.port, allowHalfOpen: true })
  await once(near, 'connect')
  const far = await arrived
  server.close()
  return { near, far }
}
