/** What the books must know before anybody trades: instruments and accounts. Asked again after a reset, and whenever somebody is new. */

import type { Market } from '../market/types.ts'
import type { Books } from './books.ts'
import type { HouseClock } from './clock.ts'
import { ENGINE_TYPE, type People } from './people.ts'

export interface Ledger {
  readonly books: Books
  readonly clock: HouseClock
}

/** Lists what the market always brings; contracts are listed by the market itself when they are brought. */
export function listInstruments({ books, market, clock }: Ledger & { readonly market: Market }): void {
  for (const spec of market.instruments) {
    if (books.engine.instrument(spec.symbol) === undefined) books.run({ type: 'list_instrument', at: clock.now(), spec })
  }
}

/** Opens every account that the books do not know yet. */
export function openNewAccounts({ books, people, clock }: Ledger & { readonly people: People }): void {
  for (const { id, number, kind, cash } of people.accounts()) {
    if (books.engine.account(id) !== undefined) continue
    const command = {
      type: 'open_account',
      at: clock.now(),
      accountId: id,
      number,
      accountType: ENGINE_TYPE[kind],
      currency: 'USD'
    } as const
    books.run({ ...command, deposit: cash, permitted: null })
  }
}

/** Lets accounts of books from before there were options trade them. */
export function permitOptions({ books, people, clock }: Ledger & { readonly people: People }): void {
  for (const { id, kind } of people.accounts()) {
    if (kind !== 'margin' && kind !== 'cash') continue
    if (books.engine.account(id)?.permitted.includes('OPT') !== false) continue
    books.run({ type: 'permit', at: clock.now(), accountId: id, kinds: ['OPT'] })
  }
}

/** @throws Error when the books have lived longer than the market goes on */
export function mustSuit(books: Books, market: Market): void {
  if (market.endsAt === null || books.latest <= market.endsAt) return
  throw new Error('The books in SANDBOX_DATA_DIR are of a later time than the recorded market ends. Use another folder for this recording.')
}
