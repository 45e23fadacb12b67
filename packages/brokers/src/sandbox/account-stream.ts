/** The sandbox's account stream: numbered events of whole orders; a message that is missing is noticed by its number. */

import { readJson } from '../kit/json.ts'
import { field, integer, member, nested, object, text, texts, timestamp, type Wire } from '../kit/parse.ts'
import type { AccountMessage } from '../kit/runtime/account-messages.ts'
import type { AccountStreamDefinition } from '../kit/runtime/account-stream.ts'
import type { OpenLogin } from '../kit/runtime/definition.ts'
import { Sequence, type Sequenced } from '../kit/sequence.ts'
import { parseBalance, parseOrder } from './codecs.ts'
import { StreamToken } from './quirks.ts'

/** Events that may wait for an earlier one. The next heartbeat decides anyway. */
const AHEAD_MAX = 64
const HEARTBEAT_MS_LEAST = 10
/** Positions are read when the sandbox reports that they changed, and balances published, but not more often than this for an account. */
const SPACING_MS = 250

export function accountStream(url: string, { tokens, log }: Pick<OpenLogin<string>, 'tokens' | 'log'>): AccountStreamDefinition {
  return {
    orderSpacingMs: SPACING_MS,
    accountSpacingMs: SPACING_MS,
    async begin(signal) {
      const token = await StreamToken.of(tokens, signal)
      const reader = new EventReader(account =>
        log.error('the sandbox streamed an event of an account that is not of this login; dropped', { account })
      )
      return {
        url,
        // No `resume`: the reader takes a snapshot after every gap, and then there is nothing left to replay.
        hello: [JSON.stringify({ op: 'login', token: token.text })],
        read: frame => reader.read(frame),
        maintain: connection => token.maintain(connection),
        closed: code => token.closed(code)
      }
    }
  }
}

/** What one connection has sent: the number of the last event, and the login's accounts. */
class EventReader {
  readonly #foreign: (account: string) => void
  #events: Sequence<Wire> | null = null
  #accounts: readonly string[] = []

  /** `foreign` reports an event of an account that is not of this login. */
  constructor(foreign: (account: string) => void) {
    this.#foreign = foreign
  }

  /** @throws Malformed */
  read(frame: string): readonly AccountMessage[] {
    const message = object(readJson(frame), 'message')
    const ev = text(message, 'ev', 32)
    if (this.#events === null) return this.#answered(ev, message)
    switch (ev) {
      case 'heartbeat':
        return this.#released(this.#events.settle(integer(message, 'seq')))
      case 'pong':
      case 'token_ok':
        return []
      default:
        // An event that is counted but not understood may still be skipped without a gap.
        return field(message, 'seq') === undefined && !NUMBERED.has(ev)
          ? []
          : this.#released(this.#events.offer(integer(message, 'seq'), message))
    }
  }

  #answered(ev: string, message: Wire): readonly AccountMessage[] {
    if (ev === 'denied') {
      const code = text(message, 'code', 64)
      // A refused token is settled when the socket closes, which the sandbox does next.
      return code === 'token_invalid' ? [] : [{ type: 'over', cause: 'refused', reason: `the sandbox denied the stream (${code})` }]
    }
    member({ ev }, 'ev', { ready: true })
    this.#events = new Sequence(integer(message, 'seq'), AHEAD_MAX)
    this.#accounts = texts(message, 'accounts')
    return [{ type: 'live', heartbeatMs: Math.max(HEARTBEAT_MS_LEAST, integer(message, 'heartbeat_ms')) }]
  }

  #released({ items, hasGap }: Sequenced<Wire>): readonly AccountMessage[] {
    const messages: AccountMessage[] = hasGap
      ? [{ type: 'gap', cause: 'missing', reason: 'the sandbox counted an event that did not arrive' }]
      : []
    for (const item of items) {
      const message = messageOf(item)
      if (message !== null && this.#isOurs(accountOf(message))) messages.push(message)
    }
    return messages
  }

  #isOurs(account: string): boolean {
    if (this.#accounts.includes(account)) return true
    this.#foreign(account)
    return false
  }
}

const NUMBERED: ReadonlySet<string> = new Set(['order', 'fill', 'position', 'balance'])

type EventMessage = Extract<AccountMessage, { readonly type: 'order' | 'changed' | 'balances' }>

/** Null for an event that adds nothing: a fill comes again inside the order that follows it. */
function messageOf(message: Wire): EventMessage | null {
  switch (field(message, 'ev')) {
    case 'order':
      return { type: 'order', report: parseOrder(nested(message, 'order')) }
    case 'balance': {
      const asOf = timestamp(message, 'as_of')
      const balance = parseBalance(nested(message, 'balance'), asOf)
      // An account has one currency, so one balance is all of them.
      const { brokerAccountId } = balance
      return { type: 'balances', balances: { type: 'balances', brokerAccountId, balances: { items: [balance], asOf } } }
    }
    case 'position':
      return { type: 'changed', account: text(nested(message, 'position'), 'account'), what: 'positions' }
    default:
      return null
  }
}

function accountOf(message: EventMessage): string {
  switch (message.type) {
    case 'order':
      return message.report.brokerAccountId
    case 'changed':
      return message.account
    default:
      return message.balances.brokerAccountId
  }
}
