/** The account stream: who listens, and what they are told. */

import type { AccountChangedEvent, OrderEvent, OrderView } from '../../engine/types.ts'
import type { DialectHouse } from '../../house/dialect.ts'
import type { Witness } from '../../house/news.ts'
import type { Entrance } from '../../house/stream/gate.ts'
import { type DialectLine, DialectLines } from '../frame/lines.ts'
import type { Access } from './access.ts'
import type { Customers } from './customers.ts'
import { Holdings } from './holdings.ts'
import { entranceOf, type Guest, readMessage, textOf, wholeOf } from './sockets.ts'
import { frameOf, turnOf, type Update, updatesOf } from './trade-updates.ts'

const WAITING_BYTES_MAX = 1024 * 1024
/** Alpaca sets no time for it that is known. */
const SILENT_MS_MAX = 30_000
const STREAM = 'trade_updates'
const LINES_PER_LOGIN = 20
/** Letters of the ids of events, in their order. */
const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

export interface AccountStreamDeps {
  readonly house: DialectHouse
  readonly access: Access
  readonly customers: Customers
}

export class AccountStream implements Witness {
  readonly entrance: Entrance
  readonly lines: DialectLines
  readonly #deps: AccountStreamDeps
  readonly #listening = new Set<DialectLine>()
  readonly #busy = new Map<string, 'cancelling' | 'amending'>()
  readonly #holdings: Holdings
  #told = 0

  constructor(deps: AccountStreamDeps) {
    this.#deps = deps
    this.#holdings = new Holdings(deps.house.books)
    this.lines = new DialectLines({
      now: deps.house.realNow,
      waitingMax: WAITING_BYTES_MAX,
      garbled: '{"stream":"trade_updates","data":{"event":',
      codes: { going: 1001, tokenEnded: 1008, slow: 1008 }
    })
    this.entrance = entranceOf({
      path: '/alpaca/api/stream',
      codec: asksForPack => (asksForPack ? 'msgpack' : 'json-bytes'),
      welcome: guest => this.#welcome(guest)
    })
  }

  order(event: OrderEvent, login: string): void {
    const { customers } = this.#deps
    if (event.change === 'accepted') customers.promises.came(event.order)
    if (!this.#concerns(event.accountId, login)) return
    // Whatever was under way with it has happened, or can no longer.
    if (event.change !== 'fill' && event.change !== 'triggered') this.#busy.delete(event.order.orderId)
    for (const update of updatesOf(event, { customers, holdings: this.#holdings })) this.#tell(login, update)
  }

  orderAgain(order: OrderView, login: string): void {
    const { customers } = this.#deps
    const busy = customers.showing(order).overlay?.busy ?? null
    const before = this.#busy.get(order.orderId) ?? null
    if (busy === null) this.#busy.delete(order.orderId)
    else this.#busy.set(order.orderId, busy)
    const failed = before === 'amending' && busy === null ? customers.promises.failed(order.orderId) : undefined
    if (!this.#concerns(order.accountId, login)) return
    if (failed !== undefined) this.#tell(login, { event: 'rejected', at: customers.now(), order: failed })
    const turn = turnOf(order, before, customers)
    if (turn !== null) this.#tell(login, turn)
  }

  /** Positions and balances are not told here. */
  account(event: AccountChangedEvent): void {
    this.#holdings.settle(event)
  }

  reset(): void {
    this.#busy.clear()
    this.#holdings.clear()
    this.lines.reset()
  }

  #concerns(accountId: string, login: string): boolean {
    return this.#accountsOf(login).includes(accountId)
  }

  #accountsOf(login: string): readonly string[] {
    return this.#deps.customers.accounts(login).map(({ id }) => id)
  }

  #tell(login: string, update: Update): void {
    const listeners = this.lines.of(login).filter(line => this.#listening.has(line))
    if (listeners.length === 0) return
    const frame = frameOf(update, this.#eventId(update.at))
    for (const line of listeners) line.event(frame)
  }

  /** Sorted as the events came: ten letters of time, then a count. */
  #eventId(at: number): string {
    return `${lettersOf(Math.floor(at / 1000), 10)}${lettersOf(++this.#told, 16)}`
  }

  #welcome(guest: Guest): void {
    const { house } = this.#deps
    let line: DialectLine | undefined
    const silence = setTimeout(() => guest.pipe.close(1008, 'not authenticated in time'), SILENT_MS_MAX)
    silence.unref()
    const join = (pass: Parameters<DialectLines['add']>[0]) => {
      clearTimeout(silence)
      const joined = this.lines.add(pass, guest.pipe)
      this.#holdings.begin(this.#accountsOf(pass.login))
      guest.mute = () => joined.isMute
      line = joined
    }
    guest.socket.on('close', () => {
      clearTimeout(silence)
      if (line === undefined) return
      this.#listening.delete(line)
      this.lines.remove(line)
      const { login } = line.pass
      if (this.lines.of(login).length === 0) this.#holdings.end(this.#accountsOf(login))
    })
    guest.socket.on('message', (data, isBinary) => {
      try {
        this.#hear(readMessage(wholeOf(data), isBinary, guest.codec), { guest, line, join })
      } catch (error) {
        house.onTrouble(error)
        guest.pipe.close(1011, 'internal error')
      }
    })
  }

  #hear(message: unknown, turn: Turn): void {
    const { action, data, ...rest } = Object(message)
    if (action === 'authenticate' || action === 'auth') this.#authenticate(action, action === 'auth' ? rest : Object(data), turn)
    else if (action === 'listen') this.#listen(Object(data).streams, turn)
    else say(turn, { stream: 'error', data: { error_message: 'invalid command' } })
  }

  #authenticate(action: string, data: Readonly<Record<string, unknown>>, turn: Turn): void {
    const { access } = this.#deps
    const { oauth_token: token, key_id: keyId = data.key, secret_key: secret = data.secret } = data
    const pass = typeof token === 'string' ? access.ofToken(token) : access.ofPair({ keyId: textOf(keyId), secret: textOf(secret) })
    const isFull = pass !== undefined && turn.line === undefined && this.lines.of(pass.login).length >= LINES_PER_LOGIN
    if (pass === undefined || isFull) {
      say(turn, { stream: 'authorization', data: { status: 'unauthorized', action } })
      return
    }
    if (turn.line === undefined) turn.join(pass)
    say(turn, { stream: 'authorization', data: { status: 'authorized', action } })
  }

  /** The streams asked for, and no others, from now on. */
  #listen(streams: unknown, turn: Turn): void {
    const { line } = turn
    if (line === undefined) {
      say(turn, { stream: 'authorization', data: { status: 'unauthorized', action: 'listen' } })
      return
    }
    const known = Array.isArray(streams) && streams.includes(STREAM) ? [STREAM] : []
    if (known.length > 0) this.#listening.add(line)
    else this.#listening.delete(line)
    say(turn, { stream: 'listening', data: { streams: known } })
  }
}

interface Turn {
  readonly guest: Guest
  readonly line: DialectLine | undefined
  readonly join: (pass: Parameters<DialectLines['add']>[0]) => void
}

function say({ guest, line }: Turn, message: object): void {
  const frame = JSON.stringify(message)
  if (line !== undefined) line.say(frame)
  else if (guest.pipe.isOpen) guest.pipe.send(frame)
}

function lettersOf(value: number, size: number): string {
  let text = ''
  for (let left = value; text.length < size; left = Math.floor(left / 32)) text = `${CROCKFORD[left % 32]}${text}`
  return text
}
