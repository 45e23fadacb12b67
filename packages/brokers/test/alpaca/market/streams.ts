/** A scripted market stream of Alpaca: accepts every login, and streams what is requested. */

import { decode, encode } from '@msgpack/msgpack'
import type { WebSocket } from 'ws'
import type { Json } from '../fixtures.ts'
import { as, json, type Venue } from '../venue.ts'

export class ScriptedStream {
  readonly received: Json[] = []
  readonly #isBytes: boolean
  readonly #venue: Venue
  readonly #subscribed = new Map<WebSocket, Map<string, Set<string>>>()
  /** An error instead of a subscription, for whom it is. */
  refuses: (message: Json) => { readonly code: number; readonly msg: string } | null = () => null
  admits: () => Json = () => ({ T: 'success', msg: 'authenticated' })

  constructor(venue: Venue, path: string, { isBytes = false }: { readonly isBytes?: boolean } = {}) {
    this.#venue = venue
    this.#isBytes = isBytes
    venue.streams.set(`/streams${path}`, {
      greet: socket => this.#send(socket, [{ T: 'success', msg: 'connected' }]),
      onFrame: (data, socket, isBinary) => {
        const message: Json = isBinary ? decode(data) : JSON.parse(data.toString())
        this.received.push(message)
        this.#answer(message, socket)
      }
    })
  }

  send(items: readonly object[] | string): void {
    if (typeof items === 'string') this.#venue.last.send(items)
    else this.#send(this.#venue.last, items)
  }

  #answer(message: Json, socket: WebSocket): void {
    const error = message.action === 'subscribe' ? this.refuses(message) : null
    if (message.action === 'auth') this.#send(socket, [this.admits()])
    else if (error === null) this.#subscribe(message, socket)
    else this.#send(socket, [{ T: 'error', ...error }])
  }

  #subscribe(message: Json, socket: WebSocket): void {
    const all = this.#subscribed.get(socket) ?? new Map<string, Set<string>>()
    this.#subscribed.set(socket, all)
    for (const channel of ['trades', 'quotes', 'orderbooks'])
      for (const symbol of message[channel] ?? []) {
        const symbols = all.get(channel) ?? new Set<string>()
        all.set(channel, symbols)
        if (message.action === 'subscribe') symbols.add(symbol)
        else symbols.delete(symbol)
      }
    this.#send(socket, [{ T: 'subscription', ...Object.fromEntries([...all].map(([channel, symbols]) => [channel, [...symbols]])) }])
  }

  #send(socket: WebSocket, items: readonly object[]): void {
    socket.send(this.#isBytes ? encode(items) : JSON.stringify(items))
  }
}

/** The reads that every symbol needs. */
export function knowsSymbols(venue: Venue): void {
  venue.on('GET /api/v2/clock', as('market.clock'))
  venue.on('GET /api/v2/assets/AAPL', as('market.asset.share'))
  venue.on('GET /api/v2/assets/MSFT', json(200, { class: 'us_equity', symbol: 'MSFT' }))
  venue.on('GET /api/v2/assets/BTC%2FUSD', as('market.asset.crypto'))
  venue.on('GET /api/v2/options/contracts/*', seen => json(200, { symbol: seen.path.split('/').at(-1) }))
  venue.on('GET /data/v2/stocks/quotes/latest', json(200, { quotes: {} }))
  venue.on('GET /data/v1beta3/crypto/us/latest/quotes', json(200, { quotes: {} }))
  venue.on('GET /data/v1beta1/options/quotes/latest', json(200, { quotes: {} }))
}
