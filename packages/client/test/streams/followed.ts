import type { Followed } from '../../src/streams/broker/items.ts'
import { BrokerStream, type BrokerStreamOptions } from '../../src/streams/broker/stream.ts'
import type { Network, ScriptedSocket } from './scripted-socket.ts'

export const began = (seq: number) => ({ type: 'user_subscribed', user_id: 'ada', seq })
export const caughtUp = (seq: number) => ({ type: 'caught_up', user_id: 'ada', seq })
export const UNSUBSCRIBED = { type: 'user_unsubscribed', user_id: 'ada' }
export const refused = (message: string) => ({ type: 'subscription_failed', user_id: 'ada', message })

export function streamOf(network: Network, more: Partial<BrokerStreamOptions> = {}): BrokerStream {
  return new BrokerStream({
    url: 'wss://service/stream',
    clientId: 'pk',
    clientSecret: 'sk_secret',
    socket: network.socket,
    timers: network,
    // Nobody is asked what is at the address.
    fetch: () => Promise.reject(new TypeError('offline')),
    random: () => 1,
    ...more
  })
}

export function welcome(socket: ScriptedSocket): ScriptedSocket {
  socket.open()
  socket.receive({ type: 'welcome', session_id: 's', message: '' }, { type: 'auth_success', message: '', version: 'v1.0' })
  return socket
}

/** The next items, each as its type and seq. */
export async function next(items: AsyncIterator<Followed>, count: number): Promise<readonly string[]> {
  const found: string[] = []
  for (let at = 0; at < count; at += 1) {
    const { value, done } = await items.next()
    if (done === true) return [...found, 'end']
    found.push('seq' in value ? `${value.type} ${value.seq}` : value.type)
  }
  return found
}
