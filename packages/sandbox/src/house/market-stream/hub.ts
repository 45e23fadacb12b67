/** The market streams: who is connected, and what each of them is given. */

import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Line } from '../stream/line.ts'
import type { StreamOrder } from '../stream/mischief.ts'
import { Roster, type RosterDeps } from '../stream/roster.ts'
import { Mailbox, type Reader, WAITING_MAX } from './mailbox.ts'
import { MarketSession, type Wanted } from './session.ts'

export const MARKET_STREAM_PATH = '/market/v1'

const MESSAGE_BYTES_MAX = 256 * 1024

export interface MarketHubDeps extends RosterDeps {
  readonly houseTime: () => string
  /** Begins to give a reader what it wants, the present state first. @returns false where there is no such thing */
  readonly add: (wanted: Wanted, reader: Reader) => boolean
  readonly drop: (wanted: Wanted, reader: Reader) => void
}

interface Talking {
  readonly session: MarketSession
  readonly mailbox: Mailbox
}

export class MarketHub {
  readonly #roster: Roster
  readonly #talking = new Map<Line, Talking>()

  constructor(deps: MarketHubDeps) {
    this.#roster = new Roster(deps, {
      messageMax: MESSAGE_BYTES_MAX,
      waitingMax: WAITING_MAX,
      ops: ['add', 'drop'],
      loginFields: [],
      talk: line => this.#talk(line, deps),
      left: line => this.#left(line),
      beat: () => ({ house_time: deps.houseTime() })
    })
  }

  accept(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.#roster.accept(request, socket, head)
  }

  /** Carries out what the control API wants done to the streams. @returns how many were open. */
  misbehave(order: StreamOrder): number {
    return this.#roster.misbehave(order)
  }

  /** Ends the streams that came in on a grant. */
  endGrant(grant: string): void {
    this.#roster.endGrant(grant)
  }

  /** Every login's streams as they stand. */
  report(): readonly object[] {
    return this.#roster.report().map(({ login, lines }) => ({
      on: 'market',
      login,
      seq: lines.map(({ seq }) => seq),
      waiting: lines.map(line => this.#talking.get(line)?.mailbox.waiting ?? line.waiting)
    }))
  }

  /** Sends everybody home. */
  reset(): void {
    this.#roster.reset()
  }

  /** Says goodbye, and does not wait long for an answer. */
  close(): Promise<void> {
    return this.#roster.close()
  }

  #talk(line: Line, deps: MarketHubDeps): MarketSession {
    const mailbox = new Mailbox(line)
    const session = new MarketSession(line, {
      mailbox,
      enrol: () => this.#roster.enrol(line),
      add: wanted => deps.add(wanted, mailbox),
      drop: wanted => deps.drop(wanted, mailbox),
      heartbeatMs: deps.heartbeatMs,
      stamp: deps.stamp,
      houseTime: deps.houseTime
    })
    this.#talking.set(line, { session, mailbox })
    return session
  }

  #left(line: Line): void {
    this.#talking.get(line)?.session.left()
    this.#talking.delete(line)
  }
}
