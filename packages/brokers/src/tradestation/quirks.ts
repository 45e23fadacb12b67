/** What only TradeStation needs: positions read just before an order, and what a login keeps. */

import type { BrokerAccount, PositionReport } from '@trunkline/core/ports/broker'
import type { Clock } from '@trunkline/core/ports/clock'
import { get } from '../kit/requests.ts'
import type { Login } from '../kit/runtime/definition.ts'
import { perLogin } from '../kit/runtime/per-login.ts'
import type { AccountQuery, ListRead } from '../kit/runtime/read-definitions.ts'
import { readSummed, summedPositions } from '../kit/summed-positions.ts'
import { AccountState } from './account-state.ts'
import { accountPath, ownRecords, records, wholeAnswer } from './answers.ts'
import type { Resource } from './limits.ts'
import { parseAccount, parsePosition } from './parse.ts'

export const ACCOUNTS: ListRead<Resource, null, BrokerAccount> = {
  resource: 'accounts',
  request: () => get('/brokerage/accounts'),
  page: reply => ({ records: records(wholeAnswer(reply), 'Accounts'), next: null }),
  items: (accounts, _query, { readable }) => readable('accounts', accounts, parseAccount, 'AccountID')
}

export const POSITIONS: ListRead<Resource, AccountQuery, PositionReport> = {
  resource: 'positions',
  request: ({ account }) => get(`${accountPath(account)}/positions`),
  page: reply => ({ records: [wholeAnswer(reply)], next: null }),
  items([answer], { account }, { readable }) {
    const found = answer === undefined ? [] : ownRecords(answer, 'Positions', account)
    const rows = { symbolKey: 'Symbol', idKey: 'PositionID', row: parsePosition, sum: summedPositions }
    const { known, leftOut } = readSummed(readable, found, rows)
    return { known: known.flat(), leftOut }
  }
}

/** What a login keeps: its accounts, and the reads of positions that orders share. */
export const stateOf = perLogin(({ reads, clock, log }: Login<Resource>) => ({
  accounts: new AccountState(signal => reads.list(ACCOUNTS, null, signal), log),
  holdings: new Holdings({ clock, read: (account, signal) => reads.listStrictly(POSITIONS, { account }, signal, 'order') })
}))

type Positions = { readonly known: readonly PositionReport[] }

/** A read goes on when one of those who share it gives up, but not for ever. */
const READ_MS = 10_000

export interface HoldingsOptions {
  readonly clock: Clock
  /** With the priority of orders. @throws BrokerFault */
  readonly read: (account: string, signal: AbortSignal) => Promise<Positions>
}

/**
 * Orders that come together share one read of positions: each gets one that began after it was given, and no account is read more than once at a
 * time, or a burst of orders would spend the quota of positions.
 */
export class Holdings {
  readonly #options: HoldingsOptions
  /** By account: the read under way, and the one that begins when it has ended. */
  readonly #running = new Map<string, Promise<unknown>>()
  readonly #next = new Map<string, Promise<Positions>>()

  constructor(options: HoldingsOptions) {
    this.#options = options
  }

  /** @throws BrokerFault; the signal's reason when it aborts first. */
  async now(account: string, signal: AbortSignal): Promise<Positions> {
    signal.throwIfAborted()
    const givenUp = Promise.withResolvers<never>()
    const giveUp = () => givenUp.reject(signal.reason)
    signal.addEventListener('abort', giveUp, { once: true })
    try {
      return await Promise.race([this.#next.get(account) ?? this.#begin(account), givenUp.promise])
    } finally {
      signal.removeEventListener('abort', giveUp)
    }
  }

  #begin(account: string): Promise<Positions> {
    const before = this.#running.get(account) ?? Promise.resolve()
    const read = before.then(() => {
      this.#next.delete(account)
      return this.#read(account)
    })
    this.#next.set(account, read)
    const ended = read.then(
      () => undefined,
      () => undefined
    )
    this.#running.set(account, ended)
    void ended.then(() => {
      if (this.#running.get(account) === ended) this.#running.delete(account)
    })
    return read
  }

  async #read(account: string): Promise<Positions> {
    const late = new AbortController()
    const alarm = this.#options.clock.alarm(READ_MS, () => late.abort(new Error(`positions could not be read within ${READ_MS} ms`)))
    try {
      return await this.#options.read(account, late.signal)
    } finally {
      alarm[Symbol.dispose]()
    }
  }
}
