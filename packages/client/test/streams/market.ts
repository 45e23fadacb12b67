import type { MarketStreamOptions } from '../../src/streams/market/sessions.ts'
import { MarketStream } from '../../src/streams/market/stream.ts'
import type { Network, ScriptedSocket } from './scripted-socket.ts'

export const MINUTE_NS = 60_000_000_000n

export function streamOf(network: Network, more: Partial<MarketStreamOptions> = {}): MarketStream {
  const token = async () => 'mdt_1'
  return new MarketStream({
    url: 'wss://service/market-data/stream',
    token,
    socket: network.socket,
    timers: network,
    fetch: () => Promise.reject(new TypeError('offline')),
    random: () => 1,
    ...more
  })
}

export async function authenticated(network: Network): Promise<ScriptedSocket> {
  network.last.open()
  await new Promise(setImmediate)
  network.last.receive({ type: 'auth_success', request_id: 'authenticate' })
  return network.last
}

/** Accepts the newest subscription that was sent. */
export function accept(socket: ScriptedSocket, subId: string): void {
  socket.receive({ type: 'subscription_success', request_id: socket.sentAs('subscribe').at(-1)?.request_id, sub_id: subId })
}

export function bar(minute: number, st: 'o' | 'c', c = '1.00', subId = '1'): object {
  return { o: '1.00', h: '1.00', l: '1.00', c, v: '1', ts: String(BigInt(minute) * MINUTE_NS), st, sub_id: subId }
}
