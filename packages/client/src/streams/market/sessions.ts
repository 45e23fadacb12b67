// The sessions of a market data stream: what is subscribed to is asked for again in each.
import { type ConnectionOptions, type Incoming, streamConnection } from '../connection.ts'
import { invalid, isFinal, StreamError } from '../errors.ts'
import type { Reading } from '../reader.ts'
import type { Channel } from './channels.ts'
import { historyRead } from './history.ts'
import type { Bar, HistoryOptions, Subscribing } from './items.ts'
import { type Subscription, subscriptionOf } from './subscription.ts'

/** `url`: the market data stream, such as `wss://trunkline.example.com/market-data/stream`. */
export interface MarketStreamOptions extends ConnectionOptions {
  /** Gets an access token of the connection. Called at first, and when the service takes the last one no longer. */
  readonly token: () => Promise<string>
}

const SUBSCRIPTIONS_MAX = 500
const AGAIN_MS = 5_000
const AUTHENTICATE = 'authenticate'
/** Market data greets nobody. */
const OTHER_STREAM = 'url is of the broker stream: market data is at /market-data/stream'
/**
 * What the service writes when a key or a secret was replaced, or the login renewed; another session that took over is left alone. There is
 * no code for it: with other words the stream ends, as for any reason that needs a person.
 */
const RENEWABLE = /^auth_error: .*(get a new access token|connect again)/i
/** Of a login that was renewed: a new token would end the other sessions of the user, which have the old one. */
const TOKEN_HOLDS = /connect again/i
/** Codes of what may go well the next time. The limit of subscriptions is ours as well: one that was left has yet to end. */
const PASSING: ReadonlySet<unknown> = new Set(['broker_unavailable', 'internal_error', 'subscription_limit'])

/** What subscribes and reads, over one WebSocket that is open while somebody does. */
export interface MarketSessions {
  /** Milliseconds since the service was last received, null before the first message. */
  ageMs(): number | null
  read<T>(channel: Channel<T>, options: Subscribing): Reading<T>
  /** Past bars. */
  history(options: HistoryOptions): Promise<readonly Bar[]>
}

/** @throws StreamError setting_invalid */
export function marketSessions(options: MarketStreamOptions = Object()): MarketSessions {
  const subscriptions = new Set<Subscription>()
  /** Of the present session: what has no answer yet, by `request_id`, … */
  const asked = new Map<string, Subscription>()
  /** … and what has one, by `sub_id`. */
  const accepted = new Map<string, Subscription>()
  /** Ends the wait of what the broker could not answer. */
  const waiting = new Map<Subscription, () => void>()
  let requestId = 0
  if (typeof options.token !== 'function')
    throw invalid(`token must be a function that gets an access token, and was ${typeof options.token}`)
  let token: string | null = null

  const connection = streamConnection(options, {
    opened: () => void authenticate(),
    received,
    ended(reason) {
      asked.clear()
      accepted.clear()
      for (const stop of waiting.values()) stop()
      for (const one of [...subscriptions]) one.interrupted(reason)
    },
    failed: error => {
      for (const one of [...subscriptions]) one.end(error)
    },
    ping: () => ({ action: 'ping', request_id: nextId() }),
    secret: () => token ?? '',
    renewable: RENEWABLE
  })

  function demandCapacity(): void {
    if (subscriptions.size >= SUBSCRIPTIONS_MAX)
      throw new StreamError('too_many', `one stream has at most ${SUBSCRIPTIONS_MAX} subscriptions`)
  }

  function add(subscription: Subscription): void {
    subscriptions.add(subscription)
    connection.start()
    ask(subscription)
  }

  function remove(subscription: Subscription): void {
    subscriptions.delete(subscription)
    waiting.get(subscription)?.()
    for (const [id, one] of asked) if (one === subscription) asked.delete(id)
    for (const [id, one] of accepted) if (one === subscription) unsubscribe(id)
    if (subscriptions.size === 0) connection.stop()
  }

  function unsubscribe(subId: string): void {
    accepted.delete(subId)
    request({ action: 'unsubscribe', sub_id: subId })
  }

  /** Never rejects. */
  async function authenticate(): Promise<void> {
    const { session } = connection
    const isPast = () => session !== connection.session
    try {
      const issued = token ?? (await options.token())
      // What comes too late for its session is good for the next one, unless that has asked for its own and has it.
      if (isPast()) token ??= issued
      else {
        token = issued
        connection.send({ action: AUTHENTICATE, access_token: token, request_id: AUTHENTICATE })
      }
    } catch (error) {
      if (isPast()) return
      if (isFinal(error)) connection.fail(error)
      else connection.end('no access token was issued')
    }
  }

  function received(message: Incoming): void {
    const { type, request_id: id, sub_id: subId } = message
    if (type === 'auth_success') {
      connection.ready()
      for (const one of subscriptions) ask(one)
      return
    }
    const one = asked.get(String(id))
    asked.delete(String(id))
    if (type === 'error') failed(message, one)
    else if (type === 'snapshot_response') one?.put(message)
    else if (type === 'subscription_success') began(String(subId), one)
    else if (type === undefined || type === 'depth_update') accepted.get(String(subId))?.put(message)
    else if (type === 'welcome') connection.fail(invalid(OTHER_STREAM))
  }

  function began(subId: string, one: Subscription | undefined): void {
    if (one === undefined) {
      // It was ended while its answer was under way.
      unsubscribe(subId)
      return
    }
    accepted.set(subId, one)
    one.accepted()
  }

  function failed({ error_code: code, request_id: id, sub_ids: subIds, message }: Incoming, one: Subscription | undefined): void {
    const why = `${String(code)}: ${String(message)}`
    if (Array.isArray(subIds)) for (const subId of subIds) accepted.get(String(subId))?.interrupted(why)
    else if (one === undefined) sessionFailed(code, id, why)
    else if (PASSING.has(code)) {
      one.interrupted(why)
      askLater(one)
    } else one.end(new StreamError('subscription_refused', why, String(code)))
  }

  function sessionFailed(code: unknown, id: unknown, why: string): void {
    if (id === AUTHENTICATE && !PASSING.has(code)) connection.refused(why)
    // The token could not be checked; or a request was dropped unread, and its answer would be awaited in vain.
    else if (id === AUTHENTICATE || (id === null && code === 'invalid_request')) connection.end(why)
    else if (id === null) connection.reported(why)
    if (code === 'auth_error' && !TOKEN_HOLDS.test(why)) token = null
  }

  function askLater(subscription: Subscription): void {
    const cancel = connection.timers.after(AGAIN_MS, () => {
      stop()
      ask(subscription)
    })
    const stop = (): void => {
      waiting.delete(subscription)
      cancel()
    }
    waiting.set(subscription, stop)
  }

  /** Asks for it, unless that was done in this session, or it has ended. */
  function ask(subscription: Subscription): void {
    if (!connection.isReady || !subscriptions.has(subscription)) return
    if ([...asked.values(), ...accepted.values()].includes(subscription)) return
    asked.set(request({ action: 'subscribe', ...subscription.request() }), subscription)
  }

  function request(message: object): string {
    const id = nextId()
    connection.send({ ...message, request_id: id })
    return id
  }

  function nextId(): string {
    requestId += 1
    return String(requestId)
  }

  return {
    ageMs: () => connection.ageMs,
    read(channel, { signal, onStatus }) {
      demandCapacity()
      const subscription = subscriptionOf(channel, onStatus, connection.timers, () => remove(subscription))
      subscription.stopWith(signal)
      if (!subscription.isEnded()) add(subscription)
      return subscription
    },
    async history(asking) {
      const { signal } = asking
      signal?.throwIfAborted()
      demandCapacity()
      const read = historyRead(asking)
      const abort = (): void => read.end(signal?.reason)
      add(read)
      signal?.addEventListener('abort', abort)
      try {
        return await read.bars
      } finally {
        signal?.removeEventListener('abort', abort)
        remove(read)
      }
    }
  }
}
