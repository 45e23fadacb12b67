/** One connection to one of Alpaca's market streams: the login, what was asked and what Alpaca made of it, and the items. */

import { Malformed } from '@trunkline/core/domain/malformed'
import type { Conversation, Frame, Heard, Line } from '../../kit/conversation.ts'
import { field, integer, object, type Wire, wordsOrNull } from '../../kit/parse.ts'
import { StreamFault } from '../../kit/stream-fault.ts'
import type { Codec } from './codec.ts'
import { isItem, type StreamedChannel } from './items.ts'
import type { Subscription } from './subscription.ts'

/** Far below the 16 KiB that Alpaca reads of a message. */
const SYMBOLS_MAX = 400
const TEND_MS = 3_600_000
/** What a message of items leads to is done by the time it has been heard. */
const NOTHING: readonly Heard<never>[] = []

const CHANNELS = { trades: 'trades', quotes: 'quotes', depth: 'orderbooks' } as const satisfies Record<StreamedChannel, string>

/** Errors that are about the connection and not about what was asked. */
const ENDING: Readonly<Record<number, StreamFault['gap']>> = {
  401: 'refused',
  402: 'token',
  404: 'refused',
  406: 'refused',
  407: 'overflow',
  411: 'refused',
  500: 'lost'
}
const ALREADY_IN = 403
const NOT_TAKEN = 402

/** Who is told what comes of it, as it is heard. */
export interface MarketTalkOwner {
  /** Alpaca has let us in; whatever is wanted can be asked for. */
  opened(talk: MarketTalk): void
  streamed(subscription: Subscription): void
  refused(subscription: Subscription, message: string): void
  /** @throws Malformed */
  items(items: readonly unknown[]): void
  /** The credentials were not taken. */
  notTaken(): void
}

/** What was said and not answered yet. Each is answered once, in its order. */
interface Said {
  readonly action: 'subscribe' | 'unsubscribe'
  readonly members: readonly Subscription[]
}

export interface MarketTalkOptions {
  readonly url: string
  /** Alpaca is silent while nothing trades: a ping so often, and its answers are the signs of life. */
  readonly pingMs: number
  /** The first message. */
  readonly hello: object
  readonly codec: Codec
}

export class MarketTalk implements Conversation<never> {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly hello: readonly Frame[]
  readonly pingMs: number
  readonly #codec: Codec
  readonly #owner: MarketTalkOwner
  #line: Line<never> | null = null
  #isIn = false
  #said: Said[] = []

  constructor({ url, pingMs, hello, codec }: MarketTalkOptions, owner: MarketTalkOwner) {
    this.url = url
    this.pingMs = pingMs
    this.headers = codec.headers
    this.hello = [codec.encode(hello)]
    this.#codec = codec
    this.#owner = owner
  }

  opened(line: Line<never>): void {
    this.#line = line
  }

  hear(frame: string): readonly Heard<never>[] {
    return this.#heard(this.#codec.decode(frame))
  }

  hearBytes(frame: Uint8Array): readonly Heard<never>[] {
    return this.#heard(this.#codec.decode(frame))
  }

  async tend(): Promise<number> {
    this.#owner.opened(this)
    return TEND_MS
  }

  ask(subscriptions: readonly Subscription[]): void {
    for (let from = 0; from < subscriptions.length; from += SYMBOLS_MAX)
      this.#say({ action: 'subscribe', members: subscriptions.slice(from, from + SYMBOLS_MAX) })
  }

  drop(subscriptions: readonly Subscription[]): void {
    for (let from = 0; from < subscriptions.length; from += SYMBOLS_MAX)
      this.#say({ action: 'unsubscribe', members: subscriptions.slice(from, from + SYMBOLS_MAX) })
  }

  #say(said: Said): void {
    this.#said.push(said)
    const byChannel = Map.groupBy(said.members, ({ topic }) => CHANNELS[topic.channel])
    const lists = [...byChannel].map(([channel, members]) => [channel, members.map(({ topic }) => topic.symbol)])
    this.#line?.say(this.#codec.encode({ action: said.action, ...Object.fromEntries(lists) }))
  }

  /** Words about the connection come alone in their message. */
  #heard(items: readonly unknown[]): readonly Heard<never>[] {
    const [first] = items
    if (items.length !== 1 || !isItem(first)) return this.#told(items)
    switch (first.T) {
      case 'success':
        return this.#success(object(first, 'message'))
      case 'error':
        return this.#error(object(first, 'message'))
      case 'subscription':
        return this.#subscribed(object(first, 'message'))
      default:
        return this.#told(items)
    }
  }

  #told(items: readonly unknown[]): readonly Heard<never>[] {
    if (!this.#isIn) throw new Malformed('message', 'an answer to the login', items[0])
    this.#owner.items(items)
    return NOTHING
  }

  #success(message: Wire): readonly Heard<never>[] {
    if (field(message, 'msg') !== 'authenticated' || this.#isIn) return NOTHING
    this.#isIn = true
    return [{ type: 'live', heartbeatMs: this.pingMs }]
  }

  #error(message: Wire): readonly Heard<never>[] {
    const code = integer(message, 'code')
    const words = `${wordsOrNull(message, 'msg') ?? 'no reason given'} (${code})`
    if (code === ALREADY_IN && this.#isIn) return NOTHING
    if (code === NOT_TAKEN) this.#owner.notTaken()
    const ending = this.#isIn ? ENDING[code] : (ENDING[code] ?? 'refused')
    if (ending !== undefined) throw new StreamFault(ending, `Alpaca ended the market stream: ${words}`)
    this.#notTaken(words)
    return NOTHING
  }

  /** One of many may be what it does not take, so each is asked for by itself. */
  #notTaken(words: string): void {
    const said = this.#said.shift()
    if (said === undefined) throw new Malformed('our message', 'one that Alpaca can read', words)
    if (said.action === 'unsubscribe') return
    const wanted = said.members.filter(({ isAsked }) => isAsked)
    const [only, ...more] = wanted
    if (only === undefined) return
    if (more.length === 0) this.#owner.refused(only, `Alpaca does not stream ${only.topic.channel} of ${only.topic.symbol}: ${words}`)
    else for (const member of wanted) this.ask([member])
  }

  #subscribed(message: Wire): readonly Heard<never>[] {
    const said = this.#said.shift()
    if (said?.action !== 'subscribe') return NOTHING
    const lists = new Map(Object.entries(CHANNELS).map(([channel, word]) => [channel, texts(message, word)]))
    for (const member of said.members) {
      if (!member.isAsked || member.isLive) continue
      const { channel, symbol } = member.topic
      if (lists.get(channel)?.has(symbol) === true) this.#owner.streamed(member)
      else this.#owner.refused(member, `Alpaca did not begin to stream ${channel} of ${symbol}`)
    }
    return NOTHING
  }
}

/** A stream that has no such channel leaves its list out. */
function texts(wire: Wire, key: string): ReadonlySet<string> {
  const value = field(wire, key) ?? []
  if (Array.isArray(value) && value.every(item => typeof item === 'string')) return new Set(value)
  throw new Malformed(key, 'a list of texts', value)
}
