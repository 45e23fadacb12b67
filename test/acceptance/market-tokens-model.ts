// The rules of market data tokens in small, as the specification states them, and every course of events they are tried on.
import type { SeededChance } from '@trunkline/testkit/chance'

/** Tokens are numbered from 1 in the order in which they are issued. */
export type Token = number
export type Connection = 1 | 2
export type Address = 'X' | 'Y'

export type Event =
  | { readonly do: 'issue'; readonly token: Token; readonly connection: Connection }
  /** A socket that has not authenticated yet shows a token. */
  | { readonly do: 'show'; readonly socket: number; readonly token: Token; readonly from: Address }

export type Row = readonly Event[]

/** What must be so after an event. */
export interface Outcome {
  /** Whether the token that was shown lets in; null after an issue. */
  readonly letsIn: boolean | null
  /** Sockets that this event ends. */
  readonly ends: readonly number[]
  /** Sockets that are authenticated afterwards. */
  readonly up: readonly number[]
}

/** One user's tokens and sessions. */
export class TokenModel {
  readonly #newest = new Map<Connection, Token>()
  #sessions: readonly { readonly socket: number; readonly token: Token; readonly from: Address }[] = []

  apply(event: Event): Outcome {
    if (event.do === 'issue') {
      // Rule 2: it invalidates the connection's token before for new authentications, and ends nothing.
      this.#newest.set(event.connection, event.token)
      return { letsIn: null, ends: [], up: this.#up }
    }
    const { socket, token, from } = event
    if (![...this.#newest.values()].includes(token)) return { letsIn: false, ends: [], up: this.#up }
    // Rules 3 and 4: a new session ends the user's sessions with another token, and those from another address.
    const stay = this.#sessions.filter(session => session.token === token && session.from === from)
    const ends = this.#sessions.filter(session => !stay.includes(session)).map(session => session.socket)
    this.#sessions = [...stay, { socket, token, from }]
    return { letsIn: true, ends, up: this.#up }
  }

  get #up(): readonly number[] {
    return this.#sessions.map(({ socket }) => socket)
  }
}

/** Every order in which two tokens are issued and two sockets show either from either address, and what a third socket shows then. */
export function rows(): readonly Row[] {
  const addresses: readonly Address[] = ['X', 'Y']
  const shows = (socket: number, from: readonly Address[]): readonly Event[] =>
    [1, 2].flatMap(token => from.map(address => ({ do: 'show', socket, token, from: address }) as const))
  const all: Row[] = []
  for (const connection of [1, 2] as const) {
    const issues: readonly Event[] = [
      { do: 'issue', token: 1, connection: 1 },
      { do: 'issue', token: 2, connection }
    ]
    // Which of the addresses comes first makes no difference.
    for (const first of shows(1, ['X']))
      for (const second of shows(2, addresses))
        for (const order of orders([...issues, first, second]))
          if (isPossible(order)) for (const third of shows(3, addresses)) all.push([...order, third])
  }
  return all
}

/** A long course of events, by chance. */
export function walk(length: number, chance: SeededChance): Row {
  const events: Event[] = [{ do: 'issue', token: 1, connection: 1 }]
  let tokens = 1
  for (let socket = 1; events.length < length; ) {
    if (chance.happens(1 / 3)) events.push({ do: 'issue', token: ++tokens, connection: chance.happens(1 / 2) ? 1 : 2 })
    // Mostly a recent token: those long gone never let in.
    else
      events.push({
        do: 'show',
        socket: socket++,
        token: Math.max(1, tokens - chance.whole(0, 2)),
        from: chance.happens(1 / 3) ? 'Y' : 'X'
      })
  }
  return events
}

function orders(events: readonly Event[]): readonly (readonly Event[])[] {
  if (events.length <= 1) return [events]
  return events.flatMap((event, index) => orders(events.toSpliced(index, 1)).map(rest => [event, ...rest]))
}

/** A token can be shown only after it was issued; sockets and tokens come in the order of their numbers. */
function isPossible(events: readonly Event[]): boolean {
  const issuedAt = (token: Token) => events.findIndex(event => event.do === 'issue' && event.token === token)
  const shownAt = (socket: number) => events.findIndex(event => event.do === 'show' && event.socket === socket)
  const isAfterIssue = events.every((event, index) => event.do === 'issue' || issuedAt(event.token) < index)
  return isAfterIssue && shownAt(1) < shownAt(2) && issuedAt(1) < issuedAt(2)
}

export function described(row: Row): string {
  return row
    .map(event =>
      event.do === 'issue'
        ? `token ${event.token} of connection ${event.connection}`
        : `socket ${event.socket} shows ${event.token} from ${event.from}`
    )
    .join(', ')
}
