// Connections to the listener between nodes that belong to nobody: they are few, and keep no node out.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { DEFAULT_TIMING } from '@trunkline/core/app/timing'
import type { NodeId } from '@trunkline/core/domain/ids'
import * as make from '@trunkline/testkit/store-contract/records'
import { until } from '@trunkline/testkit/until'
import { NodeClients } from '../../../src/cluster/forward/node-clients.ts'
import { nodeClientLimits } from '../../../src/cluster/forward/node-forwarder.ts'
import { NodeListener } from '../../../src/cluster/forward/node-listener.ts'
import { sendMessage } from '../../../src/cluster/forward/node-messages.ts'
import { Signer, signatureKey, Verifier } from '../../../src/cluster/forward/signature.ts'
import { SystemClock } from '../../../src/ops/clock.ts'
import { Sha256Hasher } from '../../../src/vault/hasher.ts'

const KEY = signatureKey(new Sha256Hasher(Buffer.alloc(32, 7)))
const MESSAGES = '/nodes/test'
const QUIET = { debug() {}, info() {}, warn() {}, error() {} }

test('the oldest of too many connections without a signature is ended, by address and in all, and those of nodes stay', async () => {
  const nodeId = make.uuid<NodeId>()
  const taken: unknown[] = []
  const listener = new NodeListener(new Verifier(KEY, nodeId), QUIET, {
    connectionsMax: 100,
    unproven: { perAddress: 3, inAll: 5 },
    key: KEY,
    serve: (_request, response) => void response.end(),
    messages: { [MESSAGES]: message => void taken.push(message) }
  })
  const port = await listener.listen('127.0.0.1', 0)
  const clients = new NodeClients(
    { signer: new Signer(KEY, 'a-session-of-this-process'), key: KEY, clock: new SystemClock() },
    nodeClientLimits(DEFAULT_TIMING.answerWithinMs, 1)
  )
  const send = (number: number) => sendMessage(clients, { nodeId, url: `http://127.0.0.1:${port}` }, MESSAGES, { number })
  await send(1)
  await until(() => listener.unproven === 0, 'the connection of the node has proved to be one')

  const open: Socket[] = []
  const isOpen = () => open.map(({ closed }) => !closed)
  /** Begins a request of nobody, and waits until it was counted, or somebody's connection was ended for it. */
  const intrude = async (localAddress: string, ended: number | null) => {
    const before = listener.unproven
    const socket = connect({ port, host: '127.0.0.1', localAddress }).on('error', () => undefined)
    socket.resume().write('POST /nodes/test HTTP/1.1\r\n')
    open.push(socket)
    await once(socket, 'connect')
    const loser = ended === null ? undefined : open[ended]
    if (loser !== undefined && !loser.closed) await once(loser, 'close')
    await until(() => listener.unproven === (ended === null ? before + 1 : before), 'it was taken')
  }
  for (const ended of [null, null, null, 0]) await intrude('127.0.0.1', ended)
  assert.deepEqual(isOpen(), [false, true, true, true], 'of one address')
  for (const ended of [null, null, 1]) await intrude('127.0.0.2', ended)
  assert.deepEqual(isOpen(), [false, false, true, true, true, true, true], 'of all')
  await send(2)
  assert.deepEqual(taken, [{ number: 1 }, { number: 2 }])
  for (const socket of open) socket.destroy()
  await until(() => listener.unproven === 0, 'those that left are forgotten')
  await clients.stop()
  listener.cut()
  await listener.stop()
})
